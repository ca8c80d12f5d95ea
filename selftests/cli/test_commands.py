"""The commands as a person runs them: what they say, what they write, and how they exit."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.catalogue.protocols import roles
from harness.catalogue.requirements import protocols
from harness.cli.explain import VERDICTS
from harness.judging.result import Verdict
from harness.running.stream import EVENTS, read_run
from selftests.commands import touchstone

MUTANT = "mutant:peerbus/empty-ack-clears-all"
SMALL = "peerbus/broker/ack"


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A check of a target that fails, where it ran; started as a person does, since hints depend on where that was."""
    folder = tmp_path_factory.mktemp("failing")
    command = [sys.executable, "-m", "harness.cli", "check", SMALL, "--target", MUTANT, "--patience", "1"]
    return folder, subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def capsule(failing: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> Path:
    """One of its capsules, in a copy of its runs, for a test to change and to replay."""
    shutil.copytree(failing[0] / "runs", tmp_path / "runs")
    return next(tmp_path.glob("runs/*/capsules/*.json"))


def one_sentence(text: str) -> bool:
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


def test_a_conforming_target_exits_with_0_and_a_summary(tmp_path: Path) -> None:
    """--json has the documented counts, and they add up."""
    done = touchstone("check", SMALL, "--json", "out.json", cwd=tmp_path)
    summary = json.loads((tmp_path / "out.json").read_text())
    assert done.returncode == 0, done.stdout + done.stderr
    assert summary["cases"] == sum(summary[verdict.value] for verdict in Verdict) >= 9
    assert summary["failures"] == []


@pytest.mark.usefixtures("capsule")
def test_a_failing_target_exits_with_1_and_can_be_replayed(failing, tmp_path: Path) -> None:
    """The report names clause and evidence, and its replay line shows the failure again."""
    _, done = failing
    assert done.returncode == 1
    assert "PB-2.2-08" in done.stdout
    assert "-> broker" in done.stdout, "the timeline shows both sides"
    line = next(line for line in done.stdout.splitlines() if "replay    " in line)
    again = touchstone(*line.split()[2:], cwd=tmp_path)
    assert again.returncode == 1
    assert "FAILED: peerbus/broker/ack/" in again.stdout


def test_replay_says_fixed_once_it_is(capsule: Path, tmp_path: Path) -> None:
    """The same capsule against a target that conforms: FIXED, exit 0."""
    told = json.loads(capsule.read_text()) | {"target": "reference"}
    capsule.write_text(json.dumps(told))
    done = touchstone("replay", str(capsule), cwd=tmp_path)
    assert (done.returncode, f"FIXED: {told['result']['case']}" in done.stdout) == (0, True), done.stdout + done.stderr


def test_replay_never_says_fixed_of_a_race(capsule: Path, tmp_path: Path) -> None:
    """What depends on who is first is tried as often as its case says, and then it was not seen."""
    told = json.loads(capsule.read_text())
    race = told | {"target": "reference", "result": told["result"] | {"measures": {"tries": 3}}}
    capsule.write_text(json.dumps(race))
    done = touchstone("replay", str(capsule), cwd=tmp_path)
    assert (done.returncode, "not seen in 3 tries" in done.stdout, "FIXED" in done.stdout) == (0, True, False)
    assert len(list(tmp_path.glob("runs/*/replays/*"))) == 3


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"case": "peerbus/broker/ack/gone"}, 3),
        ({"case": "peerbus/codec/verify/vector[vector=gone]"}, 3),
        ({"case": "peerbus/broker/durability/audit-chain-is-sound"}, 2),
    ],
)
def test_replay_never_says_fixed_of_what_it_did_not_try(
    change: dict[str, str], code: int, capsule: Path, tmp_path: Path
) -> None:
    """A case that is gone, or that the target does not offer any more, is no success."""
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
        (("check", "--target", "."), 2),
        (("check", "peerbus", "--target", "ws://127.0.0.1:1", "--option", "tokens=a"), 2),
        (("check", "peerbus", "--target", "ws://127.0.0.1:1"), 3),
        (("check", "peerbus", "--target", "tcp://127.0.0.1:1"), 3),
        (("check", "peerbus", "--target", "push=127.0.0.1:1,receive=127.0.0.1:2"), 3),
        (("check", "sbp", "--target", "127.0.0.1:1"), 3),
        (("check", "bccn", "--target", "127.0.0.1:1"), 3),
        (("check", "peerbus", "--target", "127.0.0.1:1", "--option", "nosuch=1"), 3),
        (("check", "peerbus", "--target", "127.0.0.1:1", "--option", "tokens"), 3),
        (("check", "peerbus", "--option", "tokens=a"), 3),
        (("check", "peerbus/nosuch"), 3),
        (("check", SMALL, "--patience", "-1"), 3),
        (("check", SMALL, "--workers", "-5"), 3),
        (("mutants", "peerbus", "--workers", "-5"), 3),
        (("check", SMALL, "--json", "/dev/null/out.json"), 3),
        (("check", SMALL, "--no-such-option"), 3),
        (("explain", "PB-99"), 3),
        (("replay", "nothing.json"), 2),
        (("replay", "peerbus/broker/nosuch"), 3),
        (("replay",), 3),
        (("replay", "--last-failed"), 2),
        (("explain", "peerbus/broker/ack/nosuch"), 3),
        (("serve", "peerbus", "--mutant", "nosuch"), 3),
        (("serve", "peerbus", "--mutant", "reads-binary", "--trace"), 3),
        *((("serve", protocol, "--no-such-option"), 3) for protocol in protocols()),
        (("serve", "frog", "--uri", "ws://EXAMPLE.org/"), 3),
        (("check", SMALL, "--watch"), 3),
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


def test_a_role_that_is_not_offered_names_those_that_are(tmp_path: Path) -> None:
    """Whoever asks for another role than the shim has sees which it has."""
    assert touchstone("new", "python", "sbp/codec", "mine", cwd=tmp_path).returncode == 0
    done = touchstone("check", "sbp/peer", "--target", "mine", cwd=tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (3, True)
    assert "no case matches sbp/peer for this target, which offers sbp/codec" in done.stderr


def test_a_hint_can_be_typed_where_it_is_read(failing: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    """Outside the clone `./touchstone` is nobody."""
    folder, done = failing
    line = next(line.split() for line in done.stdout.splitlines() if "replay    " in line)
    assert (folder / line[1]).exists()
    assert (folder / line[3]).exists()


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


@pytest.mark.parametrize("words", [["--last-failed"], ["peerbus/broker/ack/ack-without-an-id-clears-nothing"]])
def test_what_failed_last_is_replayed_without_its_capsules_name(
    words: list[str], capsule: Path, tmp_path: Path
) -> None:
    """By --last-failed or by a case id; one line for each of its cases, those that ran alike in one run."""
    for path in capsule.parent.iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"target": "reference"}))
    done = touchstone("replay", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout.count("FIXED: ")) == (0, 3), done.stdout + done.stderr
    assert len(list(tmp_path.glob("runs/*/replays/*"))) == 1


def test_a_replay_that_cannot_be_judged_is_an_error_beside_those_that_can(capsule: Path, tmp_path: Path) -> None:
    """ERROR for that one, and the exit code is the worst."""
    told = json.loads(capsule.read_text())
    gone = capsule.with_name("gone.json")
    gone.write_text(json.dumps(told | {"result": told["result"] | {"case": "peerbus/broker/ack/gone"}}))
    done = touchstone("replay", str(capsule), str(gone), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.count("FAILED: ") == 1
    assert "ERROR: peerbus/broker/ack/gone cannot be judged any more" in done.stderr


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("warn", "SHOULD"),
        ("2", "exit code 2: nothing can be said"),
        ("peerbus/broker/ack/ack-without-an-id-clears-nothing[id=null]", "PB-2.2-08"),
        ("sbp/codec/vectors/frame-encodes[vector=subject-bidi]", "touchstone check 'sbp/codec"),
    ],
)
def test_explain_knows_every_word_of_a_report(what: str, said: str, tmp_path: Path) -> None:
    done = touchstone("explain", what, cwd=tmp_path)
    assert said in done.stdout, done.stderr


def test_every_verdict_is_explained() -> None:
    assert set(VERDICTS) == set(Verdict)


def test_the_version_can_be_asked_for(tmp_path: Path) -> None:
    done = touchstone("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"touchstone {__version__}\n")


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


def test_roles_are_listed_with_their_addresses_and_options(tmp_path: Path) -> None:
    """All that has to be known to point at a server that runs."""
    lines = touchstone("roles", cwd=tmp_path).stdout.splitlines()
    assert {line.split()[0] for line in lines if not line.startswith(" ")} == set(roles())
    assert "ws://host:port" in next(line for line in lines if line.startswith("peerbus/broker"))
    assert any("--option peer_id=" in line for line in lines)


def test_explain_shows_what_tours_cover(tmp_path: Path) -> None:
    """States, transitions and pairs, what is left out and why, and each walk; a role without tours gets one sentence."""
    done = touchstone("explain", "peerbus/broker/tours", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " states, " in done.stdout
    assert " pairs" in done.stdout
    assert "left out" in done.stdout
    without = touchstone("explain", "peerbus/codec/tours", cwd=tmp_path)
    assert without.returncode == 3
    assert one_sentence(without.stderr)
