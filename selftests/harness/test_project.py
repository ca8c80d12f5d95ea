"""What a public project keeps: one version, promises that hold, workflows that run what the README says."""

from __future__ import annotations

import importlib.metadata
import re

import pytest

from harness import __version__
from harness.judging.result import CaseResult, Footer, Header, Verdict, decode
from harness.places import ROOT
from harness.shim.messages import PROTOCOL, decode_reply
from harness.targets import resolve

OLD_STREAM = (
    b'{"type":"header","run_id":"r","started_at":"2026-01-02T03:04:05Z","kind":"check","seed":0,"targets":[{"name":"x"}],"protocols":["sbp"]}',
    b'{"type":"case","run_id":"r","case":"sbp/codec/a/b","protocol":"sbp","role":"codec","group":"a","verdict":"fail","target":"x",'
    b'"requirements":["SBP-MSG-02"],"failure":{"message":"m","clause":"c","expected":"e","observed":"o"},'
    b'"timeline":[{"t":0.5,"sender":"a","receiver":"b","kind":"frame","text":"x"}]}',
    b'{"type":"footer","run_id":"r","finished_at":"2026-01-02T03:04:06Z","duration_s":1.0,"counts":{"fail":1},"exit_code":1}',
)
"""The least that a stream of schema 1 holds: as it was first written, and never changed here."""


def test_a_stream_of_schema_1_is_read_for_ever() -> None:
    """Fields are only added, with defaults."""
    header, case, footer = map(decode, OLD_STREAM)
    assert isinstance(header, Header)
    assert isinstance(case, CaseResult)
    assert isinstance(footer, Footer)
    assert (header.seed, case.verdict, footer.exit_code) == (0, Verdict.FAIL, 1)


@pytest.mark.parametrize("kind", ['"result":{}', '"refused":"x"', '"unsupported":"x"', '"failed":"x"'])
def test_an_answer_of_shim_protocol_1_is_heard_for_ever(kind: str) -> None:
    assert PROTOCOL == 1, "a new version speaks the one before too, and is tested beside it"
    decode_reply(f'{{"id":7,{kind}}}'.encode())
    decode_reply(b'{"event":"e","instance":"i","data":{}}')


def test_the_version_stands_in_one_place() -> None:
    """The package and the reference take it from there, and the changelog begins with it."""
    assert importlib.metadata.version("touchstone") == __version__
    assert {resolve(name).info.version for name in ("reference", "reference-process", "reference-server")} == {
        __version__
    }
    written = [path for path in (ROOT / "targets").glob("reference*/target.toml") if __version__ in path.read_text()]
    assert (written, __version__ in (ROOT / "pyproject.toml").read_text()) == ([], False)
    assert re.findall(r"^## (\S+?),?\s", (ROOT / "CHANGELOG.md").read_text(), re.M)[0] == __version__


@pytest.mark.parametrize(("workflow", "command"), [("ci", ".ci/run"), ("nightly", "./touchstone nightly")])
def test_a_workflow_runs_what_a_person_runs(workflow: str, command: str) -> None:
    text = (ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text()
    assert f"- run: {command}\n" in text
    assert workflow == "ci" or "path: site" in text
