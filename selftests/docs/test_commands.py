"""Every command that a document shows is typed, where it can be as it is written, in a folder that has what the text speaks of.

What is left open, narrowed or typed elsewhere stands in `docs/commands.toml`, with the reason; consoles with their output are
typed by selftests/cli (`getting-started`, `languages`).
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.places import ROOT, TARGETS
from selftests.documents import FENCE, typed

TOUCHSTONE = Path(sys.executable).with_name("touchstone")
SAID = tomllib.loads((ROOT / "docs" / "commands.toml").read_text())
SHOWN = re.compile(
    r"`(?:\./)?(touchstone [a-z][^`]*)`|^ {4,}(?:\./)?(touchstone [a-z][^\n]*)|^\| (`[a-z][^|]*`) \|", re.M
)
DOCUMENTS = [
    "README.md", "CONTRIBUTING.md", "docs/ci.md", "docs/frog-federation.md",
    "docs/getting-started.md", "docs/languages.md", "docs/stability.md",
    "spark_reports/README.md", "suites/README.md", "suites/bccn/README.md", "targets/README.md",
    "targets/examples/sbp-node/README.md",
]  # fmt: skip
SERVER_LINES = {
    "peerbus": (["--tokens", "token-a,token-b"], r"on ws://(?P<address>[\d.:]+)"),
    "sbp": (["--peer-id", "peer-under-test"], r"on (?P<address>ws://[\d.:]+)"),
    "trueseal": ([], r"relay (?P<key>\w{64})\npush (?P<push>[\d.:]+), receive (?P<receive>[\d.:]+)"),
}
ADDRESSES = {
    "127.0.0.1:8080": ("peerbus", "{address}"),
    "ws://peer.example/sbp": ("sbp", "{address}"),
    "push=127.0.0.1:9001,receive=127.0.0.1:9002": ("trueseal", "push={push},receive={receive}"),
    "public_key=...": ("trueseal", "public_key={key}"),
}
"""Where the texts say that a server runs, and where it does."""

Addresses = Callable[[str], dict[str, str]]


def shown(path: str) -> list[str]:
    """The commands in a document, in its order; the first column of a table of commands counts."""
    found: list[str] = []
    for inline, block, row in SHOWN.findall(FENCE.sub("", (ROOT / path).read_text())):
        spans = re.findall(r"`([a-z][^`]*)`", row) if "| command | does |" in (ROOT / path).read_text() else []
        lines = [inline or re.sub(r"\s+#.*", "", block), *(f"touchstone {span}" for span in spans)]
        found += [" ".join(line.split()) for line in lines if line]
    return [command for command in found if len(command.split()) > 2 or command.split()[1] in ALONE]


ALONE = {"cases", "doctor", "nightly", "new", "roles", "targets", "test"}
"""Commands that a text names with nothing behind them and that are typed so; any other name is a word for the command."""


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    """Of servers that run, started when the first text speaks of them."""
    running: dict[str, tuple[subprocess.Popen[str], dict[str, str]]] = {}

    def there(protocol: str) -> dict[str, str]:
        if protocol not in running:
            words, line = SERVER_LINES[protocol]
            command = [str(TOUCHSTONE), "serve", protocol, "--port", "0", *words]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout
            said = ""
            while not (found := re.search(line, said)):
                said += process.stdout.readline() or pytest.fail(f"{command} ended: {said}")
            running[protocol] = process, found.groupdict()
        return running[protocol][1]

    yield there
    for process, _ in running.values():
        process.terminate()
        process.wait(20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With what the texts have in one: a shim, manifests, and this command under both of its spellings."""
    (tmp_path / "touchstone").symlink_to(TOUCHSTONE)
    (tmp_path / "my-shim").write_text(f"#!/bin/sh\nexec {sys.executable} -m targets.reference\n")
    (tmp_path / "my-shim").chmod(0o755)
    (tmp_path / "my-broker").mkdir()
    for place in (tmp_path, tmp_path / "my-broker"):
        shutil.copy(TARGETS / "reference-server" / "target.toml", place)
    return tmp_path


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_command_does_what_its_document_says(path: str, folder: Path, addresses: Addresses) -> None:
    """It exits with 0, or as the text says; never with a traceback."""
    todo = [command for command in dict.fromkeys(shown(path)) if command not in SAID["elsewhere"]]
    if not any("new python" in command for command in todo):
        typed("touchstone new python sbp/codec my-codec", folder)
    for command in todo:
        words = to_type(command, addresses)
        if words.startswith("touchstone serve"):
            assert_serves(words, folder)
            continue
        done = typed(words, folder)
        assert done.returncode == SAID["exits"].get(command, 0), f"{words}:\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr


def to_type(command: str, addresses: Addresses) -> str:
    """With its open words filled in, and narrowed where that is said."""
    words = command
    for hole, word in SAID["words"].items():
        words = re.sub(rf"(?<!\S){re.escape(hole)}(?!\S)", word, words)
    for wide, narrow in SAID["narrowed"].items():
        if words.endswith(wide) or f"{wide} --target" in words:
            words = words.replace(wide, narrow)
            break
    for written, (protocol, template) in ADDRESSES.items():
        if written in words:
            words = words.replace(written, template.format(**addresses(protocol)))
    return words


def assert_serves(words: str, folder: Path) -> None:
    """Until it is ended."""
    command = [str(TOUCHSTONE), *words.split()[1:], "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        assert " on " in run.stdout.readline()
        run.send_signal(signal.SIGTERM)
        assert run.wait(20) in (0, 143, -signal.SIGTERM)


def test_no_word_about_a_command_is_stale() -> None:
    """Each stands in some document."""
    everything = {command for path in DOCUMENTS for command in shown(path)}
    assert set(SAID["elsewhere"]) | set(SAID["exits"]) <= everything


def test_every_document_that_shows_a_command_is_read() -> None:
    """A new one must be added here."""
    skipped = {"CHANGELOG.md", "ARCHITECTURE.md"}
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert {path for path in listed if path not in skipped and shown(path)} <= set(DOCUMENTS)
