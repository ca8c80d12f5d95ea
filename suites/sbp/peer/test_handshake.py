"""The greeting: both sides send a Handshake first, and nothing flows before the other one is understood."""

from __future__ import annotations

from typing import Any

from harness.catalogue.cases import axis, clauses, needs
from harness.errors import TargetRefused
from harness.judging.trial import Trial
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.inputs import INCOMPLETE, MISMATCHES
from suites.sbp.peer.under_test import SIDES, PeerUnderTest

VIOLATION = (1000, 1002)
EARLY = {
    "ping": wire.ping,
    "pong": wire.pong,
    "close": lambda id: wire.close(b"bye", id),
    "op-4": lambda id: wire.control(4, b"", id),
    "message": lambda id: wire.message("app/early", b"\x01", id),
    "ack": lambda id: wire.ack(wire.new_id(), id),
    "error": lambda id: wire.error(2000, "early", b"", id),
}


@clauses("SBP-HS-02", "SBP-HS-01", "SBP-HSP-01", "SBP-HSP-02", "SBP-HSP-03", "SBP-HSP-09", "SBP-EXT-04")
@axis("side", SIDES)
async def test_the_first_frame_is_a_handshake(line: PeerLine, trial: Trial) -> None:
    """Each side greets before it says anything else, in JSON, with protocol, version and its peer id."""
    hello = await line.greet()
    trial.expect(hello.peer_id == line.known_as, f"peerId {line.known_as}", hello, "SBP-HSP-03")


@clauses("SBP-VER-01", "SBP-FLAGS-03", "SBP-KIND-03", "SBP-CTRL-03", "SBP-FID-01", "SBP-TS-02")
@clauses("SBP-HSP-05", "SBP-HSP-06", "SBP-HSP-07", "SBP-LIM-04", "SBP-PING-01", "SBP-SES-01", "SBP-CLOSE-02")
@clauses("SBP-ERR-01", "SBP-ERR-04")
@axis("side", SIDES)
async def test_what_it_emits_is_sound(session: PeerLine) -> None:
    """Handshake, Pong and Error obey the layout: each frame is checked as it comes."""
    await session.send(wire.ping())
    await session.wire_fence()


@clauses("SBP-SES-02", "SBP-HS-02")
@axis("side", SIDES)
async def test_it_does_not_wait_for_ours(line: PeerLine, trial: Trial) -> None:
    """Neither side waits: the Handshake comes although we say nothing."""
    trial.patience_s = min(trial.patience_s, 2)  # a peer that waits is only advised not to
    heard = await line.next("a Handshake without being spoken to", "SBP-SES-02")
    trial.expect(type(heard).__name__ == "Handshake", "a Handshake as the first frame", heard, "SBP-HS-02")


@clauses("SBP-SES-03", "SBP-HSP-09")
@axis("side", SIDES)
async def test_a_message_may_follow_our_handshake_at_once(line: PeerLine, trial: Trial) -> None:
    """Pipelining: only the own Handshake has to precede a Message."""
    await line.send(wire.handshake(line.peer_id), wire.message("app/pipelined", b"\x01\x02"))
    await line.expect_handshake()
    if line.hosted:
        told = await line.expect_event("message", "SBP-SES-03")
        trial.expect((told["subject"], told["data"]) == ("app/pipelined", b"\x01\x02"), "the Message", told)
    await line.stays_open("SBP-SES-03")


@clauses("SBP-HS-03", "SBP-SES-04", "SBP-CMP-02")
@axis("side", SIDES)
@axis("first", EARLY)
async def test_a_frame_before_our_handshake_ends_it(line: PeerLine, trial: Trial, first: Any) -> None:
    """Whatever comes before the Handshake is turned away; ProtocolViolation says why."""
    await line.send(first(id := wire.new_id()))
    error = await line.expect_rejection("SBP-HS-03", VIOLATION, id)
    if error is None or error.code != 1000:
        trial.warn("SBP-SES-04", f"Error 1000 before the close; there was {error}")


@clauses("SBP-HSP-10", "SBP-CMP-02", "SBP-HSP-02")
@axis("side", SIDES)
@axis("hello", MISMATCHES)
async def test_another_protocol_or_version_is_turned_away(line: PeerLine, hello: dict[str, Any]) -> None:
    """A mismatch is answered with UnsupportedVersion, then the end."""
    await line.send(wire.handshake(line.peer_id, id := wire.new_id(), **hello))
    await line.expect_rejection("SBP-HSP-10", (1001,), id, error_clause="SBP-HSP-10")


@clauses("SBP-HSP-08", "SBP-HSP-03", "SBP-CMP-02")
@axis("side", SIDES)
@axis("hello", INCOMPLETE)
async def test_an_incomplete_handshake_ends_it(line: PeerLine, hello: dict[str, Any]) -> None:
    """Three members are required, and they are strings."""
    await line.send(wire.handshake(line.peer_id, id := wire.new_id(), **hello))
    clause = "SBP-HSP-03" if hello.get("peerId") is ... else "SBP-HSP-08"
    await line.expect_rejection(clause, (1002, 1001, 1000), id)


@clauses("SBP-HS-01", "SBP-CMP-02", "SBP-EXT-04")
@axis(
    "payload",
    {
        "empty": b"",
        "not-json": b"hello",
        "array": b"[]",
        "cut": b'{"protocol":"sideband","version":"1"',
        "no-utf8": b'{"protocol":"sideband","version":"1","peerId":"\xff"}',
        "cbor": bytes.fromhex("a16870726f746f636f6c6873696465"),
        "nested": b'{"a":' + b"[" * 100_000,
    },
)
async def test_a_handshake_that_is_no_json_ends_it(line: PeerLine, payload: bytes) -> None:
    """The payload is one JSON object in UTF-8."""
    await line.send(wire.control(0, payload, id := wire.new_id()))
    await line.expect_rejection("SBP-HS-01", (1002, 1001, 1000), id)


TOLERATED: dict[str, tuple[str, dict[str, Any]]] = {
    "caps-unknown": ("SBP-HSP-11", {"caps": ["zz:unknown", "stream"]}),
    "caps-empty": ("SBP-HSP-05", {"caps": []}),
    "metadata-unknown": ("SBP-HSP-12", {"metadata": {"vendor:zz": "1"}}),
    "metadata-empty": ("SBP-HSP-06", {"metadata": {}}),
    "member-unknown": ("SBP-EXT-01", {"future": {"a": [1, None]}}),
    "all": ("SBP-HSP-11", {"caps": ["rpc"], "metadata": {"vendor:a": "1"}, "zz": 1}),
    "timestamp": ("SBP-TS-01", {"ts": 1_700_000_000_123}),
}


@clauses("SBP-HSP-11", "SBP-HSP-12", "SBP-HSP-05", "SBP-HSP-06", "SBP-EXT-01", "SBP-TS-01")
@axis("side", SIDES)
@axis("hello", TOLERATED)
async def test_what_is_unknown_is_ignored(
    peer: PeerUnderTest, trial: Trial, side: str, hello: tuple[str, dict[str, Any]]
) -> None:
    """Unknown caps, metadata and members do not keep a session from being established."""
    clause, changes = hello
    line = await peer.line(side)
    await line.send(wire.handshake(line.peer_id, **changes))
    await line.expect_handshake()
    if line.hosted:
        told = await line.expect_event("established", clause)
        trial.expect(told["peer_id"] == line.peer_id, line.peer_id, told, clause)
    await line.stays_open(clause)


@clauses("SBP-SES-05", "SBP-CMP-02")
@axis("side", SIDES)
async def test_a_second_handshake_changes_nobody(
    peer: PeerUnderTest, session: PeerLine, trial: Trial, side: str
) -> None:
    """Ignored, or a violation: but nobody becomes someone else."""
    await session.send(wire.handshake("someone-else"))
    await session.wire_fence()
    trial.info(f"a second Handshake is {'ignored' if session.survived else 'a violation'}")
    if session.hosted:
        again = [event for event in await peer.events_meanwhile(session, side) if event[0] == "established"]
        trial.expect(not again, "one identity", again, "SBP-CMP-02")


@clauses("SBP-HSP-04")
async def test_a_peer_keeps_its_id(peer: PeerUnderTest, trial: Trial) -> None:
    """The same peer announces the same id on each connection, also one that it chose itself."""
    ids = {(await (await peer.line("accept", peer_id="")).greet()).peer_id for _ in range(3)}
    trial.expect(len(ids) == 1, "one id", ids)


@clauses("SBP-HSP-04")
async def test_two_peers_have_two_ids(peer: PeerUnderTest, trial: Trial) -> None:
    """Peers that were not told an id announce different ones."""
    ids = {(await (await peer.line("connect", peer_id="")).greet()).peer_id for _ in range(5)}
    trial.expect(len(ids) == 5, "five ids", ids)


@clauses("SBP-SES-12")
async def test_two_connections_may_share_a_peer_id(peer: PeerUnderTest) -> None:
    """A peer id is not authenticated: both sessions stand."""
    await peer.namesakes("accept")


@clauses("SBP-CMP-02", "SBP-HSP-10")
@axis("side", SIDES)
async def test_who_was_turned_away_cannot_greet_again(
    peer: PeerUnderTest, line: PeerLine, trial: Trial, side: str
) -> None:
    """A mismatch is the end: a good Handshake right behind it establishes nothing."""
    await line.send(wire.handshake(line.peer_id, version="2"), wire.handshake(line.peer_id))
    await line.until_end("SBP-HSP-10")
    told = await peer.events_meanwhile(line, side)
    trial.expect(not told, "nothing at the host", told, "SBP-CMP-02")


@clauses("SBP-HSP-05", "SBP-HSP-06", "SBP-HSP-07")
@needs("hints")
@axis("side", SIDES)
async def test_hints_are_announced(peer: PeerUnderTest, trial: Trial, side: str) -> None:
    """Caps as an array of strings, metadata as an object with namespaced keys."""
    hello = await (await peer.line(side, caps=["app:x", "zz"], metadata={"vendor:k": "v"})).greet()
    trial.expect(hello.caps == ("app:x", "zz"), "caps app:x and zz", hello, "SBP-HSP-05")
    trial.expect(hello.metadata == '{"vendor:k":"v"}', "metadata vendor:k", hello, "SBP-HSP-06")


@clauses("SBP-HSP-07")
@needs("hints")
async def test_a_bare_metadata_key_is_never_announced(peer: PeerUnderTest) -> None:
    """A peer that is given one refuses it, or does not say it."""
    try:
        line = await peer.line("connect", metadata={"bare": "1"})
    except TargetRefused:
        return
    await line.greet()


ODD: dict[str, bytes] = {
    "caps-string": wire.handshake("odd", caps="rpc"),
    "caps-numbers": wire.handshake("odd", caps=[1]),
    "metadata-array": wire.handshake("odd", metadata=[]),
    "metadata-bare-key": wire.handshake("odd", metadata={"bare": "1"}),
    "over-8-kib": wire.handshake("odd", metadata={"vendor:x": "x" * 9_000}),
    "peer-id-empty": wire.handshake("odd", peerId=""),
}


@clauses("SBP-HSP-07", "SBP-LIM-04")
@axis("hello", ODD)
async def test_an_odd_handshake_is_taken_or_turned_away(line: PeerLine, trial: Trial, hello: bytes) -> None:
    """Where nothing is said about the receiver, both are right; it is recorded."""
    await line.send(hello)
    await line.wire_fence()
    trial.info("taken" if line.survived else "turned away")
