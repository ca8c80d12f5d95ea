"""What ends a session: one connection per cause, before and after the Handshake, on either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.cases import axis, clauses
from harness.trial import Trial
from reference_impl.sbp.frames import Error, Hangup
from suites.sbp import wire
from suites.sbp.peer.meeting import SIDES, Meeting
from suites.sbp.wire import A

MALFORMED = (1002, 1000)
TS = 1_700_000_000_123
# Built with the id A; a case puts an id of its own there.
FATAL: dict[str, tuple[str, bytes]] = {
    "nothing": ("SBP-FID-06", b""),
    "one-byte": ("SBP-FID-06", b"\x00"),
    "header-only": ("SBP-FID-06", b"\x00\x00"),
    "id-cut": ("SBP-FID-06", wire.ping(A)[:17]),
    "no-op": ("SBP-CTRL-01", wire.frame(0, b"", A)),
    "kind-4": ("SBP-KIND-02", wire.frame(4, b"", A)),
    "kind-255": ("SBP-KIND-02", wire.frame(255, b"\x01", A)),
    "ts-cut": ("SBP-TS-04", wire.frame(0, bytes(7), A, flags=1)),
    "ts-missing": ("SBP-TS-04", wire.frame(1, b"", A, flags=1)),
    "subject-length-cut": ("SBP-MSG-05", wire.frame(1, b"\x00\x00\x00", A)),
    "subject-one-too-long": ("SBP-MSG-06", wire.frame(1, b"\x06\x00\x00\x00app/x", A)),
    "subject-4-gib": ("SBP-MSG-06", wire.frame(1, b"\xff\xff\xff\xff", A)),
    "ack-15": ("SBP-ACK-02", wire.ack(bytes(15), A)),
    "ack-17": ("SBP-ACK-02", wire.ack(bytes(17), A)),
    "error-cut": ("SBP-ERR-03", wire.frame(3, b"\xe8\x03\x00\x00\x00", A)),
    "error-message-too-long": ("SBP-ERR-03", wire.frame(3, b"\xe8\x03\x14\x00\x00\x00\x01\x02\x03", A)),
}
REJECTED: dict[str, tuple[str, bytes]] = {
    "ping-data": ("SBP-PING-02", wire.control(1, b"\x00", A)),
    "pong-data": ("SBP-PING-02", wire.control(2, b"\xff", A)),
    "two-pings-in-one-message": ("SBP-PING-02", wire.ping(A) + wire.ping(A)),
    "subject-empty": ("SBP-MSG-05", wire.message(b"", b"\x01", A)),
    "subject-no-utf8": ("SBP-MSG-03", wire.message(b"app/\xff", b"", A)),
    "subject-overlong": ("SBP-MSG-03", wire.message(b"app/\xc0\xaf", b"", A)),
    "subject-surrogate": ("SBP-MSG-03", wire.message(b"app/\xed\xa0\x80", b"", A)),
    "error-message-no-utf8": ("SBP-ERR-04", wire.frame(3, b"\xe8\x03\x01\x00\x00\x00\xff", A)),
}


def with_id(raw: bytes) -> tuple[bytes, bytes | None]:
    """The frame under a fresh id, where it is long enough to have one."""
    if len(raw) < 18:
        return raw, None
    id = wire.new_id()
    return raw[:2] + id + raw[18:], id


@clauses("SBP-CMP-02", "SBP-FID-06", "SBP-CTRL-01", "SBP-KIND-02", "SBP-TS-04", "SBP-MSG-05", "SBP-MSG-06")
@clauses("SBP-ACK-02", "SBP-ERR-03", "SBP-ERR-06")
@axis("side", SIDES)
@axis("cause", FATAL)
async def test_a_malformed_frame_ends_the_session(meeting: Meeting, side: str, cause: tuple[str, bytes]) -> None:
    """Bad lengths, unknown kinds and short ids are rejected, and the connection is closed."""
    line = await meeting.session(side)
    raw, id = with_id(cause[1])
    await line.send(raw)
    codes = (*MALFORMED, 1003) if raw[:1] > b"\x03" else MALFORMED
    await line.expect_rejection("SBP-CMP-02", codes, id)


@clauses("SBP-CMP-02", "SBP-HS-03")
@axis("cause", FATAL | REJECTED)
async def test_a_malformed_first_frame_ends_the_connection(meeting: Meeting, cause: tuple[str, bytes]) -> None:
    """Before the Handshake there are two reasons to close."""
    line = await meeting.line("accept")
    raw, id = with_id(cause[1])
    await line.send(raw)
    await line.expect_rejection("SBP-CMP-02", (*MALFORMED, 1003), id)


@clauses("SBP-PING-02", "SBP-MSG-03", "SBP-MSG-05", "SBP-ERR-04", "SBP-SES-13")
@axis("side", SIDES)
@axis("cause", REJECTED)
async def test_a_frame_with_bad_content_is_rejected(
    meeting: Meeting, trial: Trial, side: str, cause: tuple[str, bytes]
) -> None:
    """Data behind a Ping, an empty subject, text that is no UTF-8: an Error, the end, or both."""
    line = await meeting.session(side)
    clause, (raw, id) = cause[0], with_id(cause[1])
    await line.send(raw)
    heard = await line.next("an Error, or the end", clause)
    trial.expect(isinstance(heard, Error | Hangup), "an Error, or the end", heard, clause)
    if isinstance(heard, Error):
        trial.expect(heard.code in MALFORMED, f"code {MALFORMED}", heard, clause)
        trial.measures["error_code"] = heard.code
        if id and heard.id != id:
            trial.warn("SBP-ERR-06", "the Error's id is not the failing frame's")


@clauses("SBP-FLAGS-06", "SBP-FLAGS-05", "SBP-CMP-02")
@axis("side", SIDES)
@axis("flags", ["02", "04", "08", "10", "20", "40", "80", "03", "81", "fe", "ff"])
async def test_a_reserved_flag_ends_the_session(meeting: Meeting, side: str, flags: str) -> None:
    """Any of the bits 1 to 7: InvalidFrame, then the end."""
    line, id, bits = await meeting.session(side), wire.new_id(), int(flags, 16)
    await line.send(wire.frame(0, b"\x01", id, TS if bits & 1 else None, flags=bits))
    await line.expect_rejection("SBP-FLAGS-05", (1002,), id, error_clause="SBP-FLAGS-06")


@clauses("SBP-FLAGS-05", "SBP-CMP-02")
@axis("kind", {"handshake": wire.handshake("x"), "ping": wire.ping(), "message": wire.message("app/x")})
async def test_a_reserved_flag_on_the_first_frame_ends_the_connection(meeting: Meeting, kind: bytes) -> None:
    """Also on a Handshake."""
    line = await meeting.line("accept")
    await line.send(kind[:1] + b"\x40" + kind[2:])
    await line.expect_rejection("SBP-FLAGS-05", MALFORMED, kind[2:18])


@clauses("SBP-CMP-02", "SBP-FLAGS-05")
@axis("side", SIDES)
@axis("cause", {"flags": wire.bad_flags, "length": lambda: wire.frame(1, b"\xff\xff\xff\xff"), "text": lambda: "text"})
async def test_what_follows_a_rejected_frame_is_not_handled(
    meeting: Meeting, trial: Trial, side: str, cause: Callable[[], Any]
) -> None:
    """The session ends with the frame that breaks a rule: a Message right behind it reaches nobody."""
    await trial.target.need("sbp/peer", "host")
    line, bad = await meeting.session(side), cause()
    await (line.text(bad) if isinstance(bad, str) else line.send(bad))
    await line.send(wire.message("app/behind", b"\x01"))
    await line.until_end("SBP-CMP-02")
    told = [event for event in await meeting.told_meanwhile(line, side) if event[0] == "message"]
    trial.expect(not told, "no Message at the host", told, "SBP-CMP-02")


@clauses("SBP-ERR-06", "SBP-FLAGS-06")
@axis("side", SIDES)
async def test_an_error_names_the_failing_frame(meeting: Meeting, trial: Trial, side: str) -> None:
    """Its id is the id of the frame that caused it."""
    line, id = await meeting.session(side), wire.new_id()
    await line.send(wire.bad_flags(id))
    error = await line.expect_rejection("SBP-FLAGS-06", (1002,), error_clause="SBP-FLAGS-06")
    trial.expect(error is not None and error.id == id, f"an Error under the id {id.hex()}", error, "SBP-ERR-06")


@clauses("SBP-SES-01", "SBP-CMP-02")
@axis("side", SIDES)
@axis("when", ["first", "later"])
@axis("text", {"words": "hello", "empty": "", "a-frame": wire.ping(bytes(16)).decode()})
async def test_a_text_message_ends_it(meeting: Meeting, side: str, when: str, text: str) -> None:
    """Text is not SBP."""
    line = await (meeting.line(side) if when == "first" else meeting.session(side))
    await line.text(text)
    await line.expect_rejection("SBP-SES-01", (*MALFORMED, 1003))


@clauses("SBP-CMP-02", "SBP-SES-01")
async def test_one_sessions_end_is_not_anothers(meeting: Meeting) -> None:
    """A peer that ends a session for a fault, or loses one, serves the others on."""
    bystander, culprit, lost = [await meeting.session("accept") for _ in range(3)]
    await culprit.send(wire.bad_flags())
    await culprit.until_end("SBP-FLAGS-05")
    lost.websocket.transport.abort()
    await bystander.stays_open("SBP-CMP-02")
