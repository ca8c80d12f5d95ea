"""The relay as a world to tour: two devices with keys that are much alike, whoever pushes to them, and all that may go wrong.

Of what has spellings a letter says another one each time, so that a walk says them all in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from harness.touring.tours import Tours
from harness.touring.world import Crash, Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import Hangup, PushOpened, ReceiveOpened
from reference_impl.trueseal.relay import RelayMachine, State
from suites.trueseal import wire
from suites.trueseal.relay.inputs import ANN, BOB, MISSHAPEN, NEIGHBOURS, NO_FRAME, ODD, UNKNOWN, envelope, pushes
from suites.trueseal.relay.under_test import LOWERED, Device


@dataclass(frozen=True)
class RelayWorld(World[State]):
    """Who is connected, and what was said so far."""

    limit: int = LOWERED
    large_frames: bool = True
    lines: Map[int, bytes | None] = Map()  # session -> its device, none for who pushes
    opened: int = 0
    pushed: int = 0
    odd: int = 0  # how often something odd was said: the next one is another
    acked: int = 0  # the id that was acked last
    before: int = 0  # blobs up to this number are from before the last crash

    def abstract(self) -> Hashable:
        """Ann's sessions, what waits for her (none, one, more), and whether some of it is older than a crash."""
        return len(self.sessions(ANN)), min(2, len(self.waiting(ANN))), self.restored

    def label(self) -> str:
        waiting = min(2, len(self.waiting(ANN)))
        marks = [f"{waiting}waiting" if waiting else "", "restored" if self.restored else ""]
        return ".".join(filter(None, [f"{len(self.sessions(ANN))}here", *marks]))

    def waiting(self, device: Device) -> list[tuple[int, int | None]]:
        """Number and id of each blob, as they came."""
        return [(number, id) for number, id, _ in self.state.durable.inbox(device.public).envelopes()]

    def ids(self, device: Device) -> list[int]:
        return [id for _, id in self.waiting(device) if id is not None]

    @property
    def restored(self) -> bool:
        return any(number <= self.before for number, _ in self.waiting(ANN))

    def sessions(self, device: Device | None) -> list[int]:
        key = device.public if device else None
        return sorted(line for line, whose in self.lines.items() if whose == key)

    @property
    def turn(self) -> int:
        """Which spelling is next: a walk begins with another one wherever it has been before."""
        return 5 * self.odd + self.opened + self.pushed

    def heard(self, channel: Channel, frame: object) -> RelayWorld:
        return self.without(channel) if isinstance(frame, Hangup) else self

    def without(self, channel: Any) -> RelayWorld:
        return replace(self, lines=self.lines.delete(channel)) if channel in self.lines else self

    def crashed(self) -> RelayWorld:
        return replace(self, lines=Map(), before=self.state.durable.next - 1)

    def step(self, said: Say) -> Step[State]:
        if not isinstance(said.event, bytes):
            return super().step(said)
        event = Codec(self.large_frames).reader().read(said.event)
        return Step(self.state) if event is None else super().step(replace(said, event=event))


Said = tuple[Sequence[Stimulus], RelayWorld]
Saying = Callable[[RelayWorld], Said]
Possible = Callable[[RelayWorld], bool]


# -- sessions ----------------------------------------------------------------------------------------------------------


def opening(world: RelayWorld, device: Device | None) -> tuple[list[Stimulus], RelayWorld]:
    line, key = world.opened + 1, device.public if device else None
    event = ReceiveOpened(key) if key else PushOpened()
    return [Say(line, event)], replace(world, opened=line, lines=world.lines.set(line, key))


def connect(device: Device) -> Saying:
    return lambda world: opening(world, device)


def pushing(world: RelayWorld) -> tuple[list[Stimulus], RelayWorld, int]:
    """One of two Push Sessions, by turns; it is opened if it is not there."""
    lines = world.sessions(None)
    if len(lines) == 2:
        return [], world, lines[world.pushed % 2]
    stimuli, world = opening(world, None)
    return stimuli, world, world.opened


def leave(device: Device) -> Saying:
    """Politely and not, the newest session or the oldest, by turns."""

    def saying(world: RelayWorld) -> Said:
        line = world.sessions(device)[-(world.turn % 2)]
        return [Say(line, Hangup())], world.without(line)

    return saying


def come_or_go(world: RelayWorld) -> Said:
    return (leave(BOB) if world.sessions(BOB) else connect(BOB))(count(world))


def crash(world: RelayWorld) -> Said:
    return [Crash()], world


# -- pushing -----------------------------------------------------------------------------------------------------------


def spelled(world: RelayWorld, n: int = 0) -> bytes:
    return envelope(world.pushed + n, min(world.limit, LOWERED))


def push(world: RelayWorld) -> Said:
    """To ann alone, or to others in the same breath."""
    return together(world, ((ANN.public,), (BOB.public, ANN.public, neighbour(world)))[world.turn % 2])


def push_elsewhere(world: RelayWorld) -> Said:
    """To bob, or to nobody who is easily taken for ann."""
    return together(count(world), ((BOB.public,), (neighbour(world),), (neighbour(world), BOB.public))[world.turn % 3])


def neighbour(world: RelayWorld) -> bytes:
    return NEIGHBOURS[world.turn // 3 % len(NEIGHBOURS)]


def together(world: RelayWorld, keys: Sequence[bytes]) -> Said:
    """With a Heartbeat behind the first."""
    stimuli, after, line = pushing(world)
    first, *others = (wire.push(key, spelled(world, n)) for n, key in enumerate(keys))
    said = [first, wire.BEAT, *others] if others else [first]
    return [*stimuli, *(Say(line, message) for message in said)], replace(after, pushed=world.pushed + len(keys))


def rejected(world: RelayWorld) -> bytes:
    """A Push of too few bytes or too many."""
    sizes = (31, 0, 1, 31, 8, 16)
    if world.limit == LOWERED and world.turn % 3 == 0:
        return wire.push(ANN.public, (b"%d|" % world.turn + bytes(2 * LOWERED))[: LOWERED + 1 + world.turn % 2 * 500])
    return wire.frame(wire.PUSH, ANN.public[: sizes[world.turn % len(sizes)]])


def reject(world: RelayWorld) -> Said:
    """One or two, with others around them. A relay may end the session: an Ack for the last shows that it did not."""
    stimuli, after, line = pushing(world)
    others = [wire.push(BOB.public, spelled(world, n)) for n in range(1 + world.turn % 2)]
    bad = [rejected(world), *[rejected(count(world))] * (world.odd % 2)]
    said = [*others[1:], *bad, others[0]]
    return [*stimuli, *(Say(line, message) for message in said)], count(after, pushed=len(others))


def count(world: RelayWorld, pushed: int = 0) -> RelayWorld:
    return replace(world, odd=world.odd + 1, pushed=world.pushed + pushed)


# -- acks --------------------------------------------------------------------------------------------------------------


def ack(world: RelayWorld) -> Said:
    """The oldest or the newest, in the newest session or the oldest."""
    id, line = world.ids(ANN)[-(world.turn % 2)], world.sessions(ANN)[-(world.odd % 2)]
    return [Say(line, wire.deliver_ack(id))], count(replace(world, acked=id))


def ack_all(world: RelayWorld) -> Said:
    """The newest first, and a Heartbeat between."""
    first, *others = world.ids(ANN)[::-1]
    said = (wire.deliver_ack(first), wire.BEAT, *map(wire.deliver_ack, others))
    line = world.sessions(ANN)[-1]
    return [Say(line, message) for message in said], count(replace(world, acked=first))


def ack_wrongly(world: RelayWorld) -> Said:
    """Ids that are not ann's, bodies that are no id, or bob's acks of what is hers."""
    if world.sessions(BOB) and world.waiting(ANN) and world.odd % 2:
        return ack_for_another(world)
    return (ack_stray, ack_misshapen)[world.turn % 2 and bool(world.ids(ANN))](world)


STRAY: tuple[Callable[[RelayWorld], int], ...] = (
    lambda w: w.acked,
    lambda w: next(iter(w.ids(ANN)), 1) + 2**32,
    lambda w: next(iter(w.ids(BOB)), 0),
    lambda w: next(iter(w.ids(ANN)), 1) + 2**63,
    lambda w: 0,
    lambda w: max(w.ids(ANN), default=7) + 256,
    lambda w: 2**64 - 1,
    lambda w: int.from_bytes(next(iter(w.ids(ANN)), 1).to_bytes(8, "big"), "little"),
)
"""Ids that nothing of ann's has, or not any more."""


def ack_stray(world: RelayWorld) -> Said:
    id = STRAY[world.turn // 2 % len(STRAY)](world) % 2**64
    known = id in world.ids(ANN)  # a number may be its own mirror image
    return [Say(world.sessions(ANN)[-1], wire.deliver_ack(world.acked if known else id))], count(world)


def ack_for_another(world: RelayWorld) -> Said:
    """Bob acks all that waits for ann, shown to her or not."""
    line, mine = world.sessions(BOB)[0], set(world.ids(BOB))
    ids = {id or number for number, id in world.waiting(ANN)} - mine
    return [Say(line, wire.deliver_ack(id)) for id in sorted(ids)], count(world)


def ack_misshapen(world: RelayWorld) -> Said:
    """She leaves behind it, and comes again: nothing may be gone."""
    line, ids = world.sessions(ANN)[-1], [id.to_bytes(8, "big") for id in world.ids(ANN)]
    body = MISSHAPEN[world.turn // 2 % len(MISSHAPEN)](ids[0], ids[-1])
    stimuli, after = opening(world.without(line), ANN)
    said = [Say(line, wire.frame(wire.DELIVER_ACK, body)), Say(line, wire.BEAT), Say(line, Hangup())]
    return [*said, *stimuli], count(after)


# -- what is odd: each time the next of them ---------------------------------------------------------------------------


def odd(world: RelayWorld, line: int, frames: Sequence[bytes]) -> tuple[list[Stimulus], RelayWorld]:
    """The session is over behind it: a relay with Heartbeats of its own does not show whether it goes on."""
    n = world.turn // 3 + 3 * world.opened
    match world.turn % 3:
        case 0:
            return [Say(line, UNKNOWN[n % len(UNKNOWN)]), Say(line, wire.BEAT)], count(world)
        case 1:
            said: tuple[bytes, ...] = (frames[n % len(frames)], wire.BEAT)
        case _:
            said = (NO_FRAME[n % len(NO_FRAME)],)
    return [*(Say(line, message) for message in said), Say(line, Hangup())], count(world.without(line))


def odd_pushing(world: RelayWorld) -> Said:
    stimuli, after, line = pushing(world)
    acks = [wire.deliver_ack(id) for id in world.ids(ANN)]
    said, after = odd(after, line, [*ODD, wire.frame(wire.DELIVER_ACK, b"x"), wire.BEAT, *acks])
    return [*stimuli, *said], after


def odd_receiving(world: RelayWorld) -> Said:
    return odd(world, world.sessions(ANN)[-1], [*pushes(world.turn), *ODD])


# -- the alphabet ------------------------------------------------------------------------------------------------------


def in_turn(one: Saying, other: Saying) -> Saying:
    return lambda world: (one, other)[world.odd % 2](world)


def ever(world: RelayWorld) -> bool:
    return True


def here(world: RelayWorld) -> bool:
    return bool(world.sessions(ANN))


def shown(count: int) -> Possible:
    """She is here, and so many that she was sent are not acked."""
    return lambda world: here(world) and len(world.ids(ANN)) >= count


def at_stake(world: RelayWorld) -> bool:
    """Something is stored that was not restored already."""
    return bool(world.waiting(ANN)) and not world.restored


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "ann connects": (lambda world: len(world.sessions(ANN)) < 2, connect(ANN)),
    "push to ann": (lambda world: len(world.waiting(ANN)) < 2, push),
    "something goes on elsewhere": (ever, in_turn(come_or_go, push_elsewhere)),
    "something wrong is pushed": (ever, in_turn(reject, odd_pushing)),
    "ann acks one": (shown(1), ack),
    "ann acks all": (shown(2), ack_all),
    "ann acks wrongly": (here, ack_wrongly),
    "ann says something odd": (here, odd_receiving),
    "ann leaves": (here, leave(ANN)),
    "crash": (at_stake, crash),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    Letter("crash at the end", ever, crash),
    *(
        LETTERS["ann connects"],
        Letter("bob connects", ever, come_or_go),
        LETTERS["push to ann"],
        LETTERS["ann acks one"],
    ),
    Letter("one more crash", ever, crash),
    *(LETTERS["ann connects"], Letter("bob connects again", ever, come_or_go), LETTERS["push to ann"]),
)
"""What was stored and what was deleted, for whom: all of it comes, and nothing else does."""

TOURS = Tours(
    RelayWorld(RelayMachine(LOWERED), State()),
    tuple(LETTERS.values()),
    ENDING,
    depth=10,
    length=60,
    foul=("something wrong is pushed", "ann acks wrongly", "ann says something odd"),
    left_out={
        "frames of several Noise messages": "they cost a hundred others each; `size` has them",
        "a crash with nothing new to lose": "a process that is started again costs most of a tour; each walk ends with two",
        "several sessions speak at once": "walks are one after the other; `sessions` and `push` have the races",
        "handshakes that fail": "no session comes of them; `sessions` has them",
        "a store that fails": "it ends all sessions; `durability` has it",
        "a Push with bytes behind it": "a relay may take it or not (TS-FRM-08), which shows later; `framing` has it",
    },
)
