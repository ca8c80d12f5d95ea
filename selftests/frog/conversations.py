"""Players of frog's machines with an oracle beside them, and peers with keys of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference_impl.core import Expectation, Level, Machine, NotAllowed, Oracle, Player
from reference_impl.frog.frames import Auth, Heard
from reference_impl.frog.identity import ClientProof, Identities

POLICIES: dict[str, Callable[[Expectation], bool]] = {
    "terse": lambda debt: debt.level is Level.MUST,
    "polite": lambda debt: debt.level is not Level.MAY,
    "eager": lambda debt: True,
}
URI = "wss://rv.example.net/"
identities = Identities()
SERVER_ID = identities.id_of(identities.public_key(bytes(range(32, 64))))


@dataclass(frozen=True)
class Peer:
    """A key in a network."""

    name: str
    network: str = "BLUTELLA"

    @property
    def seed(self) -> bytes:
        return self.name.encode().ljust(32, b".")

    @property
    def key(self) -> str:
        return f"{self.network}:{identities.id_of(identities.public_key(self.seed))}"

    def auth(self, nonce: str, uri: str = URI, server_id: str = SERVER_ID) -> Auth:
        return Auth(*identities.sign(self.seed, ClientProof(nonce, uri, self.key, server_id)))


class Watched:
    """A player and the oracle beside it. What the player says is heard `lag` inputs later, in order."""

    def __init__(self, machine: Machine[Any], policy: str = "polite", lag: int = 0) -> None:
        self.machine, self.lag, self.now = machine, lag, 0.0
        self._entropy = itertools.count(1)
        self.player = Player(machine, entropy=self.bytes, volunteers=POLICIES[policy])
        self.oracle = Oracle(machine)
        self.transcript: list[tuple[str, Any, Any]] = []
        self._unheard: list[tuple[tuple[Any, Any], ...]] = []

    def bytes(self, count: int) -> bytes:
        return (next(self._entropy) * 0x9E3779B97F4A7C15 % 2 ** (8 * count)).to_bytes(count, "big")

    def tell(self, channel: Any, what: Any) -> list[Any]:
        """What the player says to it, whomever it tells."""
        event = Heard(what, self.now)
        self.transcript.append(("stimulus", channel, event))
        self.oracle.stimulus(channel, event)
        said = self.player.receive(channel, event).frames
        self._unheard.append(said)
        self.hear(self.lag)
        return [frame for _, frame in said]

    def wait(self, seconds: float) -> None:
        self.hear()
        self.now += seconds
        self.transcript.append(("tick", self.now, None))
        self.oracle.tick(self.now)
        self._unheard.append(self.player.tick(self.now).frames)
        self.hear()

    def hear(self, keep: int = 0) -> None:
        while len(self._unheard) > keep:
            for channel, frame in self._unheard.pop(0):
                self.transcript.append(("observe", channel, frame))
                self.oracle.observe(channel, frame)

    def settle(self) -> None:
        self.hear()
        self.oracle.quiesce()


def judged(machine: Machine[Any], transcript: list[tuple[str, Any, Any]]) -> tuple[str, str]:
    """The verdict on a stored transcript: which clause is broken, and how."""
    oracle = Oracle(machine)
    try:
        for verb, first, second in transcript:
            getattr(oracle, verb)(*((first,) if verb == "tick" else (first, second)))
        oracle.quiesce()
    except NotAllowed as violation:
        return violation.clause, str(violation)
    return "", ""
