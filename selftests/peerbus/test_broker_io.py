"""The broker on real sockets: one commit for many messages, peers that do not read or never register, a store that fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reference_impl.io.carrier import HungUp
from reference_impl.io.websocket import WebSocket, dial
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker, Line
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Ack, Close, Deliver, Envelope, Frame, Peers, Register
from selftests.io.ends import end_of, soon

codec = Codec()
TOKEN = "a token"


class Peer:
    """Our end of one connection."""

    def __init__(self, carrier: WebSocket) -> None:
        self.carrier = carrier

    async def say(self, frame: Frame) -> None:
        await self.carrier.send(codec.encode(frame).decode())

    async def next(self) -> Any:
        message = await soon(self.carrier.receive())
        assert isinstance(message, str)
        return codec.decode(message.encode())

    async def gets(self, ids: Sequence[str]) -> None:
        """These and in this order; answers to questions may come between them."""
        got: list[str] = []
        while len(got) < len(ids):
            if isinstance(frame := await self.next(), Deliver):
                got.append(frame.envelope.id)
        assert got == list(ids)

    async def is_hung_up_on(self) -> int:
        return (await end_of(self.carrier)).code


@asynccontextmanager
async def running(state_dir: Path, kind: type[Broker] = Broker) -> AsyncIterator[Broker]:
    broker = kind(BrokerMachine(frozenset([TOKEN])), state_dir)
    await broker.start()
    try:
        yield broker
    finally:
        await broker.stop()


async def connected(broker: Broker) -> Peer:
    return Peer(await dial(f"ws://127.0.0.1:{broker._listener.port}"))


async def registered(broker: Broker, name: str) -> Peer:
    peer = await connected(broker)
    await peer.say(Register(TOKEN, name))
    assert isinstance(await peer.next(), Peers)
    return peer


def to(name: str, id: str, body: bytes = b"null") -> Envelope:
    return Envelope(id, "whoever", name, kind="msg", body=body)


class Watched(Broker):
    """Looks at the file, as another process would, whenever it says something of a message."""

    def __init__(self, machine: BrokerMachine, state_dir: Path) -> None:
        super().__init__(machine, state_dir)
        self.commits, self.unkept = 0, 0
        self._file = sqlite3.connect(state_dir / "peerbus.sqlite")
        commit = self.store.commit

        def counted(effects: Any) -> None:
            self.commits += 1
            commit(effects)

        self.store.commit = counted  # type: ignore[method-assign]

    def put(self, line: Line, frame: Frame | Close) -> None:
        if isinstance(frame, Deliver):
            found = self._file.execute("SELECT 1 FROM messages WHERE key = ?", (frame.delivery_key,)).fetchone()
            self.unkept += found is None
        super().put(line, frame)

    async def stop(self) -> None:
        self._file.close()
        await super().stop()


async def test_many_messages_share_a_commit_and_none_is_said_before_it(tmp_path: Path) -> None:
    """PB-3-22 is kept, at the price of few syncs (one for each message was 207 messages/s)."""
    ids = [f"m{n}" for n in range(300)]
    async with running(tmp_path, Watched) as broker:
        assert isinstance(broker, Watched)
        bob, alice = await registered(broker, "bob"), await registered(broker, "alice")
        before = broker.commits
        for id in ids:
            await alice.say(to("bob", id))
        await bob.gets(ids)
        assert broker.unkept == 0
        assert broker.commits - before < len(ids) / 2


async def test_a_peer_that_does_not_read_costs_little_and_gets_everything_when_it_reads_on(tmp_path: Path) -> None:
    """20 MB for one that is deaf: its queue is bounded, memory holds no long body, nothing is lost or out of order."""
    ids = [f"m{n}" for n in range(80)]
    async with running(tmp_path) as broker:
        deaf, alice = await registered(broker, "deaf"), await registered(broker, "alice")
        for id in ids:
            await alice.say(to("deaf", id, b'"%s"' % (id.encode() * 65_536)))
        await alice.say(Peers())
        assert isinstance(await alice.next(), Peers)  # all of it has been read, and made durable
        assert max(line.waiting for line in broker._lines.values()) < broker.most_waiting + 2**20
        held = [m.envelope for m in broker.player.state.durable.pending["deaf"].values()]
        assert len(held) == len(ids)
        assert sum(len(envelope.body) + len(envelope.wire) for envelope in held) == 0
        await deaf.gets(ids)
        await alice.say(to("deaf", "last"))
        await deaf.gets(["last"])


async def test_a_long_backlog_comes_whole_after_a_restart(tmp_path: Path) -> None:
    """More than fits in a queue, long and short: read from the file as the peer reads; what was acked stays away."""
    ids = [f"m{n}" for n in range(40)]
    async with running(tmp_path) as broker:
        await (await registered(broker, "bob")).carrier.close()
        alice = await registered(broker, "alice")
        for n, id in enumerate(ids):
            await alice.say(to("bob", id, b"7" * (50_000 if n % 2 else 1)))
        await alice.say(Peers())
        await alice.next()
    async with running(tmp_path) as broker:
        bob = await registered(broker, "bob")
        await bob.gets(ids)
        await bob.say(Ack(ids[1]))
        await bob.carrier.close()
        bob = await registered(broker, "bob")
        await bob.gets([ids[0], *ids[2:]])


async def test_a_store_that_fails_promises_nothing(tmp_path: Path) -> None:
    """Whoever sent is hung up on; the same message is welcome once the store takes it again."""
    async with running(tmp_path) as broker:
        bob, alice = await registered(broker, "bob"), await registered(broker, "alice")
        broker.store.break_down()
        await alice.say(to("bob", "m"))
        assert await alice.is_hung_up_on() == 1011
        broker.store._db.execute("PRAGMA query_only=OFF")
        alice = await registered(broker, "alice")
        await alice.say(to("bob", "m"))
        await bob.gets(["m"])


async def test_limits_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever never registers is dropped, and whoever comes on top of the last connection is turned away; the rest stays."""
    monkeypatch.setattr(Broker, "register_s", 0.1)
    monkeypatch.setattr(Broker, "most_connections", 2)
    async with running(tmp_path) as broker:
        bob, stranger = await registered(broker, "bob"), await connected(broker)
        assert await (await connected(broker)).is_hung_up_on() == 1013
        assert await stranger.is_hung_up_on() == 1013
        await bob.say(to("bob", "still there"))
        await bob.gets(["still there"])


async def test_one_that_asks_and_does_not_read_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are in no store: their queue ends the connection when it is too long."""
    monkeypatch.setattr(Broker, "most_unread", 2**16)
    async with running(tmp_path) as broker:
        names = [await registered(broker, "x" * 900 + str(n)) for n in range(20)]
        asking = asyncio.create_task(flood(names[0]))
        with pytest.raises(HungUp):
            await soon(asking)
        await names[1].say(to("x" * 900 + "2", "m"))
        await names[2].gets(["m"])


async def flood(peer: Peer) -> None:
    while True:
        await peer.say(Peers())
