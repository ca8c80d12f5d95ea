"""Faults and the profiles that draw them. Every choice comes from the seed, whoever is paired."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from harness.matrix.pairing import CLIENT, SERVER, Pairing, Scenario

NONE = "none"

SLOW, CUT, AWAY = "slow", "cut", "away"  # of streams
LOSS, TWICE, REORDER, FLIP = "loss", "twice", "reorder", "flip"  # of datagrams
KILL_CLIENT, KILL_SERVER = "kill-client", "kill-server"  # of machines
PAUSE_CLIENT, PAUSE_SERVER = "pause-client", "pause-server"

STREAMS, DATAGRAMS = (SLOW, CUT, AWAY), (LOSS, TWICE, REORDER, FLIP)
KILLS, PAUSES = (KILL_CLIENT, KILL_SERVER), (PAUSE_CLIENT, PAUSE_SERVER)

WHOLE = frozenset({NONE, SLOW, *PAUSES})
"""Profiles that delay and lose nothing: everything is promised that is promised without faults."""

EARLY = 1_500
"""Bytes within which streams are disturbed: an opening handshake, and the first frames behind it."""

LATE_S = (0.002, 0.02)
STALL_S = (0.1, 0.3)
AWAY_S = (0.1, 0.4)
PAUSE_S = (0.1, 0.3)
"""Seconds, all of them shorter than any timeout of an implementation that is fit for use."""

LOST = 0.2
"""The share of datagrams that `loss` takes."""

MOST_DATAGRAMS = 60


@dataclass(frozen=True)
class Fault:
    """One thing that is done to a line or a machine, at one place."""

    what: str  # delay, dribble, stall, cut; lose, twice, swap, flip; kill, pause
    where: str  # a proxied line, or a seat
    at: int  # a byte of the connection, a datagram's number, or a step of the scenario
    connection: int = 0
    way: str = "up"  # from the client, or `down`
    amount: float = 0.0  # seconds; for `cut` how long nobody is let in again
    how: str = ""  # cut: rst or fin

    def __str__(self) -> str:
        place = {"kill": "step", "pause": "step", "lose": "datagram", "twice": "datagram"}.get(self.what, "")
        place = place or (
            "datagram" if self.what in ("swap", "flip") else f"connection {self.connection} {self.way}, byte"
        )
        more = [self.how.upper()] if self.how else []
        more += [f"{self.amount:.3f} s"] if self.amount else []
        return " ".join([self.what, self.where, place, str(self.at), *more])


Schedule = tuple[Fault, ...]


def drawn(profile: str, pairing: Pairing, scenario: Scenario, case: str, seed: int, repetition: int) -> Schedule:
    """The faults of a cell. Who is paired does not count: with the reference in their place the same things happen."""
    if profile == NONE:
        return ()
    dice = random.Random(f"{case} {profile} {repetition} {seed}")
    return tuple(DRAW[profile](dice, pairing, scenario))


def _slow(dice: random.Random, pairing: Pairing, scenario: Scenario) -> list[Fault]:
    return [fault for line in pairing.lines for fault in slowed(dice, line, 1)]


def slowed(dice: random.Random, line: str, connections: int) -> list[Fault]:
    """Something late on most ways of each connection, and nothing lost."""

    def one(connection: int, way: str) -> Fault:
        what, at = dice.choice(("delay", "dribble", "stall")), dice.randrange(EARLY)
        return Fault(what, line, at, connection, way, round(dice.uniform(*(STALL_S if what == "stall" else LATE_S)), 4))

    return [one(number, way) for number in range(connections) for way in ("up", "down") if dice.random() < 0.7]


def _cut(dice: random.Random, pairing: Pairing, scenario: Scenario) -> list[Fault]:
    lines = [line for line in pairing.lines if dice.random() < 0.6] or [dice.choice(list(pairing.lines))]
    return [
        Fault("cut", line, dice.randrange(EARLY), number, dice.choice(("up", "down")), 0.0, dice.choice(("rst", "fin")))
        for line in lines
        for number in range(dice.randint(1, 2))
    ]


def _away(dice: random.Random, pairing: Pairing, scenario: Scenario) -> list[Fault]:
    line, way = dice.choice(list(pairing.lines)), dice.choice(("up", "down"))
    away_s = round(dice.uniform(*AWAY_S), 3)
    return [Fault("cut", line, dice.randrange(EARLY), 0, way, away_s, dice.choice(("rst", "fin")))]


def _each_datagram(what: str, share: float) -> Callable[[random.Random, Pairing, Scenario], list[Fault]]:
    def draw(dice: random.Random, pairing: Pairing, scenario: Scenario) -> list[Fault]:
        numbers = [number for number in range(MOST_DATAGRAMS) if dice.random() < share]
        return [Fault(what, pairing.lines[0], number, dice.randrange(1 << 20)) for number in numbers]

    return draw


def _machine(what: str, side: str) -> Callable[[random.Random, Pairing, Scenario], list[Fault]]:
    def draw(dice: random.Random, pairing: Pairing, scenario: Scenario) -> list[Fault]:
        seat, at = dice.choice(list(pairing.seats_of(side))), dice.randint(1, scenario.steps)
        if what == "pause":
            return [Fault(what, seat, at, amount=round(dice.uniform(*PAUSE_S), 3))]
        more = [step for step in range(1, scenario.steps + 1) if step != at and dice.random() < 0.5]
        return [Fault(what, seat, step) for step in sorted([at, *more])]

    return draw


DRAW: dict[str, Callable[[random.Random, Pairing, Scenario], list[Fault]]] = {
    SLOW: _slow,
    CUT: _cut,
    AWAY: _away,
    LOSS: _each_datagram("lose", LOST),
    TWICE: _each_datagram("twice", 0.5),
    REORDER: _each_datagram("swap", 0.4),
    FLIP: _each_datagram("flip", 0.4),
    KILL_CLIENT: _machine("kill", CLIENT),
    KILL_SERVER: _machine("kill", SERVER),
    PAUSE_CLIENT: _machine("pause", CLIENT),
    PAUSE_SERVER: _machine("pause", SERVER),
}


def shorter(schedule: Schedule) -> list[Schedule]:
    """The schedules with one fault less; the shortest of all has none."""
    return [schedule[:place] + schedule[place + 1 :] for place in range(len(schedule))]
