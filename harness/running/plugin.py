"""The pytest plugin: turns items of the suites into judged cases. Inert for every other test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import aclosing
from typing import Any

import hypothesis.core
import msgspec
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import engine

from harness.catalogue.cases import CaseInfo, case_of, check_of, selected
from harness.catalogue.protocols import chosen
from harness.catalogue.vectors import VectorFile
from harness.errors import TargetUnsupported, Unavailable, UsageError
from harness.judging.result import BAD, TRIES, CaseResult, decode, encode, now
from harness.judging.trial import MOST_OBSERVED, Each, Trial, crowding
from harness.judging.verdict import judge_each, result_of
from harness.mutation.mutant import Mutant
from harness.places import CACHE
from harness.running.recorder import Recorder
from harness.targets import Target, resolve
from harness.touring.tours import Tours

SHRINK_S = 10
"""A smaller example is worth this long to someone who waits for a verdict; Hypothesis would take five minutes."""

VECTOR = "vector"
RESULT = "touchstone-result"
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
    group.addoption(
        "--one-each", action="store_true", help="of every check only the first case, with all its vectors or a few runs"
    )
    group.addoption("--fair", action="store_true", help="of tours, the walks among ends that conform")
    group.addoption("--mutants", default="", metavar="PROTOCOL", help="run against the protocol's mutants instead")
    group.addoption("--mutant", action="append", default=[], help="only these mutants, with every selected case")
    group.addoption("--other-mutants", action="store_true", help="the mutants that break none of a case's clauses")


class Hooks:
    """What a run over something other than one target adds."""

    @pytest.hookspec(firstresult=True)
    def pytest_touchstone_enough(self, item: pytest.Item, results: list[CaseResult]) -> bool | None:
        """Is there nothing more to learn from this item's vectors?"""

    @pytest.hookspec
    def pytest_touchstone_judged(self, item: pytest.Item, results: list[CaseResult]) -> None:
        """An item has its results."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clauses(*ids): the requirement ids that a case checks")
    config.addinivalue_line("markers", "race(tries): depends on who is first; a replay may need so many tries")
    config.addinivalue_line("markers", "needs(*capabilities): what the target must declare for a case to say something")
    config.addinivalue_line("markers", "together(name): of several processes one runs all that have this name")
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
    set_hypothesis_home_dir(CACHE / "hypothesis")  # and not a folder in the one where somebody works
    engine.MAX_SHRINKING_SECONDS = SHRINK_S
    hypothesis.core.global_force_seed = config.getoption("--seed")
    config.pluginmanager.register(Judge(config), "touchstone-judge")
    if config.getoption("--mutants"):
        from harness.mutation.plugin import Hunt  # which imports this module

        config.pluginmanager.register(Hunt(config), "touchstone-hunt")


def parsed_options(texts: Iterable[str]) -> dict[str, Any]:
    """KEY=VALUE texts as a configuration; a value with commas is a list."""
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option {text} has no value: write KEY=VALUE")
        options[key] = value.split(",") if "," in value else value
    return options


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """The implementation under test."""
    made = target_of(request.config, getattr(request, "param", None))
    yield made
    await made.close()


def target_of(config: pytest.Config, mutant: Mutant | None = None) -> Target:
    if mutant:
        return mutant.target()
    for plugin in config.pluginmanager.get_plugins():
        if isinstance(made := getattr(plugin, "soaked", None), Target):
            return made
    options = parsed_options(config.getoption("--option"))
    return resolve(config.getoption("--target"), options, chosen(config.getoption("--select")))


@pytest.fixture
def trial(request: pytest.FixtureRequest, target: Target) -> Trial:
    """What the running case writes down."""
    config = request.config
    made = Trial(
        request.node.stash[CASE],
        target,
        seed=config.getoption("--seed"),
        slow=config.getoption("--slow"),
        one_each=config.getoption("--one-each"),
        patience_s=config.getoption("--patience") * crowding(),
    )
    if mark := request.node.get_closest_marker("race"):
        made.measures[TRIES] = mark.args[0]
    request.node.stash[TRIAL] = made
    return made


@pytest.fixture
def each(request: pytest.FixtureRequest, trial: Trial) -> Each:
    """Judge many small cases in one item: `await each(things, judge)`.

    A thing has a `name` and `clauses`; it becomes the case `...[vector=<name>]`, or that of another axis, with a verdict of
    its own. Of a file of
    vectors those are tried that say something about what the target declares, or about what is `declared` for it.
    """
    patterns = request.config.getoption("--select")
    results = request.node.stash.setdefault(RESULTS, [])
    hook = request.config.hook

    async def run(
        things: Iterable[Any] | VectorFile | Tours[Any],
        try_one: Callable[[Any], Awaitable[None]],
        declared: Iterable[str] | None = None,
        axis: str = VECTOR,
    ) -> None:
        if isinstance(things, VectorFile):
            things = things.within(await trial.capabilities() if declared is None else declared)
        if isinstance(things, Tours):
            things = things.fair_walks if request.config.getoption("--fair") else things.walks
        whole = selected(patterns, trial.case.id)
        if axis != VECTOR and request.config.getoption("--one-each"):
            things = list(things)[:1]  # a walk is a case like any other, and long
        judged = judge_each(trial, things, try_one, lambda case: whole or selected(patterns, case), axis)
        async with aclosing(judged):
            async for result in judged:
                results.append(result)
                if hook.pytest_touchstone_enough(item=request.node, results=results):
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
        self.worker = ""  # of several processes, which one this is

    # -- selection ------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        begun: set[str] = set()  # checks that have a case
        for item in items:
            if (case := case_of(item)) is None:
                kept.append(item)
                continue
            item.stash[CASE] = case
            if self.wanted(item, case) and not (config.getoption("--one-each") and check_of(case.id) in begun):
                begun.add(check_of(case.id))
                kept.append(item)
            else:
                left.append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=left)

    def wanted(self, item: pytest.Item, case: CaseInfo) -> bool:
        patterns, roles = self.config.getoption("--select"), self.config.getoption("--role")
        if roles and f"{case.protocol}/{case.role}" not in roles:
            return False
        if item.get_closest_marker("slow") and not self.config.getoption("--slow"):
            return False
        inner = "each" in getattr(item, "fixturenames", ())
        return selected(patterns, case.id) or (inner and any(p.startswith(f"{case.id}[") for p in patterns))

    # -- judging --------------------------------------------------------------------------------------------------

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
            self._hand_over(report, results)
            self.config.hook.pytest_touchstone_judged(item=item, results=results)
            item.stash[RESULTS] = []  # an item lives as long as the run, what it has found need not
            if TRIAL in item.stash:
                del item.stash[TRIAL]

    def _bare_trial(self, item: pytest.Item, case: CaseInfo) -> Trial:
        """For a case whose set-up failed before its trial was made."""
        callspec = getattr(item, "callspec", None)
        return Trial(case, target_of(self.config, callspec.params.get("target") if callspec else None))

    def _colour(self, report: pytest.TestReport, results: list[CaseResult]) -> None:
        """pytest's own outcome follows the verdict: only what surprises is red."""
        if any(result.surprising for result in results):
            worst = next(r for r in results if r.surprising)
            report.outcome = "failed"
            told_elsewhere = self.recorder is not None or bool(
                self.worker
            )  # pytest would keep every traceback to its end
            if worst.failure and (report.longrepr is None or told_elsewhere):
                report.longrepr = f"{worst.case}: {worst.verdict}: {worst.failure.message[:MOST_OBSERVED]}"
        elif report.outcome == "failed" and report.when == "setup":
            report.outcome, report.longrepr = "skipped", (str(report.fspath), 0, results[-1].note)
        elif report.outcome == "failed":
            report.outcome, report.longrepr = "passed", None

    # -- recording, in the controlling process --------------------------------------------------------------------

    def _hand_over(self, report: pytest.TestReport, results: list[CaseResult]) -> None:
        """To the recorder, or with the report to the process that has it."""
        if self.recorder is None:
            named = (msgspec.structs.replace(result, worker=self.worker) for result in results)
            report.user_properties += [(RESULT, encode(result).decode()) for result in named]
        else:
            for result in results:
                self._record(self.recorder, result)

    def died(self, item: pytest.Item, code: int | None) -> None:
        """The process that ran an item ended in the middle of it."""
        if self.recorder:
            how = f"signal {-code}" if code and code < 0 else f"exit code {code}"
            why = Unavailable(f"the process that ran this case ended with {how}, and what runs inside it may be why")
            self._record(self.recorder, result_of(self._bare_trial(item, item.stash[CASE]), why, now(), 0.0))

    def _record(self, recorder: Recorder, result: CaseResult) -> None:
        try:
            recorder.result(result)
        except Unavailable as trouble:  # nothing more can be kept: nothing more is tried
            pytest.exit(str(trouble))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.recorder is None or report.when != "teardown":
            return
        for key, value in report.user_properties:
            if key == RESULT and isinstance(result := decode(str(value)), CaseResult):
                self._record(self.recorder, result)
        report.user_properties.clear()  # pytest keeps every report to its end
