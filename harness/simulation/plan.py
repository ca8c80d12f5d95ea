"""A plan: all that a world is made of and all that happens in it. The same plan is the same history, to the last message."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.files import write_whole


class Event(msgspec.Struct, frozen=True):
    """One thing that somebody wants or that befalls somebody; who is not there is not asked."""

    at: float
    what: str
    whom: tuple[int, ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Servers, links and peers are numbers; a peer is at a server. `events` say the rest."""

    protocol: str
    seed: int
    shape: str
    servers: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    peers: tuple[tuple[int, int], ...]
    events: tuple[Event, ...]
    settings: dict[str, int]  # of each server, such as a TTL
    loss: float = 0.0  # the share of messages whose loss ends a connection: a stream does not lose just one
    jitter: float = 0.0  # by how much of itself a link's delay varies
    faulty: str = ""  # the mutant that all servers are

    def told(self) -> str:
        return (
            f"{self.shape} of {len(self.servers)} servers, {len(self.links)} links, {len(self.peers)} peers, "
            f"{len(self.events)} events"
        )


@dataclass(frozen=True)
class Breach:
    """An invariant that did not hold."""

    invariant: str
    what: str


class Broken(Exception):
    """A world stops where it is broken first."""

    def __init__(self, invariant: str, what: str) -> None:
        super().__init__(f"{invariant}: {what}")
        self.breach = Breach(invariant, what)


@dataclass(frozen=True)
class Outcome:
    """How a world went: what was broken, how much was read in it, what was said at last, and the calls that were made."""

    breach: Breach | None
    turns: int
    history: Sequence[str]
    calls: Sequence[Any] = ()


@dataclass(frozen=True)
class Row:
    """What lookups buy with one TTL and fanout: shares from 0 to 1, and messages between servers for one lookup."""

    ttl: int
    fanout: int
    lookups: int
    reached: float
    found: float
    messages: float
    most_messages: int
    answered_s: float  # until FOUND, of those that were


@dataclass(frozen=True)
class Simulation:
    """What a protocol offers: worlds to break, a large one to measure in, and how a plan is run."""

    run: Callable[[Plan], Outcome]
    draw: Callable[[int], Plan]  # a small world from a seed
    large: Callable[..., Plan]
    rows: Callable[[Plan, Outcome], list[Row]]


def simulation(protocol: str) -> Simulation:
    try:
        module = importlib.import_module(f"suites.{protocol}.simulation")
    except ModuleNotFoundError as missing:
        if missing.name not in (f"suites.{protocol}.simulation", f"suites.{protocol}"):
            raise
        raise UsageError(f"there is no simulation of {protocol!r}; there is one of frog") from None
    found: Simulation = module.SIMULATION
    return found


class Kept(msgspec.Struct, frozen=True):
    """A plan in a file, with what it broke."""

    plan: Plan
    broke: str


def keep(plan: Plan, broke: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(Kept(plan, broke))) + b"\n")


def kept(path: Path) -> Kept:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): name a file that `simulate` has written") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is no plan of a simulation: {error}") from None
