"""The node's machine: every phase knows every input, the oracle accepts the player, and a transcript has one verdict."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.bccn.codec import Codec
from reference_impl.bccn.frames import (
    Close,
    Counted,
    Delivered,
    Garbage,
    GetName,
    GetSeq,
    Heard,
    Input,
    Listen,
    Message,
    Noise,
    Reason,
    Refused,
    Send,
    Sent,
    SetName,
    SetSeq,
    StartHeartbeat,
)
from reference_impl.bccn.node import ALL_CHOICES, API, HOST, WIRE, Config, NodeMachine, Phase
from reference_impl.bccn.tracker import Tracker
from reference_impl.core import NotAllowed, Oracle, Player, Tick
from selftests.machines import POLICIES, assert_clauses_exist, assert_total

PEERS = [("127.0.0.1", 4000), ("127.0.0.2", 4000)]
EXAMPLES = settings(max_examples=200)
names = st.sampled_from(["a", "A", "h/p/12", "h/p/12/3", "h/q", "?", "?x", "", "a b", "a/", "a*"])
chans = st.sampled_from(["c", "a/b", "!", "!h", "!h/p/12", "!h/p/12/*", "!?", "!?x", "!a/", "!*", "", "a:b", "!!"])
seqs = st.sampled_from([0, 1, 2, 5, 999, 1000, 1001, 2000, 2**63, 2**64 - 1])
times = st.integers(0, 400).map(float)
messages = st.builds(
    Message,
    names.filter(lambda n: n and " " not in n),
    seqs,
    chans.filter(lambda c: c and ":" not in c),
    st.binary(max_size=3),
)
heard = st.builds(Heard, messages, st.sampled_from(PEERS), times)
noise = st.builds(Noise, st.builds(Garbage, st.sampled_from(Reason), st.just("why")), st.sampled_from(PEERS), times)
calls = st.one_of(
    st.builds(SetName, names),
    st.builds(SetSeq, st.one_of(seqs, st.sampled_from([-1, 2**64]))),
    st.builds(Send, chans, st.binary(max_size=1500), names),
    st.builds(Listen, st.sampled_from(["a/*", "a/>", "a/b"])),
    st.builds(StartHeartbeat, st.just(10.0), times),
    st.sampled_from([GetName(), GetSeq()]),
)
wire = st.one_of(heard, noise).map(lambda event: (WIRE, event))
steps = st.one_of(wire, calls.map(lambda event: (API, event)), st.just((API, Close())))
scripts = st.lists(steps, max_size=25)
machines = st.builds(
    lambda choices: NodeMachine(Config(choices=choices), tracker=Tracker(1000, 100.0, 30.0)),
    st.sampled_from(ALL_CHOICES),
)


def test_every_phase_knows_every_input() -> None:
    """The table is total, and its clauses exist: nothing a host or the wire can do finds no row."""
    assert_total(NodeMachine, Phase, get_args(Input))
    assert_clauses_exist(NodeMachine, "bccn")


@EXAMPLES
@given(machine=machines, script=scripts, policy=st.sampled_from(sorted(POLICIES)))
def test_the_oracle_accepts_the_player(machine: NodeMachine, script: list[tuple[str, Any]], policy: str) -> None:
    """Closure: whatever is said to a node that pays its debts, an oracle that does not know its choices finds nothing wrong."""
    player = Player(machine, entropy=bytes, volunteers=POLICIES[policy])
    oracle = Oracle(NodeMachine(tracker=machine.tracker))
    now = 0.0
    for channel, event in script:
        now = max(now, getattr(event, "at", now))
        oracle.tick(now)
        oracle.stimulus(channel, event)
        for turn in (player.tick(now), player.receive(channel, event), player.tick(now)):
            for receiver, frame in turn.frames:
                oracle.observe(receiver, frame)
        oracle.quiesce()


@EXAMPLES
@given(machine=machines, script=scripts)
def test_the_machine_is_pure(machine: NodeMachine, script: list[tuple[str, Any]]) -> None:
    """Replay: the same script gives the same frames."""
    one, two = (Player(machine, entropy=bytes, volunteers=POLICIES["eager"]) for _ in range(2))
    assert [one.receive(*step) for step in script] == [two.receive(*step) for step in script]
    assert one.state == two.state


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ([Heard(Message("a", 5, "c", b""), PEERS[0], 0.0)] * 2, "a duplicate"),
        ([Heard(Message("a", 5, "!other", b""), PEERS[0], 0.0)], "for others"),
        ([Noise(Garbage(Reason.AUTH, ""), PEERS[0], 0.0)], "forged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_oracle_rejects_a_delivery_too_many(script: list[Any], wrong: str) -> None:
    """What is stale, for others or forged may not be delivered."""
    machine = NodeMachine()
    oracle, player = Oracle(machine), Player(machine, entropy=bytes)
    for event in script:
        oracle.stimulus(WIRE, event)
        for receiver, frame in player.receive(WIRE, event).frames:
            oracle.observe(receiver, frame)
    message = Message("a", 5, "c", b"")
    with pytest.raises(NotAllowed):
        oracle.observe(HOST, Delivered(message, machine.addressing.mode("c"), PEERS[0]))


def test_a_refused_send_leaves_no_trace() -> None:
    """BCCN-API-13, in the machine itself."""
    player = Player(NodeMachine(), entropy=bytes)
    before = player.state
    frames = player.receive(API, Send("a b", b"x")).frames
    assert [type(frame) for _, frame in frames] == [Refused]
    assert player.state == before


def test_heartbeats_follow_the_clock() -> None:
    """The first at once, then one per interval; a late Tick brings one and not a backlog."""
    player = Player(NodeMachine(), entropy=bytes)
    player.receive(API, SetName("me"))
    player.receive(API, StartHeartbeat(10.0, 100.0))
    sent = [len(player.receive(API, Tick(at)).frames) for at in (100.0, 105.0, 110.0, 145.0, 150.0, 155.0)]
    assert sent == [1, 0, 1, 1, 0, 1]
    assert player.machine.deadline(player.state) == 165.0


def test_the_tracker_does_not_grow_for_ever() -> None:
    """BCCN-DUP-11: senders that are gone are swept when time says so."""
    player = Player(NodeMachine(tracker=Tracker(1000, 100.0, 100.0)), entropy=bytes)
    for n in range(50):
        player.receive(WIRE, Heard(Message(f"s{n}", 1, "c", b""), PEERS[0], float(n)))
    player.receive(API, Tick(149.5))
    assert len(player.state.senders) == 0
    assert player.machine.deadline(player.state) is None


def test_the_counter_wraps_as_a_restart() -> None:
    player = Player(NodeMachine(), entropy=bytes)
    player.receive(API, SetSeq(2**64 - 1))
    sent = [frame.data for _, frame in player.receive(API, Send("c", b"", "me")).frames if isinstance(frame, Sent)]
    assert sent == [b"BCCN1[26]me:18446744073709551615:c|"]
    assert (API, Counted(0)) in player.receive(API, GetSeq()).frames


def test_tags_are_compared_in_constant_time() -> None:
    """BCCN-INT-15 cannot be seen from outside: the comparison is the library's."""
    assert "compare_digest" in inspect.getsource(Codec.same)


@EXAMPLES
@given(message=messages, key=st.sampled_from([b"", b"secret"]))
def test_the_codec_reads_what_it_writes(message: Message, key: bytes) -> None:
    codec = Codec()
    assert codec.decode(codec.encode(message, key), key) == replace(message, authenticated=bool(key))


@EXAMPLES
@given(data=st.one_of(st.binary(max_size=80), st.binary(max_size=40).map(lambda rest: b"BCCN1[" + rest)))
def test_the_codec_never_raises(data: bytes) -> None:
    for key in (b"", b"secret"):
        assert isinstance(Codec().decode(data, key), Message | Garbage)
