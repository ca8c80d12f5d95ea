"""The client as a world to tour: the broker that it dials and the host behind it, both in our hands."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.peerbus.client import ClientMachine, Config, Phase, State
from reference_impl.peerbus.frames import (
    VERSION,
    Ack,
    Binary,
    Close,
    Deliver,
    Envelope,
    Opened,
    Peers,
    Register,
)
from reference_impl.peerbus.host import HOST, Consumed, Dial, PeersRequest, SendRequest, Start
from suites.peerbus.envelopes import SECRET, codec, forged, message, signed
from suites.peerbus.said import Said, understood

NAME, TOKEN = "ann", "token"
MOST_ATTEMPTS = 2
"""In a row: each doubles the wait before the next."""

BODIES = (
    b'{"z":1,"a":2}', b"[1.0,1e5,-0,12345678901234567890]", b'{"a":1,"a":2}', b'""', b"null",
    rb'{"t":"\/\u0041\ud83d\ude00"}', '"żółw 🐢"'.encode(), b"false", b'{"hmac":"00","id":""}',
    b'" two  "', b'{"a":null,"b":[null]}', '{"e\u0301":"A\u030a"}'.encode(), b"[]",
)  # fmt: skip
"""Spelled in ways that must survive; none with the characters that the two profiles sign differently (`verify` has those)."""


@dataclass(frozen=True)
class Mail:
    """A message that was delivered, and the keys under which it came."""

    envelope: Envelope
    key: str


@dataclass(frozen=True)
class ClientWorld(World[State]):
    """What its broker has sent, and on which connection."""

    lines: int = 0  # connections so far
    mails: tuple[Mail, ...] = ()
    announced: Mail | None = None  # a forgery of it came before it
    said: int = 0  # how often the broker or the host said something with variants
    serial: bool = False  # a client that reads on only once its host has consumed the last message

    @property
    def line(self) -> str:
        return f"line{self.lines}"

    @property
    def phase(self) -> Phase:
        return self.state.phase

    @property
    def held(self) -> list[str]:
        """What the host has and has not consumed, as it came."""
        return [mail.envelope.id for mail in self.mails if mail.envelope.id in self.state.waiting]

    @property
    def quiet(self) -> bool:
        return not self.serial or not self.held

    def abstract(self) -> Hashable:
        """Connected or how often turned away, what the host holds (none, one, more; of an old connection), what became of the
        last message, and whether a question is open."""
        copies = [copy for copies in self.state.waiting.values() for copy in copies]
        old = any(copy.connection != self.state.connection for copy in copies)
        return (
            self.phase,
            min(MOST_ATTEMPTS, self.state.attempt),
            min(2, len(self.held)),
            old,
            self.last,
            self.state.asked > 0,
        )

    @property
    def last(self) -> str:
        if not self.mails:
            return "nothing"
        id = self.mails[-1].envelope.id
        return "held" if id in self.state.waiting else "consumed" if id in self.state.seen.keys else "unseen"

    def label(self) -> str:
        held = len(self.held)
        marks = [f"{min(2, held)}held" if held else "", "asked" if self.state.asked else "", f"last-{self.last}"]
        return ".".join(filter(None, [self.phase.value, *marks]))

    def heard(self, channel: Channel, frame: object) -> ClientWorld:
        return replace(self, lines=self.lines + 1) if isinstance(frame, Dial) else self

    def step(self, said: Say) -> Step[State]:
        return super().step(replace(said, event=understood(said.event)))

    def paid(self, step: Step[State]) -> ClientWorld:
        """A dial comes through at once."""
        world = super().paid(step)
        return world.after(Say(world.line, Opened())) if world.lines > self.lines else world


Saying = Callable[[ClientWorld], tuple[Sequence[Stimulus], ClientWorld]]
Possible = Callable[[ClientWorld], bool]


# -- the host ----------------------------------------------------------------------------------------------------------


def start(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    return [Say(HOST, Start())], world


def consume(which: int) -> Saying:
    return lambda world: ([Say(HOST, Consumed(world.held[which]))], world)


def consume_all(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    return [Say(HOST, Consumed(id)) for id in reversed(world.held)], world


def send(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    to = ("bob", "*", "bøb", NAME)[world.said % 4]
    return [Say(HOST, SendRequest(to, BODIES[world.said % len(BODIES)]))], replace(world, said=world.said + 1)


def ask(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    return [Say(HOST, PeersRequest())], world


# -- the broker --------------------------------------------------------------------------------------------------------


def says(make: Callable[[ClientWorld], Said]) -> Saying:
    return lambda world: ([Say(world.line, make(world))], replace(world, said=world.said + 1))


def spelled(mail: Mail, body: bytes = b"") -> str:
    """A delivery with its body as the sender spelled it: a codec of ours would write it anew."""
    text = codec.encode(Deliver(mail.key, replace(mail.envelope, body=b"0"))).decode()
    return text.replace('"body":0,', f'"body":{(body or mail.envelope.body).decode()},')


def new_mail(world: ClientWorld) -> Mail:
    """From somebody to this client or to all, under its id, its row's key, or the key of the message before it.

    Some ids are those of the message before in another case, some MACs in capitals, and some versions others, which a client
    may surface or drop (PB-3-03).
    """
    n = world.said
    id, last = f"m{zlib.crc32(b'%d' % n):08x}", world.mails[-1] if world.mails else None
    if last and n % 5 == 4 and last.envelope.id.startswith("m"):
        id = last.envelope.id.upper()
    envelope = message(
        SENDERS[n % len(SENDERS)],
        "*" if n % 3 == 0 else NAME,
        BODIES[n % len(BODIES)],
        id,
        source=SOURCES[n % len(SOURCES)],
        protocol_version=VERSIONS.get(n % 17, VERSION),
    )
    if n % 7 == 3:
        envelope = replace(envelope, hmac=envelope.hmac.upper())
    return Mail(envelope, (id, f"{id}|{NAME}", last.key if last else f"row {n}")[n % 3])


def deliver(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """A new message, or the one of which there was a forgery."""
    mail = world.announced or new_mail(world)
    after = replace(world, said=world.said + 1, mails=(*world.mails, mail), announced=None)
    return [Say(world.line, spelled(mail))], after


def deliver_fairly(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    mail = fair_mail(world)
    return [Say(world.line, spelled(mail))], replace(world, said=world.said + 1, mails=(*world.mails, mail))


def fair_mail(world: ClientWorld) -> Mail:
    """Under the key of its row (PB-2.4-06, -07), with its MAC as senders write it."""
    envelope = signed(replace(new_mail(world).envelope, protocol_version=VERSION))
    return Mail(envelope, f"{envelope.id}|{NAME}" if envelope.to == "*" else envelope.id)


def deliver_copy(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    return [Say(world.line, spelled(world.mails[-1]))], replace(world, said=world.said + 1)


def deliver_strange(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """Of a sender with another secret."""
    mail = fair_mail(world)
    return [Say(world.line, spelled(replace(mail, envelope=forged(mail.envelope))))], replace(
        world, said=world.said + 1
    )


def deliver_again(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """The last message once more, under the same key or another; or another one with its id, from somebody else."""
    mail = world.mails[-1]
    again = replace(mail, key=mail.key if world.said % 3 else f"{mail.key}|{world.said}")
    if world.said % 4 == 2:
        again = replace(again, envelope=signed(replace(mail.envelope, sender="carl")))
    return [Say(world.line, spelled(again))], replace(world, said=world.said + 1)


TAMPERED: tuple[Callable[[Envelope], Envelope], ...] = (
    lambda e: replace(e, id=e.id + "x"),
    lambda e: replace(e, sender="mallory"),
    lambda e: replace(e, to="somebody"),
    lambda e: replace(e, ts="2030-01-01T00:00:00Z"),
    lambda e: replace(e, source="elsewhere"),
    lambda e: replace(e, kind="broadcast" if e.kind == "msg" else "msg"),
    lambda e: replace(e, body=b'"other"'),
    forged,
    lambda e: replace(e, hmac=e.hmac[:32]),
    lambda e: replace(e, hmac=e.hmac + "00"),
    lambda e: replace(e, hmac=""),
    lambda e: replace(e, hmac="zz"),
    lambda e: replace(e, hmac=e.hmac[:-1] + "0f"[e.hmac[-1] == "0"]),
)


def deliver_forged(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """What does not verify, or has no key: of a message that is known, or of one that comes later as it should. Under a key of
    its own an ack of it would show."""
    old = world.mails[-1] if world.mails and world.said % 2 else None
    known = old or new_mail(world)
    if world.said % 5 == 0:
        wrong = replace(known, key="")
    elif world.said % 5 == 1 and world.mails and not old:
        wrong = replace(known, envelope=replace(known.envelope, hmac=world.mails[-1].envelope.hmac))
    else:
        key = f"{known.key}|{world.said}" if world.said % 3 else known.key
        wrong = replace(known, key=key, envelope=TAMPERED[world.said % len(TAMPERED)](known.envelope))
    after = replace(world, said=world.said + 1, announced=world.announced if old else known)
    return [Say(world.line, spelled(wrong))], after


NOISE: tuple[Callable[[ClientWorld], Said], ...] = (
    lambda w: "{nope",
    lambda w: Ack(w.mails[-1].key if w.mails else "k"),
    lambda w: Register(TOKEN, NAME),
    lambda w: message("anna", NAME, b"1", f"n{w.said}"),
    lambda w: Binary(spelled(new_mail(w)).encode()),
    lambda w: "[]",
    lambda w: '{"protocol_version":"v1","type":"gossip"}',
    lambda w: "",
)
"""What a client that is registered ignores, and one that is not takes for a rejection."""

ANSWERS: tuple[Callable[[ClientWorld], Said], ...] = (
    *(noise for at, noise in enumerate(NOISE) if at != 4),  # binary: ignored or a rejection, which is a choice
    lambda w: spelled(new_mail(w)),
    lambda w: Close(1008),
    lambda w: Close(1000),
    lambda w: Close(1006),
)
SENDERS = ("anna", "anna", "e\u0301va", "anna", NAME)
SOURCES = ("peer-bus", " a\tb ", "", "źródło")
VERSIONS = {5: "v2", 11: "", 16: "V1"}
"""Of one message in so many."""
NAMES = ((NAME,), ("anna", "bob", NAME), ("bob",), ())
CODES = (1000, 1006, 1001, 1006, 1008, 1011)


def noise(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    return [Say(world.line, NOISE[world.said % len(NOISE)](world))], replace(world, said=world.said + 1)


# -- the alphabet ------------------------------------------------------------------------------------------------------


def online(world: ClientWorld) -> bool:
    return world.phase is Phase.ONLINE and world.quiet


def known(world: ClientWorld) -> bool:
    return online(world) and bool(world.mails)


def turned_away_little(world: ClientWorld) -> bool:
    return world.phase is Phase.REGISTERING and world.state.attempt < MOST_ATTEMPTS


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "starts": (lambda w: w.phase is Phase.STOPPED, start),
    "is accepted": (lambda w: w.phase is Phase.REGISTERING, says(lambda w: Peers(NAMES[w.said % len(NAMES)]))),
    "is turned away": (turned_away_little, says(lambda w: ANSWERS[w.said % len(ANSWERS)](w))),
    "is hung up on": (online, says(lambda w: Close(CODES[w.said % len(CODES)]))),
    "gets a message": (online, deliver),
    "gets it again": (known, deliver_again),
    "gets a forgery": (online, deliver_forged),
    "gets noise": (online, noise),
    "gets a list of peers": (online, says(lambda w: Peers(NAMES[w.said % len(NAMES)]))),
    "host consumes the oldest": (lambda w: bool(w.held), consume(0)),
    "host consumes the newest": (lambda w: len(w.held) > 1, consume(-1)),
    "host sends": (lambda w: w.phase is Phase.ONLINE, send),
    "host asks for peers": (lambda w: w.phase is Phase.ONLINE and not w.state.asked, ask),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    LETTERS["starts"],
    LETTERS["is accepted"],
    Letter("host consumes all", lambda w: bool(w.held), consume_all),
    *(LETTERS[name] for name in ("gets it again", "is hung up on", "is accepted", "gets it again", "gets a message")),
    *(LETTERS[name] for name in ("host consumes the oldest", "host sends")),
)
"""What it remembers and what it has acked shows when everything is consumed and comes once more, here and on the next line."""


def tours(serial: bool) -> Tours[ClientWorld]:
    machine = ClientMachine(Config(NAME, TOKEN, SECRET))
    return Tours(
        ClientWorld(machine, machine.initial(), serial=serial),
        tuple(LETTERS.values()),
        ENDING,
        depth=14,
        length=60,
        foul=("is turned away", "gets noise"),
        fair={
            "is accepted": says(lambda w: Peers(NAMES[w.said % 2])),
            "gets a message": deliver_fairly,
            "gets it again": deliver_copy,
            "gets a forgery": deliver_strange,
            "gets a list of peers": says(lambda w: Peers(NAMES[w.said % 2])),
        },
        left_out={
            "messages longer than a client reads": "a mebibyte in every state costs seconds; `transport` has the limit",
            "a binary answer to the register": "a choice between sections 1 and 2.1, which `register` has",
            "the memory running full": "it takes as many messages as it holds; `dedupe` has it",
            "a client that is killed": "it is a new one then, with nothing to remember; `dedupe` has it",
            "several things at once": "walks are one after the other; `deliver` and `send` have the overlaps",
        },
    )


TOURS = tours(serial=False)
SERIAL = tours(serial=True)
