"""The server as a world to tour: four peers of two networks, a claim that comes and goes, a route, and the time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.core import Channel, Step
from reference_impl.core.machine import CLOCK
from reference_impl.frog.frames import (
    Auth,
    Chal,
    Find,
    Found,
    GetServers,
    Hangup,
    Heard,
    Hello,
    Join,
    Leave,
    Lookup,
    Opened,
    Signal,
    Text,
)
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.io.carrier import LOST
from suites.frog.line import codec
from suites.frog.wire import MAX_PAYLOAD, Peer, message, proof

ANN, BOB, CARL, TWIN = "ann", "bob", "carl", "twin"
RESIDENTS = (BOB, CARL, TWIN)
"""Ann comes, is replaced and goes. Bob and carl are of her network; her twin has her key in another, whose name begins alike."""

CLAIMING = (Phase.NEW, Phase.HELLO_OK, Phase.AUTH_PENDING)
SHORT_S, LONG_S, LIFE_S = 20.0, 95.0, 180.0
"""A challenge lives for 30 s, a route for 180: one short time or one long time is within, two of either are beyond."""

CIDS = ("A", "--", "-A", "Z" * 32, "2N9VVK36ZP3JH2M8QAK1JY7Z5T", "_", "0", "A", "CID-1")
"""Everybody's requests have the same ones, and have them again and again; each is answered before it comes back."""

PAYLOADS = (
    b"", b'{"sdp": "v=0\\r\\n" }', b"\n\r\n", bytes(range(128, 256)), b"SIGNAL-FROM x y ICE 1\nz", b"end \t\n", bytes(5),
    b"\xff" * 1024, "żółw".encode(), bytes(range(256)) * (MAX_PAYLOAD // 256),
)  # fmt: skip
KINDS = ("OFFER", "ANSWER", "ICE")
MOST_ROUTES = 3


@dataclass(frozen=True)
class Prove:
    """AUTH, over the challenge that is pending then, or over something else."""

    peer: Peer
    wrong: str = ""


@dataclass(frozen=True)
class Passing:
    """So many seconds."""

    seconds: float


def folk(here: str, there: str) -> dict[str, Peer]:
    """Who tours, in these two networks."""
    people = {name: Peer(here, bytes([n]) * 32) for n, name in enumerate((ANN, BOB, CARL), 1)}
    return people | {TWIN: people[ANN].elsewhere(there)}


@dataclass(frozen=True)
class ServerWorld(World[State]):
    """Who claims ann's key just now, and which routes were found between her and bob."""

    people: Mapping[str, Peer] = None  # type: ignore[assignment]  # every world has some
    opened: int = 0
    claim: int = 0  # the connection on which she comes
    nonces: tuple[str, ...] = ()  # of its challenges
    routes: tuple[str, ...] = ()  # the last of them, the newest first
    said: int = 0
    odd: int = 0  # how often something odd was said
    ticks: bool = True  # the target's clock can be pushed

    def abstract(self) -> Hashable:
        """Is ann here, how far is her claim, and what of the route; the residents, where somebody is missing."""
        return self.line(ANN) is not None, self.claiming, self.dead, self.routed, all(map(self.line, RESIDENTS))

    def label(self) -> str:
        here = "ann" if self.line(ANN) else "no-ann"
        claim = self.claiming.name.lower().replace("_", "-") if self.claiming else ""
        marks = ["too-late" if self.dead else "", "route" if self.routed else ""]
        return ".".join(filter(None, [here, claim, *marks]))

    def line(self, name: str) -> int | None:
        """The connection on which a peer is registered."""
        line = self.state.peers.get(self.people[name].key)
        assert line is None or isinstance(line, int), "connections have numbers"
        return line

    @property
    def claiming(self) -> Phase | None:
        phase = self.state.phase(self.claim)
        return phase if phase in CLAIMING else None

    @property
    def left_s(self) -> float:
        """How long the challenge lives that is pending."""
        return self.state.connections[self.claim].expires_at - self.state.now

    @property
    def dead(self) -> bool:
        return self.claiming is Phase.AUTH_PENDING and self.left_s <= 0

    @property
    def routed(self) -> bool:
        """Does the last route live?"""
        route = self.state.routes.get(self.route)
        return route is not None and not route.ended and self.state.now < route.used_at + LIFE_S

    @property
    def route(self) -> str:
        """The last one; at first nobody's."""
        return self.routes[0] if self.routes else "0" * 26

    @property
    def turn(self) -> int:
        """Which of the odd things is next: a walk begins with another one wherever it has been before."""
        return 5 * self.odd + self.opened + self.said

    @property
    def cid(self) -> str:
        return CIDS[self.said % len(CIDS)]

    def heard(self, channel: Channel, frame: object) -> ServerWorld:
        if isinstance(frame, Chal) and channel == self.claim:
            return replace(self, nonces=(*self.nonces, frame.nonce))
        ends = {self.people[ANN].key, self.people[BOB].key}
        if isinstance(frame, Found) and frame.peer_key in ends and channel in (self.line(ANN), self.line(BOB)):
            return replace(self, routes=(frame.route_id, *self.routes)[:MOST_ROUTES])
        return self

    def step(self, said: Say) -> Step[State]:
        if isinstance(said.event, Passing):
            return Step(replace(self.state, now=self.state.now + said.event.seconds))
        return super().step(replace(said, event=Heard(self.meant(said), self.state.now)))

    def meant(self, said: Say) -> Any:
        match said.event:
            case Prove() as prove:
                config, nonce = self.machine.config, self.state.connections[said.channel].nonce  # type: ignore[attr-defined]
                return signed(prove, nonce, config.uri, config.server_id)
            case bytes() as wire:
                return codec.heard_by_server(wire)
            case str():
                return Text()
        return said.event


def signed(prove: Prove, nonce: str, uri: str, server_id: str) -> Auth:
    """The right proof, or one with one line wrong, or with another's key, or an old one."""
    peer, lines = prove.peer, {"nonce": nonce, "uri": uri, "peer_key": prove.peer.key, "server_id": server_id}
    other = Peer(peer.network, bytes(32))
    localhost = uri.replace("127.0.0.1", "localhost")
    if prove.wrong == "localhost":
        return Auth(peer.public_key, peer.sign(proof(**(lines | {"uri": localhost}))))
    wrong = {"uri": uri.rstrip("/"), "peer_key": other.key, "server_id": other.fingerprint, "prefix": "FROG-AUTH-V2"}
    if prove.wrong in wrong:
        lines |= {prove.wrong: wrong[prove.wrong]}
    elif prove.wrong not in ("", "key", "order", "line-feed"):
        lines["nonce"] = prove.wrong  # of an earlier challenge
    text, signer = proof(**lines), other if prove.wrong == "key" else peer
    if prove.wrong == "order":
        text = proof(**(lines | {"peer_key": server_id, "server_id": peer.key}))
    elif prove.wrong == "line-feed":
        text += b"\n"
    return Auth(signer.public_key, signer.sign(text))


Saying = Callable[[ServerWorld], tuple[Sequence[Stimulus], ServerWorld]]
Possible = Callable[[ServerWorld], bool]
Made = Callable[[ServerWorld], Any]


def on_claim(world: ServerWorld) -> int:
    return world.claim


def at(name: str) -> Callable[[ServerWorld], int]:
    def line(world: ServerWorld) -> int:
        found = world.line(name)
        assert found, "a letter that is not possible is not said"
        return found

    return line


def says(line: Callable[[ServerWorld], int], *made: Made) -> Saying:
    """Each time the next of these."""

    def saying(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
        event = made[world.said % len(made)](world)
        return [Say(line(world), event)], replace(world, said=world.said + 1)

    return saying


# -- coming ------------------------------------------------------------------------------------------------------------


def odd(line: Callable[[ServerWorld], int], events: Sequence[Made]) -> Saying:
    def saying(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
        event = events[world.turn % len(events)](world)
        return [Say(line(world), event)], replace(world, odd=world.odd + 1)

    return saying


def residents_come(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """Whoever of them is not here."""
    stimuli: list[Stimulus] = []
    opened = world.opened
    for name in RESIDENTS:
        if world.line(name) is None:
            opened, peer = opened + 1, world.people[name]
            stimuli += [Say(opened, event) for event in (Opened(), Hello(), Join(peer.key), Prove(peer))]
    return stimuli, replace(world, opened=opened)


def connects(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    line = world.opened + 1
    return [Say(line, Opened())], replace(world, opened=line, claim=line, nonces=())


def only_claims(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    return [Say(world.claim, Join(world.people[ANN].key))], replace(world, said=world.said + 1)


def claims(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """Now and then another key first, which is not hers to prove."""
    ann = world.people[ANN]
    first = [Join(f"{ann.network}:{'0' * 26}"), Prove(ann)] if world.said % 3 == 0 else []
    events = [*first, Join(ann.key)]
    return [Say(world.claim, event) for event in events], replace(world, said=world.said + 1)


def proves(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    return [Say(world.claim, Prove(world.people[ANN]))], replace(world, claim=0)


WRONG = ("uri", "peer_key", "server_id", "key", "prefix", "localhost", "order", "line-feed")


def fails(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """With a proof of something else, or of an earlier challenge."""
    old = world.nonces[0] if len(world.nonces) > 1 else "0" * 26
    wrong = (*WRONG, old)[world.said % (len(WRONG) + 1)]
    return [Say(world.claim, Prove(world.people[ANN], wrong))], replace(world, said=world.said + 1)


def ends(line: Callable[[ServerWorld], int], fair: bool = False) -> Saying:
    """A close, a text message, a cut, or a farewell: then somebody looks around before the connection is closed."""

    def saying(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
        here = line(world)
        farewell = [Say(here, Leave()), Say(at(BOB)(world), Find(world.cid, 7)), Say(here, Hangup(1000))]
        ways = [[Say(here, Hangup(1000))], [Say(here, "LEAVE\n")], [Say(here, Hangup(LOST))], farewell]
        if world.state.phase(here) is Phase.NEW:
            ways = ways[:3]
        if fair:
            del ways[1]
        return ways[world.said % len(ways)], replace(world, said=world.said + 1)

    return saying


# -- what is odd: each time the next of them ---------------------------------------------------------------------------


def raw(text: str, payload: bytes = b"") -> Made:
    def made(world: ServerWorld) -> bytes:
        names = {"cid": world.cid, "rid": world.route, "key": world.people[BOB].key, "id": "1" * 26}
        return message(text.format(**names), payload)

    return made


NEVER: tuple[Made, ...] = (
    raw("PING"), raw("ERR - BAD_STATE"), raw("hello FROG/1"), raw("FIND {cid} 8"), raw("LEAVE", b"\n"), raw("OK JOIN"),
    lambda w: b"LEAVE", raw("LOOKUP {cid}"), raw("GETSERVERS - 3"), raw("LEAVE NOW"), raw("FIND {cid}  3"), raw(""),
    raw("SIGNAL {rid} OFFER 05", b"hello"), raw("LOOKUP {cid} {key}0"), raw("HELLO FROG/1\nGETSERVERS {cid} 1"),
    raw("SIGNAL {rid} BYE 0"), raw("FIND a 3"), raw("JOIN {id}"), raw("CHAL {id}"), raw("A" * 4097), raw("LEAVE\r"),
    raw("SIGNAL {rid} ICE 6", b"hello"), raw("FIND {cid} 3 4"), raw("TRY - 0"), raw("QUIT"), raw("JOIN {key} {key}"),
    raw("AUTH {id} {id}"), raw("FOUND {cid} {key} {id}"), raw("SIGNAL {rid} ICE 65537", bytes(65537)), raw("GETSERVERS"),
)  # fmt: skip
"""What nobody may say in any state."""

SISTERS: tuple[Made, ...] = (
    raw("@LIST {cid} 7"), raw("@HELLO FROG/1 {id} wss://rv2.example.org/"), raw("@ERR - INTERNAL"),
    raw("@SIGNAL {rid} {key} ICE 0"),
)  # fmt: skip
NOT_NOW: tuple[Made, ...] = (
    lambda w: Find(w.cid, 7),
    lambda w: Signal(w.route, "ICE", b"not now"),
    lambda w: Lookup(w.cid, w.people[BOB].key),
    lambda w: GetServers(w.cid, 3),
)
HELLO: Made = lambda w: Hello()  # noqa: E731  # a thing to say like its neighbours
CLAIM: Made = lambda w: Join(w.people[ANN].key)  # noqa: E731
OTHER: Made = lambda w: Join(w.people[CARL].key)  # noqa: E731
PROOF: Made = lambda w: Prove(w.people[ANN])  # noqa: E731


def mixed(*sometimes: Made) -> tuple[Made, ...]:
    """What is never said, and behind each of those something that is not for now."""
    return tuple(event for n, never in enumerate(NEVER) for event in (never, sometimes[n % len(sometimes)]))


AT_HOME = mixed(HELLO, CLAIM, *SISTERS, PROOF, OTHER)
COMING = {  # of sisters nothing before HELLO, for the server may be one
    Phase.NEW: mixed(*NOT_NOW, CLAIM, lambda w: Leave(), PROOF),
    Phase.HELLO_OK: mixed(HELLO, *NOT_NOW, PROOF, *SISTERS),
    Phase.AUTH_PENDING: mixed(CLAIM, *NOT_NOW, HELLO, *SISTERS, OTHER),
}


def odd_claim(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    assert world.claiming, "a letter that is not possible is not said"
    return odd(on_claim, COMING[world.claiming])(world)


# -- asking and signalling ---------------------------------------------------------------------------------------------

ASKED: tuple[Made, ...] = (
    lambda w: Find(w.cid, 7),
    lambda w: GetServers(w.cid, 7),
    lambda w: Find(w.cid, 1),
    lambda w: Lookup(w.cid, w.people[TWIN].key),
    lambda w: Find(w.cid, 2),
    lambda w: Lookup(w.cid, w.people[CARL].key),
    lambda w: Lookup(w.cid, w.people[ANN].key),
)


def others_ask(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """Bob, carl and the twin: each of ann's and of one another."""
    name, event = RESIDENTS[world.said % 3], ASKED[world.said % (len(ASKED) - (world.line(ANN) is None))]
    return [Say(at(name)(world), event(world))], replace(world, said=world.said + 1)


FAIRLY_ASKED: tuple[Made, ...] = (*ASKED[:3], ASKED[4], ASKED[5], ASKED[6])
"""What a client asks for that is no other network's and not itself: of ann last."""


def ann_asks_fairly(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    return says(at(ANN), *FAIRLY_ASKED[:-1])(world)


def bob_asks(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    return says(at(BOB), *FAIRLY_ASKED[: len(FAIRLY_ASKED) - (world.line(ANN) is None)])(world)


def nearly(id: str) -> str:
    """Another last symbol."""
    return id[:-1] + "01"[id[-1] == "0"]


def looks_up(name: str, whom: str) -> Saying:
    return says(at(name), lambda w: Lookup(w.cid, w.people[whom].key))


def signals(name: str) -> Saying:
    """Along the last route or along all that they had; some twice: the same bytes are two signals."""

    def saying(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
        n, here = world.said, at(name)(world)
        payload = PAYLOADS[n % len(PAYLOADS)]
        routes = (world.route, world.route) if n % 4 == 0 else world.routes if n % 2 else (world.route,)
        said = [Say(here, Signal(route, KINDS[n % 3], payload)) for route in routes or (world.route,)]
        return said, replace(world, said=n + 1)

    return saying


def signals_if_found(name: str) -> Saying:
    """Nothing where nobody was looked up yet."""
    return lambda world: signals(name)(world) if world.routes else ([], world)


def intrudes(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """Carl or the twin along a route that is not theirs; or anybody along one that is nearly right."""
    n = world.said
    name = (CARL, TWIN, BOB)[n % 3]
    said = Say(at(name)(world), Signal(nearly(world.route) if name == BOB else world.route, KINDS[n % 3], b"intruder"))
    return [said], replace(world, said=n + 1)


# -- the time ----------------------------------------------------------------------------------------------------------


def passes(seconds: float) -> Saying:
    return lambda world: ([Say(CLOCK, Passing(seconds))], world)


def passes_in_talk(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    """Twice as long; what is said in the middle keeps nothing alive."""
    middle: list[Stimulus] = [Say(at(BOB)(world), Find(world.cid, 1)), *intrudes(world)[0]]
    return [Say(CLOCK, Passing(LONG_S)), *middle, Say(CLOCK, Passing(LONG_S))], replace(world, said=world.said + 1)


def challenge_dies(world: ServerWorld) -> tuple[Sequence[Stimulus], ServerWorld]:
    middle = Say(world.claim, GetServers(world.cid, 1))
    return [Say(CLOCK, Passing(SHORT_S)), middle, Say(CLOCK, Passing(SHORT_S))], world


# -- the alphabet ------------------------------------------------------------------------------------------------------


def settled(world: ServerWorld) -> bool:
    """Everybody who lives here does, and no claim is at its very beginning, or too late: what happens elsewhere counts."""
    return all(map(world.line, RESIDENTS)) and world.claiming in (None, Phase.AUTH_PENDING) and not world.dead


def claiming(*phases: Phase) -> Possible:
    return lambda world: all(map(world.line, RESIDENTS)) and world.claiming in phases


def here(world: ServerWorld) -> bool:
    return settled(world) and world.line(ANN) is not None


def calm(world: ServerWorld) -> bool:
    """Nobody claims anything: what has nothing to do with claims is tried then."""
    return settled(world) and world.claiming is None


def at_home(world: ServerWorld) -> bool:
    return calm(world) and here(world)


def alive(world: ServerWorld) -> bool:
    return calm(world) and world.ticks and world.routed


def pending(world: ServerWorld) -> bool:
    return world.ticks and claiming(Phase.AUTH_PENDING)(world) and world.left_s > SHORT_S


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "residents come": (lambda w: not all(map(w.line, RESIDENTS)), residents_come),
    "ann connects": (claiming(None), connects),  # type: ignore[arg-type]  # nobody claims
    "ann greets": (claiming(Phase.NEW), says(on_claim, lambda w: Hello())),
    "ann claims her key": (claiming(Phase.HELLO_OK), claims),
    "ann proves it": (claiming(Phase.AUTH_PENDING), proves),
    "ann fails to": (claiming(Phase.AUTH_PENDING), fails),
    "the claim is odd": (claiming(*CLAIMING), odd_claim),
    "the claim ends": (claiming(*CLAIMING), ends(on_claim)),
    "ann asks": (at_home, says(at(ANN), *ASKED)),
    "ann is odd": (at_home, odd(at(ANN), AT_HOME)),
    "ann goes": (here, ends(at(ANN))),
    "the others ask": (settled, others_ask),
    "ann looks bob up": (here, looks_up(ANN, BOB)),
    "bob looks ann up": (here, looks_up(BOB, ANN)),
    "ann signals": (here, signals(ANN)),
    "bob signals": (settled, signals(BOB)),
    "somebody intrudes": (calm, intrudes),
    "a while passes": (alive, passes(LONG_S)),
    "a long time passes": (alive, passes_in_talk),
    "a moment passes": (pending, passes(SHORT_S)),
    "the challenge dies": (pending, challenge_dies),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = (
    *(LETTERS[name] for name in ("ann signals", "bob signals", "bob looks ann up", "bob signals", "ann signals")),
    *(LETTERS[name] for name in ("ann asks", "ann goes", "bob signals")),
    Letter("bob misses ann", lambda w: settled(w) and not w.line(ANN), looks_up(BOB, ANN)),
    Letter("bob misses nearly carl", settled, says(at(BOB), lambda w: Lookup(w.cid, nearly(w.people[CARL].key)))),
)
"""Who is registered where, and what became of the routes, shows in lookups and signals."""

MACHINE = ServerMachine(Config("0" * 26, "ws://127.0.0.1/", remembers=True))
TOURS = Tours(
    ServerWorld(MACHINE, MACHINE.initial(), people=folk("NET", "NET0")),
    tuple(LETTERS.values()),
    ENDING,
    depth=12,
    length=80,
    foul=("ann fails to", "the claim is odd", "ann is odd", "somebody intrudes", "a long time passes"),
    fair={
        "ann claims her key": only_claims,
        "the claim ends": ends(on_claim, fair=True),
        "ann goes": ends(at(ANN), fair=True),
        "ann asks": ann_asks_fairly,
        "the others ask": bob_asks,
        "ann signals": signals_if_found(ANN),
        "bob signals": signals_if_found(BOB),
    },
    left_out={
        "sisters' words before HELLO": "a server may be a sister then; `states` has them after it",
        "lookups of peers that are not there, but for two behind each walk": "a server may take three seconds for each",
        "what a replaced connection still says": "it is about to be closed, and nothing is owed on it; `replacement` has it",
        "bounds and rates": "each needs a server of its own; `limits` has them",
        "short times in place of a clock": "a conversation cannot be read twenty times as fast; `timers` has them",
        "several connections speak at once": "walks are one after the other; `machine` and `replacement` have the races",
    },
)
