"""Peers that take every freedom, and half a target: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.judging.result import Verdict
from reference_impl.sbp.frames import Delivered, Message, Text
from reference_impl.sbp.peer import WIRE, Config, Phase, State
from selftests.checks import FREE, checked, conforming
from selftests.sbp.variants import ReadsOn


@pytest.mark.parametrize(
    ("variant", "select"),
    [
        ("Terse", ["sbp/peer/product", "sbp/peer/machine", "sbp/peer/reject", "sbp/peer/tours"]),
        ("Eager", ["sbp/peer/product", "sbp/peer/machine", "sbp/peer/host", "sbp/peer/handshake", "sbp/peer/tours"]),
        ("Odd", ["sbp"]),
        ("Strict", ["sbp"]),
        ("Unseen", ["sbp/peer/product", "sbp/peer/reject", "sbp/peer/tours"]),
        ("Heeding", ["sbp/peer/product", "sbp/peer/machine", "sbp/peer/reject", "sbp/peer/tours"]),
        ("CodecOnly", ["sbp"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"python:selftests.sbp.variants:{variant}", select, tmp_path)


@pytest.mark.parametrize("variant", ["Guarded", "Replacing"])
def test_who_takes_a_peer_id_for_one_peers_is_warned_at_most(variant: str, tmp_path: Path) -> None:
    """That two connections may announce the same peerId is our reading alone (SBP-SES-12): no other clause is named for it."""
    select = ["sbp/peer/handshake", "sbp/peer/sessions"]
    results = checked(f"python:selftests.sbp.variants:{variant}", select, tmp_path)
    found = {(result.failure and result.failure.clause, result.verdict) for result in results} - {
        (None, verdict) for verdict in FREE
    }
    assert found == {("SBP-SES-12", Verdict.WARN)}


def test_the_other_reading_of_a_text_message_handles_what_comes_behind_it() -> None:
    """Else the suites would have nothing to let pass."""
    machine, behind = ReadsOn(Config("p")), Message(bytes(16), "app/behind", b"")
    after = machine.receive(State(Phase.OPEN), WIRE, Text("hello")).state
    assert any(isinstance(debt.template, Delivered) for debt in machine.receive(after, WIRE, behind).owes)
