"""The client as a world to tour: the relay that it dials and the host behind it, both in our hands.

Of what has spellings a letter says another one each time, so that a walk says them all in turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from harness.touring.tours import Tours
from harness.touring.world import Crash, Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.trueseal.client import HOST, NETWORK, ClientMachine, State
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import Beat, Dial, Hangup, PushSession, ReceiveOpened, Start, Submit
from suites.trueseal import wire

MOST_TURNED_AWAY = 2
"""In a row: each doubles the wait before the next."""
ACK, ERROR = wire.frame(wire.ACK), wire.frame(wire.ERROR)


@dataclass(frozen=True)
class ClientWorld(World[State]):
    """What the relay has delivered, and on which session."""

    large_frames: bool = True
    beating: bool = True  # a host that can ask for Heartbeats
    lines: int = 0  # Receive Sessions so far
    dialled: bool = False
    turned_away: int = 0
    mails: tuple[tuple[int, bytes], ...] = ()
    said: int = 0  # how often something with spellings was said
    old_mails: int = 0  # so many of the mails are from before the last crash, and the blobs up to the next number
    old_blobs: int = 0

    @property
    def listening(self) -> bool:
        return self.state.listening is not None

    @property
    def known(self) -> list[tuple[int, bytes]]:
        """What it holds, as it came."""
        return [mail for mail in self.mails if mail[0] in self.state.durable.ids]

    @property
    def flying(self) -> list[PushSession]:
        """Sessions that wait for an answer."""
        return sorted((session for session, blobs in self.state.pushing.items() if blobs), key=lambda s: s.number)

    @property
    def restored(self) -> bool:
        return any(blob <= self.old_blobs for blob in self.state.durable.outbox) or (
            bool(self.known) and self.known[-1] in self.mails[: self.old_mails]
        )

    def abstract(self) -> Hashable:
        """Is there a session, how many blobs wait, and is one of them, or the newest message, older than a crash?"""
        return self.listening, min(2, len(self.state.durable.outbox)), self.restored

    def label(self) -> str:
        blobs = len(self.state.durable.outbox)
        marks = ["listening" if self.listening else "dialling", f"{min(2, blobs)}out" if blobs else ""]
        return ".".join(filter(None, [*marks, "restored" if self.restored else ""]))

    def heard(self, channel: Channel, frame: object) -> ClientWorld:
        if isinstance(frame, Dial):
            return replace(self, dialled=True)
        if isinstance(frame, Hangup) and isinstance(channel, PushSession):
            return self.after(Say(channel, frame))
        return self

    def crashed(self) -> ClientWorld:
        blobs = self.state.durable.next - 1
        return replace(self, dialled=False, turned_away=0, old_mails=len(self.mails), old_blobs=blobs)

    def step(self, said: Say) -> Step[State]:
        if not isinstance(said.event, bytes):
            return super().step(said)
        event = Codec(self.large_frames).reader().read(said.event)
        return Step(self.state) if event is None else super().step(replace(said, event=event))


Said = tuple[Sequence[Stimulus], ClientWorld]
Saying = Callable[[ClientWorld], Said]
Possible = Callable[[ClientWorld], bool]


def count(world: ClientWorld) -> ClientWorld:
    return replace(world, said=world.said + 1)


def spelled(n: int) -> bytes:
    """Envelopes of which none is another one's like, though they begin or end alike."""
    mark = b"%d|" % (n * 7919)
    spellings = (
        wire.field(6, mark) + wire.field(3, bytes(32)) + wire.varint(8) + b"\x07",  # its fields in no order
        mark + b"\r\n\x00\xff\xfe a\nb\x00\x00",
        bytes(range(256)) * 2 + mark,
        mark + bytes(300),
        wire.deliver(1, mark),
        b"" if n < 10 else mark,
        wire.field(3, bytes(32)) + wire.field(6, b"x") + wire.field(6, mark) + wire.field(2, bytes(32)),
    )
    return spellings[n % len(spellings)]


# -- the Receive Session -----------------------------------------------------------------------------------------------


def accept(world: ClientWorld) -> Said:
    line = world.lines + 1
    return [Say(line, ReceiveOpened(b""))], replace(world, lines=line, dialled=False, turned_away=0)


def turn_away(world: ClientWorld) -> Said:
    return [Say(NETWORK, Hangup())], replace(world, dialled=False, turned_away=world.turned_away + 1)


def new_id(n: int) -> int:
    """In no order, and at both ends of what there is."""
    return (0, 2**64 - 1, 2**63, 1)[n] if n < 4 else n * 0x9E37_79B9_7F4A_7C15 % 2**64


def mail(world: ClientWorld) -> tuple[tuple[int, bytes], ClientWorld]:
    made = new_id(len(world.mails)), spelled(len(world.mails))
    return made, count(replace(world, mails=(*world.mails, made)))


def deliver(world: ClientWorld) -> Said:
    """One, the same at once again, or two with a Heartbeat between."""
    first, after = mail(world)
    said = [wire.deliver(*first)]
    if world.said % 3 == 1:
        said *= 2
    if world.said % 3 == 2:
        second, after = mail(after)
        said += [wire.BEAT, wire.deliver(*second)]
    return [Say(world.lines, message) for message in said], after


def deliver_again(world: ClientWorld) -> Said:
    """The newest or the oldest, all from the newest on, or the oldest under another id, as what was pushed twice."""
    if world.said % 4 == 3:
        twin = new_id(len(world.mails)), world.known[0][1]
        return [Say(world.lines, wire.deliver(*twin))], count(replace(world, mails=(*world.mails, twin)))
    mails = (world.known[-1:], world.known[:1], world.known[::-1])[world.said % 4]
    return [Say(world.lines, wire.deliver(*known)) for known in mails], count(world)


def beat(world: ClientWorld) -> Said:
    """The relay's, or the host's, which the relay answers."""
    asked: list[Stimulus] = [Say(HOST, Beat())] if world.beating and world.said % 2 else []
    beats = [Say(world.lines, wire.BEAT)] * (1 if asked else 1 + world.said // 2 % 2)
    return [*asked, *beats], count(world)


UNKNOWN = tuple(wire.frame(tag, body) for tag in (0, 7, 0x82, 0xFF, 0x43) for body in (b"", bytes(9)))
"""They end a session, whatever is in it."""
NO_FRAME = (
    ACK[:1], ERROR[:4], b"", wire.BEAT[:4], wire.BEAT + b"\x00", wire.frame(wire.DELIVER, bytes(20), 21), wire.BEAT + wire.BEAT,
    wire.frame(wire.DELIVER, bytes(8), 0xFFFF_FFFF), wire.frame(wire.DELIVER, bytes(8), 0x8000_0000), ACK[:4] + b"\x01",
)  # fmt: skip
"""Nobody knows where the next frame begins."""
ODD = (
    wire.frame(wire.ACK, b"x"), wire.frame(wire.ERROR, b"x"), wire.deliver_ack(1), wire.frame(wire.DELIVER, bytes(7)),
    wire.frame(wire.DELIVER), wire.push(bytes(32), b"x"), wire.frame(wire.HEARTBEAT, b"x"), wire.frame(wire.PUSH, bytes(31)),
    wire.frame(wire.DELIVER_ACK, bytes(7)),
)  # fmt: skip
"""Frames that a client has no use for in any session, at least not with such a body."""


def odd(world: ClientWorld) -> Said:
    """Passed over or the end of the session; a delivery behind it shows which."""
    n = world.said // 3 + 2 * world.lines
    match world.said % 3:
        case 0:
            return [Say(world.lines, UNKNOWN[n % len(UNKNOWN)])], count(world)
        case 1:
            behind, after = mail(world)
            frame = (*ODD, ACK, ERROR)[n % (len(ODD) + 2)]
            return [Say(world.lines, frame), Say(world.lines, wire.deliver(*behind))], after
    return [Say(world.lines, NO_FRAME[n % len(NO_FRAME)]), Say(world.lines, Hangup())], count(world)


def hang_up(world: ClientWorld) -> Said:
    return [Say(world.lines, Hangup())], count(world)


# -- Push Sessions -----------------------------------------------------------------------------------------------------


def submit(world: ClientWorld) -> Said:
    """Keys that begin alike; the same blob again from time to time."""
    n = world.state.durable.next
    key = hashlib.sha256(b"%d" % (n % 3)).digest()
    recipient = (key, bytes(31) + key[:1], b"\xff" * 16 + key[:16], key[:1] + bytes(31))[n % 4]
    return [Say(HOST, Submit(recipient, spelled(n // 2 * 2)))], count(world)


def answer(message: bytes) -> Saying:
    """A Heartbeat behind it: it is answered, or the session is closed; in either case the answer was read.

    Where no other blob waits, which would be pushed at once, sometimes twice: the second one is an answer to nothing.
    """

    def saying(world: ClientWorld) -> Said:
        session, twice = world.flying[0], len(world.state.durable.outbox) == 1 and world.said % 3 == 1
        said = [message] * (1 + twice)
        return [*(Say(session, each) for each in said), Say(session, wire.BEAT)], count(world)

    return saying


def drop(world: ClientWorld) -> Said:
    """Before the answer, or behind something odd: what had no answer comes again."""
    session, n = world.flying[-1], world.said // 5 + 2 * world.state.durable.next
    said = (
        [],
        [(*ODD, wire.deliver(5, b"x"))[n % (len(ODD) + 1)], wire.BEAT],
        [wire.BEAT],
        [NO_FRAME[n % len(NO_FRAME)]],
        [UNKNOWN[n % len(UNKNOWN)]],
    )[world.said % 5]
    stimuli: list[Stimulus] = [Say(session, message) for message in said]
    if world.said % 5 == 4:  # the client does it
        return stimuli, count(world)
    return [*stimuli, Say(session, Hangup())], count(world)


def drop_fairly(world: ClientWorld) -> Said:
    said = [Say(world.flying[-1], wire.BEAT)] * (world.said % 2)
    return [*said, Say(world.flying[-1], Hangup())], count(world)


def crash(world: ClientWorld) -> Said:
    return [Crash(), Say(HOST, Start())], world


# -- the alphabet ------------------------------------------------------------------------------------------------------


def listening(world: ClientWorld) -> bool:
    return world.listening


def flying(world: ClientWorld) -> bool:
    return bool(world.flying)


def at_stake(world: ClientWorld) -> bool:
    """It holds something that was not restored already."""
    return bool(world.known or world.state.durable.outbox) and not world.restored


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "is accepted": (lambda world: world.dialled, accept),
    "is turned away": (lambda world: world.dialled and world.turned_away < MOST_TURNED_AWAY, turn_away),
    "gets a message": (listening, deliver),
    "gets it again": (lambda world: world.listening and bool(world.known), deliver_again),
    "beats": (listening, beat),
    "gets something odd": (listening, odd),
    "is hung up on": (listening, hang_up),
    "host pushes": (lambda world: len(world.state.durable.outbox) < 2, submit),
    "is acked": (flying, answer(ACK)),
    "is rejected": (flying, answer(ERROR)),
    "push session ends": (flying, drop),
    "crash": (at_stake, crash),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    *(LETTERS[name] for name in ("is accepted", "gets a message", "is rejected", "is acked")),
    Letter("crash at the end", lambda world: True, crash),
    *(LETTERS[name] for name in ("is accepted", "gets it again", "gets it again", "gets it again", "gets a message")),
    *(LETTERS[name] for name in ("host pushes", "is acked", "is acked")),
)
"""What it kept and what it has settled shows when it is started again, and all of it comes once more."""


def started() -> ClientWorld:
    machine = ClientMachine()
    return ClientWorld(machine, machine.initial()).after(Say(HOST, Start()))


TOURS = Tours(
    started(),
    tuple(LETTERS.values()),
    ENDING,
    depth=12,
    length=60,
    foul=("gets something odd",),
    fair={"push session ends": drop_fairly},
    left_out={
        "frames of several Noise messages": "they cost a hundred others each; `size` and `receive` have them",
        "an id that comes again with another envelope": "no relay that conforms says it; `receive` has it",
        "a crash with nothing new to lose": "a process that is started again costs most of a tour; each walk ends with one",
        "a relay with another key": "no session comes of it; `sessions` and `push` have it",
        "what the host is told of its blobs": "a client need not tell; `push` asks those that do",
    },
)
