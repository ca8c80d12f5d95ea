"""Two sessions of one peer at once: what is said on one is answered and told there, and nowhere else."""

from __future__ import annotations

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from reference_impl.sbp.frames import Ack, Pong
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import PeerUnderTest

SIDE = "accept"  # where one peer has several sessions


async def expect_untouched(line: PeerLine, trial: Trial, clause: str) -> None:
    """It is open, and nothing was said on it."""
    said = await line.wire_fence()
    trial.expect(not said, "nothing on the other session", said, clause)


@clauses("SBP-SES-06")
async def test_a_pong_comes_where_the_ping_was(peer: PeerUnderTest, trial: Trial) -> None:
    """Also on the session that was opened first."""
    first, second = await peer.session(SIDE), await peer.session(SIDE)
    await first.send(wire.ping())
    await first.expect(Pong, "SBP-SES-06")
    await expect_untouched(second, trial, "SBP-SES-06")


@clauses("SBP-ACK-03")
@needs("receipt")
async def test_an_ack_comes_where_the_message_was(peer: PeerUnderTest, trial: Trial) -> None:
    """A receipt is for the session that brought the Message."""
    first, second = [await peer.session(SIDE, receipt=True) for _ in range(2)]
    await first.send(wire.message("app/x", b"", id := wire.new_id()))
    while (await first.expect(Ack, "SBP-ACK-03")).of != id:  # Handshakes may be acknowledged too
        pass
    await second.stays_open("SBP-ACK-03")


@clauses("SBP-CMP-02", "SBP-FLAGS-06")
async def test_an_error_comes_where_the_fault_was(peer: PeerUnderTest, trial: Trial) -> None:
    """A reserved flag on one session: its Error and its end come there, and the other goes on."""
    first, second = await peer.session(SIDE), await peer.session(SIDE)
    await first.send(wire.bad_flags(id := wire.new_id()))
    await first.expect_rejection("SBP-CMP-02", (1002,), id, error_clause="SBP-FLAGS-06")
    await expect_untouched(second, trial, "SBP-CMP-02")


@clauses("SBP-SES-10", "SBP-SES-12", "SBP-HSP-04")
async def test_sessions_of_one_peer_id_are_two(peer: PeerUnderTest, trial: Trial) -> None:
    """A peer id is a hint: what comes on a session is told as that session's, whoever else has its id."""
    first, second = await peer.namesakes(SIDE)
    if not first.hosted:
        return
    for line in (first, second, first):
        subject = unique("app/of")
        await line.send(wire.message(subject))
        told = await line.expect_event("message", "SBP-SES-10")
        trial.expect(told["subject"] == subject, subject, told, "SBP-SES-10")


@clauses("SBP-FID-02", "SBP-FID-09")
async def test_sessions_have_no_id_in_common(peer: PeerUnderTest, trial: Trial) -> None:
    """Ids are drawn anew: two sessions of one peer share none."""
    lines = [await peer.session(SIDE) for _ in range(2)]
    for line in lines:
        await line.send(wire.ping(), wire.ping())
        await line.wire_fence()
    shared = lines[0].seen & lines[1].seen
    trial.expect(not shared, "ids of its own on each session", [id.hex() for id in shared])
