"""FROG servers by the hundred on virtual time: the reference's own machine and player each, joined by pipes in place of sockets.

Everything goes through the machines' own transitions, handshakes of sisters and registrations of peers included. What is
left out: bytes (frames are passed as they are) and cryptography (`Unsigned`).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from harness.simulation.agenda import Agenda
from harness.simulation.graphs import neighbours
from harness.simulation.plan import Broken, Plan
from reference_impl.core import Player, Turn
from reference_impl.frog.frames import Hangup, Heard, Opened
from reference_impl.frog.host import NETWORK, Dial, DialFailed, Dialled
from reference_impl.frog.identity import Identities, Proof
from reference_impl.frog.known import Backoff
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.sisters import Mesh, Seed

DELAY_S = 0.02
"""Of one message on one link."""
BOUNDED, CRASH = "bounded", "crash"
SPARE, PER_PEER, PER_SERVER = 20_000, 20, 60
"""Inputs that a whole world may read, generously: for each event so many on each server."""
SHOWN = 400
"""Messages that a history keeps: the last ones."""


class Unsigned(Identities):
    """A key is its own name, and a signature is what was signed: cheap, and as true as its text."""

    def sign(self, seed: bytes, proof: Proof) -> tuple[str, str]:
        return seed.decode(), self.text(proof).decode()

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        return public_key == proof.id and signature == self.text(proof).decode()


def server_id(server: int) -> str:
    return f"S{server:025}"


def server_of(id: str) -> int:
    return int(id[1:])


def uri_of(server: int) -> str:
    return f"wss://s{server}.example.org/"


@dataclass
class Pipe:
    """A connection between two servers; messages keep their order, and it ends for both."""

    ends: tuple[tuple[int, int], tuple[int, int]]
    open: bool = True
    busy_until: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def other(self, server: int, channel: int) -> tuple[int, int]:
        return self.ends[1] if self.ends[0] == (server, channel) else self.ends[0]


class Servers:
    """The servers of a plan and what passes between them. Who watches overrides the methods at the end."""

    def __init__(self, plan: Plan, machine: type[ServerMachine]) -> None:
        self.plan, self.machine, self.agenda, self.random = plan, machine, Agenda(), Random(plan.seed)
        self.near = neighbours(plan.links)
        self.settings = dict(plan.settings)
        self.turns, self._most = (
            0,
            SPARE + PER_PEER * len(plan.peers) + PER_SERVER * len(plan.servers) * len(plan.events),
        )
        self.said: deque[tuple[float, str, str, Any]] = deque(maxlen=SHOWN)
        self._channels = itertools.count(1)
        self._pipes: dict[tuple[int, int], Pipe] = {}
        self._due: dict[int, float] = {}
        self.players: dict[int, Player[Any]] = {}
        for server in plan.servers:
            self.start(server)

    @property
    def now(self) -> float:
        return self.agenda.now

    def start(self, server: int) -> None:
        """Of two sisters the one with the greater number dials, and both allow it."""
        seeds = tuple(Seed(uri_of(n), server_id(n)) for n in sorted(self.near[server]) if n < server)
        allowed = frozenset(server_id(n) for n in self.near[server])
        mesh = replace(Mesh(seeds, allowed, redial=Backoff(0.2, 2.0)), **self.settings)  # type: ignore[arg-type]
        config = Config(server_id(server), uri_of(server), key=server_id(server).encode(), mesh=mesh)
        self.players[server] = Player(self.machine(config, Unsigned()), entropy=self.random.randbytes, now=self.now)
        self._due.pop(server, None)
        self.heed(server)

    def tune(self, **settings: int) -> None:
        """All servers heed these from now on."""
        self.settings |= settings
        for player in self.players.values():
            machine = player.machine
            assert isinstance(machine, ServerMachine)
            machine.config = replace(machine.config, mesh=replace(machine.config.mesh, **settings))  # type: ignore[arg-type]

    # -- turns ----------------------------------------------------------------------------------------------------------

    def turn(self, server: int, channel: Any, what: Any) -> None:
        """One input of one server, and whatever it says to it."""
        said = self.obeyed(server, what, lambda player: player.receive(channel, Heard(what, self.now)))
        self.perform(server, channel, what, said.frames)

    def obeyed(self, server: int, what: Any, act: Callable[[Player[Any]], Turn]) -> Turn:
        self.count()
        try:
            return act(self.players[server])
        except Exception as error:
            raise Broken(CRASH, f"server {server} cannot read {what}: {error!r}") from error

    def count(self) -> None:
        self.turns += 1
        if self.turns > self._most:
            raise Broken(BOUNDED, f"{self.turns} inputs were read, and there is no end")

    def perform(self, server: int, channel: Any, cause: Any, frames: tuple[tuple[Any, Any], ...]) -> None:
        for receiver, frame in frames:
            if receiver == NETWORK:
                self.dial(server, frame)
            elif pipe := self._pipes.get((server, receiver)):
                other = pipe.other(server, receiver)[0]
                self.passing(server, other, frame, channel, cause)
                self.send(pipe, server, receiver, frame)
            else:
                self.told(server, receiver, frame)
        self.heed(server)

    def heed(self, server: int) -> None:
        """The next deadline of its machine."""
        due = self.players[server].deadline
        if due is not None and due < self._due.get(server, float("inf")):
            self._due[server] = due
            self.agenda.put(due, self.wake, server, due)

    def wake(self, server: int, due: float) -> None:
        if self._due.get(server) == due:
            del self._due[server]
            said = self.obeyed(server, "the time", lambda player: player.tick(self.now))
            self.perform(server, None, None, said.frames)

    # -- pipes ----------------------------------------------------------------------------------------------------------

    def dial(self, server: int, dial: Dial) -> None:
        other = next((n for n in self.near[server] if uri_of(n) == dial.uri and n in self.players), None)
        if other is None:
            self.agenda.put(self.now, self.turn, server, NETWORK, DialFailed(dial.uri))
        else:
            self.agenda.put(self.now + DELAY_S, self.connect, server, other, dial.uri)

    def connect(self, server: int, other: int, uri: str) -> None:
        here, there = (server, next(self._channels)), (other, next(self._channels))
        self._pipes[here] = self._pipes[there] = Pipe((here, there))
        self.turn(*there, Opened())
        self.turn(*here, Dialled(uri))

    def send(self, pipe: Pipe, server: int, channel: int, frame: Any) -> None:
        if isinstance(frame, Hangup) or (self.plan.loss and self.random.random() < self.plan.loss):
            self.agenda.put(self.now, self.cut, pipe)
            return
        side = pipe.ends.index((server, channel))
        at = self.now + DELAY_S * (1 + self.plan.jitter * self.random.random())
        pipe.busy_until[side] = at = max(at, pipe.busy_until[side])
        self.agenda.put(at, self.deliver, pipe, pipe.ends[1 - side], frame)

    def deliver(self, pipe: Pipe, end: tuple[int, int], frame: Any) -> None:
        if pipe.open:
            self.turn(*end, frame)

    def cut(self, pipe: Pipe) -> None:
        """What was on its way is lost with it."""
        if pipe.open:
            pipe.open = False
            self.disturbed(*(server for server, _ in pipe.ends))
            for end in pipe.ends:
                del self._pipes[end]
                self.turn(*end, Hangup())

    def cut_between(self, one: int, two: int) -> None:
        for pipe in [pipe for pipe in self._pipes.values() if {server for server, _ in pipe.ends} == {one, two}]:
            self.cut(pipe)

    def restart(self, server: int) -> None:
        """It is gone with all it knew, and there again."""
        for pipe in [pipe for end, pipe in self._pipes.items() if end[0] == server]:
            self.cut(pipe)
        self.start(server)

    def beyond(self, server: int, channel: Any) -> int | None:
        """Which server is at the other end; None for a client."""
        pipe = self._pipes.get((server, channel))
        return pipe.other(server, channel)[0] if pipe else None

    def line(self) -> int:
        """A new connection of a client."""
        return next(self._channels)

    # -- for who watches ------------------------------------------------------------------------------------------------

    def passing(self, server: int, other: int, frame: Any, channel: Any, cause: Any) -> None:
        """A server says something to its sister, because of what it read on that channel."""

    def told(self, server: int, channel: Any, frame: Any) -> None:
        """A server says something to a client."""

    def disturbed(self, one: int, two: int) -> None:
        """The connection between these is over."""
