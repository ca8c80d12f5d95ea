"""The session's machine: every phase knows every input, the oracle accepts the player, and a transcript has one verdict."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.core import NotAllowed
from reference_impl.sbp.frames import (
    Ack,
    BadFlags,
    BadHandshake,
    Close,
    Error,
    Handshake,
    Hangup,
    Input,
    Malformed,
    Message,
    Opened,
    Oversize,
    Ping,
    Pong,
    Send,
    SendClose,
    SendPing,
    Text,
    UnknownOp,
)
from reference_impl.sbp.peer import HOST, TABLE, WIRE, Config, PeerMachine, Phase
from selftests.machines import POLICIES, Watched, assert_clauses_exist, assert_total, judged

FROM_HOST = (Send, SendPing, SendClose)
INPUTS = (*get_args(Input), *FROM_HOST)
IMPOSSIBLE = {
    "a transport opens once": {(phase, Opened) for phase in (Phase.GREETING, Phase.OPEN, Phase.OVER)},
    "without a transport nothing comes": {(Phase.DOWN, kind) for kind in get_args(Input) if kind is not Opened},
}
ID = b"i" * 16
SAMPLES: dict[type, Any] = {
    Opened: Opened(),
    Handshake: Handshake(ID, "them"),
    Ping: Ping(ID),
    Pong: Pong(ID),
    Close: Close(ID, "bye"),
    UnknownOp: UnknownOp(ID, 9),
    Message: Message(ID, "app/x", b"\x01"),
    Ack: Ack(ID, b"a" * 16),
    Error: Error(ID, 2000, "app"),
    BadFlags: BadFlags("flags", ID),
    Malformed: Malformed("length", ID),
    BadHandshake: BadHandshake("json", ID),
    Text: Text("hello"),
    Oversize: Oversize(2_000_000, ID),
    Hangup: Hangup(1000),
    Send: Send("app/y", b"\x02"),
    SendPing: SendPing(),
    SendClose: SendClose("done"),
}


def test_every_phase_knows_every_input() -> None:
    """By a row whose clauses exist, unless the pair cannot be."""
    assert_total(PeerMachine, Phase, INPUTS, IMPOSSIBLE)
    assert_clauses_exist(PeerMachine, "sbp")


class WatchedPeer(Watched):
    """A peer of whom only what can happen is asked."""

    def __init__(self, policy: str, lag: int, receipt: bool = False) -> None:
        super().__init__(PeerMachine(Config("me", receipt=receipt)), policy, lag)

    def bytes(self, count: int) -> bytes:
        return (next(self._entropy) + 2**64).to_bytes(count, "big")

    def perform(self, event: Any) -> None:
        if (self.player.state.phase, type(event)) in TABLE:
            self.tell(HOST if isinstance(event, FROM_HOST) else WIRE, event)


odd = st.sampled_from(
    [
        Handshake(ID, "them", version="2"),
        Handshake(ID, "them", protocol="x"),
        Handshake(ID, "them", metadata='{"bare":1}'),
        Handshake(ID, "them", size=9_000),
        Malformed("utf-8", ID, fatal=False),
        Malformed("no id"),
        Error(ID, 1000),
    ]
)
scripts = st.lists(st.one_of(st.sampled_from(list(SAMPLES.values())), odd), max_size=14).map(
    lambda events: [Opened(), *events]
)
greeted = scripts.map(lambda events: [Opened(), Handshake(ID, "them"), *events[1:]])


@pytest.mark.parametrize("receipt", [False, True])
@pytest.mark.parametrize("lag", [0, 2])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60)
@given(script=st.one_of(scripts, greeted))
def test_the_oracle_accepts_the_reference(policy: str, lag: int, receipt: bool, script: list[Any]) -> None:
    """Whatever comes, however talkative the peer is."""
    watched = WatchedPeer(policy, lag, receipt)
    for event in script:
        watched.perform(event)
    watched.settle()


@given(script=greeted)
def test_a_transcript_has_one_verdict(script: list[Any]) -> None:
    """The same inputs make the same frames, and a false frame is found wherever it stands."""
    once, again = WatchedPeer("polite", 0), WatchedPeer("polite", 0)
    for watched in (once, again):
        for event in script:
            watched.perform(event)
    assert once.transcript == again.transcript
    machine = PeerMachine(Config("me"))
    assert judged(machine, once.transcript)[0] == ""
    false = [*once.transcript, ("observe", WIRE, Ack(b"z" * 16, ID))]
    assert judged(machine, false) == judged(machine, false)
    assert judged(machine, false)[0]


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (BadFlags("x", ID), Error(b"f" * 16, 1000)),
        (Handshake(b"j" * 16, "them", version="2"), Error(b"f" * 16, 1002)),
        (Message(b"j" * 16, "app/x"), Ack(b"f" * 16, b"j" * 16)),
        (Ping(b"j" * 16), Pong(b"j" * 16)),
    ],
    ids=["code", "version", "ack", "id"],
)
def test_what_is_not_allowed_is_found(said: Any, heard: Any) -> None:
    """The wrong code, the wrong code again, an Ack that nobody asked for, a copied id."""
    watched = WatchedPeer("polite", 0)
    watched.perform(Opened())
    if not isinstance(said, Handshake):
        watched.perform(Handshake(ID, "them"))
    watched.oracle.stimulus(WIRE, said)
    with pytest.raises(NotAllowed):
        watched.oracle.observe(WIRE, heard)
