"""Wrong manifests and wrong targets: one clear sentence each, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import BadManifest, TouchstoneError, Unavailable, UsageError
from harness.targets import resolve
from harness.targets.manifest import load, reach_of
from harness.targets.server import Server

GOOD = """
name = "x"
[run]
kind = "server"
[run.servers."peerbus/broker"]
command = ["{python}", "-m", "x", "--port", "{port}"]
"""

WRONG = {
    "not TOML": ("name = ", "Invalid value"),
    "not text": ("name = '\udcff'", "is not UTF-8"),
    "no name": ("[run]\nkind = 'process'\ncommand = ['x']", "missing required field `name`"),
    "no run": ("name = 'x'", "missing required field `run`"),
    "unknown kind": ("name = 'x'\n[run]\nkind = 'telepathy'", "Invalid enum value 'telepathy'"),
    "unknown field": ("name = 'x'\ncolour = 'red'\n[run]\nkind = 'process'", "unknown field `colour`"),
    "wrong type": ("name = 1\n[run]\nkind = 'process'", "Expected `str`, got `int`"),
    "no command": ("name = 'x'\n[run]\nkind = 'process'", "no command"),
    "server without command": (GOOD.replace('"{python}", "-m", "x", "--port", "{port}"', ""), "no command"),
    "no servers": ("name = 'x'\n[run]\nkind = 'server'", "no servers"),
    "no address": ("name = 'x'\n[run]\nkind = 'remote'", "no address"),
    "no factory": ("name = 'x'\n[run]\nkind = 'python'", "no factory"),
    "wrong factory": ("name = 'x'\n[run]\nkind = 'python'\nfactory = 'json:nothing'", "cannot be loaded"),
    "no such port": (GOOD + "ports = ['push']", "peerbus/broker has no port for {port}: use {push_port}"),
    "wrong pattern": (GOOD + "ready_log = '('", "is not a pattern"),
    "no reason": (GOOD + "[[known_failing]]\ncases = ['a']\nreason = ' '", "have no reason: write one"),
    "no reason at all": (GOOD + "[[known_flaky]]\ncases = ['a']", "missing required field `reason`"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_manifest_is_told_in_one_sentence(name: str, tmp_path: Path) -> None:
    """It names what is wrong; the environment's fault, exit 2."""
    text, words = WRONG[name]
    path = tmp_path / "target.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Unavailable) as caught:
        reach_of(load(path), tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_good_manifest_is_a_target(tmp_path: Path) -> None:
    """By its file or by its folder; its identity is the manifest's, its reach the run's kind."""
    (tmp_path / "target.toml").write_text(GOOD)
    for spec in (tmp_path, tmp_path / "target.toml"):
        target = resolve(str(spec))
        assert (target.info.name, target.info.reach) == ("x", "server")
        assert isinstance(target.reach, Server)


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A missing file names itself."""
    with pytest.raises(BadManifest, match="cannot be read: No such file"):
        load(tmp_path / "target.toml")


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("no-such-target", Unavailable, "there is no target 'no-such-target': use "),
        ("", Unavailable, "there is no target ''"),
        ("cmd:", UsageError, "cmd: names no command"),
        ("cmd:./shim 'half", UsageError, "No closing quotation"),
        ("python:no.such.module:factory", Unavailable, "No module named"),
        ("python:json:nothing", Unavailable, "has no attribute 'nothing'"),
        ("python:json", Unavailable, "python:json cannot be loaded"),
        ("python:", Unavailable, "cannot be loaded"),
        ("python:raising:factory", Unavailable, "ZeroDivisionError"),
    ],
)
def test_a_wrong_target_is_told_in_one_sentence(
    spec: str, error: type[TouchstoneError], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose fault it is and what to write instead."""
    (tmp_path / "raising.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(error) as caught:
        resolve(spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
