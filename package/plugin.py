"""The suites as tests of another project: `pytest --touchstone peerbus/broker --touchstone-target ./target.toml`.

The run itself is `touchstone check` in a process of its own: that project's settings, plugins and module names stay apart from
ours. Every check's case becomes a test of pytest, with the outcome that the JUnit report of that run gives it.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

WHOLE = 3
"""Of the vectors of one case that fail, so many are shown with their evidence."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone", "conformance of an implementation")
    group.addoption(
        "--touchstone",
        action="append",
        default=[],
        metavar="SELECT",
        help="protocol, protocol/role or a glob over cases",
    )
    group.addoption("--touchstone-target", default="reference", metavar="T", help="as --target of `touchstone check`")
    group.addoption(
        "--touchstone-option", action="append", default=[], metavar="KEY=VALUE", help="of a server that runs already"
    )
    group.addoption("--touchstone-sarif", metavar="FILE", help="write SARIF 2.1.0")
    group.addoption("--touchstone-runs", default="runs", metavar="FOLDER", help="where runs are kept")


@pytest.hookimpl(tryfirst=True)  # what others deselect, -k and -m among them, they deselect of ours too
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    if select := config.getoption("--touchstone"):
        suite = Suite.from_parent(session, name="touchstone", nodeid="touchstone")
        items += suite.cases(select)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    if isinstance(item, Case) and call.when == "call":
        outcome.get_result().duration = item.took


class Broken(Exception):
    """What the report says of a case that failed."""


class Suite(pytest.Collector):
    """All selected cases, and the one run that judges them."""

    found: dict[str, ET.Element] | None = None
    fault = ""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        return []

    def cases(self, select: Sequence[str]) -> list[pytest.Item]:
        listed = touchstone("cases", *select)
        if listed.returncode:
            raise pytest.UsageError(listed.stderr.strip())
        return [Case.from_parent(self, name=line.split("  ")[0]) for line in listed.stdout.splitlines()]

    def of(self, case: str) -> list[ET.Element]:
        """The report's entries of a case: one, or one for each of its vectors."""
        if self.found is None:
            self.found = self._judged()
        return [entry for id, entry in self.found.items() if id == case or id.startswith(f"{case}[")]

    def _judged(self) -> dict[str, ET.Element]:
        """Runs what is left after deselection; of several processes of pytest the first does, for all of them."""
        option = self.config.getoption
        runs = Path(self.config.invocation_params.dir, option("--touchstone-runs"))
        runs.mkdir(parents=True, exist_ok=True)
        report = runs / f"pytest-{os.environ.get('PYTEST_XDIST_TESTRUNUID') or uuid.uuid4().hex}.xml"
        with report.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not written(report):
                words = [item.name for item in self.session.items if isinstance(item, Case)]
                words += ["--target", option("--touchstone-target"), "--runs", str(runs), "--junit", str(report)]
                words += [f"--option={told}" for told in option("--touchstone-option")]
                words += ["--sarif", option("--touchstone-sarif")] if option("--touchstone-sarif") else []
                done = touchstone("check", *words)
                self.fault = "" if written(report) else done.stderr.strip() or done.stdout.strip()
        report.with_suffix(".lock").unlink(missing_ok=True)
        return {id_of(case): case for case in ET.parse(report).iter("testcase")} if written(report) else {}


class Case(pytest.Item):
    """One case of a suite."""

    took = 0.0

    def runtest(self) -> None:
        suite = self.parent
        assert isinstance(suite, Suite)
        entries = suite.of(self.name)
        if suite.fault:
            fault, suite.fault = suite.fault, "touchstone could not run, see its first test"
            (pytest.skip if fault.startswith("touchstone could") else pytest.fail)(fault)
        if not entries:
            pytest.skip("the target does not offer its role, or it is tried under --slow only")
        self.took = sum(float(entry.get("time", 0)) for entry in entries)
        if broken := [
            told(entry) for entry in entries if entry.find("failure") is not None or entry.find("error") is not None
        ]:
            more = f"\nand {len(broken) - WHOLE} more like this" if len(broken) > WHOLE else ""
            raise Broken("\n\n".join(broken[:WHOLE]) + more)
        skipped = [entry.find("skipped") for entry in entries]
        if all(why is not None for why in skipped):
            pytest.skip(skipped[0].get("message", "") if skipped[0] is not None else "")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Broken) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.config.rootpath, None, self.name


def written(report: Path) -> bool:
    return report.exists() and report.stat().st_size > 0


def id_of(entry: ET.Element) -> str:
    return f"{entry.get('classname', '').replace('.', '/')}/{entry.get('name')}"


def told(entry: ET.Element) -> str:
    """The failure in one line, then its evidence and the line that shows it again."""
    (how,) = (child for child in entry if child.tag in ("failure", "error"))
    return "\n".join(filter(None, (id_of(entry), how.get("message"), how.text)))


def touchstone(*words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, without what this pytest has told its children."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-P", "-m", "touchstone", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True)
