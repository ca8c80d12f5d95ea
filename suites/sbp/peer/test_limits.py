"""Sizes: what must still be taken, and what is too much."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import SIDES, PeerUnderTest
from suites.sbp.wire import LIMIT

SIZES = [125, 126, 127, 255, 256, 1023, 1024, 1025, 1500, 1536, 4095, 4096, 4097, 65_507, 65_535, 65_536, 65_537]
"""Of frames that fill a buffer which people choose, and what the carrier counts in another way from there on."""

LARGE = {
    "error": wire.error(2000, "large"),
    "close": wire.close(b"bye"),
    "op": wire.control(7),
    "ack": wire.ack(wire.A),
}


async def expect_too_large(line: PeerLine, size: int) -> None:
    """Error 1000 and the end; anything milder is worth a warning."""
    await line.send(wire.sized_message(size))
    await line.expect_rejection("SBP-LIM-03", (1000,), error_clause="SBP-LIM-03")


@clauses("SBP-LIM-01")
@axis("side", SIDES)
async def test_a_mebibyte_is_taken(session: PeerLine, trial: Trial) -> None:
    """A frame of 1,048,576 bytes in all is within the advised limit."""
    await session.send(wire.sized_message(LIMIT))
    if session.hosted:
        told = await session.expect_event("message", "SBP-LIM-01")
        trial.expect(len(told["data"]) == LIMIT - 18 - 4 - 9, "all of its data", len(told["data"]), "SBP-LIM-01")
    await session.stays_open("SBP-LIM-01")


@clauses("SBP-LIM-01", "SBP-CMP-01", "SBP-MSG-04")
@axis("side", SIDES)
async def test_every_size_is_taken_whole(session: PeerLine, trial: Trial) -> None:
    """A frame that fills a buffer to its last byte is a frame, and all of its data comes."""
    for size in SIZES:
        await session.send(wire.sized_message(size))
        if session.hosted:
            told = await session.expect_event("message", "SBP-CMP-01")
            trial.expect(
                len(told["data"]) == size - 18 - 4 - 9, f"all of {size} bytes", len(told["data"]), "SBP-MSG-04"
            )
    await session.stays_open("SBP-CMP-01")


@clauses("SBP-LIM-03")
@needs("limit")
@axis("side", SIDES)
@axis("kind", LARGE)
async def test_a_limit_is_for_every_kind(peer: PeerUnderTest, side: str, kind: bytes) -> None:
    """Whatever a frame is, one that is longer than the limit is answered with ProtocolViolation, and the end."""
    line = await peer.session(side, limit=4096)
    await line.send(kind[:2] + wire.new_id() + kind[18:] + b"x" * (4097 - len(kind)))
    await line.expect_rejection("SBP-LIM-03", (1000,), error_clause="SBP-LIM-03")


@clauses("SBP-LIM-03")
@axis("side", SIDES)
@axis("over", [1, 1000])
async def test_one_byte_more_is_too_much(peer: PeerUnderTest, trial: Trial, side: str, over: int) -> None:
    """ProtocolViolation, then the end."""
    await expect_too_large(await peer.session(side), LIMIT + over)


@clauses("SBP-LIM-03")
@needs("limit")
@axis("side", SIDES)
async def test_a_stricter_limit_is_kept(peer: PeerUnderTest, trial: Trial, side: str) -> None:
    """A peer that was told a limit of 4096 bytes takes 4096, and not one more."""
    line = await peer.session(side, limit=4096)
    await line.send(wire.sized_message(4096))
    await line.stays_open("SBP-LIM-03")
    await expect_too_large(await peer.session(side, limit=4096), 4097)


@clauses("SBP-LIM-03", "SBP-CMP-02")
async def test_far_too_much_is_no_crash(peer: PeerUnderTest) -> None:
    """Eight mebibytes at once: the session may end, the peer serves others on."""
    bystander, line = await peer.session("accept"), await peer.session("accept")
    await line.send(wire.sized_message(8 * LIMIT))
    await line.wire_fence()
    await bystander.stays_open("SBP-CMP-02")


@clauses("SBP-MSG-06", "SBP-CMP-02")
async def test_a_declared_length_costs_nothing(peer: PeerUnderTest) -> None:
    """Fifty frames that claim four gibibytes each are rejected at once."""
    for _ in range(50):
        line = await peer.session("accept")
        await line.send(wire.frame(1, b"\xff\xff\xff\xff"))
        await line.expect_rejection("SBP-MSG-06", (1002, 1000))
