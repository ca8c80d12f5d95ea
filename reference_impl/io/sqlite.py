"""A durable half in SQLite: written ahead, synced before anything is said of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class StoreFailed(RuntimeError):
    """It is not stored. Whoever waits for it may be told neither that it is nor that it never will be."""


class Store:
    """One file. `commit` returns when its effects would survive a power cut."""

    schema = ""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")  # WAL syncs on every commit only with FULL
        self._db.executescript(self.schema)

    def commit(self, effects: Sequence[Any]) -> None:
        """All of them or none."""
        if not effects:
            return
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                for effect in effects:
                    self.write(effect)
        except sqlite3.Error as error:
            raise StoreFailed(f"the store does not take it: {error}") from None

    def write(self, effect: Any) -> None:
        raise TypeError(f"{type(self).__name__} does not know {effect}")

    def break_down(self) -> None:
        """From now on nothing can be written, as on a full disk."""
        self._db.execute("PRAGMA query_only=ON")

    def close(self) -> None:
        self._db.close()
