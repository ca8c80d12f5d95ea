"""Sizes: what must still be taken, and what is too much."""

from __future__ import annotations

from harness.cases import axis, clauses
from harness.trial import Trial
from suites.sbp import wire
from suites.sbp.peer.line import Line
from suites.sbp.peer.meeting import SIDES, Meeting
from suites.sbp.wire import LIMIT


async def expect_too_large(trial: Trial, line: Line, size: int) -> None:
    """Error 1000 and the end; anything milder is worth a warning."""
    await line.send(wire.sized_message(size))
    await line.expect_rejection("SBP-LIM-03", (1000,), error_clause="SBP-LIM-03")


@clauses("SBP-LIM-01")
@axis("side", SIDES)
async def test_a_mebibyte_is_taken(meeting: Meeting, trial: Trial, side: str) -> None:
    """A frame of 1,048,576 bytes in all is within the advised limit."""
    line = await meeting.session(side)
    await line.send(wire.sized_message(LIMIT))
    if line.hosted:
        told = await line.expect_told("message", "SBP-LIM-01")
        trial.expect(len(told["data"]) == LIMIT - 18 - 4 - 9, "all of its data", len(told["data"]), "SBP-LIM-01")
    await line.stays_open("SBP-LIM-01")


@clauses("SBP-LIM-03")
@axis("side", SIDES)
@axis("over", [1, 1000])
async def test_one_byte_more_is_too_much(meeting: Meeting, trial: Trial, side: str, over: int) -> None:
    """ProtocolViolation, then the end."""
    await expect_too_large(trial, await meeting.session(side), LIMIT + over)


@clauses("SBP-LIM-03")
@axis("side", SIDES)
async def test_a_stricter_limit_is_kept(meeting: Meeting, trial: Trial, side: str) -> None:
    """A peer that was told a limit of 4096 bytes takes 4096, and not one more."""
    await trial.target.need("sbp/peer", "limit")
    line = await meeting.session(side, limit=4096)
    await line.send(wire.sized_message(4096))
    await line.stays_open("SBP-LIM-03")
    await expect_too_large(trial, await meeting.session(side, limit=4096), 4097)


@clauses("SBP-LIM-03", "SBP-CMP-02")
async def test_far_too_much_is_no_crash(meeting: Meeting, trial: Trial) -> None:
    """Eight mebibytes at once: the session may end, the peer serves others on."""
    bystander, line = await meeting.session("accept"), await meeting.session("accept")
    await line.send(wire.sized_message(8 * LIMIT))
    await line.wire_fence()
    await bystander.stays_open("SBP-CMP-02")


@clauses("SBP-MSG-06", "SBP-CMP-02")
async def test_a_declared_length_costs_nothing(meeting: Meeting, trial: Trial) -> None:
    """Fifty frames that claim four gibibytes each are rejected at once."""
    for _ in range(50):
        line = await meeting.session("accept")
        await line.send(wire.frame(1, b"\xff\xff\xff\xff"))
        await line.expect_rejection("SBP-MSG-06", (1002, 1000))
