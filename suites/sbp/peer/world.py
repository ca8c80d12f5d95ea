"""A peer with two sessions, as a world to tour: one is toured, again and again; a bystander must notice nothing of it.

An input of each kind is one letter; which of its spellings is said depends on how many letters came before, so that a walk says
them all in turn.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.core import Channel
from reference_impl.sbp.frames import Hangup, Message, Send, SendClose, SendPing
from reference_impl.sbp.peer import HOST, WIRE, Config, Phase
from suites.sbp import wire
from suites.sbp.line import PEER_ID
from suites.sbp.peer import inputs
from suites.sbp.peer.inputs import under
from suites.sbp.peer.sessions import Meeting, Sessions, SessionsMachine

TOURED, BYSTANDER = "toured", "bystander"
FENCE = "app/fence/"
T = TypeVar("T")


def odd_id(n: int) -> bytes:
    """Ids in no order, most of whose bytes are the same; they differ at the front, in the middle or at the end."""
    number = ((n + 1) * 7919 % 65_521).to_bytes(2, "big")
    place, filler = n % 3 * 7, (b"\x00", b"\xff", b"\x20")[n // 3 % 3]
    return filler * place + number + filler * (14 - place)


@dataclass(frozen=True)
class PeerWorld(World[Sessions]):
    """What the target can do, what was said so far, and what the peer sent that could be acknowledged."""

    hosted: bool = True
    receipts: bool = True
    limit: int = 12_288  # more than the longest Handshake
    peer_id: str = PEER_ID
    ours: str = "harness"
    count: int = 0  # letters
    met: int = 0  # toured sessions
    used: bool = False  # has anything followed the Handshake?
    sent: tuple[bytes, ...] = ()  # Messages of the peer that were not acknowledged

    @property
    def phase(self) -> Phase:
        return self.state[TOURED].state.phase if TOURED in self.state else Phase.DOWN

    @property
    def open(self) -> bool:
        return self.phase is Phase.OPEN

    @property
    def receipt(self) -> bool:
        return TOURED in self.state and self.state[TOURED].config.receipt

    def config(self, receipt: bool = False) -> Config:
        return Config(self.peer_id, receipt=receipt, limit=self.limit)

    def abstract(self) -> Hashable:
        """The phase and, while a session lasts, whether it acknowledges, what was said on it, and what the peer waits for."""
        return self.label()

    def label(self) -> str:
        if self.receipt and not is_over(self):
            return f"{self.phase.value}-receipts"
        return f"{self.phase.value}-{self._waits}" if self.open else self.phase.value

    @property
    def _waits(self) -> str:
        if self.state[TOURED].state.pings:
            return "pinged"
        return "sent" if self.sent else "used" if self.used else "fresh"

    def heard(self, channel: Channel, frame: Any) -> Self:
        if channel == (TOURED, WIRE) and isinstance(frame, Message) and not frame.subject.startswith(FENCE):
            return replace(self, sent=(*self.sent, frame.id))
        return self

    # -- what a letter is made of ---------------------------------------------------------------------------------

    def id(self, n: int = 0) -> bytes:
        """The n-th id of this letter."""
        return odd_id(8 * self.count + n)

    def turn(self, spellings: Sequence[T]) -> T:
        """One of them, the next time the next."""
        return spellings[self.count % len(spellings)]

    def message(self, n: int = 0) -> bytes:
        """One of the spellings, the largest that there may be among them."""
        which = (self.count + n) % (len(inputs.MESSAGES) + 1)
        if which == len(inputs.MESSAGES):
            return sized(self, n=n)
        subject, data, ts = inputs.MESSAGES[which]
        return wire.message(subject, data, self.id(n), ts)

    def handshake(self, id: bytes | None = None, **changes: Any) -> bytes:
        return wire.handshake(f"{self.ours}-{self.met}", id or self.id(), **changes)

    def beginning(self) -> list[Say]:
        """How the bystander's session comes about."""
        name = f"{self.ours}-0"
        events = Meeting(name, self.config()), wire.handshake(name, odd_id(0))
        return [Say((BYSTANDER, WIRE), event) for event in events]

    def begun(self) -> Self:
        """With the bystander's session open."""
        return functools.reduce(lambda world, said: world.after(said), self.beginning(), self)


Possible = Callable[[PeerWorld], bool]
Build = Callable[[PeerWorld], Sequence[object]]


def letter(name: str, possible: Possible, build: Build, end: str = WIRE, session: str = TOURED) -> Letter[PeerWorld]:
    """These events, one right behind the other."""

    def says(world: PeerWorld) -> tuple[Sequence[Stimulus], PeerWorld]:
        said = [Say((session, end), event) for event in build(world)]
        used = world.used or (world.open and session == TOURED)
        return said, replace(world, count=world.count + 1, used=used)

    return Letter(name, possible, says)


def meets(name: str, receipt: bool) -> Letter[PeerWorld]:
    def says(world: PeerWorld) -> tuple[Sequence[Stimulus], PeerWorld]:
        after = replace(world, count=world.count + 1, met=world.met + 1, used=False, sent=())
        return [Say((TOURED, WIRE), Meeting(f"{after.ours}-{after.met}", after.config(receipt)))], after

    return Letter(name, lambda world: is_over(world) and (world.receipts or not receipt), says)


def acks(world: PeerWorld) -> tuple[Sequence[Stimulus], PeerWorld]:
    """The newest of what was not acknowledged."""
    *older, newest = world.sent
    said = [Say((TOURED, WIRE), wire.ack(newest, world.id()))]
    return said, replace(world, count=world.count + 1, used=True, sent=tuple(older))


def is_over(world: PeerWorld) -> bool:
    return world.phase in (Phase.DOWN, Phase.OVER)


def greeting(world: PeerWorld) -> bool:
    return world.phase is Phase.GREETING


def is_open(world: PeerWorld) -> bool:
    return world.open


def begun(world: PeerWorld) -> bool:
    return world.open or greeting(world)


def hosted(world: PeerWorld) -> bool:
    return world.open and world.hosted


def plainly(possible: Possible) -> Possible:
    """What has nothing to do with receipts is not tried with them again."""
    return lambda world: possible(world) and not world.receipt


def burst(world: PeerWorld) -> Sequence[bytes]:
    """Several at once: order, and one answer for each."""
    messages = [world.message(n) for n in range(3)]
    first, second, third = messages
    return world.turn([messages, [first, wire.ping(world.id(3)), second, wire.ping(world.id(4)), third]])


def crossing(world: PeerWorld) -> tuple[Sequence[Stimulus], PeerWorld]:
    """Its host asks while the other side is heard: what comes of the one is in no order with what comes of the other."""
    asks = [Say((TOURED, HOST), request) for request in (Send(*world.turn(inputs.SENDS)), SendPing())]
    heard = [Say((TOURED, WIRE), raw) for raw in (wire.ping(world.id()), world.message(1), wire.ping(world.id(2)))]
    said = [heard[0], asks[0], heard[1], asks[1], heard[2]]
    return said, replace(world, count=world.count + 1, used=True)


def behind(world: PeerWorld) -> Sequence[bytes]:
    """Something right behind what ends the session, of any kind but a text: it is not handled."""
    id = world.id(1)
    bad = (wire.frame(0, b"\x01", id, flags=0x40), wire.frame(1, b"\xff\xff\xff\xff", id), sized(world, 1, 1))
    good = (world.message(1), wire.ping(id), wire.pong(id), wire.close(b"bye", id), wire.control(4, b"", id))
    others = (
        world.handshake(id=id),
        wire.control(0, b"{}", id),
        wire.ack(odd_id(0), id),
        wire.error(2000, "", b"", id),
    )
    return world.turn([(), *((raw,) for raw in (*good, *bad, *others))])


def each(label: str, spellings: Mapping[str, Callable[[PeerWorld], bytes]]) -> list[Letter[PeerWorld]]:
    """What ends a connection before the Handshake costs little: each spelling is a letter."""
    return [letter(f"{label} {name}", plainly(greeting), alone(build)) for name, build in spellings.items()]


def alone(build: Callable[[PeerWorld], bytes]) -> Build:
    return lambda world: [build(world)]


def greeting_with(changes: dict[str, Any]) -> Callable[[PeerWorld], bytes]:
    return lambda world: world.handshake(**changes)


EARLY: dict[str, Callable[[PeerWorld], bytes]] = {
    "ping": lambda w: wire.ping(w.id()),
    "pong": lambda w: wire.pong(w.id()),
    "close": lambda w: wire.close(b"bye", w.id()),
    "op": lambda w: wire.control(4, b"", w.id()),
    "message": lambda w: w.message(),
    "ack": lambda w: wire.ack(odd_id(0), w.id()),
    "error": lambda w: wire.error(2000, "early", b"", w.id()),
    "json": lambda w: wire.control(0, w.turn([b"", b"hello", b"[]", b'{"peerId":"\xff"}', b"null"]), w.id()),
}


ADVISED = 8192  # bytes of a Handshake's JSON (SBP-LIM-04)


def longest(world: PeerWorld, more: int = 0) -> bytes:
    """A Handshake as long as is advised, or longer: most of it in a member that nobody knows."""
    empty = len(world.handshake(zz="")) - len(wire.control(0))
    return world.handshake(zz="z" * (ADVISED + more - empty))


def questionable(world: PeerWorld) -> bytes:
    """Longer than is advised, or with keys that have no namespace: what a receiver makes of it is not said."""
    spellings = [longest(world, 1), *(world.handshake(metadata=metadata) for metadata in inputs.BARE_KEYS)]
    return world.turn(spellings)


def between(world: PeerWorld) -> Sequence[bytes]:
    """A host hears of an Error and an Ack by ways of their own, in no order with the Messages around them."""
    acked = [wire.ack(of, world.id(3)) for of in world.sent[-1:]]
    return [error(world), world.message(1), *acked, world.message(2)]


def again(world: PeerWorld) -> bytes:
    spellings = (
        wire.handshake("someone-else", world.id()),
        wire.control(0, b"{}", world.id()),
        world.handshake(version="2"),
    )
    return world.turn(spellings)


def reserved_op(world: PeerWorld) -> bytes:
    op, data = world.turn([(5, b""), (255, b""), (4, b'{"peerId":"x"}'), (7, b"bye"), (6, b"")])
    return wire.control(op, data, world.id())


def error(world: PeerWorld) -> bytes:
    code, text, details = world.turn(inputs.ERRORS)
    return wire.error(code, text, details, world.id())


def flagged(world: PeerWorld) -> bytes:
    return under(world.id(), world.turn(list(inputs.FLAGGED.values())))


def malformed(world: PeerWorld) -> bytes:
    return under(world.id(), world.turn(list(inputs.FATAL.values()))[1])


def rejected(world: PeerWorld) -> bytes:
    return under(world.id(), world.turn(list(inputs.REJECTED.values()))[1])


def sized(world: PeerWorld, more: int = 0, n: int = 0) -> bytes:
    return under(world.id(n), wire.sized_message(world.limit + more))


TURNED_AWAY: list[Letter[PeerWorld]] = [
    *each("mismatch", {name: greeting_with(changes) for name, changes in inputs.MISMATCHES.items()}),
    *each("incomplete", {name: greeting_with(changes) for name, changes in inputs.INCOMPLETE.items()}),
    *each("early", EARLY),
]

LETTERS: list[Letter[PeerWorld]] = [
    meets("meets", receipt=False),
    meets("meets with receipts", receipt=True),
    # the Handshake
    letter("greets", greeting, lambda w: [w.handshake(**w.turn(inputs.HINTS))]),
    letter("greets and speaks", greeting, lambda w: [w.handshake(), w.message(1), wire.ping(w.id(2)), w.message(3)]),
    letter("greets at length", greeting, lambda w: [longest(w)]),
    letter("greets questionably", greeting, lambda w: [questionable(w)]),
    *TURNED_AWAY,
    letter("mismatch, then greets", plainly(greeting), lambda w: [w.handshake(version="2"), w.handshake(id=w.id(1))]),
    # what is answered, delivered or ignored
    letter("message", is_open, lambda w: [w.message()]),
    letter("burst", is_open, burst),
    letter("ping", is_open, lambda w: [wire.ping(w.id(), w.turn([None, 0, -1, inputs.TS]))]),
    letter("pong", is_open, lambda w: [wire.pong(w.id(), w.turn([None, 0, inputs.TS]))]),
    Letter("ack", lambda w: w.open and bool(w.sent), acks),
    letter("stray ack", is_open, lambda w: [wire.ack(w.turn([bytes(16), b"\xff" * 16, w.id(1)]), w.id())]),
    letter("error", is_open, lambda w: [error(w)]),
    letter("error between", is_open, between),
    letter("greets again", is_open, lambda w: [again(w)]),
    letter("reserved op", is_open, lambda w: [reserved_op(w)]),
    letter("host sends", hosted, lambda w: [Send(*w.turn(inputs.SENDS))], HOST),
    letter("host pings", hosted, lambda w: [SendPing()], HOST),
    Letter("host speaks meanwhile", hosted, crossing),
    # what ends it
    letter("flagged", plainly(begun), lambda w: [flagged(w), *behind(w)]),
    letter("malformed", plainly(begun), lambda w: [malformed(w), *behind(w)]),
    letter("rejected", begun, lambda w: [rejected(w)]),
    letter("too large", begun, lambda w: [sized(w, 1)]),
    letter("text", plainly(begun), lambda w: [w.turn(["hello", "", "\x00\x00" + "x" * 16 + "\x01"])]),
    letter("close", is_open, lambda w: [wire.close(w.turn([b"", b"bye", "tsch\u00fc\u00df".encode()]), w.id())]),
    letter("leaves", begun, lambda w: [Hangup(w.turn([1000, 1006]))]),
    letter("host closes", hosted, lambda w: [SendClose(w.turn([None, "bye", "tsch\u00fc\u00df"]))], HOST),
    # meanwhile
    letter("bystander speaks", plainly(begun), lambda w: [w.message()], session=BYSTANDER),
    letter("bystander is sent to", plainly(hosted), lambda w: [Send(*w.turn(inputs.SENDS))], HOST, BYSTANDER),
]

BY_NAME = {letter.name: letter for letter in LETTERS}
ENDING = [
    BY_NAME[name] for name in ("burst", "host sends", "ack", "flagged", "bystander speaks", "bystander is sent to")
]

FOUL = (
    *(letter.name for letter in TURNED_AWAY),
    *("greets questionably", "mismatch, then greets", "pong", "stray ack", "greets again", "reserved op"),
    *("flagged", "malformed", "rejected", "too large", "text"),
    *("error", "error between"),  # no host operation makes a peer say one
)

TOURS = Tours(
    start=PeerWorld(SessionsMachine(), SessionsMachine().initial()).begun(),
    letters=LETTERS,
    ending=ENDING,
    depth=8,
    length=60,
    foul=FOUL,
    left_out={
        "garbage with receipts": "it ends the session before anything is acknowledged",
        "a text and something behind it": "no text says that a peer reads nothing behind a text message",
        "subjects outside app/": "a receiver may keep to namespaces (SBP-SES-14)",
    },
)
