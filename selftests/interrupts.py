"""Commands that a test interrupts, wherever it runs itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

HEARS_SIGINT = ("env", "--default-signal=INT")
"""Before a command: a runner in the background ignores SIGINT, and so would its children."""


@contextmanager
def interruptible(command: Sequence[str], **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that hears SIGINT; it is gone afterwards, also where the test has failed."""
    with subprocess.Popen([*HEARS_SIGINT, *command], text=True, **more) as running:
        try:
            yield running
        finally:
            running.kill()
