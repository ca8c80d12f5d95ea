"""The examples in other languages conform: no suite asks for what only the reference does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.judging.result import CaseResult, Verdict
from harness.targets.resolve import examples
from selftests.checks import FREE, checked
from selftests.examples.toolchains import toolchain

CHECK_S = 900


@pytest.mark.parametrize("example", examples(quick=True))
def test_an_example_conforms(example: str, tmp_path: Path) -> None:
    """Nothing fails in one case of every check, and nothing warns but another reading of what is contested.

    The folder's name begins with the protocol's. `nightly` has all cases, and the examples that take minutes to build.
    """
    toolchain(example)
    protocol = example.split("/")[1].split("-")[0]
    results = checked(example, [protocol], tmp_path / "runs", "--one-each", timeout_s=CHECK_S)
    assert [
        (result.case, result.note) for result in results if result.verdict not in FREE and not contested(result)
    ] == []
    counts = Counter(result.verdict for result in results)
    assert counts[Verdict.PASS] > 10 * counts[Verdict.UNSUPPORTED], counts


def contested(result: CaseResult) -> bool:
    return result.verdict is Verdict.WARN and result.note.startswith("contested")


def test_there_are_examples() -> None:
    """A moved folder would leave nothing to check, in silence."""
    assert "examples/sbp-node" in examples()
