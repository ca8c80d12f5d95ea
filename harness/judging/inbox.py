"""Where what a target says waits until somebody looks: a case that asks for the next thing, or a watch that takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """Things in the order in which they came. A fault that was found in one, or the target's death, waits in its place."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[T | Exception] = asyncio.Queue()
        self._take: Callable[[T | Exception], None] = self._waiting.put_nowait
        self._elsewhere: Callable[[], int] = lambda: 0

    def put(self, item: T | Exception) -> None:
        self._take(item)

    async def get(self) -> T | Exception:
        return await self._waiting.get()

    def __len__(self) -> int:
        """How many wait."""
        return self._waiting.qsize()

    @property
    def unread(self) -> int:
        """How many wait, here or where they were handed over to."""
        return len(self) + self._elsewhere()

    def drain(self) -> list[T | Exception]:
        """All that waits, taken out."""
        return [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]

    def put_back(self, items: Iterable[T | Exception]) -> None:
        """They were looked at too early: they come before what waits."""
        for item in (*items, *self.drain()):
            self.put(item)

    def hand_over(self, take: Callable[[T | Exception], None], unread: Callable[[], int] = lambda: 0) -> None:
        """From now on `take` gets what comes, and first of all what waits; `unread` says how much of it waits there."""
        self._take, self._elsewhere = take, unread
        for item in self.drain():
            take(item)

    def shut(self) -> None:
        """Nobody looks any more: what waits, and what still comes, is of no interest."""
        self.hand_over(lambda item: None)
