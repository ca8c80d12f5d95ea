"""The server among sisters as a world to tour: one sister comes, another lives there, a client asks, and peers are far away."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step, Tick
from reference_impl.core.machine import CLOCK
from reference_impl.frog.frames import (
    Find,
    Found,
    Hangup,
    Heard,
    Hello,
    Join,
    Leave,
    Lookup,
    Opened,
    Signal,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterHello,
    SisterLookup,
    SisterOk,
    SisterPeers,
    SisterSignal,
)
from reference_impl.frog.identifiers import encode
from reference_impl.frog.limits import Timers
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.sisters import Adjacent, Flood, Mesh, Request, key_of
from suites.frog.line import codec
from suites.frog.server.world import KINDS, PAYLOADS, Passing, Prove, signed
from suites.frog.wire import Peer, message, server_proof

X, Y, BOB = "x", "y", "bob"
"""Sister x comes, sister y is there already, and bob is a client of the server."""

COMING = (Phase.NEW, Phase.TO_PROVE, Phase.TO_CHALLENGE, Phase.TO_ACKNOWLEDGE)
FLOOD_S, LATER_S, ROUTE_S = 100.0, 120.0, 180.0
"""A request is pending for 100 s here, since walks take their time; a route lives for its 180. One `later` ends the first, two
end both."""

TTLS = (5, 1, 7, 3, 2)
LIMITS = (3, 7, 1, 2)
CODES = ("PEER_NOT_FOUND", "SERVER_UNAVAILABLE", "ROUTE_EXPIRED", "TARGET_MISMATCH", "INTERNAL")


@dataclass(frozen=True)
class Comes:
    """A new connection, and whose it is."""

    name: str


@dataclass(frozen=True)
class ProveSister:
    """@AUTH over the challenge that is pending then, or over something else."""

    name: str
    wrong: str = ""


def folk(network: str) -> dict[str, Peer]:
    """Bob, and peers who are where no connection of the server leads: three behind x, three behind y."""
    return {name: Peer(network, bytes([n]) * 32) for n, name in enumerate((BOB, "ann", "dora", "emil", "fay"), 41)}


SISTERS = {name: Peer("SISTER", bytes([n]) * 32) for n, name in enumerate((X, Y), 61)}
BEHIND = {X: "ann", Y: "dora"}


def uri_of(name: str) -> str:
    return f"wss://{name}.example.org/"


@dataclass(frozen=True)
class SisterWorld(World[State]):
    """How far x has come, the request that was made last, and the route that was found last."""

    people: Mapping[str, Peer] = None  # type: ignore[assignment]  # every world has some
    opened: int = 0
    lines: Mapping[str, int] = None  # type: ignore[assignment]  # who came last on which connection
    request: Request | None = None  # as its first receiver saw it
    by: str = ""  # who made it
    route: str = "0" * 26
    said: int = 0
    ticks: bool = True

    def abstract(self) -> Hashable:
        return self.phase(BOB), self.phase(Y), self.phase(X), self.pending, self.routed

    def label(self) -> str:
        marks = [self.coming.name.lower().replace("_", "-")] if self.coming else ["sister"] if self.live(X) else []
        return ".".join([*marks, *filter(None, [self.pending, "route" if self.routed else ""])]) or "alone"

    # -- what stands ----------------------------------------------------------------------------------------------

    def line(self, name: str) -> int:
        return self.lines.get(name, 0)

    def phase(self, name: str) -> Phase:
        return self.state.phase(self.line(name))

    @property
    def coming(self) -> Phase | None:
        return self.phase(X) if self.phase(X) in COMING else None

    def live(self, name: str) -> bool:
        return self.phase(name) is Phase.SISTER

    @property
    def settled(self) -> bool:
        return self.phase(BOB) is Phase.REGISTERED and self.live(Y)

    @property
    def flood(self) -> Flood | None:
        """The last request, where it is pending and somebody was asked."""
        _, flood = self.state.overlay.flood(key_of(self.request)) if self.request else ("", None)
        return flood if flood and flood.open(self.state.now) and flood.asked else None

    @property
    def pending(self) -> str:
        if self.flood is None or self.request is None:
            return ""
        return f"{self.by}-{'looks' if isinstance(self.request, SisterLookup) else 'searches'}"

    def asked(self, name: str) -> bool:
        return self.flood is not None and SISTERS[name].fingerprint in self.flood.asked

    @property
    def routed(self) -> bool:
        route = self.state.routes.get(self.route)
        return route is not None and not route.ended and self.state.now < route.used_at + ROUTE_S

    def source(self, name: str) -> str:
        """Whose signals come from there along the last route; of a stranger to it somebody's."""
        route = self.state.routes.get(self.route)
        side = self.line(BOB) if name == BOB else Adjacent(SISTERS[name].fingerprint)
        for key in (route.peer_a, route.peer_b) if route else ():
            if route and route.endpoint(key) == side:
                return key
        return self.people["fay"].key

    def id(self) -> str:
        """A name that nobody has used: it is in no order, and the same on the same walk."""
        return encode((0xF0E1D2C3B4A5968778695A4B3C2D1E0F * (2 * self.said + 1) % 2**128).to_bytes(16, "big"))[:26]

    @property
    def cid(self) -> str:
        return f"C{self.said}"

    # -- what is learned ------------------------------------------------------------------------------------------

    def heard(self, channel: Channel, frame: object) -> SisterWorld:
        own = isinstance(frame, SisterFind | SisterLookup) and frame.server_id not in self._origins
        if own and isinstance(frame, SisterFind | SisterLookup):
            return replace(self, request=frame, by=BOB)
        if isinstance(frame, Found | SisterFound):
            return replace(self, route=frame.route_id)
        return self

    @property
    def _origins(self) -> set[str]:
        return {SISTERS[X].fingerprint, SISTERS[Y].fingerprint, "7" * 26}

    def step(self, said: Say) -> Step[State]:
        if isinstance(said.event, Passing):
            return self.machine.receive(self.state, CLOCK, Tick(self.state.now + said.event.seconds))
        return super().step(replace(said, event=Heard(self.meant(said), self.state.now)))

    def meant(self, said: Say) -> Any:
        config: Config = self.machine.config  # type: ignore[attr-defined]  # a server's
        match said.event:
            case Comes():
                return Opened()
            case Prove() as prove:
                return signed(prove, self.state.connections[said.channel].nonce, config.uri, config.server_id)
            case ProveSister() as prove:
                return vouched(prove, self.state.connections[said.channel].nonce, config.uri, config.server_id)
            case bytes() as wire:
                return codec.heard_by_server(wire)
        return said.event


def vouched(prove: ProveSister, nonce: str, uri: str, server_id: str) -> SisterAuth:
    """The right proof of a sister, or one with one line wrong, or with another's key."""
    who, other = SISTERS[prove.name], Peer("SISTER", bytes(32))
    lines = {
        "nonce": nonce, "self_uri": uri_of(prove.name), "self_id": who.fingerprint, "peer_uri": uri, "peer_id": server_id,
    }  # fmt: skip
    wrong = {
        "nonce": "0" * 26, "self_uri": uri, "self_id": other.fingerprint, "peer_uri": uri_of(prove.name),
        "peer_id": other.fingerprint, "prefix": "FROG-SERVER-AUTH-V2",
    }  # fmt: skip
    if prove.wrong in wrong:
        lines |= {prove.wrong: wrong[prove.wrong]}
    elif prove.wrong == "swapped":
        lines |= {"self_uri": uri, "self_id": server_id, "peer_uri": uri_of(prove.name), "peer_id": who.fingerprint}
    signer = other if prove.wrong == "key" else who
    return SisterAuth(signer.public_key, signer.sign(server_proof(**lines)))


Saying = Callable[[SisterWorld], tuple[Sequence[Stimulus], SisterWorld]]
Made = Callable[[SisterWorld], Any]


def says(name: str, *made: Made) -> Saying:
    """Each time the next of these."""

    def saying(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
        event = made[world.said % len(made)](world)
        return [Say(world.line(name), event)], replace(world, said=world.said + 1)

    return saying


# -- coming ------------------------------------------------------------------------------------------------------------


def residents_come(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    """Bob and sister y, whoever of them is not here."""
    stimuli: list[Stimulus] = []
    bob = world.people[BOB]
    greeting = SisterHello(SISTERS[Y].fingerprint, uri_of(Y))
    coming = {
        BOB: (Hello(), Join(bob.key), Prove(bob)),
        Y: (greeting, ProveSister(Y), SisterChal(world.id()), SisterOk()),
    }
    for name, events in coming.items():
        if world.phase(name) not in (Phase.REGISTERED, Phase.SISTER):
            line = world.opened + 1
            world = replace(world, opened=line, lines={**world.lines, name: line}, said=world.said + 1)
            stimuli += [Say(line, event) for event in (Comes(name), *events)]
    return stimuli, world


def connects(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    line = world.opened + 1
    return [Say(line, Comes(X))], replace(world, opened=line, lines={**world.lines, X: line})


WRONG = ("nonce", "self_uri", "self_id", "peer_uri", "peer_id", "prefix", "swapped", "key")


def fails(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    """A false proof; whether she may try once more is the server's choice, and she does not."""
    said = [ProveSister(X, WRONG[world.said % len(WRONG)]), Hangup(1000)]
    return [Say(world.line(X), event) for event in said], replace(world, said=world.said + 1)


def gives_up(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    return [Say(world.line(X), Hangup(1000))], world


# -- asking ------------------------------------------------------------------------------------------------------------


def asks(made: Callable[[SisterWorld], Request]) -> Saying:
    """Sister x makes a request."""

    def saying(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
        request = made(world)
        return [Say(world.line(X), request)], replace(world, request=request, by=X, said=world.said + 1)

    return saying


def origin(world: SisterWorld) -> str:
    """Her own, or that of somebody behind her."""
    return SISTERS[X].fingerprint if world.said % 2 else "7" * 26


def lookup_of(target: str) -> Callable[[SisterWorld], Request]:
    def made(world: SisterWorld) -> Request:
        source, wanted = world.people["ann"].key, world.people[target].key
        return SisterLookup(world.id(), origin(world), source, wanted, TTLS[world.said % len(TTLS)])

    return made


def search(world: SisterWorld) -> Request:
    limit, ttl = LIMITS[world.said % len(LIMITS)], TTLS[world.said % len(TTLS)]
    return SisterFind(f"F{world.said}", origin(world), world.people["ann"].key, limit, ttl)


def last(made: Callable[[SisterWorld], Request]) -> Made:
    """With a TTL of 0: it goes no further."""
    return lambda world: replace(made(world), ttl=0)


def answers(name: str) -> Saying:
    """Where she was asked: the target is behind her, or some peers are."""

    def answer(world: SisterWorld) -> Any:
        request = world.request
        if isinstance(request, SisterLookup):
            return SisterFound(request.route_id, request.target)
        assert request, "who was asked was asked something"
        names = ("dora", "emil", "fay")[: min(request.limit, world.said % 4)]
        return SisterPeers(request.fcid, request.server_id, tuple(world.people[name].key for name in names))

    return says(name, answer)


def wrongly(world: SisterWorld) -> Any:
    """An answer of who was asked, with one thing wrong."""
    request, fay = world.request, world.people["fay"]
    if isinstance(request, SisterLookup):
        return [SisterFound(request.route_id, fay.key), SisterFound(world.id(), request.target)][world.said % 2]
    assert request, "who was asked was asked something"
    right = SisterPeers(request.fcid, request.server_id, (fay.key,))
    many = tuple(Peer(fay.network, bytes([n]) * 32).key for n in range(request.limit % 7 + 1))
    faults = [
        replace(right, fcid=world.id()),
        replace(right, server_id="8" * 26),
        replace(right, peer_keys=(fay.elsewhere("ELSEWHERE").key,)),
        replace(right, peer_keys=many if len(many) > request.limit else (fay.elsewhere("E").key,)),
    ]
    return faults[world.said % len(faults)]


def again(world: SisterWorld) -> Request:
    """The same once more, as it comes by another way."""
    assert world.request, "there is one"
    return replace(world.request, ttl=TTLS[world.said % len(TTLS)])


def otherwise(world: SisterWorld) -> Request:
    """Something else under the same name."""
    request, fay = world.request, world.people["fay"].key
    if isinstance(request, SisterLookup):
        others = [replace(request, target=fay), replace(request, source=fay), replace(request, server_id="8" * 26)]
        return others[world.said % 3]
    assert request, "there is one"
    return [replace(request, peer_key=fay), replace(request, limit=request.limit % 7 + 1)][world.said % 2]


# -- signalling --------------------------------------------------------------------------------------------------------


def signals(name: str) -> Saying:
    """Along the last route: from the side where its source is, or from beside it."""

    def signal(world: SisterWorld) -> Any:
        kind, payload = KINDS[world.said % 3], PAYLOADS[world.said % len(PAYLOADS)]
        if name == BOB:
            return Signal(world.route, kind, payload)
        return SisterSignal(world.route, world.source(name), kind, payload)

    return says(name, signal)


def forges(name: str) -> Saying:
    """From the wrong side, of somebody else, or along a route that is nearly the right one."""

    def forged(world: SisterWorld) -> Any:
        keys = [world.people[BOB].key, world.people["fay"].key, world.source(X if name == Y else Y)]
        route = world.route if world.said % 4 else world.route[:-1] + "01"[world.route[-1] == "0"]
        return SisterSignal(route, keys[world.said % 3], KINDS[world.said % 3], b"forged")

    return says(name, forged)


def reports(name: str) -> Saying:
    return says(name, lambda world: SisterErr(world.route, CODES[world.said % len(CODES)]))


def bob_goes(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    return [Say(world.line(BOB), Leave()), Say(world.line(BOB), Hangup(1000))], world


# -- what is odd -------------------------------------------------------------------------------------------------------


def raw(text: str, payload: bytes = b"") -> Made:
    def made(world: SisterWorld) -> bytes:
        names = {"rid": world.route, "key": world.people["ann"].key, "id": world.id(), "x": SISTERS[X].fingerprint}
        return message(text.format(**names), payload)

    return made


EARLY: tuple[Made, ...] = (
    raw("@LIST G1 7"), raw("@FIND F1 {x} {key} 3 3"), raw("@LOOKUP {id} {x} {key} {key} 5"),
    raw("@SIGNAL {rid} {key} ICE 1", b"x"), raw("FIND A1 3"), raw("@PEERS F1 {x} 0"), raw("@FOUND {id} {key}"),
    raw("@OK AUTH"),
)  # fmt: skip
"""Not for now, whatever step she is at; the last of them but for the last step."""


def early(world: SisterWorld) -> tuple[Sequence[Stimulus], SisterWorld]:
    return says(X, *(EARLY[:-1] if world.coming is Phase.TO_ACKNOWLEDGE else EARLY))(world)


UNGREETED: tuple[Made, ...] = (raw("FIND A1 3"), raw("@LIST G1 7"), raw("PING"), raw("@PING"), raw("@CHAL {id}"))
"""Not for now, and in the family of clients or of sisters: no role is chosen yet."""


ODD: tuple[Made, ...] = (
    raw("@FIND F1 {x} {key} 8 3"), raw("@FIND F1 {x} {key} 3 8"), raw("@LOOKUP {id} {x} {key} {key}0 5"), raw("@LIST G1 0"),
    raw("@HELLO FROG/1 {x} wss://x.example.org/"), raw("@OK AUTH"), raw("@CHAL {id}"), raw("@SIGNAL {rid} {key} ice 1", b"x"),
    raw("@LOOKUP {id} {x} {key} OTHER:{id} 5"), raw("FIND A1 3"), raw("@SIGNAL {rid} {key} ICE 65537", bytes(65537)),
    raw("@SIGNAL {rid} {key} ICE 2", b"x"), raw("@FIND F1 {x} {key} 3"), raw("@PING"), raw("@LIST g1 7"),
    raw("@PEERS F1 {x} 2 {key}"), raw("LEAVE"), raw("@AUTH {id} {id}"),
)  # fmt: skip
"""What no sister says."""


# -- the alphabet ------------------------------------------------------------------------------------------------------

Possible = Callable[[SisterWorld], bool]


def coming(*phases: Phase) -> Possible:
    return lambda world: world.settled and world.coming in phases


def absent(world: SisterWorld) -> bool:
    return world.settled and world.coming is None and not world.live(X)


def there(world: SisterWorld) -> bool:
    return world.settled and world.live(X)


def idle(world: SisterWorld) -> bool:
    return there(world) and not world.pending


def asked(name: str) -> Possible:
    return lambda world: there(world) and world.asked(name)


def of_x(world: SisterWorld) -> bool:
    """Her request is pending: only then it is certain that it is known."""
    return there(world) and bool(world.pending) and world.by == X


def over(world: SisterWorld) -> bool:
    """The last request is answered, or its time is up."""
    return idle(world) and world.request is not None


def by_her(name: str) -> Possible:
    """The last route has that sister as a side, or bob."""
    return lambda world: there(world) and world.routed and world.source(name) != world.people["fay"].key


def settled_there(world: SisterWorld) -> bool:
    return there(world) and world.routed


def to_nobody(world: SisterWorld) -> bool:
    """Bob is gone, and it was he to whom x's last route led."""
    route = world.state.routes.get(world.route)
    sides = (route.side_a, route.side_b) if route else ()
    return world.live(Y) and world.live(X) and not world.settled and Adjacent(SISTERS[X].fingerprint) in sides


def running(world: SisterWorld) -> bool:
    """Something is there that ends with time."""
    return there(world) and world.ticks and bool(world.pending or world.routed)


def passes(seconds: float) -> Saying:
    return lambda world: ([Say(CLOCK, Passing(seconds))], world)


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "residents come": (lambda w: not w.settled, residents_come),
    "x connects": (absent, connects),
    "x greets": (coming(Phase.NEW), says(X, lambda w: SisterHello(SISTERS[X].fingerprint, uri_of(X)))),
    "x does not greet": (coming(Phase.NEW), says(X, *UNGREETED)),
    "x proves it": (coming(Phase.TO_PROVE), says(X, lambda w: ProveSister(X))),
    "x fails to": (coming(Phase.TO_PROVE), fails),
    "x challenges": (coming(Phase.TO_CHALLENGE), says(X, lambda w: SisterChal(w.id()))),
    "x acknowledges": (coming(Phase.TO_ACKNOWLEDGE), says(X, lambda w: SisterOk())),
    "x is early": (coming(*COMING[1:]), early),
    "x gives up": (coming(*COMING), gives_up),
    "x looks bob up": (there, asks(lookup_of(BOB))),
    "x looks dora up": (idle, asks(lookup_of("dora"))),
    "x searches": (idle, asks(search)),
    "x asks nobody else": (idle, says(X, last(lookup_of("dora")), last(search), last(lookup_of(BOB)))),
    "bob looks dora up": (idle, says(BOB, lambda w: Lookup(w.cid, w.people["dora"].key))),
    "bob searches": (idle, says(BOB, *(lambda w, n=n: Find(w.cid, n) for n in LIMITS))),
    "y answers": (asked(Y), answers(Y)),
    "x answers": (asked(X), answers(X)),
    "y answers wrongly": (asked(Y), says(Y, wrongly)),
    "x answers unasked": (of_x, answers(X)),
    "y answers too late": (over, answers(Y)),
    "it comes again": (of_x, says(X, again)),
    "it comes round": (of_x, says(Y, again)),
    "x contradicts": (of_x, says(X, otherwise)),
    "y contradicts": (of_x, says(Y, otherwise)),
    "x signals": (by_her(X), signals(X)),
    "y signals": (by_her(Y), signals(Y)),
    "bob signals": (by_her(BOB), signals(BOB)),
    "x forges": (settled_there, forges(X)),
    "y forges": (settled_there, forges(Y)),
    "bob goes": (lambda w: idle(w) and by_her(BOB)(w), bob_goes),
    "x signals in vain": (to_nobody, signals(X)),
    "x reports": (by_her(X), reports(X)),
    "y reports": (settled_there, reports(Y)),
    "x is odd": (there, says(X, *ODD)),
    "it is later": (running, passes(LATER_S)),
    "it is much later": (running, passes(2 * LATER_S)),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    *(
        LETTERS[name]
        for name in ("x signals", "y signals", "bob signals", "x looks bob up", "x signals", "bob signals")
    ),
    *(
        LETTERS[name]
        for name in ("bob looks dora up", "y answers", "bob signals", "y signals", "x searches", "y answers")
    ),
)
"""What became of routes and requests shows in signals and answers."""

TIMERS = Timers(lookup_s=FLOOD_S, find_s=FLOOD_S)
MESH = Mesh(allowed=frozenset(who.fingerprint for who in SISTERS.values()))
MACHINE = ServerMachine(Config("0" * 26, "ws://127.0.0.1/", TIMERS, mesh=MESH, remembers=True))
TOURS = Tours(
    SisterWorld(MACHINE, MACHINE.initial(), people=folk("NET"), lines={}),
    tuple(LETTERS.values()),
    ENDING,
    depth=14,
    length=80,
    foul=(
        "y answers wrongly",
        "x answers unasked",
        "y answers too late",
        "x fails to",
        "x is early",
        "x does not greet",
        "x contradicts",
        "y contradicts",
        "x forges",
        "y forges",
        "x is odd",
    ),
    left_out={
        "a sister that leaves": "nothing shows when a server has noticed it; `federation-losses` has it",
        "two connections with one sister": "which of them stays may be decided late; `federation-gossip` has them",
        "servers that it dials, and gossip": "each needs a port; `federation-handshake` and `federation-gossip` have them",
        "requests of the server's own that come back": "to ignore them is a SHOULD; `federation-floods` has them",
        "@CHAL before it is due": "it may be answered or refused (AMB-35)",
        "a flood that is not passed on": "passing it on is a SHOULD, which the oracle leaves open; `federation-floods` has it",
    },
)
