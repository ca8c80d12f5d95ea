"""The result stream on disk: whole, cut short, or left by a killed writer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import Unavailable
from harness.judging.capsule import CAPSULES, load
from harness.judging.result import CaseResult, Event, Failure, Header, TargetInfo, Verdict, decode, encode
from harness.running import plugin
from harness.running.check import check_target
from harness.running.plan import Plan
from harness.running.stream import EVENTS, StreamWriter, new_run_id, read_run
from harness.subscribers import Capsules
from selftests.harness.conftest import made

WRITER = """
import sys
from pathlib import Path
from harness.judging.result import CaseResult, Header, Verdict
from harness.running.stream import StreamWriter

writer = StreamWriter(Path(sys.argv[1]))
writer(Header("r1", "now", "check", 0, [], ["peerbus"]))
while True:
    writer(CaseResult("r1", "a/b/c/d", "a", "b", "c", Verdict.PASS, "fake", [], note="x" * 1000))
    print("written", flush=True)
"""


@pytest.fixture
def stream(events: list[Event], tmp_path: Path) -> Path:
    writer = StreamWriter(tmp_path / "run")
    for event in events:
        writer(event)
    return writer.path


def test_a_stream_is_read_back_as_it_was_written(stream: Path, events: list[Event], results: list[CaseResult]) -> None:
    """From the file or from its folder, hostile strings included."""
    for path in (stream, stream.parent):
        run = read_run(path)
        assert run.complete
        assert run.bad_lines == 0
        assert [run.header, *run.cases, run.footer] == events


def test_every_event_is_one_line(events: list[Event]) -> None:
    """Whatever a string holds, a line feed in it is escaped."""
    for event in events:
        line = encode(event)
        assert b"\n" not in line
        assert decode(line) == event


def test_a_stream_cut_at_any_byte_of_its_last_line_is_readable(stream: Path, results: list[CaseResult]) -> None:
    """It is a partial run that holds every case before the cut."""
    whole = stream.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for end in range(last, len(whole) - 1):
        stream.write_bytes(whole[:end])
        run = read_run(stream)
        assert not run.complete
        assert run.cases == results
        assert run.bad_lines == (end > last)


def test_a_stream_cut_inside_a_case_keeps_the_cases_before_it(stream: Path, results: list[CaseResult]) -> None:
    """Also where the line that is cut is not the footer's."""
    lines = stream.read_bytes().splitlines(keepends=True)
    stream.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    run = read_run(stream)
    assert run.cases == results[:2]
    assert run.bad_lines == 1


def test_a_killed_writer_leaves_what_it_had_written(tmp_path: Path) -> None:
    """SIGKILL at any moment: each case that was reported as written is there."""
    folder = tmp_path / "run"
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        seen = [writer.stdout.readline() for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        seen += writer.stdout.readlines()
    run = read_run(folder)
    assert run.header
    assert not run.complete
    assert len(run.cases) >= len([line for line in seen if line == b"written\n"]) >= 20
    assert run.bad_lines <= 1


def test_a_run_is_not_written_over(tmp_path: Path, stream: Path) -> None:
    """Evidence of an earlier run stays."""
    with pytest.raises(Unavailable, match="File exists"):
        StreamWriter(stream.parent)


def test_a_stream_that_is_not_there_is_told(tmp_path: Path) -> None:
    """In one sentence that names the file."""
    with pytest.raises(Unavailable, match=f"{EVENTS} cannot be read: No such file"):
        read_run(tmp_path)


def test_lines_of_another_schema_are_counted_not_fatal(stream: Path) -> None:
    """A later harness may write what this one does not know."""
    whole = stream.read_bytes()
    stream.write_bytes(whole + b'{"type": "weather"}\nnot json\n\xff\xfe\n')
    run = read_run(stream)
    assert run.complete
    assert run.bad_lines == 3


def test_run_ids_are_their_own() -> None:
    """Two runs in one second do not meet."""
    assert len({new_run_id() for _ in range(100)}) == 100


def test_results_of_one_process_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are packed to travel between processes alone; here each goes to the recorder as it is."""
    monkeypatch.setattr(plugin, "encode", lambda result: pytest.fail("packed for nobody"))
    checked = check_target(Plan(select=["bccn/codec/addressing"], workers=1), tmp_path, [])
    assert checked.exit_code == 0
    assert read_run(checked.folder).cases == checked.results != []


def test_nothing_in_a_stream_or_a_capsule_moves_a_terminal(tmp_path: Path) -> None:
    """Who reads a file with `cat` sees what the target said, not what it wanted; and it is read back as it was."""
    evil = "\x1b[2J\x9b31m\u202egnp.exe\u2066\u200f\U000e0041\x00"
    result = made("peerbus/codec/verify/case", Verdict.FAIL, note=evil, failure=Failure(evil, observed=evil))
    line = encode(result)
    assert decode(line) == result
    assert line.decode().isprintable()
    assert "größer 🐸" in encode(made("peerbus/codec/verify/case", Verdict.PASS, note="größer 🐸")).decode()
    capsules = Capsules(tmp_path, "fake")
    capsules(Header("r1", "2026-01-01T00:00:00Z", "check", 0, [TargetInfo("fake")], ["peerbus"]))
    capsules(result)
    [kept] = (tmp_path / CAPSULES).iterdir()
    assert load(kept).result == result
    assert kept.read_text().replace("\n", "").isprintable()
