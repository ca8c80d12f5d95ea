"""Start fakes from the shelf, and look for what is left of them."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.targets.process import ProcessSession

SHELF = Path(__file__).parent


@pytest.fixture
def mark() -> str:
    """An argument by which the processes of one test are known."""
    return f"fake-{uuid.uuid4().hex}"


@pytest.fixture
def fake(mark: str) -> Callable[[str], ProcessSession]:
    """A session with a shim from the shelf, not yet opened."""
    return lambda name: ProcessSession([sys.executable, str(SHELF / f"{name}.py"), mark])


@pytest.fixture
def left(mark: str) -> Callable[[], list[str]]:
    """The living processes of this test. A zombie has no command line any more, and does not count."""

    def find() -> list[str]:
        """Asked again for a while: SIGKILL is sure but not instant, and nobody tells when a grandchild is gone."""
        until = time.monotonic() + 5
        while (found := look()) and time.monotonic() < until:
            time.sleep(0.01)
        return found

    def look() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has just ended
                continue
            if mark in words:
                found.append(" ".join(words))
        return found

    return find
