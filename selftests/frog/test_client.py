"""The client's machine: every phase knows every input, the oracle accepts the player, and a transcript has one verdict."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.core import NotAllowed
from reference_impl.frog.client import INPUTS, TABLE, ClientMachine, Config, Phase
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
    Opened,
    Peers,
    Signal,
    SignalFrom,
    Stray,
    Text,
    Try,
    Welcome,
)
from reference_impl.frog.host import (
    HOST,
    NETWORK,
    AskPeers,
    AskRoute,
    AskServers,
    Depart,
    Dial,
    GotPeers,
    GotRoute,
    GotServers,
    Parted,
    Refused,
    Reported,
    SendSignal,
    Signalled,
    Start,
    Status,
    Stop,
)
from reference_impl.frog.identity import ClientProof
from selftests.frog.conversations import POLICIES, SERVER_ID, Peer, Watched, identities, judged

ME, YOU = Peer("me"), Peer("you")
STRANGER = Peer("you", "CHECKERS")
RID, NONCE = "2N9VVK36ZP3JH2M8QAK1JY7Z5T", "8QAK1JY7Z5T2N9VVK36ZP3JH2M"
ONE, TWO, THREE = (f"wss://rv{n}.example.net/" for n in (1, 2, 3))
WISHES = (Start, Stop, Depart, AskPeers, AskRoute, AskServers, SendSignal)
SAMPLES: dict[type, Any] = {
    Welcome: Welcome(SERVER_ID),
    Chal: Chal(NONCE),
    Joined: Joined(),
    Left: Left(),
    Try: Try("-", (THREE,)),
    Peers: Peers("X"),
    Found: Found("X", YOU.key, RID),
    SignalFrom: SignalFrom(RID, YOU.key, "OFFER", b"sdp"),
    Err: Err("-", Code.BAD_STATE),
    Malformed: Malformed("why"),
    Stray: Stray("JOIN"),
    Text: Text(),
    Opened: Opened(),
    Hangup: Hangup(),
    Start: Start(),
    Stop: Stop(),
    Depart: Depart(),
    AskPeers: AskPeers(91, 3),
    AskRoute: AskRoute(92, YOU.key),
    AskServers: AskServers(93, 7),
    SendSignal: SendSignal(94, RID, "ICE", b"c"),
}
P = Phase
ON_WIRE = tuple(kind for kind in INPUTS if kind not in WISHES)
IMPOSSIBLE = {
    "a running client is not started": {(phase, Start) for phase in P if phase is not P.STOPPED},
    "it dials only while it is away": {(phase, Opened) for phase in P if phase not in (P.STOPPED, P.AWAY)},
    "without a connection there are only its last words, which are not read": {
        (phase, kind) for phase in (P.STOPPED, P.AWAY) for kind in ON_WIRE if kind not in (Opened, Hangup)
    },
}
LISTED = set().union(*IMPOSSIBLE.values())


def test_every_phase_knows_every_input() -> None:
    """Each pair has a row or is listed as impossible, and none is both."""
    assert set(SAMPLES) == set(INPUTS)
    assert set(TABLE) | LISTED == set(itertools.product(Phase, INPUTS))
    assert not set(TABLE) & LISTED


class Life(Watched):
    """A client, its connections numbered as they open; the server is us."""

    def __init__(self, policy: str = "polite", lag: int = 0, **config: Any) -> None:
        told = Config((ONE, TWO, ONE), ME.network, ME.seed, **config)
        super().__init__(ClientMachine(told), policy, lag)
        self.line, self.cids, self.dials = 0, ["X"], list[str]()

    @property
    def phase(self) -> Phase:
        phase: Phase = self.player.state.phase
        return phase

    def say(self, what: Any) -> list[Any]:
        """The right channel for it; what a phase cannot meet is left out."""
        if (self.phase, type(what)) in LISTED:
            return []
        if isinstance(what, Opened):
            self.line += 1
        channel: Any = HOST if isinstance(what, WISHES) else self.line
        if isinstance(what, Hangup) and self.phase in (P.AWAY, P.STOPPED):
            channel = NETWORK
        said = self.tell(channel, what)
        self.cids += [frame.cid for frame in said if isinstance(frame, Find | Lookup | GetServers)]
        self.dials += [frame.uri for frame in said if isinstance(frame, Dial)]
        return said

    def join(self) -> list[Any]:
        said: list[Any] = []
        for what in (Start(), Opened(), Welcome(SERVER_ID), Chal(NONCE), Joined()):
            self.hear()
            said += self.say(what)
        return said

    def redial(self) -> None:
        while self.phase is P.AWAY and (deadline := self.player.deadline) is not None:
            self.wait(max(0.0, deadline - self.now))
            self.dials += [frame.uri for verb, _, frame in self.transcript[-1:] if isinstance(frame, Dial)]


# -- the rules, one by one ---------------------------------------------------------------------------------------------


def test_it_registers_with_the_uri_that_it_dialled() -> None:
    life = Life()
    said = life.join()
    assert [type(frame) for frame in said] == [Dial, Hello, Join, Auth, Status, GetServers]
    proof = ClientProof(NONCE, said[0].uri, ME.key, SERVER_ID)
    assert identities.verify(said[3].public_key, said[3].signature, proof)
    assert said[4] == Status(True, said[0].uri)
    life.settle()


def test_a_server_cannot_talk_it_into_another_uri() -> None:
    """A TRY between HELLO and CHAL changes nothing of what is signed (FROG-12.1-03)."""
    life = Life()
    life.say(Start())
    life.say(Opened())
    life.say(Welcome(SERVER_ID))
    life.say(Try("-", (THREE,)))
    [auth] = life.say(Chal(NONCE))
    assert identities.verify(auth.public_key, auth.signature, ClientProof(NONCE, life.dials[0], ME.key, SERVER_ID))
    life.settle()


def test_answers_are_matched_by_cid() -> None:
    life = Life()
    life.join()
    [first] = life.say(AskRoute(1, YOU.key))
    [second] = life.say(AskPeers(2, 3))
    assert first.cid != second.cid
    assert life.say(Peers(second.cid, (YOU.key,))) == [GotPeers(2, (YOU.key,))]
    assert life.say(Found(first.cid, YOU.key, RID)) == [GotRoute(1, RID)]
    assert life.say(SendSignal(3, RID, "OFFER", b"o")) == [Signal(RID, "OFFER", b"o")]
    assert life.say(Err(RID, Code.ROUTE_EXPIRED)) == [Reported(RID, Code.ROUTE_EXPIRED)]
    assert isinstance(life.say(SendSignal(4, RID, "ICE"))[0], Refused)
    life.settle()


def test_who_is_called_may_answer_without_a_lookup() -> None:
    life = Life()
    life.join()
    assert life.say(SignalFrom(RID, YOU.key, "OFFER", b"o")) == [Signalled(RID, YOU.key, "OFFER", b"o")]
    assert life.say(SendSignal(1, RID, "ANSWER", b"a")) == [Signal(RID, "ANSWER", b"a")]


@pytest.mark.parametrize(
    "wish",
    [
        AskPeers(1, 8),
        AskPeers(1, 0),
        AskRoute(1, ME.key),
        AskRoute(1, STRANGER.key),
        AskServers(1, 8),
        SendSignal(1, RID, "ICE"),
    ],
)
def test_what_a_server_would_refuse_is_never_sent(wish: Any) -> None:
    life = Life()
    life.join()
    [refused] = life.say(wish)
    assert isinstance(refused, Refused)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (AskPeers(1, 1), lambda cid: Peers(cid, (YOU.key, Peer("x").key))),
        (AskPeers(1, 3), lambda cid: Peers(cid, (STRANGER.key,))),
        (AskRoute(1, YOU.key), lambda cid: Found(cid, Peer("x").key, RID)),
        (AskRoute(1, YOU.key), lambda cid: Err(cid, Code.LOOKUP_TIMEOUT)),
    ],
)
def test_a_false_answer_is_a_failure(ask: Any, answer: Any) -> None:
    life = Life()
    life.join()
    [asked] = life.say(ask)
    [refused] = life.say(answer(asked.cid))
    assert isinstance(refused, Refused)
    assert isinstance(life.say(SendSignal(2, RID, "ICE"))[0], Refused)
    life.settle()


def test_a_lost_connection_fails_what_is_asked_and_is_dialled_anew_after_a_while() -> None:
    life = Life()
    life.join()
    life.say(AskPeers(1, 3))
    told = life.say(Hangup())
    assert told == [Status(False), Refused(1, "DISCONNECTED")]
    assert life.player.deadline is not None
    assert 0.5 <= life.player.deadline - life.now <= 0.75
    life.redial()
    assert len(life.dials) == 2
    life.settle()


def test_the_wait_grows_and_every_server_has_its_turn() -> None:
    """Each server once in a round, whatever is learned; the bootstrap list stays (FROG-41-04)."""
    life = Life()
    life.join()
    life.say(Try("-", (THREE, ONE, THREE)))
    life.say(Hangup())
    waits = []
    for _ in range(7):
        waits.append((life.player.deadline or 0.0) - life.now)
        life.redial()
        life.say(Hangup())
    assert waits[5] > waits[3] > waits[1] > waits[0]
    assert set(life.dials[2:5]) == {ONE, TWO, THREE}
    assert {ONE, TWO} <= set(life.player.state.known.every())
    assert len(set(life.player.state.known.every())) == len(life.player.state.known.every())


def test_a_learned_server_that_always_fails_is_forgotten() -> None:
    life = Life(cache=(THREE,))
    life.say(Start())
    for _ in range(9):
        life.say(Hangup())
        life.redial()
    assert life.player.state.known.every() == (ONE, TWO)


def test_leaving_is_for_good() -> None:
    life = Life()
    life.join()
    assert life.say(Depart()) == [Leave()]
    assert life.say(Left()) == [Hangup(), Status(False), Parted()]
    assert life.player.deadline is None
    life.settle()


@pytest.mark.parametrize("silent_after", range(5))
def test_a_silent_server_is_given_up(silent_after: int) -> None:
    life = Life()
    for what in (Start(), Opened(), Welcome(SERVER_ID), Chal(NONCE))[:silent_after]:
        life.say(what)
    if silent_after > 1:
        life.wait(15)
        assert life.phase is P.AWAY
    life.settle()


@pytest.mark.parametrize(
    "config",
    [
        {"bootstrap": ()},
        {"bootstrap": ("wss://rv.example.net",)},
        {"network": "low"},
        {"seed": b"short"},
    ],
)
def test_a_configuration_that_cannot_run_is_refused(config: dict[str, Any]) -> None:
    good: dict[str, Any] = {"bootstrap": (ONE,), "network": "NET", "seed": bytes(32)}
    with pytest.raises(ValueError, match=r"bootstrap|network|seed"):
        Config(**good | config)


# -- closure and replay ------------------------------------------------------------------------------------------------

ways = {
    P.STOPPED: [],
    P.AWAY: [Start()],
    P.GREETING: [Start(), Opened()],
    P.JOINING: [Start(), Opened(), Welcome(SERVER_ID)],
    P.PROVING: [Start(), Opened(), Welcome(SERVER_ID), Chal(NONCE)],
    P.REGISTERED: [Start(), Opened(), Welcome(SERVER_ID), Chal(NONCE), Joined()],
    P.LEAVING: [Start(), Opened(), Welcome(SERVER_ID), Chal(NONCE), Joined(), Depart()],
}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("phase", Phase)
def test_every_row_can_be_taken_and_the_oracle_agrees(phase: Phase, kind: type) -> None:
    life = Life()
    for what in ways[phase]:
        life.say(what)
    assert life.phase is phase
    life.say(SAMPLES[kind])
    life.settle()


answers = st.sampled_from(["peers", "found", "err", "try", "other"])
steps = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(list(SAMPLES.values()))),
    st.tuples(st.just("ask"), st.integers(1, 3)),
    st.tuples(st.just("answer"), answers, st.integers(0, 5)),
    st.tuples(st.just("answer"), answers, st.integers(0, 5)),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1.0, 14.0, 16.0])),
    st.tuples(st.just("redial")),
    st.tuples(st.just("join")),
    st.tuples(st.just("settle")),
)
scripts = st.lists(steps, max_size=16)


def answer(kind: str, cid: str) -> Any:
    return {
        "peers": Peers(cid, (YOU.key,)),
        "found": Found(cid, YOU.key, RID),
        "err": Err(cid, Code.PEER_NOT_FOUND),
        "try": Try(cid, (THREE,)),
        "other": Peers(cid, (STRANGER.key,)),
    }[kind]


def played(life: Life, script: list[Any]) -> Life:
    tickets = itertools.count(1)
    for verb, *rest in script:
        match verb, rest:
            case "say", [what]:
                life.hear()
                life.say(what)
            case "ask", [kind]:
                ticket = next(tickets)
                life.say([AskPeers(ticket, kind), AskRoute(ticket, YOU.key), AskServers(ticket, kind)][kind - 1])
            case "answer", [kind, which]:
                life.hear()
                life.say(answer(kind, life.cids[which % len(life.cids)]))
            case "wait", [seconds]:
                life.wait(seconds)
            case "redial", _:
                life.redial()
            case "join", _:
                life.join()
            case _:
                life.settle()
    life.settle()
    return life


@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, deadline=None)
@given(script=scripts)
def test_the_oracle_accepts_the_reference(policy: str, lag: int, script: list[Any]) -> None:
    """Whatever comes, however talkative the client is."""
    played(Life(policy, lag), [("join",), *script])


@settings(max_examples=15, deadline=None)
@given(script=scripts)
def test_a_transcript_has_one_verdict(script: list[Any]) -> None:
    """The same inputs make the same frames, and a false frame is found wherever it stands."""
    once, again = played(Life(), script), played(Life(), script)
    assert once.transcript == again.transcript
    assert judged(once.machine, once.transcript) == ("", "")
    false = [*once.transcript, ("observe", HOST, GotServers(77, ()))]
    assert judged(once.machine, false) == judged(once.machine, false) != ("", "")


@pytest.mark.parametrize(
    ("before", "told", "channel", "said", "clause"),
    [
        (P.AWAY, Opened(), 1, Join(ME.key), "FROG-16-01"),
        (P.GREETING, Welcome(SERVER_ID), 1, Join(YOU.key), "FROG-46-01"),
        (P.JOINING, Chal(NONCE), 1, ME.auth(NONCE, THREE), "FROG-12.1-01"),
        (P.JOINING, Chal(NONCE), 1, YOU.auth(NONCE, ONE), "FROG-12.1-01"),
        (P.REGISTERED, AskPeers(1, 3), 1, Find("-", 3), "FROG-46-01"),
        (P.REGISTERED, AskPeers(1, 3), 1, Find("A", 4), "FROG-46-01"),
        (P.REGISTERED, AskRoute(1, YOU.key), 1, Signal(RID, "OFFER"), "FROG-46-01"),
        (P.REGISTERED, SAMPLES[SignalFrom], HOST, Signalled(RID, YOU.key, "OFFER", b"other"), "FROG-46-01"),
        (P.REGISTERED, Hangup(), NETWORK, Dial("wss://elsewhere.example/"), "FROG-41-02"),
    ],
)
def test_what_is_not_allowed_is_found(before: Phase, told: Any, channel: Any, said: Any, clause: str) -> None:
    """Each kind of debt, paid wrongly."""
    life = Life()
    for what in ways[before]:
        life.say(what)
    life.settle()
    on = HOST if isinstance(told, WISHES) else 1
    life.oracle.stimulus(on, Heard(told, 0.0))
    life.oracle.tick(5.0)
    with pytest.raises(NotAllowed) as violation:
        life.oracle.observe(channel, said)
    assert violation.value.clause == clause
