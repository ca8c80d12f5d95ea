"""Stored failures again: which ones are meant, and what has become of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from harness.catalogue.cases import check_of
from harness.errors import UsageError
from harness.judging.capsule import CAPSULES, Capsule, load, path_of
from harness.judging.result import BAD, TRIES, CaseResult, Verdict
from harness.running.check import check_target
from harness.running.plan import Plan
from harness.running.recorder import Subscriber
from harness.running.stream import newest_check

say = Console(highlight=False, soft_wrap=True).print
FIXED, FAILED, ERROR = 0, 1, 2
"""What has become of a failure, as an exit code."""


def meant(what: Sequence[str], last_failed: bool, runs: Path) -> list[Path]:
    """The capsules of files, of case ids (the newest of each in these runs), or of all that failed in the last check."""
    if last_failed == bool(what):
        raise UsageError("say which failure: a capsule, a case id or --last-failed")
    if last_failed:
        checked = newest_check(runs)
        assert checked.folder, "it was read from one"
        failed = [result for result in checked.cases if result.verdict in BAD and result.surprising]
        return [path_of(checked.folder, result) for result in failed]
    return [path for word in what for path in ([Path(word)] if _is_file(word) else _of_case(word, runs))]


def _is_file(word: str) -> bool:
    return Path(word).is_file() or word.endswith(".json")


def _of_case(id: str, runs: Path) -> list[Path]:
    """Of the newest run that has it; a check without its axes means each of its cases."""
    for folder in sorted(runs.glob(f"*/{CAPSULES}"), reverse=True):
        if found := [
            path for path in sorted(folder.iterdir()) if id in (case := load(path).result.case, check_of(case))
        ]:
            return found
    raise UsageError(f"no run in {runs} has a failure of {id}: name a capsule, or `touchstone check` it")


def replay(paths: Sequence[Path], subscribers: Sequence[Subscriber]) -> int:
    """Each case as it was run then; those that ran alike in one run. The exit code is the worst of them."""
    capsules = [(path, load(path)) for path in paths]
    if not capsules:
        say("nothing failed in the last check")
        return FIXED
    pairs = [capsule for _, capsule in capsules if capsule.peer]
    worst = max((FIXED, *map(_pair_again, pairs)))
    capsules = [(path, capsule) for path, capsule in capsules if not capsule.peer]
    for _, alike in groupby(sorted(capsules, key=lambda pair: _settings(pair[1])), lambda pair: _settings(pair[1])):
        together = list(alike)
        folder = together[0][0].resolve().parents[1] / "replays"
        worst = max(worst, *(_again([capsule for _, capsule in together], folder, subscribers)))
    return worst


def _pair_again(capsule: Capsule) -> int:
    from harness.matrix.replay import replay_pair  # the matrix stands on what stands here

    return replay_pair(capsule)


def _settings(capsule: Capsule) -> str:
    """What must be alike to share a run; a race is tried by itself, and often."""
    tries = capsule.result.measures.get(TRIES, 1)
    alone = capsule.result.case if tries > 1 else ""
    said = (capsule.target, capsule.options, capsule.seed, capsule.slow, capsule.patience, alone)
    return msgspec.json.encode(said, order="deterministic").decode()


def _again(capsules: Sequence[Capsule], folder: Path, subscribers: Sequence[Subscriber]) -> Iterator[int]:
    first = capsules[0]
    if not first.target:
        raise UsageError(f"the capsule of {first.result.case} names no target: run `touchstone check` again")
    plan = Plan(
        target=first.target,
        select=[capsule.result.case for capsule in capsules],
        options=[f"{key}={','.join(v) if isinstance(v, list) else v}" for key, v in first.options.items()],
        seed=first.seed,
        slow=first.slow,
        patience=first.patience,
    )
    tries = int(first.result.measures.get(TRIES, 1))
    for left in reversed(range(tries)):
        results = {result.case: result for result in check_target(plan, folder, subscribers).results}
        judged = [_told(capsule, results.get(capsule.result.case), tries, last=not left) for capsule in capsules]
        if left == 0 or judged != [None]:
            yield from (code for code in judged if code is not None)
            return


def _told(capsule: Capsule, again: CaseResult | None, tries: int, last: bool) -> int | None:
    """One line on what became of a failure; None for a race that is worth another try."""
    was, case = capsule.result, escape(capsule.result.case)
    if again is None or again.verdict is Verdict.UNSUPPORTED:
        why = again.note if again else "it is no case any more"
        print(f"ERROR: {was.case} cannot be judged any more: {why}", file=sys.stderr)
        return ERROR
    if again.verdict is Verdict.ERROR:
        print(f"ERROR: {was.case}: {again.failure.message if again.failure else again.note}", file=sys.stderr)
        return ERROR
    if again.verdict in BAD or again.verdict == was.verdict:
        say(f"[bold red]FAILED[/]: {case} ({again.verdict} again)")
        return FAILED
    if not last:
        return None
    if tries > 1:
        say(f"[bold yellow]not seen in {tries} tries[/]: {case} is a race, and was {was.verdict}")
    else:
        say(f"[bold green]FIXED[/]: {case} (was {was.verdict}, is {again.verdict})")
    return FIXED
