"""A soak says what grows, and says nothing of what goes up and down."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.running.soak import MEMORY, Sample, Soaked, grown, soak
from harness.targets.outside import Usage, usage

MB = 1 << 20
dice = random.Random(17)

GROWS: dict[str, tuple[Callable[[int], int], bool]] = {
    "a leak": (lambda n: 50 * MB + n * MB // 10, True),
    "a leak under noise": (lambda n: 50 * MB + n * MB // 5 + dice.randrange(2 * MB), True),
    "noise": (lambda n: 50 * MB + dice.randrange(20 * MB), False),
    "a cache that fills": (lambda n: 50 * MB + min(n, 15) * MB, False),
    "less than counts": (lambda n: 50 * MB + n * 1_000, False),
    "a saw": (lambda n: 50 * MB + (n % 10) * 3 * MB, False),
}


@pytest.mark.parametrize("name", GROWS)
def test_only_what_stays_is_growth(name: str) -> None:
    draw, is_growth = GROWS[name]
    assert bool(grown([draw(n) for n in range(100)], MEMORY)) is is_growth


def test_it_says_where() -> None:
    """The role under whose tours it came, for memory and descriptors apart."""
    samples, memory, descriptors = [], 0, 10
    for n in range(60):
        role = ("a/server", "a/client")[n % 2]
        memory += 2 * MB * (role == "a/server")
        descriptors += role == "a/client"
        samples.append(Sample(role, Usage(memory, descriptors)))
    first, second = Soaked(1, {"pass": 60}, [], samples).growth()
    assert first.startswith("memory grows: ")
    assert first.endswith("a/server")
    assert second.startswith("file descriptors grow: ")
    assert second.endswith("a/client")


def test_a_leak_is_found() -> None:
    """A shim that keeps a mebibyte and a descriptor of each instance; what it says is right in every walk."""
    leaks = Path(__file__).parents[1] / "fakes" / "leaks.py"
    seen = soak("peerbus", f"cmd:{sys.executable} {leaks}", 0.5, seed=1)
    assert seen.tally.keys() == {"pass"}
    assert [sentence.partition(":")[0] for sentence in seen.growth()] == ["memory grows", "file descriptors grow"]


def test_however_little_time_there_is_something_is_tried() -> None:
    """The walks of the first instance; to collect them may take longer than the time that is given."""
    assert soak("sbp", "reference-process", 0.0, seed=1).tally.keys() == {"pass"}


def test_a_process_is_seen_from_outside() -> None:
    """Of nobody it is nothing."""
    import os

    seen = usage([os.getpid()])
    assert seen.memory > MB
    assert seen.descriptors >= 3
    assert usage([2**22 + 1]) == Usage(0, 0)
