"""Relay and client: every phase knows every input, the oracle accepts the player under any script, and names what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalogue.requirements import catalogue
from harness.touring.tours import tours_of
from reference_impl.core import Expectation, Level, Machine, NotAllowed, Oracle, Overdue, Player
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.client import HOST, NETWORK, PUSHES, ClientMachine
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import (
    FRAMES,
    NO_FRAMES,
    OPENINGS,
    Ack,
    BadAnswer,
    BadDeliverAck,
    BadHeartbeat,
    Beat,
    Deliver,
    DeliverAck,
    Dial,
    Error,
    Hangup,
    Heartbeat,
    InSession,
    Malformed,
    Oversize,
    Push,
    Pushed,
    PushOpened,
    PushSession,
    Queued,
    Received,
    ReceiveOpened,
    Refused,
    Rejected,
    ShortPush,
    Start,
    Submit,
    Trailing,
    UnknownType,
)
from reference_impl.trueseal.relay import RelayMachine

POLICIES: dict[str, Callable[[Expectation], bool]] = {
    "terse": lambda debt: debt.level is Level.MUST,
    "polite": lambda debt: debt.level is not Level.MAY,
    "eager": lambda debt: True,
}
ALICE, BOB = b"a" * 32, b"b" * 32
LIMIT = 4
NOT_FRAMES = [
    UnknownType(0),
    ShortPush(31),
    Oversize(9),
    BadHeartbeat(b"x"),
    BadAnswer(Ack(), b"x"),
    BadAnswer(Error(), b"x"),
    BadDeliverAck((1).to_bytes(8, "big") + b"x"),
    BadDeliverAck(b""),
    Malformed("short"),
    Malformed("a length", 1),
    Trailing(Heartbeat(), b"x"),
    Trailing(Push(ALICE, b"t"), b"x"),
]
SAID: list[Any] = [
    *[Push(key, envelope) for key in (ALICE, BOB) for envelope in (b"", b"1", b"2", b"long!")],
    *[DeliverAck(id) for id in (1, 2, 3, 2**64 - 1)],
    *[Deliver(id, envelope) for id in (1, 2) for envelope in (b"m", b"n")],
    *[Heartbeat(), Ack(), Error()],
    *NOT_FRAMES,
]
Script = list[tuple[Any, Any]]


class Watched:
    """A player and the oracle beside it. What the player says is heard `lag` inputs later, in order."""

    def __init__(self, machine: Machine[Any], policy: str = "polite", lag: int = 0) -> None:
        self.player = Player(machine, entropy=bytes, volunteers=POLICIES[policy])
        self.oracle, self.lag = Oracle(machine), lag
        self.transcript: list[tuple[str, Any, Any]] = []
        self._unheard: list[tuple[tuple[Any, Any], ...]] = []

    def tell(self, channel: Any, event: Any) -> tuple[Any, ...]:
        self.transcript.append(("stimulus", channel, event))
        self.oracle.stimulus(channel, event)
        self._unheard.append(self.player.receive(channel, event).frames)
        said = self._unheard[-1]
        self.hear(self.lag)
        return said

    def hear(self, keep: int = 0) -> None:
        while len(self._unheard) > keep:
            for channel, frame in self._unheard.pop(0):
                self.transcript.append(("observe", channel, frame))
                self.oracle.observe(channel, frame)

    def settle(self) -> None:
        self.hear()
        self.oracle.quiesce()

    def crash(self) -> None:
        self.settle()
        self.player.state = self.player.machine.crash(self.player.state)
        self.oracle.crash()


def judged(machine: Machine[Any], transcript: Iterable[tuple[str, Any, Any]]) -> tuple[str, str]:
    """The verdict on a stored transcript."""
    oracle = Oracle(machine)
    try:
        for verb, channel, what in transcript:
            getattr(oracle, verb)(channel, what)
    except NotAllowed as violation:
        return violation.clause, str(violation)
    return "", ""


# -- tables ------------------------------------------------------------------------------------------------------------

WIRE = (*FRAMES, *NO_FRAMES, *OPENINGS, Hangup)


def test_every_phase_of_the_relay_knows_every_input() -> None:
    assert set(relay.TABLE) == set(itertools.product(relay.Phase, WIRE))


def test_every_phase_of_the_client_knows_every_input_of_its_channel() -> None:
    sessions = (client.Phase.PUSHING, client.Phase.LISTENING, client.Phase.GONE)
    host = (client.Phase.STOPPED, client.Phase.RUNNING)
    wanted = {*itertools.product(sessions, WIRE), *itertools.product(host, (Start, Submit, Beat))}
    assert set(client.TABLE) == wanted | {(client.Phase.NETWORK, Hangup)}


@pytest.mark.parametrize("module", [relay, client], ids=["relay", "client"])
def test_every_clause_of_a_table_exists(module: Any) -> None:
    named = {clause for row in module.TABLE.values() for clause in row.clauses}
    assert named <= set(catalogue("trueseal"))
    assert set(module.FREEDOMS) <= set(module.TABLE)


SESSIONS: dict[str, tuple[Any, ...]] = {
    "relay": (relay.Phase.PUSH, relay.Phase.RECEIVE),
    "client": (client.Phase.PUSHING, client.Phase.LISTENING),
}


@pytest.mark.parametrize(("role", "left_out"), [("relay", set()), ("client", {Oversize})])
def test_the_tours_say_every_frame_in_every_session(role: str, left_out: set[type]) -> None:
    """Also what no other end says that conforms. To a client a Push of seventeen messages is left out."""
    tours = tours_of("trueseal", role)
    steps = [(world, said) for walk in tours.walks for world, said, _ in tours.steps(walk)]
    heard = [(world, said.channel, said.event) for world, said in steps if isinstance(said.event, bytes)]
    read = {(world.state.phase(channel), type(meant(world.machine, event))) for world, channel, event in heard}
    assert set(itertools.product(SESSIONS[role], {*FRAMES, *NO_FRAMES} - left_out)) - read == set()


def meant(machine: Any, message: bytes) -> Any:
    event = Codec().reader().read(message)
    return machine.weighed(event) if isinstance(machine, RelayMachine) else event


# -- the relay ---------------------------------------------------------------------------------------------------------

sessions = st.integers(1, 4)
relay_events = st.tuples(
    sessions,
    st.one_of(
        st.sampled_from([PushOpened(), ReceiveOpened(ALICE), ReceiveOpened(BOB), Hangup()]), st.sampled_from(SAID)
    ),
)
OPEN: Script = [(1, PushOpened()), (2, ReceiveOpened(ALICE)), (3, ReceiveOpened(BOB))]


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=30)
@given(script=st.lists(relay_events, max_size=10))
def test_the_oracle_accepts_the_relay(policy: str, lag: int, script: Script) -> None:
    """Whatever comes, however talkative the relay is; over a crash too."""
    watched = Watched(RelayMachine(LIMIT), policy, lag)
    for part in (script[:5], script[5:]):
        for channel, event in OPEN:
            watched.tell(channel, event)
        watched.settle()
        for channel, event in part:
            watched.tell(channel, event)
        watched.crash()


@settings(max_examples=30)
@given(script=st.lists(relay_events, max_size=10))
def test_a_transcript_of_the_relay_has_one_verdict(script: Script) -> None:
    """The same inputs make the same frames, and a false frame is found wherever it stands."""
    once, again = Watched(RelayMachine(LIMIT)), Watched(RelayMachine(LIMIT))
    for watched in (once, again):
        for channel, event in OPEN + script:
            watched.tell(channel, event)
    assert once.transcript == again.transcript
    assert judged(RelayMachine(LIMIT), once.transcript) == ("", "")
    false = [*once.transcript, ("observe", 2, Deliver(99, b"never pushed"))]
    assert judged(RelayMachine(LIMIT), false) == judged(RelayMachine(LIMIT), false) != ("", "")


def told(*script: tuple[Any, Any]) -> Oracle[relay.State]:
    oracle = Oracle(RelayMachine(LIMIT))
    for channel, event in [*OPEN, *script]:
        oracle.stimulus(channel, event)
    return oracle


@pytest.mark.parametrize(
    ("script", "channel", "said"),
    [
        ([(1, Push(ALICE, b"1"))], 1, Error()),
        ([(1, Push(ALICE, b"1"))], 3, Deliver(1, b"1")),
        ([(1, Push(ALICE, b"1"))], 2, Deliver(1, b"2")),
        ([(1, Push(ALICE, b"1"))], 2, Deliver(1, b"")),
        ([(1, Push(ALICE, b"long!"))], 1, Ack()),
        ([(1, Push(ALICE, b"long!"))], 2, Deliver(1, b"long!")),
        ([(1, ShortPush(31))], 1, Ack()),
        ([(1, Heartbeat())], 1, Hangup()),
        ([(2, DeliverAck(1))], 2, Ack()),
        ([(2, ShortPush(31))], 2, Ack()),
        ([(2, Push(ALICE, b"long!"))], 2, Ack()),
        ([(2, Push(BOB, b"1"))], 2, Deliver(1, b"1")),
        ([(2, UnknownType(9))], 2, DeliverAck(1)),
    ],
)
def test_what_a_relay_may_not_say(script: Script, channel: int, said: Any) -> None:
    """The wrong answer, the wrong device, an envelope that was changed, a blob that was rejected."""
    with pytest.raises(NotAllowed):
        told(*script).observe(channel, said)


@pytest.mark.parametrize(
    ("script", "clause"),
    [
        ([(1, Push(ALICE, b"1"))], "TS-ACK-01"),
        ([(1, ShortPush(0))], "TS-PUSH-06"),
        ([(1, Oversize(9))], "TS-SIZE-05"),
        ([(1, Push(ALICE, b"long!"))], "TS-SIZE-05"),
        ([(1, Heartbeat())], "TS-HB-02"),
        ([(2, Heartbeat())], "TS-HB-02"),
        ([(2, UnknownType(7))], "TS-TYP-03"),
        ([(1, UnknownType(7))], "TS-TYP-03"),
    ],
)
def test_what_a_relay_owes(script: Script, clause: str) -> None:
    with pytest.raises(Overdue) as found:
        told(*script).quiesce()
    assert found.value.clause == clause


@pytest.mark.parametrize("pushed", [Push(ALICE, b"1"), ShortPush(31), Oversize(9), Malformed("cut off", 1)])
@pytest.mark.parametrize(
    "said", [[], [Hangup()], [Error()], [Error(), Hangup()]], ids=["nothing", "end", "error", "both"]
)
def test_a_push_where_none_belongs_may_be_turned_away_in_any_way(pushed: Any, said: list[Any]) -> None:
    """Passed over, rejected, the end of the session, or both."""
    oracle = told((2, pushed))
    for frame in said:
        oracle.observe(2, frame)
    oracle.quiesce()


def test_a_push_where_none_belongs_is_stored_if_it_is_acked() -> None:
    oracle = told((2, Push(ALICE, b"1")))
    oracle.observe(2, Ack())
    with pytest.raises(Overdue):
        oracle.quiesce()
    oracle.observe(2, Deliver(1, b"1"))
    oracle.quiesce()


def test_a_blob_is_delivered_until_its_own_ack() -> None:
    """A drop, then an ack of another id, then a crash: it comes again under its id. Its ack ends that (TS-DLV-06..08)."""
    watched = Watched(RelayMachine())
    for channel, event in [*OPEN, (1, Push(ALICE, b"1")), (1, Push(ALICE, b"2")), (2, DeliverAck(2)), (2, Hangup())]:
        watched.tell(channel, event)
    assert watched.tell(4, ReceiveOpened(ALICE)) == ((4, Deliver(1, b"1")),)
    watched.crash()
    assert watched.tell(5, ReceiveOpened(ALICE)) == ((5, Deliver(1, b"1")),)
    watched.tell(5, DeliverAck(1))
    watched.crash()
    assert watched.tell(6, ReceiveOpened(ALICE)) == ()


def test_only_the_own_inbox_is_acked() -> None:
    """TS-DACK-07."""
    watched = Watched(RelayMachine())
    for channel, event in [*OPEN, (1, Push(ALICE, b"1")), (3, DeliverAck(1)), (2, Hangup())]:
        watched.tell(channel, event)
    assert watched.tell(4, ReceiveOpened(ALICE)) == ((4, Deliver(1, b"1")),)


def test_ids_are_the_targets_own() -> None:
    """Any ids in any order; an ack by such an id is understood, and the blob keeps it (TS-DLV-02)."""
    oracle = told((1, Push(ALICE, b"1")), (1, Push(ALICE, b"2")))
    for channel, frame in [(1, Ack()), (2, Deliver(2**64 - 1, b"2")), (1, Ack()), (2, Deliver(0, b"1"))]:
        oracle.observe(channel, frame)
    oracle.stimulus(2, DeliverAck(0))
    oracle.quiesce()
    oracle.stimulus(2, Hangup())
    oracle.stimulus(4, ReceiveOpened(ALICE))
    with pytest.raises(NotAllowed):
        oracle.observe(4, Deliver(5, b"2"))
    oracle.observe(4, Deliver(2**64 - 1, b"2"))
    oracle.quiesce()
    with pytest.raises(NotAllowed):
        oracle.observe(4, Deliver(0, b"1"))


def twice() -> Oracle[relay.State]:
    """Both devices have come once more, one after the other."""
    oracle = Oracle(RelayMachine(LIMIT))
    for channel, event in [*OPEN, (4, ReceiveOpened(ALICE)), (5, ReceiveOpened(BOB))]:
        oracle.stimulus(channel, event)
        oracle.quiesce()
    return oracle


def test_the_newest_session_may_be_served_alone_and_then_the_one_before() -> None:
    """What it has missed may come when the newest has ended, and also nothing."""
    oracle = twice()
    oracle.stimulus(1, Push(ALICE, b"1"))
    oracle.observe(1, Ack())
    oracle.observe(4, Deliver(7, b"1"))
    oracle.quiesce()
    with pytest.raises(NotAllowed):
        oracle.observe(2, Deliver(7, b"1"))
    oracle.stimulus(4, Hangup())
    oracle.stimulus(1, Push(ALICE, b"2"))
    oracle.observe(1, Ack())
    oracle.quiesce()
    oracle.observe(2, Deliver(8, b"2"))
    oracle.observe(2, Deliver(7, b"1"))
    oracle.quiesce()


@pytest.mark.parametrize("device", [ALICE, BOB])
def test_who_has_served_all_sessions_goes_on(device: bytes) -> None:
    """A relay chooses once, for every device, and its process may be another one (TS-SES-08)."""
    oracle = twice()
    oracle.stimulus(1, Push(ALICE, b"1"))
    for channel, frame in [(1, Ack()), (4, Deliver(1, b"1")), (2, Deliver(1, b"1"))]:
        oracle.observe(channel, frame)
    oracle.quiesce()
    oracle.crash()
    for channel in (6, 7):
        oracle.stimulus(channel, ReceiveOpened(device))
        if device == ALICE:
            oracle.observe(channel, Deliver(1, b"1"))
        oracle.quiesce()
    oracle.stimulus(8, PushOpened())
    oracle.stimulus(8, Push(device, b"2"))
    oracle.observe(8, Ack())
    oracle.observe(7, Deliver(2, b"2"))
    with pytest.raises(Overdue):
        oracle.quiesce(patience_s=5.0)


def test_how_sessions_are_served_is_two_readings_however_many_there_are() -> None:
    """With Heartbeats of the relay's own among them, while it may still be late with a delivery."""
    oracle = twice()
    for id in range(1, 6):
        oracle.stimulus(1, Push(ALICE, b"%d" % id))
        oracle.observe(1, Ack())
        oracle.observe(4, Deliver(id, b"%d" % id))
        for channel in (2, 3, 4, 5):
            oracle.stimulus(channel, Heartbeat())
            oracle.observe(channel, Heartbeat())
            oracle.quiesce(patience_s=5.0)
        assert len(oracle.frontier) == 2


def test_a_session_that_gave_way_may_be_ended_at_any_time() -> None:
    """Also by a relay that has just answered it."""
    oracle = twice()
    oracle.stimulus(2, Heartbeat())
    oracle.observe(2, Heartbeat())
    oracle.quiesce()
    oracle.observe(2, Hangup())


# -- the client --------------------------------------------------------------------------------------------------------

FIRST, SECOND = PushSession(1), PushSession(2)
WISHES = [Submit(ALICE, b"1"), Submit(ALICE, b"1"), Submit(BOB, b"2"), Submit(BOB, bytes(1_048_577)), Beat(), Start()]
UP: Script = [(HOST, Start()), (7, ReceiveOpened(ALICE))]
client_events = st.one_of(
    st.tuples(st.just(HOST), st.sampled_from(WISHES)),
    st.tuples(
        st.sampled_from([FIRST, SECOND, 7, 8]), st.sampled_from([*SAID, PushOpened(), ReceiveOpened(ALICE), Hangup()])
    ),
    st.tuples(st.just(NETWORK), st.just(Hangup())),
)


@pytest.mark.parametrize("answer", [Ack(), Error()])
@pytest.mark.parametrize("said", [[], [(FIRST, Hangup())], [(HOST, Pushed(1))]], ids=["nothing", "the end", "done"])
def test_an_answer_with_a_body_may_be_one(answer: Ack | Error, said: Script) -> None:
    """Passed over, the end of the session, or what its tag says: the text does not tell."""
    oracle = Oracle(ClientMachine())
    for channel, event in [*UP, (HOST, Submit(ALICE, b"1"))]:
        oracle.stimulus(channel, event)
    for channel, frame in [(NETWORK, Dial()), (HOST, Queued(1)), (PUSHES, InSession(FIRST, Push(ALICE, b"1")))]:
        oracle.observe(channel, frame)
    oracle.stimulus(FIRST, BadAnswer(answer, b"x"))
    for channel, frame in said:
        told_of = Rejected(1) if channel == HOST and isinstance(answer, Error) else frame
        oracle.observe(channel, told_of)
    if (FIRST, Hangup()) in said:
        oracle.observe(PUSHES, InSession(SECOND, Push(ALICE, b"1")))
    oracle.quiesce()


def possible(channel: Any, event: Any) -> bool:
    """A session opens as what it is."""
    if isinstance(event, PushOpened):
        return isinstance(channel, PushSession)
    return not (isinstance(event, ReceiveOpened) and isinstance(channel, PushSession))


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=30)
@given(script=st.lists(client_events, max_size=10))
def test_the_oracle_accepts_the_client(policy: str, lag: int, script: Script) -> None:
    """Whatever the host wants and the relay says; over a crash too."""
    watched = Watched(ClientMachine(), policy, lag)
    for part in (script[:5], script[5:]):
        for channel, event in [*UP, *part]:
            if possible(channel, event):
                watched.tell(channel, event)
        watched.crash()


@settings(max_examples=30)
@given(script=st.lists(client_events, max_size=10))
def test_a_transcript_of_the_client_has_one_verdict(script: Script) -> None:
    once, again = Watched(ClientMachine()), Watched(ClientMachine())
    for watched in (once, again):
        for channel, event in [*UP, *script]:
            if possible(channel, event):
                watched.tell(channel, event)
    assert once.transcript == again.transcript
    false = [*once.transcript, ("observe", HOST, Received(b"never delivered"))]
    assert judged(ClientMachine(), false) == judged(ClientMachine(), false) != ("", "")


def started() -> Watched:
    watched = Watched(ClientMachine())
    for channel, event in UP:
        watched.tell(channel, event)
    return watched


def test_a_blob_is_pushed_until_it_is_answered() -> None:
    """Lost sessions and a crash bring it again; its Ack ends that (TS-ACK-07)."""
    watched = started()
    push = Push(BOB, b"1")
    assert watched.tell(HOST, Submit(BOB, b"1")) == ((HOST, Queued(1)), (PUSHES, InSession(FIRST, push)))
    assert watched.tell(FIRST, Hangup()) == ((PUSHES, InSession(SECOND, push)),)
    watched.crash()
    assert watched.tell(HOST, Start()) == ((NETWORK, Dial()), (PUSHES, InSession(FIRST, push)))
    assert watched.tell(FIRST, Ack()) == ((HOST, Pushed(1)), (FIRST, Hangup()))
    watched.crash()
    assert watched.tell(HOST, Start()) == ((NETWORK, Dial()),)


@pytest.mark.parametrize("end", [Ack(), Error(), Hangup()])
def test_a_push_may_wait_until_another_one_is_answered(end: Any) -> None:
    """Nothing in the text asks for two at once; but when nothing is under way any more, one of them is owed."""
    oracle = started().oracle
    for envelope in (b"1", b"2"):
        oracle.stimulus(HOST, Submit(BOB, envelope))
    oracle.observe(HOST, Queued(1))
    oracle.observe(HOST, Queued(2))
    with pytest.raises(Overdue):
        oracle.quiesce()
    oracle.observe(PUSHES, InSession(FIRST, Push(BOB, b"2")))
    oracle.quiesce()
    oracle.stimulus(FIRST, end)
    with pytest.raises(Overdue) as found:
        oracle.quiesce()
    assert found.value.clause == "TS-PUSH-01"
    oracle.observe(PUSHES, InSession(SECOND, Push(BOB, b"1")))
    oracle.quiesce()


def test_a_rejected_blob_is_never_pushed_again() -> None:
    """Not in another session, not after a crash (TS-ERR-04, TS-ERR-05); the answer is for the oldest."""
    watched = started()
    watched.tell(HOST, Submit(BOB, b"1"))
    watched.tell(HOST, Submit(BOB, b"2"))
    assert watched.tell(FIRST, Error()) == ((HOST, Rejected(1)),)
    assert watched.tell(FIRST, Hangup()) == ((PUSHES, InSession(SECOND, Push(BOB, b"2"))),)
    watched.crash()
    assert watched.tell(HOST, Start())[1:] == ((PUSHES, InSession(FIRST, Push(BOB, b"2"))),)


def test_too_large_is_refused_before_anything_is_dialled() -> None:
    watched = started()
    assert watched.tell(HOST, Submit(BOB, bytes(1_048_577))) == ((HOST, Refused("push")),)
    assert watched.tell(HOST, Submit(BOB, bytes(1_048_576)))[0] == (HOST, Queued(1))


def test_a_message_is_surfaced_once_and_acked_each_time() -> None:
    """Over sessions and crashes (TS-DLV-09); what must be durable is said before the ack."""
    watched = started()
    assert watched.tell(7, Deliver(2**63, b"m")) == ((HOST, Received(b"m")), (7, DeliverAck(2**63)))
    assert watched.tell(7, Deliver(2**63, b"m")) == ((7, DeliverAck(2**63)),)
    watched.crash()
    watched.tell(HOST, Start())
    watched.tell(8, ReceiveOpened(ALICE))
    assert watched.tell(8, Deliver(2**63, b"m")) == ((8, DeliverAck(2**63)),)


def test_heartbeats_do_not_go_on_for_ever() -> None:
    """One answer to each of theirs, none to the answer to ours (TS-HB-05)."""
    watched = started()
    assert watched.tell(7, Heartbeat()) == ((7, Heartbeat()),)
    assert watched.tell(HOST, Beat()) == ((7, Heartbeat()),)
    assert watched.tell(7, Heartbeat()) == ()
    assert watched.tell(7, Heartbeat()) == ((7, Heartbeat()),)


@pytest.mark.parametrize(
    ("script", "channel", "said"),
    [
        ([(7, Deliver(1, b"m"))], 7, DeliverAck(2)),
        ([(7, Deliver(1, b"m"))], HOST, Received(b"")),
        ([(7, DeliverAck(1))], 7, DeliverAck(1)),
        ([(HOST, Submit(BOB, b"1"))], PUSHES, InSession(FIRST, Push(ALICE, b"1"))),
        ([(HOST, Submit(BOB, b"1"))], PUSHES, InSession(FIRST, Push(BOB, b""))),
        ([(HOST, Submit(BOB, bytes(1_048_577)))], HOST, Queued(1)),
    ],
)
def test_what_a_client_may_not_say(script: Script, channel: Any, said: Any) -> None:
    watched = started()
    for where, event in script:
        watched.oracle.stimulus(where, event)
    with pytest.raises(NotAllowed):
        watched.oracle.observe(channel, said)


@pytest.mark.parametrize(
    ("event", "clause"),
    [
        (Deliver(1, b"m"), "TS-DLV-04"),
        (Heartbeat(), "TS-HB-02"),
        (UnknownType(0), "TS-TYP-03"),
        (Hangup(), "TS-SES-06"),
    ],
)
def test_what_a_client_owes(event: Any, clause: str) -> None:
    watched = started()
    watched.oracle.stimulus(7, event)
    with pytest.raises(Overdue) as found:
        watched.oracle.quiesce()
    assert clause in {debt.clause for debt in found.value.debts}
