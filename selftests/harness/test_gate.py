"""The gate: its table of steps, and steps side by side."""

from __future__ import annotations

import configparser
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness.catalogue.requirements import protocols
from harness.cli import gate
from harness.cli.gate import Step
from harness.errors import UsageError
from harness.places import ROOT


def step(name: str, code: int = 0, said: str = "") -> Step:
    """A step that says something on both streams and ends with that code."""
    program = f"import sys; print({said!r}); print({said[::-1]!r}, file=sys.stderr); sys.exit({code})"
    return Step(name, [sys.executable, "-c", program])


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts other steps in the place of the gate's."""
    return lambda *steps: monkeypatch.setattr(gate, "steps", lambda workers: list(steps))


def test_every_protocol_has_its_steps() -> None:
    """Named once each; a protocol that is added needs no word here."""
    names = [step.name for step in gate.steps(1)]
    assert len(names) == len(set(names))
    assert {f"{kind}-{protocol}" for kind in ("suites", "mutants") for protocol in protocols()} <= set(names)


def test_every_selftest_belongs_to_one_step() -> None:
    """A folder that no step names would be tested by nobody."""
    folders = [word for step in gate.steps(1) for word in step.command if word.startswith("selftests/")]
    assert len(folders) == len(set(folders))
    tests = {path.relative_to(ROOT) for path in (ROOT / "selftests").rglob("test_*.py")}
    assert {path for path in tests if path.parent.as_posix() not in folders} == set()


def test_tox_has_an_environment_for_every_kind_of_step() -> None:
    """The images are made by who needs them."""
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    environments = {name.strip() for name in tox["tox"]["envlist"].split(",")} - {"py311"}
    told = {word for word in tox["testenv:lint"]["commands"].split() if word not in ("--only", "python", "-m")}
    kinds = {step.name.split("-")[0] for step in gate.steps(1)} - {"images"}
    assert kinds == environments | (told & kinds)
    assert environments <= kinds


def test_all_steps_run_also_after_one_failed(table, capsys: pytest.CaptureFixture[str]) -> None:
    """What each printed stands together, on whichever stream; those that failed are named."""
    table(step("a", 3, "one"), step("b", 0, "two"), step("c", 1, "three"))
    assert gate.gate() == 1
    said = capsys.readouterr().out
    assert "one\neno\n== a: FAILED (3) in" in said
    assert "two\nowt\n== b: ok in" in said
    *_, named, counted = said.splitlines()
    assert sorted(named.removeprefix("failed: ").split(", ")) == ["a", "c"]
    assert counted == "1 passed, 2 failed"


def test_a_step_can_be_asked_for_by_name_or_kind(table, capfd: pytest.CaptureFixture[str]) -> None:
    table(step("lint"), step("suites-x"), step("suites-y"))
    assert gate.gate(["suites"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "2 passed, 0 failed"
    assert gate.gate(["suites-y"]) == 0
    assert "== suites-y: ok" in capfd.readouterr().out
    with pytest.raises(UsageError, match="there is no step nosuch: use lint, suites-x, suites-y"):
        gate.gate(["nosuch"])


def test_one_step_alone_may_use_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several share them, so each has one process."""
    asked: list[int] = []
    monkeypatch.setattr(gate, "steps", lambda workers: asked.append(workers) or [step("a"), step("b")])
    gate.gate(["a"])
    gate.gate()
    assert asked[1::2] == [gate.CORES, 1]


def test_what_one_process_has_compiled_the_others_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine says about it: the steps start a thousand interpreters. And no set has an order of its own."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    shown = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.dont_write_bytecode, hash('touchstone'))"],
        env=gate.environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    again = subprocess.run(
        [sys.executable, "-c", "print(hash('touchstone'))"], env=gate.environment(), capture_output=True, text=True
    )
    assert shown == ["False", again.stdout.strip()]
