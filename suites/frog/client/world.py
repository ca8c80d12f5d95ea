"""The client as a world to tour: the servers that it dials and the host behind it, all in our hands."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.frog.client import ClientMachine, Config, Phase, State
from reference_impl.frog.frames import (
    Chal,
    Code,
    Err,
    Found,
    Frame,
    Hangup,
    Heard,
    Joined,
    Left,
    Opened,
    Peers,
    SignalFrom,
    Text,
    Try,
    Welcome,
)
from reference_impl.frog.host import HOST, AskPeers, AskRoute, AskServers, Depart, Dial, Request, SendSignal, Start
from reference_impl.io.carrier import LOST
from suites.frog.line import codec
from suites.frog.wire import MAX_PAYLOAD, Peer, base32, message

MOST_ATTEMPTS = 2
"""Turned away in a row: each doubles the wait before the next dial."""

MOST_ASKED = 3
KINDS = ("OFFER", "ANSWER", "ICE")
PAYLOADS = (
    b"", b"\n\r\n", bytes(range(128, 256)), b'{"sdp": "v=0\\r\\n" }', b"SIGNAL x ICE 1\nz", bytes(5), "żółw".encode(),
    b"\xff" * MAX_PAYLOAD,
)  # fmt: skip


@dataclass(frozen=True)
class ClientWorld(World[State]):
    """What its servers and its host have said. Two servers it ships with, one it may learn of, one must stay unknown."""

    peer: Peer = None  # type: ignore[assignment]  # every world has one
    uris: tuple[str, ...] = ("ws://a.example/", "ws://b.example/", "ws://c.example/", "ws://d.example/")
    lines: int = 0
    said: int = 0
    asks: int = 0
    lost: str = ""  # a route of an earlier connection

    def abstract(self) -> Hashable:
        """How far it is, how often it was turned away, how much is asked and unanswered, and whether there is a route."""
        turned = min(MOST_ATTEMPTS, self.state.attempt)
        return self.phase, bool(self.state.server_id), turned, min(2, len(self.asked)), bool(self.routes)

    def label(self) -> str:
        asked = f"{min(2, len(self.asked))}asked" if self.asked else ""
        return ".".join(filter(None, [self.phase.name.lower(), asked, "route" if self.routes else ""]))

    @property
    def phase(self) -> Phase:
        return self.state.phase

    @property
    def asked(self) -> list[tuple[str, Request]]:
        """What its host asked for and has no answer to, by CID; the oldest first."""
        waiting = [(cid, asked.request) for cid, asked in self.state.outstanding.items() if not asked.own]
        return sorted(waiting, key=lambda one: one[1].ticket)

    @property
    def own(self) -> list[str]:
        """The CIDs of what it asks for itself."""
        return sorted(cid for cid, asked in self.state.outstanding.items() if asked.own)

    @property
    def routes(self) -> list[str]:
        return sorted(set(self.state.routes) - {self.sentinel})

    @property
    def sentinel(self) -> str:
        """The route on which signals come that only prove what was read."""
        return an_id(-1)

    def mate(self, n: int) -> str:
        """The key of another peer of its network."""
        return f"{self.peer.network}:{an_id(n % 9)}"

    def heard(self, channel: Channel, frame: object) -> ClientWorld:
        return replace(self, lines=self.lines + 1) if isinstance(frame, Dial) else self

    def step(self, said: Say) -> Step[State]:
        return super().step(replace(said, event=Heard(meant(said.event), self.state.now)))

    def paid(self, step: Step[State]) -> ClientWorld:
        """A dial comes through at once."""
        world = super().paid(step)
        return world.after(Say(f"line{world.lines}", Opened())) if world.lines > self.lines else world


@functools.cache
def an_id(n: int, kind: str = "") -> str:
    """In no order."""
    return base32(hashlib.sha256(f"{kind}{n}".encode()).digest())[:26]


def meant(event: Any) -> Any:
    match event:
        case bytes():
            return codec.heard_by_client(event)
        case str():
            return Text()
    return event


Saying = Callable[[ClientWorld], tuple[Sequence[Stimulus], ClientWorld]]
Possible = Callable[[ClientWorld], bool]
Made = Callable[[ClientWorld], Any]


def says(*made: Made) -> Saying:
    """The server, each time the next of these."""

    def saying(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
        event = made[world.said % len(made)](world)
        return [Say(world.state.connection, event)], replace(world, said=world.said + 1)

    return saying


def raw(text: str, payload: bytes = b"") -> Made:
    def made(world: ClientWorld) -> bytes:
        names = {"cid": world.asked[0][0] if world.asked else "A", "id": an_id(7), "key": world.mate(1)}
        return message(text.format(**names), payload)

    return made


# -- the handshake -----------------------------------------------------------------------------------------------------


def welcome(world: ClientWorld) -> Frame:
    return Welcome(an_id(world.said, "server"))


def challenge(world: ClientWorld) -> Frame:
    return Chal(an_id(world.said, "nonce"))


CLOSE, CUT = Hangup(1000), Hangup(LOST)
REFUSALS: tuple[Made, ...] = (
    lambda w: CLOSE,
    lambda w: Err("-", Code.AUTH_FAILED),
    lambda w: "OK JOIN\n",
    lambda w: CUT,
    lambda w: Err("-", Code.RATE_LIMITED),
)
BROKEN: tuple[Made, ...] = (
    raw("CHAL {id}0"), raw("OK"), raw("PEERS A 1"), raw("chal {id}"), raw("HELLO FROG/2 {id}"), raw("@CHAL {id}"), raw("PING"),
    raw("CHAL {id}\r"), raw("CHAL  {id}"), lambda w: message(f"CHAL {an_id(8)}")[:-1], raw("CHAL {id}", b"\n"), raw("OK join"),
    raw("FOUND A {key} {id}"), raw("JOIN {key}"), raw("OK JOIN\nOK JOIN"), raw("ERR - TEAPOT"), raw("CHAL {id} {id}"), raw(""),
    raw("OK JOIN NOW"), raw("HELLO FROG/1"), raw("A" * 4097), raw("CHAL\t{id}"), raw("OK JOINED"),
    raw("SIGNAL-FROM {id} {key} ICE 0"),
)  # fmt: skip
"""What a server never says, or not before OK JOIN."""


def is_turned_away(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """By an error or an end; or by something broken, behind which a client that ignores it may go on."""
    line, after = world.state.connection, replace(world, said=world.said + 1)
    if world.said % 2:
        return [Say(line, REFUSALS[world.said // 2 % len(REFUSALS)](world))], after
    broken = BROKEN[world.said // 2 % len(BROKEN)](world)
    going_on = welcome if greeting(world) else challenge if joining(world) else lambda w: Joined()
    return [Say(line, broken), Say(line, going_on(world))], after


# -- the host ----------------------------------------------------------------------------------------------------------


def wishes(make: Callable[[ClientWorld, int], Any]) -> Saying:
    """With a ticket of its own."""

    def saying(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
        ticket = world.asks + 1
        return [Say(HOST, make(world, ticket))], replace(world, asks=ticket, said=world.said + 1)

    return saying


def request(world: ClientWorld, ticket: int) -> Request:
    wanted: Sequence[Request] = (
        AskRoute(ticket, world.mate(ticket)),
        AskPeers(ticket, 7),
        AskRoute(ticket, world.mate(ticket + 1)),
        AskServers(ticket, 5),
        AskPeers(ticket, 1),
    )
    return wanted[ticket % len(wanted)]


def forbidden(world: ClientWorld, ticket: int) -> Request | SendSignal:
    """What may not be sent, and is refused to the host."""
    wanted = (
        SendSignal(ticket, world.lost or an_id(55), "ICE", b"x"),
        AskPeers(ticket, 8),
        AskRoute(ticket, world.peer.key),
        AskServers(ticket, 0),
        AskRoute(ticket, world.mate(1).replace(":", "0:")),
        AskPeers(ticket, 0),
        SendSignal(ticket, an_id(55), "ICE", b"x"),
        AskRoute(ticket, world.peer.elsewhere(f"{world.peer.network}0").key),
        AskRoute(ticket, world.mate(1).lower()),
        AskServers(ticket, 8),
    )
    return wanted[world.said % len(wanted)]


def signal(world: ClientWorld, ticket: int) -> SendSignal:
    route = world.routes[world.said % len(world.routes)]
    return SendSignal(ticket, route, KINDS[world.said % 3], PAYLOADS[world.said % len(PAYLOADS)])


# -- the server, once it is registered ---------------------------------------------------------------------------------


def answer(world: ClientWorld) -> Frame:
    """The oldest or the newest of the questions."""
    cid, wanted = world.asked[-(world.said % 2)]
    match wanted:
        case AskPeers(_, limit):
            return Peers(cid, tuple(world.mate(n) for n in range(limit if world.said % 3 else 0)))
        case AskRoute(_, key):
            return Found(cid, key, an_id(world.said, "found"))
        case AskServers():
            return Try(cid, (world.uris[:3], (), world.uris[2:3])[world.said % 3])


def lie(world: ClientWorld) -> Frame:
    """To one of the questions an error, or an answer that cannot be true."""
    cid, wanted = world.asked[-(world.said % 2)]
    codes = (Code.PEER_NOT_FOUND, Code.LOOKUP_TIMEOUT, Code.INTERNAL, Code.BAD_REQUEST, Code.RATE_LIMITED)
    if world.said % 3 or isinstance(wanted, AskServers):
        return Err(cid, codes[world.said % len(codes)])
    if isinstance(wanted, AskPeers):
        strangers = (world.peer.elsewhere(f"{world.peer.network}0").key,)
        many = tuple(world.mate(n) for n in range(7)) if wanted.limit < 7 else strangers
        return Peers(cid, (strangers, many)[world.asks % 2])
    return Found(cid, world.mate(8) if wanted.peer_key != world.mate(8) else world.mate(7), an_id(world.said, "lie"))


def nobodys(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
    """An answer to nothing that was asked, also one of another kind, or with nearly the right CID."""
    cid, wanted = world.asked[0] if world.asked else ("A", AskRoute(0, world.mate(1)))
    shorter = cid[:-1] if cid[:-1] not in ("", "-") else "NOBODY"
    near = (shorter, f"{cid}0"[:32], "NOBODY", cid)[world.said % 4]
    key = wanted.peer_key if isinstance(wanted, AskRoute) else world.mate(1)
    frame: Frame = (
        Found(near, key, an_id(world.said, "nobody")) if isinstance(wanted, AskRoute) else Peers(near, (world.mate(2),))
    )
    if near == cid:
        frame = Peers(cid, (key,)) if isinstance(wanted, AskRoute) else Found(cid, key, an_id(world.said, "nobody"))
    if world.said % 5 == 4:
        frame = Err("NOBODY", Code.INTERNAL)
    return [Say(world.state.connection, frame)], replace(world, said=world.said + 1)


def advice(world: ClientWorld) -> bytes:
    """Nobody asked, or the client itself did; of what is not canonical nothing is learned."""
    spelled = world.uris[3].rstrip("/")
    return advising(world, ((world.uris[2],), (), (spelled, world.uris[2]), (spelled,), world.uris[:3])[world.said % 5])


def fair_advice(world: ClientWorld) -> bytes:
    return advising(world, ((world.uris[2],), (), world.uris[:3])[world.said % 3])


def advising(world: ClientWorld, uris: Sequence[str]) -> bytes:
    cid = world.own[0] if world.own and world.said % 2 else "-"
    return message(" ".join(("TRY", cid, str(len(uris)), *uris)))


def signalled(world: ClientWorld) -> Frame:
    """On a route that it knows, or on one that somebody else looked up; a route leads to one peer (FROG-25-06)."""
    n, known = world.said, world.routes
    route = known[0] if known and n % 3 == 0 else an_id(n, "signal")
    source = world.state.routes.get(route, world.mate(n))
    return SignalFrom(route, source, KINDS[n % 3], PAYLOADS[n % len(PAYLOADS)])


def route_fails(world: ClientWorld) -> Frame:
    codes = (Code.ROUTE_EXPIRED, Code.TARGET_MISMATCH, Code.ROUTE_NOT_FOUND, Code.PEER_NOT_FOUND)
    return Err(world.routes[world.said % len(world.routes)], codes[world.said % len(codes)])


NOISE: tuple[Made, ...] = (
    welcome, raw("PEERS {cid} 2 {key}"), challenge, raw("SIGNAL-FROM {id} {key} ICE 6", b"hello"), raw("PEERS {cid} 01 {key}"),
    lambda w: Joined(), raw("FOUND {cid} {key} {id} 180"), lambda w: Left(), raw("SIGNAL-FROM {id} {key} ice 0"), raw("PING"),
    raw("ERR {cid} TEAPOT"), raw("TRY - 2 ws://x.example/"), raw("@ERR {cid} INTERNAL"),
    raw("SIGNAL-FROM {id} {key} ICE", b"hello"),
    raw("PEERS {cid} 8" + " {key}" * 8), raw("FIND A 3"), raw("PEERS  {cid} 0"), raw("peers {cid} 0"), raw("PEERS {cid} 0 "),
    raw("PEERS {cid} 0\r"), raw(" PEERS {cid} 0"), raw("PEERS\t{cid}\t0"), raw("PEERS {cid} 0", b"\n"), raw("ERR {cid}"),
    lambda w: message(f"PEERS {w.asked[0][0] if w.asked else 'A'} 0")[:-1], raw("PEERS {cid} 0\nOK JOIN"), raw("A" * 4097),
    raw("SIGNAL-FROM {id} {key} ICE 05", b"hello"), raw("FOUND {cid} {key}"), raw("SIGNAL-FROM {id} {key} ICE +5", b"hello"),
)  # fmt: skip
"""What a client that is registered ignores, unless it hangs up."""


ENDS: tuple[Made, ...] = (lambda w: CLOSE, lambda w: CUT, lambda w: "OK JOIN\n", lambda w: CUT)


def hangs_up(*ways: Made) -> Saying:
    """A close, a cut or a text message."""

    def saying(world: ClientWorld) -> tuple[Sequence[Stimulus], ClientWorld]:
        stimuli, after = says(*ways)(world)
        return stimuli, replace(after, lost=world.routes[0] if world.routes else world.lost)

    return saying


# -- the alphabet ------------------------------------------------------------------------------------------------------


def registered(world: ClientWorld) -> bool:
    return world.phase is Phase.REGISTERED


def joining(world: ClientWorld) -> bool:
    return world.phase is Phase.JOINING and bool(world.state.server_id)


def greeting(world: ClientWorld) -> bool:
    """Also a client that has said JOIN already."""
    return world.phase in (Phase.GREETING, Phase.JOINING) and not world.state.server_id


def turned_away_little(world: ClientWorld) -> bool:
    coming = world.phase in (Phase.GREETING, Phase.JOINING, Phase.PROVING)
    return coming and world.state.attempt < MOST_ATTEMPTS


def asked(world: ClientWorld) -> bool:
    return registered(world) and bool(world.asked)


def with_route(world: ClientWorld) -> bool:
    return registered(world) and bool(world.routes)


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "starts": (lambda w: w.phase is Phase.STOPPED and not w.lines, lambda w: ([Say(HOST, Start())], w)),
    "is welcomed": (greeting, says(welcome)),
    "is challenged": (joining, says(challenge)),
    "is registered": (lambda w: w.phase is Phase.PROVING, says(lambda w: Joined())),
    "is turned away": (turned_away_little, is_turned_away),
    "is advised": (lambda w: registered(w) or joining(w) or w.phase is Phase.PROVING, says(advice)),
    "host asks": (lambda w: registered(w) and len(w.asked) < MOST_ASKED, wishes(request)),
    "host asks what may not be": (registered, wishes(forbidden)),
    "is answered": (asked, says(answer)),
    "is answered badly": (asked, says(lie)),
    "hears what is nobody's": (registered, nobodys),
    "is signalled": (registered, says(signalled)),
    "host signals": (with_route, wishes(signal)),
    "a route fails": (with_route, says(route_fails)),
    "gets noise": (registered, says(*NOISE)),
    "is hung up on": (registered, hangs_up(*ENDS)),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    *(
        LETTERS[name]
        for name in ("starts", "is welcomed", "is challenged", "is registered", "is answered", "host asks")
    ),
    *(
        LETTERS[name]
        for name in ("is answered", "is signalled", "host signals", "is hung up on", "host asks what may not be")
    ),
    *(LETTERS[name] for name in ("is welcomed", "is challenged", "is registered", "host asks", "is answered")),
    Letter("host leaves", registered, lambda w: ([Say(HOST, Depart())], w)),
    Letter(
        "it is confirmed", lambda w: w.phase is Phase.LEAVING, says(lambda w: Left(), lambda w: CLOSE, lambda w: CUT)
    ),
    Letter("host asks of one that left", lambda w: w.phase is Phase.STOPPED, wishes(request)),
    Letter(
        "host signals of one that left",
        lambda w: w.phase is Phase.STOPPED,
        wishes(lambda w, ticket: SendSignal(ticket, an_id(55), "ICE", b"x")),
    ),
)
"""What it remembers of requests, routes and servers shows in answers, on the next connection, and when it leaves."""

PEER = Peer("NET", bytes([9]) * 32)


def machine(peer: Peer, bootstrap: tuple[str, ...]) -> ClientMachine:
    return ClientMachine(Config(bootstrap, peer.network, peer.seed))


MACHINE = machine(PEER, ClientWorld.uris[:2])
TOURS = Tours(
    ClientWorld(MACHINE, MACHINE.initial(), peer=PEER),
    tuple(LETTERS.values()),
    ENDING,
    depth=14,
    length=60,
    foul=("is turned away", "host asks what may not be", "is answered badly", "hears what is nobody's", "gets noise"),
    fair={"is advised": says(fair_advice), "is hung up on": hangs_up(*ENDS[:2])},
    left_out={
        "a server that does not answer": "how long a client waits for one is its own affair",
        "servers that are not there": "a dial that fails is not seen by anybody; `servers` has it",
        "leaving before it is registered": "a choice between LEAVE and an end without a word, which `machine` leaves to it",
        "a client that is killed": "it is a new one then, with nothing to remember",
        "several things at once": "walks are one after the other; `requests` has the overlaps",
    },
)
