"""A relay that dies or says nothing is told so, and costs little: a plain server, by a manifest alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.judging.result import CaseResult, Verdict
from harness.places import ROOT
from selftests.checks import checked
from suites.trueseal import wire

MANIFEST = """
name = "{kind}"
version = "0"
language = "python"

[run]
kind = "server"
env = {{ PYTHONPATH = "{root}" }}

[run.servers."trueseal/relay"]
command = [
    "{{python}}", "-m", "selftests.trueseal.bad_relays", "{kind}", "{{push_port}}", "{{receive_port}}", "{{state_dir}}",
    "{{private_key}}",
]
capabilities = ["large_frames"]
"""


def results(kind: str, tmp_path: Path) -> list[CaseResult]:
    (tmp_path / "target.toml").write_text(MANIFEST.format(kind=kind, root=ROOT))
    return checked(str(tmp_path), ["trueseal/relay/heartbeat"], tmp_path / "runs", "--patience", "4", code=1)


def test_a_relay_that_dies_from_a_frame_has_crashed(tmp_path: Path) -> None:
    """That frame is in the timeline; the relay is started again, and everybody else is judged by what they see."""
    dead = {case.case: case for case in results("fragile", tmp_path) if case.verdict is not Verdict.PASS}
    assert {case.verdict for case in dead.values()} == {Verdict.CRASHED}
    assert {name.partition("[")[0] for name in dead} == {"trueseal/relay/heartbeat/a-heartbeat-with-a-body"}
    deadly = wire.frame(wire.HEARTBEAT, b"\x00").hex()
    assert all(any(deadly in entry.text for entry in case.timeline) for case in dead.values())


@pytest.mark.parametrize("kind", ["mute", "stuck"])
def test_a_relay_that_never_shakes_hands_costs_one_patience(kind: str, tmp_path: Path) -> None:
    """One case waits in full; the others know by then what to expect."""
    waited = []
    for case in results(kind, tmp_path):
        assert case.failure, case
        [seconds] = re.findall(r"nothing within ([0-9.]+) s", case.failure.observed)
        waited.append(float(seconds))
    assert len(waited) > 10
    longest, *others = sorted(waited, reverse=True)
    assert longest >= 4
    assert max(others) < longest / 2
