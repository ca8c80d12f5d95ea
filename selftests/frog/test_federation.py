"""Federation in the machine: sisters from either end, floods and routes, with the oracle beside it and over whole meshes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.core import NotAllowed
from reference_impl.frog.frames import (
    Code,
    Err,
    Find,
    Found,
    GetServers,
    Hangup,
    Heard,
    Lookup,
    Opened,
    Peers,
    Signal,
    SignalFrom,
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
    Try,
)
from reference_impl.frog.host import DialFailed, Dialled
from reference_impl.frog.limits import Bounds, Rates
from reference_impl.frog.server import Phase
from reference_impl.frog.sisters import Mesh, Seed
from selftests.frog.conversations import POLICIES, SERVER_ID, URI, Peer
from selftests.frog.meshes import Circle, Net, Sibling, chain
from selftests.frog.test_server import INPUTS, OPENING, SAMPLES

A, B, C = Peer("a"), Peer("b"), Peer("c")
X, Y, Z, W = map(Sibling, "xyzw")
RID = "2N9VVK36ZP3JH2M8QAK1JY7Z5T"
STAGES = {  # how a sister gets there: has she dialled, and how many steps
    Phase.TO_PROVE: (X, True, 0),
    Phase.TO_CHALLENGE: (X, True, 1),
    Phase.TO_ACKNOWLEDGE: (X, True, 2),
    Phase.SISTER: (X, True, 3),
    Phase.UNAUTHORISED: (W, True, 3),
    Phase.GREETING: (X, False, 0),
    Phase.GREETED: (X, False, 1),
    Phase.PROVING: (X, False, 2),
    Phase.CHALLENGING: (X, False, 3),
}


def lookup(rid: str = RID, target: Peer = B, ttl: int = 5, origin: str = W.id) -> SisterLookup:
    return SisterLookup(rid, origin, A.key, target.key, ttl)


# -- one server and its oracle -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in INPUTS if kind not in OPENING])
@pytest.mark.parametrize("phase", STAGES)
def test_every_row_can_be_taken_and_the_oracle_agrees(phase: Phase, kind: type) -> None:
    sister, dials, steps = STAGES[phase]
    circle = Circle(seeds=(X,))
    if dials:
        circle.sister(sister, steps)
    else:
        circle.dialled(sister, steps)
    assert circle.player.state.phase(circle.lines[sister]) is phase
    circle.say(sister, SAMPLES[kind])
    circle.settle()


def test_a_sister_that_was_dialled_is_verified_and_one_that_dialled_is_not() -> None:
    circle = Circle(seeds=(X,))
    circle.dialled(X)
    circle.sister(Y)
    circle.sister(Z)
    assert circle.say(Z, SisterList("G1", 7)) == [SisterServers("G1", ((X.id, X.uri),))]
    circle.join(A)
    assert circle.say(A, GetServers("A1", 7)) == [Try("A1", (X.uri,))]
    circle.settle()


def test_a_flood_is_seen_once_and_passed_on_with_one_hop_less() -> None:
    circle = Circle()
    for sister in (X, Y, Z):
        circle.sister(sister)
    assert circle.say(X, lookup()) == [lookup(ttl=4)] * 2
    assert circle.say(X, lookup(ttl=3)) == circle.say(Y, lookup(ttl=2)) == []
    assert circle.say(Y, lookup(target=C)) == [SisterErr(RID, Code.BAD_STATE)]
    assert circle.say(X, SisterFound(RID, B.key)) == circle.say(Y, SisterFound(RID, C.key)) == []
    assert circle.say(Y, SisterFound(RID, B.key)) == [SisterFound(RID, B.key)]
    assert circle.say(Z, SisterFound(RID, B.key)) == []
    assert circle.say(X, SisterSignal(RID, A.key, "ICE", b"\n")) == [SisterSignal(RID, A.key, "ICE", b"\n")]
    assert circle.say(Z, SisterSignal(RID, B.key, "ICE")) == [SisterErr(RID, Code.TARGET_MISMATCH)]
    circle.settle()


def test_a_lookup_that_nobody_answers_ends_in_time() -> None:
    circle = Circle()
    circle.sister(X)
    circle.join(A)
    [asked] = circle.say(A, Lookup("L1", B.key))
    assert asked == SisterLookup(asked.route_id, SERVER_ID, A.key, B.key, 5)
    circle.wait(2.9)
    assert ("observe", circle.lines[A], Err("L1", Code.LOOKUP_TIMEOUT)) not in circle.transcript
    circle.wait(0.1)
    assert circle.transcript[-1] == ("observe", circle.lines[A], Err("L1", Code.LOOKUP_TIMEOUT))
    assert circle.say(X, SisterFound(asked.route_id, B.key)) == []
    circle.settle()


def test_a_find_gathers_until_it_has_enough() -> None:
    circle = Circle()
    for sister in (X, Y):
        circle.sister(sister)
    circle.join(A)
    first, second = circle.say(A, Find("F1", 2))
    assert first == second == SisterFind(first.fcid, SERVER_ID, A.key, 2, 3)
    answer = SisterPeers(first.fcid, SERVER_ID, (B.key,))
    assert circle.say(X, answer) == circle.say(Y, answer) == []
    [peers] = circle.say(Y, SisterPeers(first.fcid, SERVER_ID, (C.key, A.key)))
    assert sorted(peers.peer_keys) == sorted((B.key, C.key))
    circle.wait(1.5)
    circle.settle()


def test_of_two_connections_the_smaller_id_began_the_one_that_stays() -> None:
    for sister in (X, Y, Z):
        circle = Circle(seeds=(sister,))
        circle.dialled(sister)
        first = circle.lines[sister]
        circle.sister(sister)
        kept = first if sister.id > SERVER_ID else circle.lines[sister]
        assert circle.player.state.overlay.live[sister.id] == kept
        circle.settle()


def test_a_stalled_handshake_is_closed_and_a_seed_is_dialled_again() -> None:
    circle = Circle(seeds=(X,))
    circle.dialled(X, 1)
    circle.wait(30)
    assert circle.transcript[-1] == ("observe", circle.lines[X], Hangup())
    circle.tell("network", DialFailed(X.uri))
    circle.wait(60)
    circle.settle()


def test_a_seed_may_come_back_with_another_key() -> None:
    """A URI alone says where, not who; and whoever was there before does not stand for it."""
    circle = Circle(seeds=(X,))
    circle.dialled(X)
    circle.say(X, Hangup())
    circle.wait(2)
    other = Sibling("w")
    line = circle.open(other, Dialled(X.uri))
    assert circle.say(other, SisterHello(other.id, X.uri)) == []
    assert circle.player.state.phase(line) is Phase.GREETED
    circle.settle()


def test_pending_floods_are_bounded() -> None:
    """One under way is as many as there may be: the next is refused, a client's and a sister's."""
    circle = Circle(bounds=Bounds(pending=1))
    circle.sister(X)
    circle.join(A)
    assert circle.say(X, lookup(ttl=0)) == []
    assert circle.say(X, lookup("0" * 26)) == [SisterErr("0" * 26, Code.RATE_LIMITED)]
    assert circle.say(A, Lookup("L1", B.key)) == [Err("L1", Code.SERVER_UNAVAILABLE)]
    circle.settle()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [(Lookup("L1", B.key), Err("L1", Code.LOOKUP_TIMEOUT)), (Find("F1", 7), Peers("F1"))],
    ids=["lookup", "find"],
)
def test_a_client_is_answered_after_a_long_sleep(asked: Any, answer: Any) -> None:
    """A server that was suspended wakes when a request is late, and old enough to be swept away: it is answered first."""
    circle = Circle(remembers=False)  # a server sweeps, a judge does not
    circle.sister(X)
    circle.join(A)
    circle.say(A, asked)
    circle.wait(3600)
    assert ("observe", circle.lines[A], answer) in circle.transcript
    circle.settle()


def test_floods_are_rationed() -> None:
    circle = Circle(rates=Rates(floods=2))
    circle.sister(X)
    ids = [f"{n}" * 26 for n in range(3)]
    assert [circle.say(X, lookup(rid)) for rid in ids] == [[], [], [SisterErr(ids[2], Code.RATE_LIMITED)]]


sisters, peers = st.sampled_from([X, Y, Z]), st.sampled_from([A, B])
rids = st.sampled_from([RID, "0" * 26])
words = st.one_of(
    st.builds(lookup, rids, st.sampled_from([B, C]), st.integers(0, 7), st.sampled_from([W.id, SERVER_ID])),
    st.builds(SisterFound, rids, st.sampled_from([B.key, C.key])),
    st.builds(SisterSignal, rids, st.sampled_from([A.key, B.key]), st.just("ICE")),
    st.builds(SisterErr, rids, st.sampled_from(list(Code))),
    st.builds(SisterFind, st.just("R1"), st.just(W.id), st.just(C.key), st.integers(1, 2), st.integers(0, 2)),
    st.builds(SisterPeers, st.just("R1"), st.just(W.id), st.sampled_from([(), (B.key,)])),
    st.builds(SisterList, st.just("G1"), st.integers(1, 7)),
    st.sampled_from([SisterOk(), SisterChal(RID), X.hello(), Y.auth(RID), Hangup(), SAMPLES[GetServers]]),
)
asked = st.one_of(st.just(Lookup("L1", C.key)), st.just(Find("F1", 3)), st.builds(Signal, rids, st.just("ICE")))
steps = st.one_of(
    st.tuples(st.just("say"), sisters, words),
    st.tuples(st.just("say"), sisters, words),
    st.tuples(st.just("ask"), peers, asked),
    st.tuples(st.just("sister"), sisters),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1.6, 3.0, 29.0, 181.0])),
)


def played(circle: Circle, script: list[Any]) -> Circle:
    for verb, *rest in script:
        circle.settle()  # what need not be said leaves a choice open each time
        match verb, rest:
            case "say" | "ask", [who, frame]:
                circle.say(who, frame)
            case "sister", [sister]:
                circle.sister(sister)
            case "wait", [seconds]:
                circle.wait(seconds)
    circle.settle()
    return circle


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, deadline=None)
@given(script=st.lists(steps, max_size=12))
def test_the_oracle_accepts_the_reference(policy: str, script: list[Any]) -> None:
    """Whatever sisters and peers say, however talkative the server is."""
    circle = Circle(policy)
    for sister in (X, Y):
        circle.sister(sister)
    for peer in (A, B):
        circle.join(peer)
    once = played(circle, script)
    assert once.transcript


@pytest.mark.parametrize(
    ("said", "to", "heard", "clause"),
    [
        (SisterList("G1", 7), X, SisterServers("G1", ((Y.id, Y.uri),)), "FROG-33-01"),
        (SisterList("G1", 7), X, SisterServers("G2"), "FROG-33-01"),
        (lookup(ttl=0, target=C), Y, lookup(ttl=0, target=C), "FROG-36-04"),
        (lookup(target=C), Y, lookup(target=C), "FROG-36-05"),
        (lookup(target=C), X, lookup(ttl=4, target=C), "FROG-36-04"),
        (lookup(), X, SisterFound(RID, C.key), "FROG-36-04"),
        (lookup(), Y, SisterFound(RID, B.key), "FROG-36-04"),
        (SisterFind("R1", W.id, B.key, 3, 0), X, SisterPeers("R1", W.id, (B.key,)), "FROG-35-03"),
        (SisterFind("R1", W.id, A.key, 3, 0), X, SisterPeers("R1", SERVER_ID, (B.key,)), "FROG-35-03"),
        (SisterSignal(RID, A.key, "ICE"), X, SisterErr("-", Code.ROUTE_NOT_FOUND), "FROG-37-02"),
        (SisterSignal(RID, A.key, "ICE"), Y, SisterSignal(RID, A.key, "ICE"), "FROG-37-02"),
        (X.hello(), X, SisterHello(SERVER_ID, URI), "FROG-28-07"),
        (SisterFound(RID, B.key), Y, SisterFound(RID, B.key), "FROG-36-07"),
    ],
)
def test_what_is_not_allowed_is_found(said: Any, to: Sibling, heard: Any, clause: str) -> None:
    """Each kind of debt between servers, paid wrongly."""
    circle = Circle()
    for sister in (X, Y):
        circle.sister(sister)
    circle.join(B)
    circle.settle()
    circle.oracle.stimulus(circle.lines[X], Heard(said, circle.now))
    with pytest.raises(NotAllowed) as violation:
        circle.oracle.observe(circle.lines[to], heard)
    assert violation.value.clause == clause


def test_a_forged_proof_is_found() -> None:
    """As acceptor: @OK AUTH for a signature over another nonce; as dialler: a proof that does not hold."""
    circle = Circle()
    circle.sister(X, 0)
    circle.oracle.stimulus(1, Heard(X.auth(RID), 0.0))
    with pytest.raises(NotAllowed) as violation:
        circle.oracle.observe(1, SisterOk())
    assert violation.value.clause == "FROG-29-09"
    circle = Circle(seeds=(X,))
    circle.dialled(X, 1)
    circle.oracle.stimulus(1, Heard(SisterChal(RID), 0.0))
    with pytest.raises(NotAllowed) as violation:
        circle.oracle.observe(1, X.auth(RID))
    assert violation.value.clause == "FROG-12.2-01"


def test_copies_of_a_lookup_have_one_route_id() -> None:
    """What several debts share is bound by the first that is paid."""
    circle = Circle()
    for sister in (X, Y):
        circle.sister(sister)
    circle.join(A)
    circle.settle()
    circle.oracle.stimulus(circle.lines[A], Heard(Lookup("L1", B.key), circle.now))
    circle.oracle.observe(circle.lines[X], lookup(origin=SERVER_ID))
    with pytest.raises(NotAllowed):
        circle.oracle.observe(circle.lines[Y], lookup("0" * 26, origin=SERVER_ID))


# -- whole meshes ------------------------------------------------------------------------------------------------------


def test_the_example_of_section_48() -> None:
    """A looks B up across three servers; offer and answer pass along the route, and nobody else hears of it."""
    net = chain("a", "b", "c")
    a, b = net.client("a", A), net.client("c", B)
    net.said.clear()
    net.tell(a, Lookup("L1", B.key))
    [found] = net.take(a)
    rid = found.route_id
    asking = SisterLookup(rid, Sibling("a").id, A.key, B.key, 5)
    assert found == Found("L1", B.key, rid)
    assert net.said == [
        ("a", "b", asking),
        ("b", "c", SisterLookup(rid, Sibling("a").id, A.key, B.key, 4)),
        ("c", "b", SisterFound(rid, B.key)),
        ("b", "a", SisterFound(rid, B.key)),
    ]
    net.said.clear()
    net.tell(a, Signal(rid, "OFFER", b"offer" * 500))
    assert net.take(b) == [SignalFrom(rid, A.key, "OFFER", b"offer" * 500)]
    net.tell(b, Signal(rid, "ANSWER", b""))
    assert net.take(a) == [SignalFrom(rid, B.key, "ANSWER", b"")]
    assert [way[:2] for way in net.said] == [("a", "b"), ("b", "c"), ("c", "b"), ("b", "a")]


def test_a_find_goes_as_far_as_its_ttl() -> None:
    """Three hops more after the first sister: the fifth server's peers are found, the sixth's not."""
    names = "abcdef"
    net = chain(*names)
    asker = net.client("a", A)
    for name in names[1:]:
        net.client(name, Peer(f"at {name}"))
    net.tell(asker, Find("F1", 7))
    net.run(1.5)
    [peers] = net.take(asker)
    assert sorted(peers.peer_keys) == sorted(Peer(f"at {name}").key for name in "bcde")


def test_who_leaves_in_the_middle_is_reported_to_who_signals() -> None:
    net = chain("a", "b", "c")
    a, b = net.client("a", A), net.client("c", B)
    net.tell(a, Lookup("L1", B.key))
    [found] = net.take(a)
    net.tell(b, Hangup())
    net.tell(a, Signal(found.route_id, "ICE"))
    assert net.take(a) == [Err(found.route_id, Code.PEER_NOT_FOUND)]


def test_a_ring_ends_a_flood() -> None:
    """Each server asks each neighbour once, and who asked gets one answer."""
    names = ("a", "b", "c", "d")
    allowed = frozenset(Sibling(name).id for name in names)
    meshes = {n: Mesh((Seed(Sibling(m).uri),), allowed) for n, m in zip(names, "bcda", strict=True)}
    net = Net(*names, **meshes)
    net.run()
    a = net.client("a", A)
    net.client("c", B)
    net.said.clear()
    net.tell(a, Lookup("L1", B.key))
    assert len(net.take(a)) == 1
    assert sum(isinstance(frame, SisterLookup) for *_, frame in net.said) <= 2 * len(names)


def test_servers_that_are_named_are_dialled_and_verified() -> None:
    """A knows b, b knows c: with discovery a comes to know c, and tells its clients only then."""
    meshes = {n: Mesh((Seed(Sibling(m).uri),), discover=True) for n, m in zip("ab", "bc", strict=True)}
    net = Net("a", "b", "c", c=Mesh(discover=True), **meshes)
    net.run(200)
    a = net.client("a", A)
    net.tell(a, GetServers("G1", 7))
    [told] = net.take(a)
    assert sorted(told.uris) == [Sibling("b").uri, Sibling("c").uri]
    assert Sibling("c").id in net.players["a"].state.overlay.live


def test_everybody_asked_for_nothing_answers_nothing() -> None:
    net = chain("a", "b")
    a = net.client("a", A)
    net.tell(a, Find("F1", 7))
    assert net.take(a) == []
    net.run(1.5)
    assert net.take(a) == [Peers("F1")]
    net.tell(("a", 99), Opened())


def test_two_that_name_one_another_end_with_one_connection() -> None:
    """Each dials the other, and neither knows the other's id before."""
    meshes = {n: Mesh((Seed(Sibling(m).uri),)) for n, m in zip("ab", "ba", strict=True)}
    net = Net("a", "b", **meshes)
    net.run(100)
    for name, other in zip("ab", "ba", strict=True):
        state = net.players[name].state
        assert state.links(Sibling(other).id) == [state.overlay.live[Sibling(other).id]]
    a = net.client("a", A)
    net.client("b", B)
    net.tell(a, Lookup("L1", B.key))
    assert isinstance(net.take(a)[0], Found)
