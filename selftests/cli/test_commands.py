"""The commands as a person runs them: what they say, what they write, and how they exit."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.results import Verdict
from harness.stream import EVENTS, read_run

ROOT = Path(__file__).resolve().parents[2]
MUTANT = "mutant:peerbus/empty-ack-clears-all"
SMALL = "peerbus/broker/ack"


def touchstone(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.cli", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def one_sentence(text: str) -> bool:
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


def test_a_conforming_target_exits_with_0_and_a_summary(tmp_path: Path) -> None:
    """--json has the documented counts, and they add up."""
    done = touchstone("check", SMALL, "--json", "out.json", cwd=tmp_path)
    summary = json.loads((tmp_path / "out.json").read_text())
    assert done.returncode == 0, done.stdout + done.stderr
    assert summary["cases"] == sum(summary[verdict.value] for verdict in Verdict) >= 9
    assert summary["failures"] == []


def test_a_failing_target_exits_with_1_and_can_be_replayed(tmp_path: Path) -> None:
    """The report names clause and evidence, and its replay line shows the failure again."""
    done = touchstone("check", SMALL, "--target", MUTANT, "--patience", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "PB-2.2-08" in done.stdout
    assert "-> broker" in done.stdout, "the timeline shows both sides"
    line = next(line for line in done.stdout.splitlines() if "./touchstone replay" in line)
    again = touchstone(*line.split("./touchstone ")[1].split(), cwd=tmp_path)
    assert again.returncode == 1
    assert "still FAIL" in again.stdout


def test_replay_says_fixed_once_it_is(tmp_path: Path) -> None:
    """The same capsule against a target that conforms: FIXED, exit 0."""
    touchstone("check", SMALL, "--target", MUTANT, "--patience", "1", cwd=tmp_path)
    capsule = next(tmp_path.glob("runs/*/capsules/*.json"))
    told = json.loads(capsule.read_text()) | {"target": "reference"}
    capsule.write_text(json.dumps(told))
    done = touchstone("replay", str(capsule), cwd=tmp_path)
    assert (done.returncode, f"FIXED: {told['result']['case']}" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"case": "peerbus/broker/ack/gone"}, 3),
        ({"case": "peerbus/codec/verify/vector[vector=gone]"}, 3),
        ({"case": "peerbus/broker/durability/audit-chain-is-sound"}, 2),
    ],
)
def test_replay_never_says_fixed_of_what_it_did_not_try(change: dict[str, str], code: int, tmp_path: Path) -> None:
    """A case that is gone, or that the target does not offer any more, is no success."""
    touchstone("check", SMALL, "--target", MUTANT, "--patience", "1", cwd=tmp_path)
    capsule = next(tmp_path.glob("runs/*/capsules/*.json"))
    told = json.loads(capsule.read_text())
    capsule.write_text(json.dumps(told | {"target": "reference-server", "result": told["result"] | change}))
    done = touchstone("replay", str(capsule), cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert "FIXED" not in done.stdout
    assert one_sentence(done.stderr)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("check", "nosuch"), 3),
        (("check", "peerbus/broker/nosuch"), 3),
        (("check", "--target", "nosuch"), 2),
        (("check", "--target", "cmd:no-such-command-anywhere"), 2),
        (("check", "--target", "cmd:"), 3),
        (("check", "--target", "python:no.such:thing"), 2),
        (("check", "--target", "mutant:peerbus/nosuch"), 3),
        (("check", SMALL, "--json", "/dev/null/out.json"), 3),
        (("check", SMALL, "--no-such-option"), 3),
        (("explain", "PB-99"), 3),
        (("replay", "nothing.json"), 2),
        (("mutants", "nosuch"), 3),
        (("check", "peerbus/codec/verify/vector[vector=nosuch]"), 3),
        (("serve", "nosuch"), 3),
        (("ledger", "peerbus"), 2),
        (("new", "cobol", "peerbus/codec", "x"), 3),
        (("new", "python", "peerbus/nosuch", "x"), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_call_gets_one_sentence(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    """Bad usage exits with 3, something missing with 2, each with one sentence on stderr."""
    done = touchstone(*words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert one_sentence(done.stderr)


def test_a_wrong_manifest_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "target.toml").write_text('name = "x"\n[run]\nkind = "carrier-pigeon"\n')
    done = touchstone("check", "--target", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert one_sentence(done.stderr)


DIES_OF_EMPTINESS = """
import asyncio, os
from harness.shim import serve_stdio
from targets.reference import Reference

class Dies(Reference):
    async def do(self, instance, op, args):
        return os._exit(3) if args.get("wire") == "" else await super().do(instance, op, args)

asyncio.run(serve_stdio(Dies()))
"""


def test_the_crash_of_one_vector_is_not_the_next_ones(tmp_path: Path) -> None:
    """Vectors share an instance; after a crash the others are tried with a new one."""
    (tmp_path / "shim.py").write_text(DIES_OF_EMPTINESS)
    target = f"cmd:{sys.executable} shim.py"
    check = "bccn/codec/decode/envelope"
    done = touchstone("check", check, "--target", target, "--json", "out.json", cwd=tmp_path)
    summary = json.loads((tmp_path / "out.json").read_text())
    assert done.returncode == 1, done.stdout + done.stderr
    assert (summary["crashed"], summary["pass"]) == (1, summary["cases"] - 1)


def test_a_known_failure_that_matches_nothing_is_stale_where_it_was_looked_for(tmp_path: Path) -> None:
    """Within the selection the list must be true; what was not selected cannot be judged."""
    known = "".join(f'[[known_failing]]\ncases = ["{SMALL}/{name}"]\nreason = "x"\n' for name in ("gone", "*"))
    elsewhere = '[[known_failing]]\ncases = ["sbp/codec/gone"]\nreason = "x"\n'
    command = f'[run]\nkind = "process"\ncommand = ["{sys.executable}", "-m", "targets.reference"]\n'
    (tmp_path / "target.toml").write_text(f'name = "x"\n{command}{known}{elsewhere}')
    done = touchstone("check", SMALL, "--target", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("stale")] == [
        f"stale: the manifest's pattern {SMALL}/gone matched no case that ran"
    ]


def test_explain_prints_clause_cases_and_mutants(tmp_path: Path) -> None:
    done = touchstone("explain", "PB-2.2-08", cwd=tmp_path)
    for part in ("MUST", "ack-without-an-id-clears-nothing", "empty-ack-clears-all"):
        assert part in done.stdout


def test_results_of_all_workers_land_in_one_stream(tmp_path: Path) -> None:
    """Two workers, one stream: header, every case once, footer."""
    done = touchstone("check", SMALL, "-n", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    run = read_run(next(tmp_path.glob(f"runs/*/{EVENTS}")))
    assert run.complete
    assert run.bad_lines == 0
    assert len({case.case for case in run.cases}) == len(run.cases) >= 9
    assert len({case.worker for case in run.cases}) == 2


def test_a_killed_harness_leaves_a_readable_stream(tmp_path: Path) -> None:
    """SIGKILL in the middle: what was judged by then can be read, and the run shows that it is partial."""
    command = [sys.executable, "-m", "harness.cli", "check", "peerbus/broker"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        stream = None
        while stream is None or stream.read_bytes().count(b"\n") < 5:
            assert process.poll() is None, "it ended before it could be killed"
            stream = next(tmp_path.glob(f"runs/*/{EVENTS}"), None)
        process.send_signal(signal.SIGKILL)
    run = read_run(stream)
    assert len(run.cases) >= 4
    assert not run.complete


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_new_shim_runs_as_it_is(language: str, tmp_path: Path) -> None:
    """The skeleton answers everything it does not offer yet with `unsupported`."""
    assert touchstone("new", language, "peerbus/codec", "mine", cwd=tmp_path).returncode == 0
    done = touchstone("check", "peerbus/codec/verify", "--target", "mine", "--json", "out.json", cwd=tmp_path)
    summary = json.loads((tmp_path / "out.json").read_text())
    assert summary["unsupported"] == summary["cases"] > 0
    assert done.returncode == 2, "nothing was tested, so nothing conforms"
