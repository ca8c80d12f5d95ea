"""The server's machine: every phase knows every input, the oracle accepts the player, and a transcript has one verdict."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.core import NotAllowed
from reference_impl.frog.frames import (
    Auth,
    Chal,
    Code,
    Err,
    Find,
    Found,
    GetServers,
    Hangup,
    Heard,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    Lookup,
    Malformed,
    NoFrame,
    Opened,
    Peers,
    Signal,
    SignalFrom,
    Sister,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterHello,
    SisterList,
    SisterLookup,
    SisterOk,
    SisterPeers,
    SisterServers,
    SisterSignal,
    Stray,
    Text,
    ToServer,
    Try,
    Welcome,
)
from reference_impl.frog.host import DialFailed, Dialled
from reference_impl.frog.limits import Bounds, Rates
from reference_impl.frog.server import TABLE, Config, Phase, ServerMachine
from selftests.frog.conversations import POLICIES, SERVER_ID, URI, Peer, Watched, judged

A, B, C = Peer("a"), Peer("b"), Peer("c")
ELSEWHERE = Peer("a", "CHECKERS")
RID, NONCE = "2N9VVK36ZP3JH2M8QAK1JY7Z5T", "8QAK1JY7Z5T2N9VVK36ZP3JH2M"
INPUTS = (*get_args(ToServer), *get_args(Sister), *get_args(NoFrame), Text, Opened, Hangup, Dialled, DialFailed)
SAMPLES: dict[type, Any] = {
    Hello: Hello(),
    Join: Join(A.key),
    Auth: A.auth(NONCE),
    Leave: Leave(),
    GetServers: GetServers("G1", 7),
    Find: Find("F1", 3),
    Lookup: Lookup("L1", B.key),
    Signal: Signal(RID, "OFFER", b"x"),
    SisterHello: SisterHello(SERVER_ID, URI),
    SisterChal: SisterChal(NONCE),
    SisterAuth: SisterAuth("k", "s"),
    SisterOk: SisterOk(),
    SisterList: SisterList("R1", 7),
    SisterServers: SisterServers("R1"),
    SisterFind: SisterFind("R1", SERVER_ID, A.key, 3, 3),
    SisterPeers: SisterPeers("R1", SERVER_ID),
    SisterLookup: SisterLookup(RID, SERVER_ID, A.key, B.key, 5),
    SisterFound: SisterFound(RID, B.key),
    SisterSignal: SisterSignal(RID, A.key, "ICE"),
    SisterErr: SisterErr("-", Code.BAD_STATE),
    Malformed: Malformed("why", "G1", other_ids=("-",)),
    Stray: Stray("OK"),
    Text: Text(),
    Opened: Opened(),
    Hangup: Hangup(),
    Dialled: Dialled(URI),
    DialFailed: DialFailed(URI),
}
OPENING = (Opened, Dialled, DialFailed)
IMPOSSIBLE = {
    "a connection opens once": {(phase, kind) for phase in Phase if phase is not Phase.GONE for kind in OPENING},
    "the last words of a connection that is gone are not read": {
        (Phase.GONE, kind) for kind in INPUTS if kind not in OPENING
    },
}
ALONE = (Phase.NEW, Phase.HELLO_OK, Phase.AUTH_PENDING, Phase.REGISTERED, Phase.OVER)
"""What a connection may be while nobody federates; the others are test_federation's."""


def test_every_phase_knows_every_input() -> None:
    """Each pair has a row or is listed as impossible, and none is both."""
    listed = set().union(*IMPOSSIBLE.values())
    assert set(SAMPLES) == set(INPUTS)
    assert set(TABLE) | listed == set(itertools.product(Phase, INPUTS))
    assert not set(TABLE) & listed


class Room(Watched):
    """A server, its connections numbered as they open; a peer speaks on the one it opened last."""

    def __init__(self, policy: str = "polite", lag: int = 0, **config: Any) -> None:
        super().__init__(ServerMachine(Config(SERVER_ID, URI, remembers=True, **config)), policy, lag)
        self.lines: dict[Peer, int] = {}
        self.opened = 0
        self.routes = [RID]

    def open(self, peer: Peer) -> int:
        self.opened += 1
        self.lines[peer] = self.opened
        self.tell(self.opened, Opened())
        return self.opened

    def say(self, peer: Peer, frame: Any) -> list[Any]:
        line = self.lines.get(peer) or self.open(peer)
        said = self.tell(line, frame)
        self.routes += [frame.route_id for frame in said if isinstance(frame, Found)]
        return said

    def join(self, peer: Peer, auth: Any = None) -> list[Any]:
        """All the way; an AUTH is only ever said once the challenge is heard."""
        self.open(peer)
        self.say(peer, Hello())
        challenge = [frame for frame in self.say(peer, Join(peer.key)) if isinstance(frame, Chal)]
        self.hear()
        return self.say(peer, auth or peer.auth(challenge[0].nonce)) if challenge else []


def phase_of(room: Room, phase: Phase) -> None:
    """Bring peer A's connection there."""
    if phase in (Phase.REGISTERED, Phase.OVER):
        room.join(A)
    elif phase is not Phase.GONE:
        room.open(A)
        ways = {
            Phase.HELLO_OK: [Hello()],
            Phase.AUTH_PENDING: [Hello(), Join(A.key)],
        }
        for frame in ways.get(phase, []):
            room.say(A, frame)
    if phase is Phase.OVER:
        old = room.lines[A]
        room.join(A)
        room.lines[A] = old
    assert room.player.state.phase(room.lines.get(A, 0)) is phase


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("phase", ALONE)
def test_every_row_can_be_taken_and_the_oracle_agrees(phase: Phase, kind: type) -> None:
    room = Room()
    phase_of(room, phase)
    if (phase, kind) in TABLE:
        room.say(A, SAMPLES[kind])
        room.settle()


# -- the rules, one by one ---------------------------------------------------------------------------------------------


def test_a_registered_peer_is_found_and_signals_pass_both_ways() -> None:
    room = Room()
    assert room.join(A) == [Joined()]
    room.join(B)
    assert room.say(A, Find("F1", 7)) == [Peers("F1", (B.key,))]
    [found] = room.say(A, Lookup("L1", B.key))
    assert found == Found("L1", B.key, found.route_id)
    assert room.say(A, Signal(found.route_id, "OFFER", b"\n\x00")) == [
        SignalFrom(found.route_id, A.key, "OFFER", b"\n\x00")
    ]
    assert room.say(B, Signal(found.route_id, "OFFER")) == [SignalFrom(found.route_id, B.key, "OFFER")]
    room.settle()


def test_a_second_registration_replaces_the_first_and_ends_its_routes() -> None:
    room = Room()
    room.join(A)
    room.join(B)
    [found] = room.say(B, Lookup("L1", A.key))
    old = room.lines[A]
    assert room.join(A) == [Joined(), Hangup()]
    assert room.say(B, Signal(found.route_id, "ICE")) == [Err(found.route_id, Code.ROUTE_EXPIRED)]
    room.tell(old, Hangup())
    [again] = room.say(B, Lookup("L2", A.key))
    assert room.say(B, Signal(again.route_id, "ICE")) == [SignalFrom(again.route_id, B.key, "ICE")]
    room.settle()


@pytest.mark.parametrize("end", [Leave(), Hangup(), Text()])
def test_whoever_is_gone_is_not_found(end: Any) -> None:
    room = Room()
    room.join(A)
    room.join(B)
    [found] = room.say(A, Lookup("L1", B.key))
    room.say(B, end)
    assert room.say(A, Lookup("L2", B.key)) == [Err("L2", Code.PEER_NOT_FOUND)]
    assert room.say(A, Find("F1", 7)) == [Peers("F1")]
    assert room.say(A, Signal(found.route_id, "ICE")) == [Err(found.route_id, Code.ROUTE_EXPIRED)]
    room.settle()


def test_a_challenge_has_its_time() -> None:
    room = Room()
    for peer, wait, answer in ((A, 29.9, Joined()), (B, 30.0, Err("-", Code.AUTH_FAILED))):
        room.open(peer)
        room.say(peer, Hello())
        [challenge] = room.say(peer, Join(peer.key))
        room.wait(wait)
        assert room.say(peer, peer.auth(challenge.nonce)) == [answer]
    room.settle()


def test_a_route_has_its_time_and_use_renews_it() -> None:
    room = Room()
    room.join(A)
    room.join(B)
    [found] = room.say(A, Lookup("L1", B.key))
    for _ in range(3):
        room.wait(179)
        assert isinstance(room.say(A, Signal(found.route_id, "ICE"))[0], SignalFrom)
    room.wait(180)
    assert room.say(A, Signal(found.route_id, "ICE")) == [Err(found.route_id, Code.ROUTE_EXPIRED)]
    room.settle()


def test_what_expired_is_forgotten_in_the_end() -> None:
    room = Room()
    room.player.machine.config = Config(SERVER_ID, URI)  # type: ignore[attr-defined]  # a server that is not judged forgets
    room.join(A)
    room.join(B)
    [found] = room.say(A, Lookup("L1", B.key))
    player = room.player
    for _ in range(8):
        player.tick(player.deadline or 0.0)
    [(_, refusal)] = player.receive(1, Heard(Signal(found.route_id, "ICE"), room.now)).frames
    assert refusal == Err(found.route_id, Code.ROUTE_NOT_FOUND)
    assert not len(player.state.routes)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"bounds": Bounds(peers=1)}, Code.SERVER_UNAVAILABLE),
        ({"bounds": Bounds(peers_per_network=1)}, Code.SERVER_UNAVAILABLE),
        ({"bounds": Bounds(challenges=1)}, Code.SERVER_UNAVAILABLE),
    ],
)
def test_a_full_server_says_so(limits: dict[str, Any], code: Code) -> None:
    room = Room(**limits)
    room.join(A)
    if limits["bounds"].challenges:
        room.say(C, Hello())
        room.say(C, Join(C.key))
    room.open(B)
    room.say(B, Hello())
    assert room.say(B, Join(B.key)) == [Err("-", code)]
    if not limits["bounds"].challenges:
        assert room.join(A) == [Joined(), Hangup()]
    room.settle()


def test_a_rate_is_by_the_minute() -> None:
    room = Room(rates=Rates(finds=2))
    room.join(A)
    said = [room.say(A, Find(f"F{n}", 1))[0] for n in range(3)]
    assert said[1:] == [Peers("F1"), Err("F2", Code.RATE_LIMITED)]
    room.wait(60)
    assert room.say(A, Find("F3", 1)) == [Peers("F3")]


def test_connections_are_counted_by_address() -> None:
    room = Room(bounds=Bounds(connections_per_ip=1))
    assert room.tell(1, Opened("10.0.0.1")) == []
    assert room.tell(2, Opened("10.0.0.2")) == []
    assert room.tell(3, Opened("10.0.0.1")) == [Hangup()]


# -- closure and replay ------------------------------------------------------------------------------------------------

peers = st.sampled_from([A, B, C, ELSEWHERE])
cids = st.sampled_from(["X1", "X2"])
frames = st.one_of(
    st.sampled_from(list(SAMPLES.values())),
    st.builds(Find, cids, st.integers(1, 7)),
    st.builds(Lookup, cids, peers.map(lambda peer: peer.key)),
    st.builds(GetServers, cids, st.integers(1, 7)),
    st.sampled_from(
        [
            Malformed("bytes", severe=True),
            Malformed("sister", sister=True),
            Malformed("auth", codes=(Code.AUTH_FAILED, Code.BAD_REQUEST), frame=Auth),
            Malformed("long", RID, (Code.PAYLOAD_TOO_LARGE, Code.BAD_REQUEST), ("-",), True, frame=Signal),
        ]
    ),
).filter(lambda frame: not isinstance(frame, OPENING))
steps = st.one_of(
    st.tuples(st.just("join"), peers),
    st.tuples(st.just("join"), peers),
    st.tuples(st.just("forge"), peers),
    st.tuples(st.just("say"), peers, frames),
    st.tuples(st.just("say"), peers, frames),
    st.tuples(st.just("signal"), peers, st.integers(0, 3)),
    st.tuples(st.just("signal"), peers, st.integers(0, 3)),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 29.0, 31.0, 100.0, 179.0, 200.0])),
    st.tuples(st.just("settle")),
)
scripts = st.lists(steps, max_size=14)


def played(room: Room, script: list[Any]) -> Room:
    for verb, *rest in script:
        match verb, rest:
            case "join", [peer]:
                room.join(peer)
            case "forge", [peer]:
                room.join(peer, peer.auth(NONCE))
            case "say", [peer, frame]:
                room.say(peer, frame)
            case "signal", [peer, which]:
                room.hear()
                room.say(peer, Signal(room.routes[which % len(room.routes)], "ICE", b"c"))
            case "wait", [seconds]:
                room.wait(seconds)
            case _:
                room.settle()
    room.settle()
    return room


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, deadline=None)
@given(script=scripts)
def test_the_oracle_accepts_the_reference(policy: str, lag: int, script: list[Any]) -> None:
    """Whatever is said, however talkative the server is."""
    played(Room(policy, lag), [("join", A), ("join", B), *script])


@settings(max_examples=15, deadline=None)
@given(script=scripts)
def test_a_transcript_has_one_verdict(script: list[Any]) -> None:
    """The same inputs make the same frames, and a false frame is found wherever it stands."""
    once, again = played(Room(), script), played(Room(), script)
    assert once.transcript == again.transcript
    assert judged(once.machine, once.transcript) == ("", "")
    false = [*once.transcript, ("observe", 99, Joined())]
    assert judged(once.machine, false) == judged(once.machine, false) != ("", "")


@pytest.mark.parametrize(
    ("said", "heard", "clause"),
    [
        (Find("F1", 1), Peers("F1", (A.key,)), "FROG-22-02"),
        (Find("F1", 1), Peers("F1", (B.key, C.key)), "FROG-22-02"),
        (Find("F1", 7), Peers("F1", (B.key, B.key)), "FROG-22-02"),
        (Find("F1", 1), Peers("F1"), "FROG-22-02"),
        (Find("F1", 1), Peers("F2", (B.key,)), "FROG-22-02"),
        (Lookup("L1", A.key), Found("L1", A.key, RID), "FROG-23-03"),
        (Lookup("L1", ELSEWHERE.key), Err("L1", Code.PEER_NOT_FOUND), "FROG-23-02"),
        (Lookup("L1", B.key), Found("L1", C.key, RID), "FROG-23-05"),
        (Lookup("L1", B.key), Found("L1", B.key, "short"), "FROG-23-05"),
        (Join(C.key), Chal(NONCE), "FROG-17-13"),
        (Signal(RID, "ICE"), Err("-", Code.ROUTE_NOT_FOUND), "FROG-26-07"),
        (Signal(RID, "ICE"), SignalFrom(RID, A.key, "ICE"), "FROG-26-07"),
        (GetServers("G1", 7), Try("G1", (URI,)), "FROG-21-01"),
        (Hello(), Welcome(SERVER_ID), "FROG-15-02"),
        (Leave(), Joined(), "FROG-19-01"),
        (Stray("OK"), SisterErr("-", Code.BAD_STATE), "FROG-5-13"),
    ],
)
def test_what_is_not_allowed_is_found(said: Any, heard: Any, clause: str) -> None:
    """Each kind of debt, paid wrongly."""
    room = Room()
    for peer in (A, B, C):
        room.join(peer)
    room.settle()
    room.oracle.stimulus(room.lines[A], Heard(said, room.now))
    with pytest.raises(NotAllowed) as violation:
        room.oracle.observe(room.lines[A], heard)
    assert violation.value.clause == clause


def test_a_forged_registration_is_found() -> None:
    room = Room()
    room.open(A)
    room.say(A, Hello())
    room.say(A, Join(A.key))
    room.oracle.stimulus(1, Heard(A.auth(NONCE), 0.0))
    with pytest.raises(NotAllowed) as violation:
        room.oracle.observe(1, Joined())
    assert violation.value.clause == "FROG-17-10"


def test_left_is_said_once() -> None:
    room = Room()
    room.join(A)
    assert room.say(A, Leave()) == [Left(), Hangup()]
    room.settle()
