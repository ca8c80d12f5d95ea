"""`touchstone new`: in every language the skeleton runs as it is, wherever that language's tools are."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.cli.scaffold import scaffold
from harness.errors import TargetUnsupported, UsageError
from harness.judging.result import Verdict
from harness.places import ROOT, TEMPLATES
from harness.running.smoke import smoke
from harness.targets import Target, resolve
from selftests.checks import checked
from selftests.documents import assert_shown, commands, fences

TOOLS = {"c": "cc", "go": "go", "node": "node", "python": "sh", "rust": "cargo"}
MOST_LINES = 100

STUBS = {
    "c": r"^static Kind perform\(.*?^}\n",
    "go": r"^func do\(.*?^}\n",
    "node": r"^const operations = {}\n",
    "python": r"^def do\(.*?(?=\n\ndef )",
    "rust": r"^fn perform\(.*?^}\n",
}
"""What docs/languages.md says its code goes in the place of."""

NESTED = {
    "verb": "stop",
    "id": 7,
    "list": [{"op": "}"}, ']"\\', {"role": ':,{"'}],
    "": {"verb": "hello"},
    "é\u2028\n": None,
}
"""Keys and signs of the protocol where they mean nothing: a shim that cuts lines by itself must not trip over them."""


@pytest.fixture(params=sorted(TOOLS))
def language(request: pytest.FixtureRequest) -> str:
    """One whose tools are here."""
    language: str = request.param
    if not shutil.which(TOOLS[language]):
        missing = f"there is no {TOOLS[language]} on the PATH: install it to try the template"
        required = os.environ.get("TOUCHSTONE_REQUIRE", "").split(",")
        (pytest.fail if {language, TOOLS[language]} & set(required) else pytest.skip)(missing)
    return language


@pytest.fixture
def fresh(language: str, tmp_path: Path) -> Path:
    """A skeleton as it is written."""
    scaffold(language, "sbp/codec", tmp_path / "mine")
    return tmp_path / "mine"


def test_every_template_is_tried() -> None:
    assert {path.name for path in TEMPLATES.iterdir()} == set(TOOLS)


async def test_a_new_shim_passes_the_smoke_exchange_and_is_not_misled(fresh: Path) -> None:
    """It says who it is, no to a role that it has not, and no to whatever is asked with whatever arguments."""
    target = resolve(str(fresh))
    try:
        hello = await smoke(target)
        assert (hello.name, hello.roles) == ("mine", {"sbp/codec": []})
        await asyncio.gather(*(refuses(target, args) for args in ({}, NESTED, {"text": "x" * 2_000_000})))
    finally:
        await target.close()


async def refuses(target: Target, args: dict[str, Any]) -> None:
    instance = await target.instance("sbp/codec", args)
    with pytest.raises(TargetUnsupported, match="operation encode"):
        await instance.session.do(instance, "encode", args)


def test_a_new_shim_gets_a_verdict(fresh: Path, tmp_path: Path) -> None:
    """Everything that it does not offer yet is `unsupported`; nothing was tested, so nothing conforms."""
    results = checked(str(fresh), ["sbp/codec/encode"], tmp_path / "runs", code=2)
    assert {result.verdict for result in results} == {Verdict.UNSUPPORTED}


def program(folder: Path) -> Path:
    (shim,) = (path for path in folder.rglob("*") if path.suffix in (".c", ".go", ".mjs", ".py", ".rs"))
    return shim


def test_a_first_operation_gets_its_verdict_as_described(language: str, tmp_path: Path) -> None:
    """docs/languages.md: the skeleton, the code in its place, and what `check` says then."""
    sections = re.split(r"^## ", (ROOT / "docs" / "languages.md").read_text(), flags=re.M)[1:]
    (section,) = (section for section in sections if section.lower().startswith(f"{language}\n"))
    for kind, block in fences(section):
        if kind != "console":
            shim = program(tmp_path / "my-codec")
            put, count = re.subn(STUBS[language], lambda _, new=block: new, shim.read_text(), flags=re.M | re.S)
            assert count == 1
            shim.write_text(put)
            continue
        for command, wanted in commands(block):
            assert_shown(command, wanted, tmp_path)


def test_a_new_shim_is_short_and_says_what_is_asked(fresh: Path) -> None:
    """The operations stand beside it."""
    text = program(fresh).read_text()
    assert len(text.splitlines()) < MOST_LINES
    assert "@" not in text.replace("@generated", "")
    assert "encode" in (fresh / "OPERATIONS.md").read_text()


@pytest.mark.parametrize("name", ['a"b', "-x", "x y"])
def test_a_name_that_some_language_cannot_hold_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a target's name"):
        scaffold("c", "sbp/codec", tmp_path / name)
