"""The broker as a world to tour: three names, two tokens, and all that may happen around them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from immutables import Map

from harness.touring.tours import Tours
from harness.touring.world import Crash, Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.peerbus.broker import BrokerMachine, Message, State
from reference_impl.peerbus.frames import VERSION, Ack, Binary, Close, Deliver, Opened, Peers, Register
from suites.peerbus.broker.under_test import TOKENS
from suites.peerbus.envelopes import codec, message
from suites.peerbus.said import Said, understood

ANN, ANNA, CARL, GHOST = "ann", "anna", "#carl", "ghost"
"""One name is the beginning of another, and one sorts before `*`. The ghost registers at the end, and was sent things before."""

BODIES = (
    b'{"z":1,"a":2}', b'[1.0,1e5,-0, 12345678901234567890]', b'{"a":1,"a":2}', b'{"t":"<&>\\u2028"}', b'""', b"null",
    rb'{"t":"\/\u0041\ud83d\ude00"}', b'{ "a" : [ ] }', '"żółw 🐢"'.encode(), b"false", b'{"hmac":"00","type":"ack"}',
)  # fmt: skip
HEADERS: tuple[dict[str, str], ...] = (
    {}, {"sender": "somebody"}, {"ts": "", "source": ""}, {"hmac": "no MAC"}, {"source": " a\tb<&> "}, {"sender": ANNA},
)  # fmt: skip
FAIR: tuple[dict[str, str], ...] = ({}, {"ts": "", "source": ""}, {"source": " a\tb<&> "})
"""What a sender may say that signs under its own name."""


@dataclass(frozen=True)
class BrokerWorld(World[State]):
    """Who is connected, and which ids and keys were used last."""

    opened: int = 0
    lines: Map[str, int] = Map()  # name -> its connection
    sent: int = 0
    odd: int = 0  # how often something odd was said: the next one is another
    direct: str = ""  # id of the last message from ann to anna
    broadcast: str = ""
    acked: str = ""  # key that anna acked last
    before: int = -1  # rows up to here, and messages up to that, are from before the last crash
    sent_before: int = -1
    direct_at: int = 0

    def abstract(self) -> Hashable:
        """Who is there, what waits for her (none, one, more; of which kinds), and whether a crash is
        behind something that still matters."""
        here = tuple(name in self.lines for name in (ANN, ANNA))
        return here, min(2, len(self.waiting(ANNA))), self.restored

    @property
    def restored(self) -> bool:
        rows = self.waiting(ANNA)
        return any(row.seq <= self.before for row in rows) or bool(self.direct and self.direct_at <= self.sent_before)

    def label(self) -> str:
        here = [name for name in (ANN, ANNA, CARL) if name in self.lines]
        rows = len(self.waiting(ANNA))
        marks = [f"{min(2, rows)}waiting" if rows else "", "restored" if self.restored else ""]
        return ".".join(filter(None, ["+".join(here).replace("#", "") or "nobody", *marks]))

    def waiting(self, name: str) -> list[Message]:
        return sorted(self.state.durable.pending.get(name, Map()).values(), key=lambda row: row.seq)

    @property
    def turn(self) -> int:
        """Which of the odd things is next: a walk begins with another one wherever it has been before."""
        return 5 * self.odd + self.opened + self.sent

    def heard(self, channel: Channel, frame: object) -> BrokerWorld:
        if not isinstance(frame, Close):
            return self
        return replace(self, lines=Map({name: line for name, line in self.lines.items() if line != channel}))

    def crashed(self) -> BrokerWorld:
        last = self.state.durable.next_seq - 1
        return replace(self, lines=Map(), before=last, sent_before=self.sent)

    def step(self, said: Say) -> Step[State]:
        return super().step(replace(said, event=understood(said.event)))


Saying = Callable[[BrokerWorld], tuple[Sequence[Stimulus], BrokerWorld]]
Possible = Callable[[BrokerWorld], bool]


# -- saying ------------------------------------------------------------------------------------------------------------


def arriving(world: BrokerWorld, first: Said) -> tuple[Sequence[Stimulus], BrokerWorld]:
    """A new connection, and what is said on it first."""
    line = world.opened + 1
    return [Say(line, Opened()), Say(line, first)], replace(world, opened=line)


def register(name: str) -> Saying:
    """Carl has the second token, everybody else the first."""

    def saying(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
        stimuli, world = arriving(world, Register(TOKENS[name == CARL], name))
        return stimuli, replace(world, lines=world.lines.set(name, world.opened))

    return saying


def register_and_ack(name: str) -> Saying:
    """And ack at once what has waited: only anna's queue is looked at, the others stay short."""

    def saying(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
        keys = [row.key for row in world.waiting(name)]
        stimuli, world = register(name)(world)
        return [*stimuli, *(Say(world.opened, Ack(key)) for key in keys)], world

    return saying


def spelled(world: BrokerWorld, sender: str, to: str, id: str, headers: Sequence[dict[str, str]]) -> str:
    """A message as its sender spells it: a codec of ours would write the body anew."""
    body, fields = BODIES[world.sent % len(BODIES)], headers[world.sent % len(headers)]
    text = codec.encode(message(sender, to, b"0", id, **fields)).decode()
    return text.replace('"body":0,', f'"body":{body.decode()},')


def new_id(world: BrokerWorld) -> str:
    """In no order, and sometimes with characters that mean something elsewhere."""
    digits = f"{zlib.crc32(b'%d' % world.sent):08x}"
    return (f"{digits}", f"{digits}|{ANN}", f"{digits} {digits}", f"{digits}é*")[world.sent % 4]


def last_id(world: BrokerWorld) -> str:
    return world.direct


def used_id(world: BrokerWorld) -> str:
    """Of the last broadcast, or of a message to one peer: its row has another key."""
    return (world.broadcast, world.direct or world.broadcast)[world.sent % 2]


def send(
    sender: str, to: str, id: Callable[[BrokerWorld], str] = new_id, headers: Sequence[dict[str, str]] = HEADERS
) -> Saying:
    def saying(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
        chosen = id(world)
        said = Say(world.lines[sender], spelled(world, sender, to, chosen, headers))
        world = replace(world, sent=world.sent + 1)
        if to == "*":
            return [said], replace(world, broadcast=chosen)
        return [said], replace(world, direct=chosen, direct_at=world.sent) if (sender, to) == (ANN, ANNA) else world

    return saying


def ack(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
    """The oldest or the newest."""
    key = world.waiting(ANNA)[-(world.sent % 2)].key
    return [Say(world.lines[ANNA], Ack(key))], replace(world, acked=key)


def ack_all(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
    """The newest first."""
    keys = [row.key for row in reversed(world.waiting(ANNA))]
    return [Say(world.lines[ANNA], Ack(key)) for key in keys], replace(world, acked=keys[-1])


def hang_up(name: str) -> Saying:
    """Politely and not, by turns."""

    def saying(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
        end = Close(1000 if world.opened % 2 else 1006)
        return [Say(world.lines[name], end)], replace(world, lines=world.lines.delete(name))

    return saying


def crash(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
    return [Crash()], world


# -- what is odd: each time the next of them ---------------------------------------------------------------------------


ODD: tuple[Callable[[BrokerWorld], Said], ...] = (
    lambda w: Ack(""),
    lambda w: Ack("never-seen"),
    lambda w: Ack(w.acked or w.direct),
    lambda w: Ack(w.broadcast or ANN),
    lambda w: Ack(next((row.key for row in w.waiting(ANNA)), "nothing")),  # hers, if it is anna who says it
    lambda w: "{nope",
    lambda w: "[]",
    lambda w: '{"type":"ack"}',
    lambda w: Register(TOKENS[1], GHOST),
    lambda w: Register(TOKENS[0], ANNA),
    lambda w: Deliver("k", message(ANNA, CARL, b"1", f"d{w.odd}")),
    lambda w: Binary(codec.encode(message(ANN, ANNA, b"2", f"b{w.odd}"))),
    lambda w: Peers((ANNA, GHOST)),
    lambda w: message(ANN, ANNA, b"3", " ", kind="broadcast"),
    lambda w: message(ANN, "*", b"4", f"k{w.odd}", kind="msg"),
    lambda w: message(ANN, ANNA, b"9", f"z{w.odd}", kind="notice"),  # relayed or dropped, but always alike
    lambda w: message(ANN, ANN, b"0", f"s{w.odd}"),
    lambda w: message(ANN, GHOST, b"5", f"g{w.odd}"),
    lambda w: message(ANN, "", b"6", f"t{w.odd}"),
    lambda w: codec.encode(message(ANN, ANNA, b"7", "out")).decode().replace('"id":"out"', '"id":""'),
    lambda w: codec.encode(message(ANN, ANNA, b"8", f"y{w.odd}")).decode()[:-1] + ',"type":"chat"}',
    lambda w: f'{{"id":"m{w.odd}","to":"{CARL}","kind":"msg"}}',
)
"""What a registered peer may say without being answered, though not always without being heard."""

FIRST: tuple[Callable[[BrokerWorld], Said], ...] = (
    lambda w: Register(
        TOKENS[ANNA in w.lines], ANNA, VERSION if ANNA in w.lines else "v0"
    ),  # held under the first token
    lambda w: Register("wrong", ANNA),
    lambda w: Register(TOKENS[ANN in w.lines], ANN, VERSION if ANN in w.lines else ""),
    lambda w: Register("", ANN),
    lambda w: Register(TOKENS[0][:-1], GHOST),
    lambda w: Register(TOKENS[0] + " ", ANNA),
    lambda w: Register(TOKENS[0], ""),
    lambda w: Register(TOKENS[0], ANNA, "v2"),
    lambda w: Register(TOKENS[0], GHOST, ""),
    lambda w: Register(TOKENS[0], CARL, "V1"),
    lambda w: Ack(w.direct or "x"),
    lambda w: Peers(),
    lambda w: Deliver("k", message(ANN, ANNA, b"1", f"D{w.odd}")),
    lambda w: message(ANN, ANNA, b"2", w.direct or f"E{w.odd}"),  # also under an id that was used
    lambda w: Binary(codec.encode(Register(TOKENS[0], ANNA))),
    lambda w: "{nope",
    lambda w: "null",
    lambda w: codec.encode(Register(TOKENS[0], GHOST)).decode().replace('"register"', '"Register"'),
)
"""What no connection may begin with."""


def odd(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
    """Ann or anna, whoever is here; both, by turns."""
    speakers = [name for name in (ANNA, ANN) if name in world.lines]
    said = ODD[world.turn % len(ODD)](world)
    return [Say(world.lines[speakers[world.odd % len(speakers)]], said)], replace(world, odd=world.odd + 1)


def stranger(world: BrokerWorld) -> tuple[Sequence[Stimulus], BrokerWorld]:
    stimuli, after = arriving(world, FIRST[world.turn % len(FIRST)](world))
    return stimuli, replace(after, odd=world.odd + 1)


# -- the alphabet ------------------------------------------------------------------------------------------------------


def here(*names: str) -> Possible:
    return lambda world: all(name in world.lines for name in names)


def waits(count: int, *names: str) -> Possible:
    """These are here, and so many messages wait for anna."""
    return lambda world: here(*names)(world) and len(world.waiting(ANNA)) >= count


def known(name: str, what: str) -> Possible:
    return lambda world: name in world.lines and bool(getattr(world, what))


def absent(name: str) -> Possible:
    return lambda world: name not in world.lines


def at_stake(world: BrokerWorld) -> bool:
    """Something is stored that was not restored already. Who else is here does not matter to a store."""
    return ANN in world.lines and bool(world.waiting(ANNA)) and not world.restored


def watched(name: str) -> Possible:
    """Somebody else is here and can be asked whether the broker has noticed."""
    return lambda world: name in world.lines and len(world.lines) > 1


def ever(world: BrokerWorld) -> bool:
    return True


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "ann registers": (absent(ANN), register_and_ack(ANN)),
    "anna registers": (ever, register(ANNA)),
    "carl registers": (ever, register_and_ack(CARL)),
    "a stranger errs": (ever, stranger),
    "ann to anna": (here(ANN), send(ANN, ANNA)),
    "ann to anna again": (known(ANN, "direct"), send(ANN, ANNA, last_id)),
    "ann to all": (here(ANN), send(ANN, "*")),
    "ann to all again": (known(ANN, "broadcast"), send(ANN, "*", used_id)),
    "anna acks one": (waits(1, ANNA), ack),
    "anna acks all": (waits(2, ANNA), ack_all),
    "something odd is said": (lambda world: ANN in world.lines or ANNA in world.lines, odd),
    "ann leaves": (watched(ANN), hang_up(ANN)),
    "anna leaves": (watched(ANNA), hang_up(ANNA)),
    "crash": (at_stake, crash),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    Letter("crash at the end", ever, crash),
    *(LETTERS[name] for name in ("anna registers", "carl registers", "ann registers")),
    Letter("the ghost registers", ever, register(GHOST)),
)
"""What was stored, and for whom: all of it comes, and nobody who was never here gets any."""

TOURS = Tours(
    BrokerWorld(BrokerMachine(frozenset(TOKENS)), State()),
    tuple(LETTERS.values()),
    ENDING,
    depth=12,
    length=80,
    foul=("a stranger errs", "something odd is said"),
    fair={
        "ann to anna": send(ANN, ANNA, headers=FAIR),
        "ann to anna again": send(ANN, ANNA, last_id, FAIR),
        "ann to all": send(ANN, "*", headers=FAIR),
        "ann to all again": send(ANN, "*", used_id, FAIR),
    },
    left_out={
        "frames longer than a broker reads": "a mebibyte in every state costs seconds; `transport` has the limit",
        "a name offline, claimed under another token": "unspecified (PB-2.1-20 is about names that are connected)",
        "a crash with nothing new to lose": "a process that is started again costs most of a tour; each walk ends with one",
        "the last peer leaves": "nobody is left to ask whether the broker has noticed; `durability` has a crash instead",
        "several peers speak at once": "walks are one after the other; `order`, `takeover` and `machine` have the races",
    },
)
