"""Names that nobody else uses."""

from __future__ import annotations

import itertools
import os
import secrets

_run = secrets.token_hex(3)
_serial = itertools.count(1)


def _renew() -> None:
    global _run
    _run = secrets.token_hex(3)


os.register_at_fork(after_in_child=_renew)  # the processes of a run may meet on one wire


def unique(prefix: str = "s") -> str:
    """A name, id or key that no other case, and no other run, uses. It keeps to letters, digits and `-` behind its prefix."""
    return f"{prefix}-{_run}-{next(_serial)}"


def is_ours(name: str, prefix: str) -> bool:
    """Was it made here, by `unique` with this prefix?"""
    return name.startswith(f"{prefix}-{_run}-")
