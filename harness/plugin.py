"""The pytest plugin: turns items of the suites into judged cases. Inert for every other test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing
from typing import Any

import hypothesis.core
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import engine

from harness.cases import CaseInfo, case_of, check_of, selected
from harness.errors import TargetUnsupported
from harness.judging import judge_each, result_of
from harness.mutants import Mutant, mutants_of
from harness.record import Recorder
from harness.results import BAD, CaseResult, Verdict, decode, encode
from harness.stream import now
from harness.targets import Target, resolve
from harness.trial import Trial, crowding

SHRINK_S = 10
"""A smaller example is worth this long to someone who waits for a verdict; Hypothesis would take five minutes."""

RESULT = "touchstone-result"
KILLS = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.TIMEOUT, Verdict.CRASHED})
CASE = pytest.StashKey[CaseInfo]()
TRIAL = pytest.StashKey[Trial]()
RESULTS = pytest.StashKey[list[CaseResult]]()
EMPTY = pytest.StashKey[bool]()  # none of its vectors was selected: nothing was tried, and nothing passed


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone")
    group.addoption(
        "--target", default="reference", help="what to test: a bundled name, a target.toml, python:, cmd:, URL"
    )
    group.addoption(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="configuration of a remote target"
    )
    group.addoption(
        "--select", action="append", default=[], help="case ids to run: a prefix or a glob; may be repeated"
    )
    group.addoption("--role", action="append", default=[], help="roles that the target offers; others are left out")
    group.addoption("--seed", type=int, default=0, help="seed of everything random in the cases")
    group.addoption(
        "--patience", type=float, default=5.0, help="seconds that what must come may take; more on a busy machine"
    )
    group.addoption("--slow", action="store_true", help="run timers in real time and more examples")
    group.addoption("--mutants", default="", metavar="PROTOCOL", help="run against the protocol's mutants instead")
    group.addoption("--mutant", action="append", default=[], help="only these mutants, with every selected case")
    group.addoption(
        "--teeth", action="store_true", help="be done with a check that failed, not with a mutant it caught"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clauses(*ids): the requirement ids that a case checks")
    config.addinivalue_line("markers", "slow: takes real time; runs under --slow only")
    examples = 200 if config.getoption("--slow") else 20
    phases = [Phase.explicit, Phase.generate, Phase.target]
    if not config.getoption("--mutants"):  # nobody reads the example that kills a mutant
        phases.append(Phase.shrink)
    settings.register_profile(
        "touchstone",
        max_examples=examples,
        deadline=None,  # a slow machine is not a broken target
        database=None,  # a verdict must not depend on what an earlier run left behind
        report_multiple_bugs=False,
        print_blob=False,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("touchstone")
    engine.MAX_SHRINKING_SECONDS = SHRINK_S
    hypothesis.core.global_force_seed = config.getoption("--seed")
    config.pluginmanager.register(Judge(config), "touchstone-judge")


def parsed_options(texts: Iterable[str]) -> dict[str, Any]:
    """KEY=VALUE texts as a configuration; a value with commas is a list."""
    pairs = (text.partition("=") for text in texts)
    return {key: value.split(",") if "," in value else value for key, _, value in pairs}


def options_of(config: pytest.Config) -> dict[str, Any]:
    return parsed_options(config.getoption("--option"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """The implementation under test."""
    chosen = getattr(request, "param", None)
    made = (
        chosen.target()
        if isinstance(chosen, Mutant)
        else resolve(request.config.getoption("--target"), options_of(request.config))
    )
    yield made
    await made.close()


@pytest.fixture
def trial(request: pytest.FixtureRequest, target: Target) -> Trial:
    """What the running case writes down."""
    config = request.config
    made = Trial(
        request.node.stash[CASE],
        target,
        seed=config.getoption("--seed"),
        slow=config.getoption("--slow"),
        patience_s=config.getoption("--patience") * crowding(),
    )
    request.node.stash[TRIAL] = made
    return made


@pytest.fixture
def each(request: pytest.FixtureRequest, trial: Trial) -> Callable[..., Awaitable[None]]:
    """Judge many small cases in one item, e.g. vectors: `await each(things, judge)`.

    A thing has a `name` and `clauses`; it becomes the case `...[vector=<name>]` with a verdict of its own.
    """
    patterns = request.config.getoption("--select")
    results = request.node.stash.setdefault(RESULTS, [])
    judge: Judge = request.config.pluginmanager.getplugin("touchstone-judge")

    async def run(things: Iterable[Any], try_one: Callable[[Any], Awaitable[None]]) -> None:
        whole = selected(patterns, trial.case.id)
        judged = judge_each(trial, things, try_one, lambda case: whole or selected(patterns, case))
        async with aclosing(judged):
            async for result in judged:
                results.append(result)
                if judge.knows_enough(request.node, results):
                    break
        if not results and whole:
            raise TargetUnsupported("none of its vectors is for what this target declares")
        request.node.stash[EMPTY] = not results

    return run


def add(results: list[CaseResult], result: CaseResult) -> None:
    """A case has one verdict: what goes wrong while it is tidied up counts unless something went wrong before."""
    at = next((n for n, earlier in enumerate(results) if earlier.case == result.case), None)
    if at is None:
        results.append(result)
    elif results[at].verdict not in BAD:
        results[at] = result


class Judge:
    """Selects cases, judges each item and, in the controlling process, hands results to the recorder."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.recorder: Recorder | None = None
        self.bitten: dict[str, set[str]] = {}  # by lot: the clauses of the cases that failed
        self._mutants = mutants_of(config.getoption("--mutants")) if config.getoption("--mutants") else {}

    # -- selection ------------------------------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if not self._mutants or "target" not in metafunc.fixturenames:
            return
        wanted = self.config.getoption("--mutant")
        claims = {c for mark in metafunc.definition.iter_markers("clauses") for c in mark.args}
        chosen = [
            mutant
            for mutant in self._mutants.values()
            if (mutant.name in wanted if wanted else claims.intersection(mutant.clauses))
        ]
        metafunc.parametrize("target", chosen, ids=[m.name for m in chosen], indirect=True, scope="session")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            if (case := case_of(item)) is None:
                kept.append(item)
                continue
            item.stash[CASE] = case
            if self._mutants:
                item.add_marker(pytest.mark.xdist_group(self.lot_of(item)))
            (kept if self.wanted(item, case) else left).append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=left)

    def wanted(self, item: pytest.Item, case: CaseInfo) -> bool:
        patterns, roles = self.config.getoption("--select"), self.config.getoption("--role")
        if roles and f"{case.protocol}/{case.role}" not in roles:
            return False
        if item.get_closest_marker("slow") and not self.config.getoption("--slow"):
            return False
        if self._mutants and ((mutant := self.mutant_of(item)) is None or mutant.role != case.role):
            return False
        inner = "each" in getattr(item, "fixturenames", ())
        return selected(patterns, case.id) or (inner and any(p.startswith(f"{case.id}[") for p in patterns))

    def mutant_of(self, item: pytest.Item) -> Mutant | None:
        callspec = getattr(item, "callspec", None)
        chosen = callspec.params.get("target") if callspec else None
        return chosen if isinstance(chosen, Mutant) else None

    def teaches(self, item: pytest.Item) -> bool:
        """Is there something to learn from this item that its lot has not shown yet?"""
        mutant, case, bitten = self.mutant_of(item), item.stash.get(CASE, None), self.bitten.get(self.lot_of(item))
        if mutant is None or case is None or bitten is None:
            return True
        return not self.stops_at_first and bool(set(mutant.clauses) & set(case.requirements) - bitten)

    def knows_enough(self, item: pytest.Item, results: list[CaseResult]) -> bool:
        """Have the vectors so far caught the item's mutant for every clause that the item claims?"""
        mutant = self.mutant_of(item)
        if mutant is None:
            return False
        killers = [result for result in results if self.kills(mutant, result)]
        if not killers or self.stops_at_first:
            return bool(killers)
        bitten = {clause for result in killers for clause in result.requirements}
        return not set(mutant.clauses) & set(item.stash[CASE].requirements) - bitten

    @property
    def stops_at_first(self) -> bool:
        """One kill is enough of a check that is asked for its teeth, and of mutants that are tried by name."""
        return bool(self.config.getoption("--teeth") or self.config.getoption("--mutant"))

    def lot_of(self, item: pytest.Item) -> str:
        """Items that are tried until enough is known; they run in one process, one after the other."""
        mutant, case = self.mutant_of(item), item.stash.get(CASE, None)
        if mutant is None or case is None:
            return ""
        return check_of(case.id) if self.config.getoption("--teeth") else mutant.name

    # -- judging --------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """What cannot teach more is skipped: clauses that a mutant was caught for, or a check that was seen failing."""
        if not self._mutants or self.teaches(item):
            return None
        item.session._setupstate.teardown_exact(nextitem)  # what the item before left standing for this one
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        outcome = yield
        case = item.stash.get(CASE, None)
        if case is None:
            return
        report: pytest.TestReport = outcome.get_result()
        results = item.stash.setdefault(RESULTS, [])
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call" or error is not None:
            nothing_tried = item.stash.get(EMPTY, False)
            if error is not None or not (results or nothing_tried):
                trial = item.stash.get(TRIAL, None) or self._bare_trial(item, case)
                add(results, result_of(trial, error, now(), call.duration))
            self._colour(report, results)
        if call.when == "teardown":
            report.user_properties += [(RESULT, encode(result).decode()) for result in results]
            for killer in (r for r in results if (mutant := self.mutant_of(item)) and self.kills(mutant, r)):
                self.bitten.setdefault(self.lot_of(item), set()).update(killer.requirements)

    def kills(self, mutant: Mutant, result: CaseResult) -> bool:
        """A kill counts when the case claims the broken clause; for mutants that are tried by name, any kill does."""
        claimed = self.config.getoption("--mutant") or set(mutant.clauses) & set(result.requirements)
        return result.verdict in KILLS and bool(claimed)

    def _bare_trial(self, item: pytest.Item, case: CaseInfo) -> Trial:
        """For a case whose set-up failed before its trial was made."""
        mutant = self.mutant_of(item)
        target = mutant.target() if mutant else resolve(self.config.getoption("--target"), options_of(self.config))
        return Trial(case, target)

    def _colour(self, report: pytest.TestReport, results: list[CaseResult]) -> None:
        """pytest's own outcome follows the verdict: only what surprises is red."""
        if any(result.surprising for result in results):
            worst = next(r for r in results if r.surprising)
            report.outcome = "failed"
            if report.longrepr is None and worst.failure:
                report.longrepr = f"{worst.case}: {worst.verdict}: {worst.failure.message}"
        elif report.outcome == "failed" and report.when == "setup":
            report.outcome, report.longrepr = "skipped", (str(report.fspath), 0, results[-1].note)
        elif report.outcome == "failed":
            report.outcome, report.longrepr = "passed", None

    # -- recording, in the controlling process --------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.recorder is None or report.when != "teardown":
            return
        for key, value in report.user_properties:
            if key == RESULT and isinstance(result := decode(str(value)), CaseResult):
                self.recorder.result(result)
