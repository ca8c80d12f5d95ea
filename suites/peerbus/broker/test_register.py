"""Section 2.1: who may register, and how everybody else is turned away."""

from __future__ import annotations

import json

from harness.cases import axis, clauses
from harness.trial import Trial
from reference_impl.peerbus.frames import Ack, Deliver, Frame, Peers, Register
from suites.peerbus.bus import Bus, PrivateBus, codec, message, unique

TELLS_NOTHING = (1000, 1005, 1006)
FIRST_FRAMES: dict[str, Frame] = {
    "ack": Ack("x"),
    "peers": Peers(),
    "deliver": Deliver("k", message("a", "b")),
    "envelope": message("a", "b"),
}
NO_JSON = {
    "broken": "{nope",
    "empty": "",
    "truncated": '{"protocol_version":"v1","type":"register","token":"token-a","name":"tr',
    "object-and-more": '{"protocol_version":"v1","type":"register","token":"token-a","name":"mo"} x',
    "two-objects": '{"protocol_version":"v1","type":"register","token":"token-a","name":"mo"}{}',
}


async def assert_turned_away(bus: Bus, text: str | bytes, clause: str) -> None:
    """The only answer is a close frame with a code that tells why."""
    peer = await bus.connect()
    await (peer.binary(text) if isinstance(text, bytes) else peer.text(text))
    close = await peer.expect_closed(clause)
    told = close.code not in TELLS_NOTHING
    bus.trial.expect(told, "a close frame whose code tells the reason", close, "PB-2.1-13")
    bus.trial.measures["close_code"] = close.code


def register_text(**changes: object) -> str:
    """A good register with members changed; None leaves one out."""
    members: dict[str, object] = {"protocol_version": "v1", "type": "register", "token": "token-a", "name": unique("n")}
    members |= changes
    return json.dumps({key: value for key, value in members.items() if value is not None})


@clauses("PB-2.1-02", "PB-2.1-13")
@axis("first", FIRST_FRAMES)
async def test_any_other_first_frame_closes(bus: Bus, first: Frame) -> None:
    """A first frame that is no register closes the connection, and nothing else is said."""
    await assert_turned_away(bus, codec.encode(first).decode(), "PB-2.1-02")


@clauses("PB-2.1-07", "PB-2.1-13")
async def test_register_in_a_binary_message_closes(bus: Bus) -> None:
    """A first message that is not text closes the connection, though it holds a good register."""
    await assert_turned_away(bus, register_text().encode(), "PB-2.1-07")


@clauses("PB-2.1-08", "PB-2.1-13")
@axis("text", NO_JSON)
async def test_first_message_that_is_no_json_closes(bus: Bus, text: str) -> None:
    """A first message that is not one JSON object closes the connection."""
    await assert_turned_away(bus, text, "PB-2.1-08")


@clauses("PB-2.1-09", "PB-2.1-13")
@axis("type", {"absent": None, "unknown": "hello", "capital": "Register", "empty": "", "number": 1})
async def test_another_type_closes(bus: Bus, type: object) -> None:
    """JSON whose type is not exactly "register" closes the connection."""
    await assert_turned_away(bus, register_text(type=type), "PB-2.1-09")


@clauses("PB-2.1-10", "PB-2.1-13")
@axis("name", {"empty": "", "absent": None})
async def test_empty_name_closes(bus: Bus, name: str | None) -> None:
    """A register without a name closes the connection."""
    await assert_turned_away(bus, register_text(name=name), "PB-2.1-10")


@clauses("PB-2.1-11", "PB-6-01", "PB-6-04", "PB-6-05", "PB-2.1-13")
@axis("version", {"v2": "v2", "V1": "V1", "v1.0": "v1.0", "space-v1": " v1", "empty": "", "absent": None})
async def test_another_version_closes(bus: Bus, version: str | None) -> None:
    """Only "v1" registers; a mismatch is closed, not negotiated."""
    await assert_turned_away(bus, register_text(protocol_version=version), "PB-2.1-11")


@clauses("PB-2.1-12", "PB-6-08", "PB-2.1-13")
@axis("token", {"wrong": "wrong", "empty": "", "absent": None, "trailing-space": "token-a ", "prefix": "token-"})
async def test_unknown_token_closes(bus: Bus, token: str | None) -> None:
    """A token that was not configured closes the connection."""
    await assert_turned_away(bus, register_text(token=token), "PB-2.1-12")


@clauses("PB-2.1-14")
@axis("fault", {"version": {"protocol_version": "v2"}, "token": {"token": "wrong"}, "type": {"type": "peers"}})
async def test_rejected_register_leaves_no_trace(bus: Bus, trial: Trial, fault: dict[str, str]) -> None:
    """A rejected name is not listed, and a message to it is dropped as for a name never seen."""
    name, other = unique("rejected"), await bus.peer()
    await assert_turned_away(bus, register_text(name=name, **fault), "PB-2.1-14")
    names = (await other.fence()).names
    trial.expect(name not in names, f"{name} not to be listed", names)
    await other.send(message(other.name, name))
    await other.fence()
    late = await bus.peer(name)
    await late.expect_silence("PB-2.1-14")


@clauses("PB-2.1-24", "PB-2.1-16", "PB-2.3-03", "PB-1-01")
async def test_success_is_answered_with_peers(bus: Bus, trial: Trial) -> None:
    """The first frame after a good register is `peers`, with the new name in it."""
    peer, ack = await bus.register()
    trial.expect(peer.name in ack.names, f"{peer.name} among the names", ack.names, "PB-2.1-16")


@clauses("PB-2.1-25", "PB-2.3-02")
async def test_ack_lists_exactly_the_live_names(own_bus: PrivateBus, trial: Trial) -> None:
    """The register's ack names everybody who is connected, each once, and nobody else."""
    first = await own_bus.peer()
    gone = await own_bus.peer()
    await own_bus.leave(gone, first)
    last, ack = await own_bus.register()
    trial.expect(sorted(ack.names) == sorted([first.name, last.name]), f"{first.name}, {last.name}", ack.names)


@clauses("PB-6-07")
@axis("index", [0, 1])
async def test_every_configured_token_registers(bus: Bus, trial: Trial, index: int) -> None:
    """Each token of the configured set is accepted."""
    if index >= len(bus.tokens):
        trial.info("the target was given one token only")
        return
    await bus.register(token=bus.tokens[index])


@clauses("PB-2.1-32", "PB-2.1-33")
@axis(
    "again",
    {"other-name": {"name": "other"}, "bad-token": {"token": "wrong"}, "bad-version": {"protocol_version": "v2"}},
)
async def test_second_register_is_ignored(bus: Bus, trial: Trial, again: dict[str, str]) -> None:
    """A register on a registered connection changes nothing and is not answered."""
    peer = await bus.peer()
    other = again.get("name") and unique("other")
    await peer.text(register_text(**{"name": peer.name, **again} | ({"name": other} if other else {})))
    await peer.expect_silence()
    names = (await peer.fence()).names
    trial.expect(peer.name in names and other not in names, "the names as before", names)


@clauses("PB-6-06")
async def test_token_counts_in_the_register_only(bus: Bus) -> None:
    """A header carries no authority: a wrong token there is no obstacle, a right one no help."""
    wrong_outside = await bus.connect(headers={"Authorization": "Bearer wrong"})
    await wrong_outside.send(Register(bus.tokens[0], unique("n")))
    await wrong_outside.expect(Peers)
    wrong_inside = await bus.connect(headers={"Authorization": f"Bearer {bus.tokens[0]}"})
    await wrong_inside.send(Register("wrong", unique("n")))
    await wrong_inside.expect_closed()


@clauses("PB-2.1-05", "PB-3-23")
@axis(
    "name",
    {"unicode": "żółw-🐢", "spaces": " a b ", "star-inside": "a*b", "slash": "a/b", "quote": 'q"q', "long": "n" * 500},
)
async def test_any_non_empty_name_is_addressable(bus: Bus, name: str) -> None:
    """`to` reaches the peer that registered exactly that name."""
    name = f"{name}{unique('')}"
    peer, sender = await bus.peer(name), await bus.peer()
    envelope = message(sender.name, name)
    await sender.send(envelope)
    await peer.expect_delivery(envelope, clause="PB-2.1-05")


@clauses("PB-2.1-05")
async def test_names_are_case_sensitive(bus: Bus) -> None:
    """Two names that differ in case only are two peers."""
    name = unique("case")
    lower, upper, sender = await bus.peer(name), await bus.peer(name.upper()), await bus.peer()
    envelope = message(sender.name, name.upper())
    await sender.send(envelope)
    await upper.expect_delivery(envelope)
    await sender.fence()
    await lower.expect_silence()
