"""The two machines: every phase knows every input, the oracle accepts the player, and a transcript has one verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from reference_impl.core import Player
from reference_impl.peerbus import broker, client
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.client import ClientMachine, Config
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import (
    Ack,
    Binary,
    Close,
    Deliver,
    Envelope,
    Garbage,
    Input,
    Opened,
    Oversize,
    Peers,
    Register,
)
from reference_impl.peerbus.host import HOST, NETWORK, Consumed, PeersRequest, SendRequest, Start, Stop
from selftests.machines import POLICIES, Impossible, Watched, assert_clauses_exist, assert_total, judged

SECRET = b"0123456789abcdef0123456789abcdef"
signing = Codec().signing
EXAMPLES = settings(max_examples=40)
Script = list[tuple[Any, ...]]


def envelope(id: str, to: str = "b", **changes: Any) -> Envelope:
    kind = "broadcast" if to == "*" else "msg"
    unsigned = replace(Envelope(id, "a", to, "now", "peer-bus", kind, b'{"n":1}'), **changes)
    return replace(unsigned, hmac=signing.sign(unsigned, SECRET))


SAMPLES: dict[type, Any] = {
    Register: Register("t1", "a"),
    Ack: Ack("m1"),
    Peers: Peers(),
    Deliver: Deliver("k", envelope("m1")),
    Envelope: envelope("m1"),
    Garbage: Garbage("why"),
    Binary: Binary(b"x"),
    Oversize: Oversize(2_000_000),
    Opened: Opened(),
    Close: Close(1000),
    Start: Start(),
    Stop: Stop(),
    SendRequest: SendRequest("b", b"1"),
    PeersRequest: PeersRequest(),
    Consumed: Consumed("m1"),
}
WIRE = get_args(Input)
HOST_INPUTS = (Start, Stop, SendRequest, PeersRequest, Consumed)

# -- totality ----------------------------------------------------------------------------------------------------------

B, C = broker.Phase, client.Phase
IMPOSSIBLE_BROKER = {
    "a connection opens once": {(B.NEW, Opened), (B.REGISTERED, Opened)},
    "the last words of a connection that is gone are not read": {(B.GONE, kind) for kind in WIRE if kind is not Opened},
}
IMPOSSIBLE_CLIENT = {
    "a running client is not started": {(phase, Start) for phase in (C.OFFLINE, C.REGISTERING, C.ONLINE)},
    "it dials only while it is offline": {(phase, Opened) for phase in (C.REGISTERING, C.ONLINE)},
    "without a connection there are only its last words, which are not read": {
        (phase, kind) for phase in (C.STOPPED, C.OFFLINE) for kind in WIRE if kind not in (Opened, Close)
    },
}


@pytest.mark.parametrize(
    ("machine", "phases", "inputs", "impossible"),
    [(BrokerMachine, B, WIRE, IMPOSSIBLE_BROKER), (ClientMachine, C, WIRE + HOST_INPUTS, IMPOSSIBLE_CLIENT)],
    ids=["broker", "client"],
)
def test_every_phase_knows_every_input(machine: Any, phases: Any, inputs: Any, impossible: Impossible) -> None:
    """By a row whose clauses exist, unless the pair cannot be."""
    assert_total(machine, phases, inputs, impossible)
    assert_clauses_exist(machine, "peerbus")


@pytest.mark.parametrize("kind", WIRE)
@pytest.mark.parametrize("phase", B)
def test_every_row_of_the_broker_can_be_taken(phase: broker.Phase, kind: type) -> None:
    machine = BrokerMachine(frozenset({"t1"}))
    player = Player(machine, entropy=bytes)
    if phase is not B.GONE:
        player.receive(1, Opened())
    if phase is B.REGISTERED:
        player.receive(1, Register("t1", "a"))
    assert player.state.phase(1) is phase
    if (phase, kind) in broker.TABLE or phase is B.GONE:
        player.receive(1, SAMPLES[kind])


@pytest.mark.parametrize("kind", WIRE + HOST_INPUTS)
@pytest.mark.parametrize("phase", C)
def test_every_row_of_the_client_can_be_taken(phase: client.Phase, kind: type) -> None:
    player = Player(ClientMachine(Config("a", "t1", SECRET)), entropy=bytes)
    way = [(HOST, Start()), (1, Opened()), (1, Peers(("a",)))]
    for channel, event in way[: [C.STOPPED, C.OFFLINE, C.REGISTERING, C.ONLINE].index(phase)]:
        player.receive(channel, event)
    assert player.state.phase is phase
    if (phase, kind) in client.TABLE:
        on_wire = 1 if phase in (C.REGISTERING, C.ONLINE) else NETWORK
        player.receive(HOST if kind in HOST_INPUTS else 2 if kind is Opened else on_wire, SAMPLES[kind])


# -- closure -----------------------------------------------------------------------------------------------------------


names = st.sampled_from(["a", "b", "c"])
ids = st.sampled_from(["m1", "m2", "m3", "m4", ""])
tokens = st.sampled_from(["t1", "t1", "t1", "t2", "bad"])
which = st.integers(0, 5)

broker_inputs = st.one_of(
    st.builds(Register, tokens, names),
    st.builds(Register, tokens, names),
    st.builds(Register, tokens, st.just("")),
    st.builds(lambda name: Register("t1", name, "v2"), names),
    st.builds(envelope, ids, names),
    st.builds(envelope, ids, names),
    st.builds(envelope, ids, st.just("*")),
    st.builds(lambda id: envelope(id, "*", kind="msg"), ids),
    st.builds(lambda id: envelope(id, "b", kind="chat"), ids),
    st.builds(lambda id: envelope(id, "b", protocol_version="v2"), ids),
    st.builds(Ack, ids),
    st.builds(lambda id, name: Ack(f"{id}|{name}"), ids, names),
    st.builds(Close, st.sampled_from([1000, 1006])),
    st.sampled_from([Peers(), Peers(), Garbage("x"), Binary(b"x"), Oversize(2_000_000), SAMPLES[Deliver]]),
)
joins = st.tuples(st.just("join"), names, tokens)
tells = st.tuples(st.just("tell"), names, broker_inputs)
broker_scripts = st.lists(
    st.one_of(
        joins,
        joins,
        tells,
        tells,
        tells,
        st.tuples(st.just("send"), names, names | st.just("*")),
        st.tuples(st.just("send"), names, names | st.just("*")),
        st.tuples(st.just("ack"), names),
        st.tuples(st.just("tell"), names, st.just(Close(1000))),
        st.tuples(st.just("first"), broker_inputs),
        st.tuples(st.just("last"), which, broker_inputs),
        st.tuples(st.just("settle")),
        st.tuples(st.just("crash")),
    ),
    max_size=25,
).map(lambda script: [("join", "a", "t1"), ("join", "b", "t1"), *script])


class WatchedBroker(Watched):
    """Connections are numbered as they open; a name speaks on the connection that last tried to join under it."""

    def __init__(self, policy: str, lag: int) -> None:
        super().__init__(BrokerMachine(frozenset({"t1", "t2"})), policy, lag)
        self.opened, self.sent = 0, 0
        self.of: dict[str, int] = {}

    def open(self, event: Any) -> None:
        self.opened += 1
        self.tell(self.opened, Opened())
        self.tell(self.opened, event)

    def perform(self, verb: str, *what: Any) -> None:
        match verb, *what:
            case "join", name, token:
                self.open(Register(token, name))
                self.of[name] = self.opened
            case "first", event:
                self.open(event)
            case "tell", name, event if name in self.of:
                self.tell(self.of[name], event)
            case "send", name, to:
                self.sent += 1
                self.perform("tell", name, envelope(f"s{self.sent}", to))
            case "ack", name:
                for key in sorted(self.player.state.durable.pending.get(name, {}))[:2]:
                    self.perform("tell", name, Ack(key))
            case "last", number, event:
                self.tell(max(1, self.opened - number), event)
            case "settle" | "crash", *_:
                getattr(self, verb)()


def play_broker(script: Script, policy: str, lag: int) -> Watched:
    watched = WatchedBroker(policy, lag)
    for action in script:
        watched.perform(*action)
    watched.settle()
    return watched


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@EXAMPLES
@given(script=broker_scripts)
def test_the_oracle_accepts_the_reference_broker(policy: str, lag: int, script: Script) -> None:
    """Whatever is sent, on however many connections, through takeovers and crashes."""
    play_broker(script, policy, lag)


deliveries = st.one_of(
    st.builds(lambda id, key: Deliver(key, envelope(id, "a")), ids, st.sampled_from(["k1", "k2", "m1", ""])),
    st.builds(lambda id: Deliver(id, envelope(id, "a")), ids),
    st.builds(lambda id: Deliver("k", replace(envelope(id, "a"), hmac="00" * 32)), ids),
    st.builds(lambda id: Deliver("k3", envelope(id, "a", protocol_version="v2")), ids),
)
client_events = st.one_of(
    deliveries.map(lambda frame: ("wire", frame)),
    deliveries.map(lambda frame: ("wire", frame)),
    ids.map(lambda id: ("host", Consumed(id))),
    ids.map(lambda id: ("message", id)),
    ids.map(lambda id: ("message", id)),
    st.sampled_from([SAMPLES[kind] for kind in WIRE if kind is not Opened]).map(lambda frame: ("first", frame)),
    st.sampled_from([b"1", b'{ "z":1.0 }']).map(lambda body: ("host", SendRequest("b", body, "now"))),
    st.sampled_from(
        [
            ("host", PeersRequest()),
            ("host", SendRequest("*", b"null")),
            ("host", Stop()),
            ("wire", Peers(("a", "b"))),
            ("wire", Peers(("a", "b"))),
            ("wire", Close(1006)),
            ("wire", Garbage("x")),
            ("wire", Binary(b"x")),
            ("wire", Oversize(2_000_000)),
            ("wire", Ack("x")),
            ("wire", Register("t", "x")),
            ("wire", envelope("m9")),
            ("network", Close(1006)),
            ("connect", None),
            ("redial", None),
            ("redial", None),
            ("settle", None),
        ]
    ),
)


class WatchedClient(Watched):
    """Impossible inputs are left out: the network answers only a dial, and only a running client has one."""

    def __init__(self, policy: str, lag: int) -> None:
        super().__init__(ClientMachine(Config("a", "t1", SECRET, cache_size=2)), policy, lag)
        self.connection = 0

    def perform(self, verb: str, event: Any) -> None:
        offline = self.player.state.phase is C.OFFLINE
        match verb:
            case "connect" if self.player.state.phase is C.STOPPED:
                self.tell(HOST, Start())
            case "connect" if offline:
                self.perform("dial", None)
                self.tell(self.connection, Peers(("a",)))
            case "dial" if offline:
                self.hear()
                self.connection += 1
                self.tell(self.connection, Opened())
            case "first":
                self.perform("wire", Close(1006))
                self.perform("dial", None)
                self.perform("wire", event)
            case "redial":
                self.perform("wire", Close(1006))
                self.perform("connect", None)
            case "message":
                self.perform("wire", Deliver(event, envelope(event, "a")))
                self.tell(HOST, Consumed(event))
            case "network" if offline:
                self.hear()
                self.tell(NETWORK, event)
            case "wire" if self.connection:
                self.tell(self.connection, event)
            case "host":
                self.tell(HOST, event)
            case "settle":
                self.settle()


def play_client(script: Script, policy: str, lag: int) -> Watched:
    watched = WatchedClient(policy, lag)
    for verb, event in script:
        watched.perform(verb, event)
    watched.settle()
    return watched


client_scripts = st.lists(client_events, max_size=25).map(
    lambda events: [("connect", None), ("connect", None), *events]
)


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@EXAMPLES
@given(script=client_scripts)
def test_the_oracle_accepts_the_reference_client(policy: str, lag: int, script: Script) -> None:
    """Whatever the broker, the network and the host do."""
    play_client(script, policy, lag)


REACHED = {
    play_broker: (
        broker_scripts,
        ["PB-2.1-17", "PB-2.1-20", "PB-2.1-27", "PB-2.2-04", "PB-3-03", "PB-3-23", "PB-3-27"],
    ),
    play_client: (
        client_scripts,
        ["PB-2.1-30", "PB-2.2-05", "PB-2.4-17", "PB-2.4-18", "PB-3-03", "PB-5-07", "PB-5-09"],
    ),
}


@pytest.mark.parametrize(
    ("play", "clause"), [(play, clause) for play, (_, clauses) in REACHED.items() for clause in clauses]
)
def test_the_scripts_reach_what_matters(play: Callable[..., Watched], clause: str) -> None:
    """Closure says something only if takeovers, flushes, duplicates and the like do happen."""
    scripts, _ = REACHED[play]
    generate_only = settings(max_examples=300, phases=[Phase.generate])
    find(scripts, lambda script: clause in play(script, "eager", 0).oracle.exercised, settings=generate_only)


# -- replay ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("play", "scripts"), [(play_broker, broker_scripts), (play_client, client_scripts)], ids=["broker", "client"]
)
@settings(max_examples=20)
@given(data=st.data())
def test_a_script_and_a_transcript_have_one_outcome(
    play: Callable[..., Watched], scripts: Any, data: st.DataObject
) -> None:
    """The same inputs make the same frames, and a stored transcript, also a false one, gets the same verdict again."""
    script = data.draw(scripts)
    once, again = play(script, "polite", 0), play(script, "polite", 0)
    assert once.transcript == again.transcript
    assert judged(once.machine, once.transcript) == judged(again.machine, again.transcript)
    false = [*once.transcript, ("observe", 1, Garbage("never said"))]
    clause, sentence = judged(once.machine, false)
    assert "never said" in sentence
    assert (clause, sentence) == judged(again.machine, false)
