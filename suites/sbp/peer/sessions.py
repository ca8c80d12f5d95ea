"""Several sessions of one peer as one machine: what is said on one says nothing on another.

A session is `(name, end)` with the ends of the peer's own machine, the wire and the host. What we say on a wire is what crosses
it: bytes, or a text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from immutables import Map

from reference_impl.core import Channel, Expectation, Machine, Step
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Input, Opened, Oversize, Text
from reference_impl.sbp.peer import HOST, WIRE, Config, PeerMachine, PeerStep, State

codec = Codec()


@dataclass(frozen=True, slots=True)
class Meeting:
    """A transport comes up: who we are on it, and how the peer was set up."""

    ours: str
    config: Config


@dataclass(frozen=True, slots=True)
class Held:
    """One session."""

    config: Config
    state: State


Sessions = Map[str, Held]
SessionsStep = Step[Sessions]


def as_input(message: str | bytes, limit: int) -> Input:
    """A message of the carrier as the machine knows it."""
    if isinstance(message, str):
        return Text(message)
    return Oversize(len(message), message[2:18]) if len(message) > limit else codec.decode(message)


class SessionsMachine(Machine[Sessions]):
    """Every session under the rules of the peer's machine. Who meets again under a name has forgotten the last session."""

    def __init__(self, machine: Callable[[Config], PeerMachine] = PeerMachine) -> None:
        self.peer = functools.cache(machine)

    def initial(self) -> Sessions:
        return Map()

    def receive(self, state: Sessions, channel: Channel, event: object) -> SessionsStep:
        name, end = named(channel)
        if isinstance(event, Meeting):
            step = self._step(state.set(name, Held(event.config, State())), name, end, Opened())
            return replace(step, voids=frozenset([(name, WIRE), (name, HOST)]))
        return self._step(state, name, end, event)

    def _step(self, state: Sessions, name: str, end: str, event: object) -> SessionsStep:
        held = state[name]
        step = self.peer(held.config).receive(held.state, end, self._read(held, event))
        return self._as_ours(state, name, step)

    def alternatives(self, state: Sessions, channel: Channel, event: object) -> tuple[SessionsStep, ...]:
        name, end = named(channel)
        if isinstance(event, Meeting):
            return ()
        held = state[name]
        steps = self.peer(held.config).alternatives(held.state, end, self._read(held, event))
        return tuple(self._as_ours(state, name, step) for step in steps)

    def spoke(self, state: Sessions, expectation: Expectation, frame: object) -> Sessions:
        name, end = named(expectation.channel)
        held = state[name]
        said = self.peer(held.config).spoke(held.state, replace(expectation, channel=end), frame)
        return state.set(name, replace(held, state=said))

    def _read(self, held: Held, event: object) -> object:
        return as_input(event, held.config.limit) if isinstance(event, str | bytes) else event

    def _as_ours(self, state: Sessions, name: str, step: PeerStep) -> SessionsStep:
        return Step(
            state.set(name, replace(state[name], state=step.state)),
            tuple(replace(debt, channel=(name, debt.channel)) for debt in step.owes),
            voids=frozenset((name, end) for end in step.voids),
            lapses=frozenset((name, end) for end in step.lapses),
            clauses=step.clauses,
        )


def named(channel: Channel) -> tuple[str, str]:
    """The session's name, and which end of it."""
    assert isinstance(channel, tuple), "a channel of several sessions says which"
    name, end = channel
    return name, end
