"""What conforms under the document's authority, or one message at a time, is neither failed nor warned."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.judging.result import Verdict
from selftests.checks import checked, conforming

BROKER = ["ack", "broadcast", "deliver", "machine", "peers", "register", "routing", "tours", "transport"]
"""The groups whose inputs the two profiles may read differently; order, takeover and crashes are the same in both."""


@pytest.mark.parametrize(
    ("target", "select"),
    [
        ("reference-document", [f"peerbus/broker/{group}" for group in BROKER]),
        ("reference-document", ["peerbus/client"]),
        ("reference-document", ["peerbus/codec"]),
        ("python:selftests.peerbus.variants:Serial", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:SerialCode", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:Terse", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:WrongTypesEndIt", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:LateAcks", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:OneAck", ["peerbus/client"]),
        ("python:selftests.peerbus.variants:OneMessage", [f"peerbus/broker/{group}" for group in BROKER]),
        ("python:selftests.peerbus.variants:StrictBroker", [f"peerbus/broker/{group}" for group in BROKER]),
    ],
    ids=[
        "document-broker",
        "document-client",
        "document-codec",
        "serial",
        "serial-code",
        "terse",
        "touchy",
        "late-acks",
        "one-ack",
        "one-message",
        "strict-broker",
    ],
)
def test_nobody_is_failed_for_a_freedom(target: str, select: list[str], tmp_path: Path) -> None:
    verdicts = Counter(conforming(target, select, tmp_path).values())
    assert verdicts[Verdict.PASS] > 50, verdicts


ERRING = {
    "OtherTokens": ("peerbus/broker/register", {"another-version-closes[version=v2]", "empty-name-closes[name=empty]"}),
    "StrandsAtTakeover": (
        "peerbus/broker/takeover",
        {"nothing-is-lost-while-a-name-is-taken-over-under-load", "new-connection-owns-the-name"},
    ),
}


@pytest.mark.parametrize("variant", ERRING)
def test_what_was_passed_once_is_failed(variant: str, tmp_path: Path) -> None:
    """A broker with tokens of its own is tried with them; a message that is stranded at a takeover is missed."""
    select, failing = ERRING[variant]
    results = checked(f"python:selftests.peerbus.variants:{variant}", [select], tmp_path, code=1)
    failed = {result.case.rpartition("/")[2] for result in results if result.verdict is Verdict.FAIL}
    assert failing <= failed


def test_what_a_case_warns_of_no_oracle_fails(tmp_path: Path) -> None:
    """Any peer may ack any key: a warning in the case for it, and the same wherever an oracle meets it, which goes on."""
    groups = [f"peerbus/broker/{group}" for group in ("ack", "machine", "tours")]
    results = checked("mutant:peerbus/anybody-may-ack", groups, tmp_path)
    assert {result.verdict for result in results} == {Verdict.PASS, Verdict.WARN}
    assert Verdict.WARN in {result.verdict for result in results if result.group == "tours"}


def test_an_id_that_is_used_twice_is_warned_of_by_case_and_oracle(tmp_path: Path) -> None:
    """That ids are unique is a SHOULD, wherever it shows."""
    groups = [f"peerbus/client/{group}" for group in ("send", "machine", "tours")]
    results = checked("mutant:peerbus/draws-an-id-for-two", groups, tmp_path)
    assert {result.verdict for result in results} == {Verdict.PASS, Verdict.WARN}
    assert {result.group for result in results if result.verdict is Verdict.WARN} == {"send", "machine", "tours"}


@pytest.mark.parametrize(("role", "established"), [("broker", "registered"), ("client", "online")])
def test_random_runs_get_somewhere(role: str, established: str, tmp_path: Path) -> None:
    """At least half of what is said is said where a register has been answered."""
    [result] = checked("reference", [f"peerbus/{role}/machine"], tmp_path)
    inside = sum(count for situation, count in result.measures.items() if situation.startswith(established))
    assert inside >= sum(result.measures.values()) / 2, result.measures
