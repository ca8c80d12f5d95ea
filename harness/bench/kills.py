"""`python -m harness.bench.kills PROTOCOL [KILLS]`: SIGKILL the reference under traffic, again and again; is a promise broken?

What was promised must come, in this life or the next: a message behind which a fence was answered (peerbus), a Push that was
Acked (TrueSeal). What was acked, with an answered fence behind it, must not come again. What is in between may do either.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from harness.bench.ends import PeerbusEnds, TrueSealEnds, serve_broker, serve_relay
from reference_impl.io.carrier import HungUp, NoConnection

Serve = Callable[[Path, Callable[[Any], None]], None]
"""Runs a server on what is in a folder, and tells where it listens."""

PATIENCE_S = 60.0
"""For what must come: a busy machine is no lost message."""

MOST_WAITING = 300
"""Messages that wait from life to life, promised or not: on a busy machine few lives come to acks, and it would be ever more."""

START_S = 60.0
"""For a server to start: however short the patience for a message is, a process needs its time."""


@dataclass
class Book:
    """What was promised, by the names of messages."""

    owed: set[str] = field(default_factory=set)
    acking: set[str] = field(default_factory=set)  # an ack was said and not answered: both is right
    gone: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)  # in this life
    promised = 0
    kills = 0
    broken: list[str] = field(default_factory=list)

    def promise(self, names: list[str]) -> None:
        self.promised += len(names)
        self.owed |= set(names) - self.acking - self.gone

    def came(self, name: str) -> None:
        self.seen.add(name)
        if name in self.gone:
            self.broken.append(f"{name} was acked, and came again")

    def acks(self, name: str) -> None:
        self.owed.discard(name)
        self.acking.add(name)

    def acked(self, names: list[str]) -> None:
        self.acking -= set(names)
        self.gone |= set(names)


class Ends(Protocol):
    """Both ends of the traffic with one life of a server."""

    async def connect(self, where: Any, /) -> None: ...

    async def send(self, names: list[str], /) -> None:
        """These messages; returns once they are promised."""

    async def receive(self) -> str:
        """The name of the next message."""

    async def ack(self, names: list[str], /) -> None:
        """Returns once it is certain that they are acked."""

    def cut(self) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("protocol", choices=SERVERS)
    parser.add_argument("kills", type=int, nargs="?", default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    began = time.monotonic()
    book = asyncio.run(lives(*SERVERS[told.protocol], told.kills, random.Random(told.seed)))
    print(
        f"{told.protocol}: {book.kills} SIGKILLs in {time.monotonic() - began:.0f} s, {book.promised} messages promised, "
        f"{len(book.gone)} acked for certain, {len(book.broken)} promises broken"
    )
    for line in book.broken[:20]:
        print(f"  {line}")
    raise SystemExit(1 if book.broken else 0)


async def lives(serve: Serve, ends: Callable[[], Ends], kills: int, dice: random.Random) -> Book:
    """So many that end with SIGKILL, and one more that must pay what is left."""
    book = Book()
    with tempfile.TemporaryDirectory() as folder:
        for life in range(kills + 1):
            await live(life, serve, ends(), Path(folder), book, dice, last=life == kills)
            if book.broken:
                break
            if life % 100 == 99:
                print(f"{book.kills} kills, {book.promised} promised, {len(book.owed)} owed", flush=True)
    return book


async def live(life: int, serve: Serve, ends: Ends, folder: Path, book: Book, dice: random.Random, last: bool) -> None:
    """One process, from its start on what the last one left to SIGKILL at a moment that is drawn."""
    process, where = await asyncio.to_thread(started, serve, folder)
    book.seen.clear()
    checked = last or dice.random() < 0.75  # else the kill may come while the backlog is on its way
    try:
        await ends.connect(where)
        async with asyncio.timeout(PATIENCE_S if checked else dice.uniform(0, 0.02)):
            await hear(ends, book, until=lambda: book.owed <= book.seen)
            if checked and len(book.seen) > MOST_WAITING:
                await ack(ends, book, sorted(book.seen - book.acking))
    except TimeoutError:
        if checked:
            book.broken += [f"{name} is lost in life {life}" for name in sorted(book.owed - book.seen)]
    except (HungUp, NoConnection) as error:
        book.broken.append(f"life {life}: {error}")
    if not last and not book.broken:
        traffic = asyncio.create_task(talk(life, ends, book, dice))
        await asyncio.wait([traffic], timeout=dice.uniform(0, 0.15))
        process.kill()
        book.kills += 1
        await asyncio.wait([traffic])
    process.kill()
    await asyncio.to_thread(process.join)
    ends.cut()


async def hear(ends: Ends, book: Book, until: Callable[[], bool]) -> None:
    while not until():
        book.came(await ends.receive())


async def talk(life: int, ends: Ends, book: Book, dice: random.Random) -> None:
    """Messages and acks, until the other side is gone."""
    with contextlib.suppress(HungUp):
        for turn in range(10_000):
            names = [f"{life}.{turn}.{n}" for n in range(dice.randint(1, 20))]
            await ends.send(names)
            book.promise(names)
            await hear(ends, book, until=lambda names=names: set(names) <= book.seen)  # type: ignore[misc]
            await ack(ends, book, [name for name in sorted(book.seen & book.owed) if dice.random() < 0.6])


async def ack(ends: Ends, book: Book, names: list[str]) -> None:
    for name in names:
        book.acks(name)
    await ends.ack(names)
    book.acked(names)


def started(serve: Serve, folder: Path) -> tuple[Any, Any]:
    """A process of its own, and where it listens. Forked off one that has the modules: a start is not what is tried here."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([serve.__module__])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(serve, folder, theirs), daemon=True)
    process.start()
    theirs.close()
    if not ours.poll(START_S):
        raise SystemExit("the server does not start on what its last life left")
    return process, ours.recv()


def run(serve: Serve, folder: Path, tell: Connection) -> None:
    serve(folder, tell.send)


SERVERS: dict[str, tuple[Serve, Callable[[], Ends]]] = {
    "peerbus": (serve_broker, PeerbusEnds),
    "trueseal": (serve_relay, TrueSealEnds),
}

if __name__ == "__main__":
    main()
