"""Section 2.1: who may register, and how everybody else is turned away."""

from __future__ import annotations

import json
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Ack, Deliver, Frame, Peers, Register
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerUnderTest, PrivateBroker
from suites.peerbus.envelopes import codec, message

TELLS_NOTHING = (1000, 1005, 1006)
FIRST_FRAMES: dict[str, Frame] = {
    "ack": Ack("x"),
    "peers": Peers(),
    "deliver": Deliver("k", message("a", "b")),
    "envelope": message("a", "b"),
}
NO_JSON: dict[str, Callable[[str], str]] = {
    "broken": lambda good: "{nope",
    "empty": lambda good: "",
    "truncated": lambda good: good[:-2],
    "object-and-more": lambda good: f"{good} x",
    "two-objects": lambda good: good + "{}",
}
TOKENS: dict[str, Callable[[str], str | None]] = {
    "wrong": lambda good: "wrong",
    "empty": lambda good: "",
    "absent": lambda good: None,
    "trailing-space": lambda good: f"{good} ",
    "prefix": lambda good: good[:-1],
}


async def assert_turned_away(broker: BrokerUnderTest, text: str | bytes, clause: str) -> None:
    """The only answer is a close frame with a code that tells why."""
    peer = await broker.connect()
    await (peer.binary(text) if isinstance(text, bytes) else peer.text(text))
    close = await peer.expect_closed(clause)
    told = close.code not in TELLS_NOTHING
    broker.trial.expect(told, "a close frame whose code tells the reason", close, "PB-2.1-13")
    broker.trial.measures["close_code"] = close.code


def register_text(broker: BrokerUnderTest, **changes: object) -> str:
    """A register that is good but for what is changed, whichever tokens there are; None leaves a member out."""
    members: dict[str, object] = {"protocol_version": "v1", "type": "register", "token": broker.tokens[0]}
    members |= {"name": unique("n")} | changes
    return json.dumps({key: value for key, value in members.items() if value is not None})


@clauses("PB-2.1-02", "PB-2.1-13")
@axis("first", FIRST_FRAMES)
async def test_any_other_first_frame_closes(broker: BrokerUnderTest, first: Frame) -> None:
    """A first frame that is no register closes the connection, and nothing else is said."""
    await assert_turned_away(broker, codec.encode(first).decode(), "PB-2.1-02")


@clauses("PB-2.1-07", "PB-2.1-13")
async def test_register_in_a_binary_message_closes(broker: BrokerUnderTest) -> None:
    """A first message that is not text closes the connection, though it holds a good register."""
    await assert_turned_away(broker, register_text(broker).encode(), "PB-2.1-07")


@clauses("PB-2.1-08", "PB-2.1-13")
@axis("text", NO_JSON)
async def test_first_message_that_is_no_json_closes(broker: BrokerUnderTest, text: Callable[[str], str]) -> None:
    """A first message that is not one JSON object closes the connection."""
    await assert_turned_away(broker, text(register_text(broker)), "PB-2.1-08")


@clauses("PB-2.1-09", "PB-2.1-13")
@axis("type", {"absent": None, "unknown": "hello", "capital": "Register", "empty": "", "number": 1})
async def test_another_type_closes(broker: BrokerUnderTest, type: object) -> None:
    """JSON whose type is not exactly "register" closes the connection."""
    await assert_turned_away(broker, register_text(broker, type=type), "PB-2.1-09")


@clauses("PB-2.1-10", "PB-2.1-13")
@axis("name", {"empty": "", "absent": None})
async def test_empty_name_closes(broker: BrokerUnderTest, name: str | None) -> None:
    """A register without a name closes the connection."""
    await assert_turned_away(broker, register_text(broker, name=name), "PB-2.1-10")


@clauses("PB-2.1-11", "PB-6-01", "PB-6-04", "PB-6-05", "PB-2.1-13")
@axis("version", {"v2": "v2", "V1": "V1", "v1.0": "v1.0", "space-v1": " v1", "empty": "", "absent": None})
async def test_another_version_closes(broker: BrokerUnderTest, version: str | None) -> None:
    """Only "v1" registers; a mismatch is closed, not negotiated."""
    await assert_turned_away(broker, register_text(broker, protocol_version=version), "PB-2.1-11")


@clauses("PB-2.1-12", "PB-6-08", "PB-2.1-13")
@axis("token", TOKENS)
async def test_unknown_token_closes(broker: BrokerUnderTest, token: Callable[[str], str | None]) -> None:
    """A token that was not configured closes the connection."""
    await assert_turned_away(broker, register_text(broker, token=token(broker.tokens[0])), "PB-2.1-12")


@clauses("PB-2.1-14")
@axis("fault", {"version": {"protocol_version": "v2"}, "token": {"token": "wrong"}, "type": {"type": "peers"}})
async def test_rejected_register_leaves_no_trace(broker: BrokerUnderTest, trial: Trial, fault: dict[str, str]) -> None:
    """A rejected name is not listed, and a message to it is dropped as for a name never seen."""
    name, other = unique("rejected"), await broker.peer()
    await assert_turned_away(broker, register_text(broker, name=name, **fault), "PB-2.1-14")
    names = (await other.fence()).names
    trial.expect(name not in names, f"{name} not to be listed", names)
    await other.post(message(other.name, name))
    late = await broker.peer(name)
    await late.expect_silence("PB-2.1-14")


@clauses("PB-2.1-24", "PB-2.1-16", "PB-2.3-03", "PB-1-01")
async def test_success_is_answered_with_peers(broker: BrokerUnderTest, trial: Trial) -> None:
    """The first frame after a good register is `peers`, with the new name in it."""
    peer, ack = await broker.register()
    trial.expect(peer.name in ack.names, f"{peer.name} among the names", ack.names, "PB-2.1-16")


@clauses("PB-2.1-25", "PB-2.3-02")
async def test_ack_lists_exactly_the_live_names(own_broker: PrivateBroker, trial: Trial) -> None:
    """The register's ack names everybody who is connected, each once, and nobody else."""
    first = await own_broker.peer()
    gone = await own_broker.peer()
    await own_broker.leave(gone, first)
    last, ack = await own_broker.register()
    trial.expect(sorted(ack.names) == sorted([first.name, last.name]), f"{first.name}, {last.name}", ack.names)


@clauses("PB-6-07")
@axis("index", [0, 1])
async def test_every_configured_token_registers(broker: BrokerUnderTest, trial: Trial, index: int) -> None:
    """Each token of the configured set is accepted."""
    if index >= len(broker.tokens):
        trial.info("the target was given one token only")
        return
    await broker.register(token=broker.tokens[index])


@clauses("PB-2.1-32", "PB-2.1-33")
@axis(
    "again",
    {"other-name": {"name": "other"}, "bad-token": {"token": "wrong"}, "bad-version": {"protocol_version": "v2"}},
)
async def test_second_register_is_ignored(broker: BrokerUnderTest, trial: Trial, again: dict[str, str]) -> None:
    """A register on a registered connection changes nothing and is not answered."""
    peer = await broker.peer()
    other = again.get("name") and unique("other")
    await peer.text(register_text(broker, **{"name": peer.name, **again} | ({"name": other} if other else {})))
    await peer.expect_silence()
    names = (await peer.fence()).names
    trial.expect(peer.name in names and other not in names, "the names as before", names)


@clauses("PB-6-06")
async def test_token_counts_in_the_register_only(broker: BrokerUnderTest) -> None:
    """A header carries no authority: a wrong token there is no obstacle, a right one no help."""
    wrong_outside = await broker.connect(headers={"Authorization": "Bearer wrong"})
    await wrong_outside.send(Register(broker.tokens[0], unique("n")))
    await wrong_outside.expect(Peers)
    wrong_inside = await broker.connect(headers={"Authorization": f"Bearer {broker.tokens[0]}"})
    await wrong_inside.send(Register("wrong", unique("n")))
    await wrong_inside.expect_closed()


@clauses("PB-2.1-05", "PB-3-23")
@axis(
    "name",
    {"unicode": "żółw-🐢", "spaces": " a b ", "star-inside": "a*b", "slash": "a/b", "quote": 'q"q', "long": "n" * 500},
)
async def test_any_non_empty_name_is_addressable(broker: BrokerUnderTest, name: str) -> None:
    """`to` reaches the peer that registered exactly that name."""
    name = f"{name}{unique('')}"
    peer, sender = await broker.peer(name), await broker.peer()
    envelope = message(sender.name, name)
    await sender.send(envelope)
    await peer.expect_delivery(envelope, clause="PB-2.1-05")


@clauses("PB-2.1-05")
async def test_names_are_case_sensitive(broker: BrokerUnderTest) -> None:
    """Two names that differ in case only are two peers."""
    name = unique("case")
    lower, upper, sender = await broker.peer(name), await broker.peer(name.upper()), await broker.peer()
    envelope = message(sender.name, name.upper())
    await sender.send(envelope)
    await upper.expect_delivery(envelope)
    await sender.fence()
    await lower.expect_silence()
