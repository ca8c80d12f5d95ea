"""What ends a session: one connection per cause, before and after the Handshake, on either side."""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.sbp.frames import Error, Hangup
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.inputs import FATAL, REJECTED, TS, under
from suites.sbp.peer.under_test import SIDES, PeerUnderTest

MALFORMED = (1002, 1000)


def with_id(raw: bytes) -> tuple[bytes, bytes | None]:
    """The frame under a fresh id, where it is long enough to have one."""
    if len(raw) < 18:
        return raw, None
    id = wire.new_id()
    return under(id, raw), id


@clauses("SBP-CMP-02", "SBP-FID-06", "SBP-CTRL-01", "SBP-KIND-02", "SBP-TS-04", "SBP-MSG-05", "SBP-MSG-06")
@clauses("SBP-ACK-02", "SBP-ERR-03", "SBP-ERR-06")
@axis("side", SIDES)
@axis("cause", FATAL)
async def test_a_malformed_frame_ends_the_session(session: PeerLine, cause: tuple[str, bytes]) -> None:
    """Bad lengths, unknown kinds and short ids are rejected, and the connection is closed."""
    raw, id = with_id(cause[1])
    await session.send(raw)
    codes = (*MALFORMED, 1003) if raw[:1] > b"\x03" else MALFORMED
    await session.expect_rejection("SBP-CMP-02", codes, id)


@clauses("SBP-CMP-02", "SBP-HS-03")
@axis("cause", FATAL | REJECTED)
async def test_a_malformed_first_frame_ends_the_connection(line: PeerLine, cause: tuple[str, bytes]) -> None:
    """Before the Handshake there are two reasons to close."""
    raw, id = with_id(cause[1])
    await line.send(raw)
    await line.expect_rejection("SBP-CMP-02", (*MALFORMED, 1003), id)


@clauses("SBP-PING-02", "SBP-MSG-03", "SBP-MSG-05", "SBP-ERR-04", "SBP-SES-13")
@axis("side", SIDES)
@axis("cause", REJECTED)
async def test_a_frame_with_bad_content_is_rejected(session: PeerLine, trial: Trial, cause: tuple[str, bytes]) -> None:
    """Data behind a Ping, an empty subject, text that is no UTF-8: an Error, the end, or both."""
    clause, (raw, id) = cause[0], with_id(cause[1])
    await session.send(raw)
    heard = await session.next("an Error, or the end", clause)
    trial.expect(isinstance(heard, Error | Hangup), "an Error, or the end", heard, clause)
    if isinstance(heard, Error):
        trial.expect(heard.code in MALFORMED, f"code {MALFORMED}", heard, clause)
        trial.measures["error_code"] = heard.code
        if id and heard.id != id:
            trial.warn("SBP-ERR-06", "the Error's id is not the failing frame's")


@clauses("SBP-FLAGS-06", "SBP-FLAGS-05", "SBP-CMP-02")
@axis("side", SIDES)
@axis("flags", ["02", "04", "08", "10", "20", "40", "80", "03", "81", "fe", "ff"])
async def test_a_reserved_flag_ends_the_session(peer: PeerUnderTest, side: str, flags: str) -> None:
    """Any of the bits 1 to 7: InvalidFrame, then the end."""
    line, id, bits = await peer.session(side), wire.new_id(), int(flags, 16)
    await line.send(wire.frame(0, b"\x01", id, TS if bits & 1 else None, flags=bits))
    await line.expect_rejection("SBP-FLAGS-05", (1002,), id, error_clause="SBP-FLAGS-06")


@clauses("SBP-FLAGS-05", "SBP-CMP-02")
@axis("kind", {"handshake": wire.handshake("x"), "ping": wire.ping(), "message": wire.message("app/x")})
async def test_a_reserved_flag_on_the_first_frame_ends_the_connection(line: PeerLine, kind: bytes) -> None:
    """Also on a Handshake."""
    await line.send(kind[:1] + b"\x40" + kind[2:])
    await line.expect_rejection("SBP-FLAGS-05", MALFORMED, kind[2:18])


@clauses("SBP-CMP-02", "SBP-FLAGS-05")
@axis("side", SIDES)
@axis("cause", {"flags": wire.bad_flags, "length": lambda: wire.frame(1, b"\xff\xff\xff\xff")})
async def test_what_follows_a_rejected_frame_is_not_handled(
    peer: PeerUnderTest, session: PeerLine, trial: Trial, side: str, cause: Callable[[], bytes]
) -> None:
    """The session ends with the frame that breaks a rule: a Message right behind it reaches nobody.

    Of a text message, which is no frame, only our reading says so: it is not asked.
    """
    await session.send(cause(), wire.message("app/behind", b"\x01"))
    await session.until_end("SBP-CMP-02")
    told = [event for event in await peer.events_meanwhile(session, side) if event[0] == "message"]
    trial.expect(not told, "no Message at the host", told, "SBP-CMP-02")


@clauses("SBP-ERR-06", "SBP-FLAGS-06")
@axis("side", SIDES)
async def test_an_error_names_the_failing_frame(session: PeerLine, trial: Trial) -> None:
    """Its id is the id of the frame that caused it."""
    await session.send(wire.bad_flags(id := wire.new_id()))
    error = await session.expect_rejection("SBP-FLAGS-06", (1002,), error_clause="SBP-FLAGS-06")
    trial.expect(error is not None and error.id == id, f"an Error under the id {id.hex()}", error, "SBP-ERR-06")


@clauses("SBP-SES-01", "SBP-CMP-02")
@axis("side", SIDES)
@axis("when", ["first", "later"])
@axis("text", {"words": "hello", "empty": "", "a-frame": wire.ping(bytes(16)).decode()})
async def test_a_text_message_ends_it(peer: PeerUnderTest, side: str, when: str, text: str) -> None:
    """Text is not SBP."""
    line = await (peer.line(side) if when == "first" else peer.session(side))
    await line.text(text)
    await line.expect_rejection("SBP-SES-01", (*MALFORMED, 1003))


@clauses("SBP-CMP-02", "SBP-SES-01")
async def test_one_sessions_end_is_not_anothers(peer: PeerUnderTest) -> None:
    """A peer that ends a session for a fault, or loses one, serves the others on."""
    bystander, culprit, lost = [await peer.session("accept") for _ in range(3)]
    await culprit.send(wire.bad_flags())
    await culprit.until_end("SBP-FLAGS-05")
    lost.cut()
    await bystander.stays_open("SBP-CMP-02")
