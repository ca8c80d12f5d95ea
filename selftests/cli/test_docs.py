"""What the documents say is typed is typed, in that order, and what they say comes comes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from harness.cli.app import app
from harness.places import ROOT
from selftests.documents import assert_shown, commands, fences, typed

MENDED = ('len(frame["subject"]).to_bytes', 'len(frame["subject"].encode()).to_bytes')


def test_the_first_ten_minutes_are_as_described(tmp_path: Path) -> None:
    """Each command and its output; the code is put where the text says."""
    shim = tmp_path / "my-codec" / "shim.py"
    for language, block in fences((ROOT / "docs" / "getting-started.md").read_text()):
        if language == "python":
            text = shim.read_text()
            shim.write_text(
                re.sub(r"^def do\(.*?(?=^def stop)", lambda _, new=block: new + "\n\n", text, flags=re.M | re.S)
            )
            continue
        for command, wanted in commands(block):
            if "--last-failed" in command:
                shim.write_text(shim.read_text().replace(*MENDED))
            assert_shown(command, wanted, tmp_path)


@cache
def help_of(command: str) -> str:
    return typed(f"touchstone {command} --help", ROOT).stdout


@pytest.mark.parametrize("path", ["README.md", "targets/README.md", "docs/ci.md", "docs/getting-started.md"])
def test_every_command_in_a_document_is_one(path: str) -> None:
    """With every option that is written behind it."""
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    lines = re.findall(r"(?:\./|`|\$ |^    )touchstone ([a-z]+)([^`\n#|]*)", (ROOT / path).read_text(), re.M)
    assert len(lines) > 1
    for name, words in lines:
        assert name in known, f"touchstone {name}"
        for option in re.findall(r"(?<![\w-])--[a-z-]+", re.sub(r"'[^']*'", "", words)):
            assert name == "serve" or option in help_of(name), f"touchstone {name} {option}"
