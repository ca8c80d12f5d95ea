"""Commands that cannot be started are the environment's fault, told in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import Unavailable
from harness.targets.process import ProcessSession


async def cannot_start(command: list[str], cwd: str | None = None) -> str:
    session = ProcessSession(command, cwd)
    with pytest.raises(Unavailable) as caught:
        await session.open()
    await session.close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_a_command_that_is_not_there() -> None:
    """The sentence names the command and what to do."""
    assert "no command 'no-such-shim' here: install it" in await cannot_start(["no-such-shim"])


async def test_a_file_that_may_not_be_executed(tmp_path: Path) -> None:
    """A forgotten chmod is told as such."""
    script = tmp_path / "shim"
    script.write_text("#!/bin/sh\n")
    assert "chmod +x" in await cannot_start([str(script)])


async def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """An executable file that the system cannot run."""
    script = tmp_path / "shim"
    script.write_bytes(b"\x00\x01\x02")
    script.chmod(0o755)
    assert "cannot be started: Exec format error" in await cannot_start([str(script)])


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A missing working folder is not mistaken for a missing command."""
    assert "there is no folder" in await cannot_start(["true"], str(tmp_path / "gone"))
