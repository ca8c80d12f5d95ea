"""The build step of a manifest: once, again when sources change, and a sentence where it cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import Unavailable
from harness.targets import resolve
from harness.targets.build import Build

COUNT = ["sh", "-c", "echo built >> bin/log"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "main.go").write_text("package main")
    return tmp_path


def builds(folder: Path) -> int:
    return (folder / "bin/log").read_text().count("built")


async def test_it_is_built_once_and_again_when_a_source_changes(folder: Path) -> None:
    """What a build makes is no source of it."""
    for _ in range(3):
        await Build(COUNT, folder).made()
    assert builds(folder) == 1
    (folder / "main.go").write_text("package main // changed")
    await Build(COUNT, folder).made()
    assert builds(folder) == 2


async def test_another_command_builds_anew(folder: Path) -> None:
    """Its words are part of what it is made of."""
    await Build(COUNT, folder).made()
    await Build([*COUNT, "more"], folder).made()
    assert builds(folder) == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-toolchain", "build"], "no command 'no-such-toolchain'"),
        (["sh", "-c", "echo main.go:3: oh no >&2; exit 1"], "main.go:3: oh no"),
    ],
)
async def test_what_cannot_be_built_says_why_and_is_tried_again(folder: Path, command: list[str], said: str) -> None:
    """A missing toolchain is the environment's, and a failure leaves no stamp."""
    for _ in range(2):
        with pytest.raises(Unavailable, match=said):
            await Build(command, folder).made()


async def test_a_target_is_built_before_it_is_started(folder: Path) -> None:
    """The shim does not exist before its build."""
    (folder / "target.toml").write_text(
        'name = "made"\n[run]\nkind = "process"\nbuild = ["sh", "-c", "cp shim.in bin/shim.py"]\n'
        'command = ["{python}", "bin/shim.py"]\n'
    )
    (folder / "shim.in").write_text(
        "import asyncio\nfrom harness.shim import serve_stdio\nfrom harness.shim.roles import RoleShim\n"
        "asyncio.run(serve_stdio(RoleShim('made', '1', {})))\n"
    )
    target = resolve(str(folder))
    try:
        assert (await target.hello()).name == "made"
    finally:
        await target.close()
