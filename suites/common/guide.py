"""What the guides of all roles have in common: a walk goes on by what the target has said."""

from __future__ import annotations

from typing import Any, TypeVar

from harness.judging.watch import Watch
from reference_impl.core import Channel

S = TypeVar("S")


class Guiding(Watch[S]):
    """A watch that keeps what it has judged until the walk takes it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._kept: list[tuple[Channel, Any]] = []

    def _judge(self, channel: Channel, frame: Any) -> None:
        super()._judge(channel, frame)
        self._kept.append(self._as_walked(channel, frame))

    def _as_walked(self, channel: Channel, frame: Any) -> tuple[Channel, Any]:
        """As the world of the walk knows it, where the suite's own end says it otherwise."""
        return channel, frame

    def _taken(self) -> list[tuple[Channel, Any]]:
        kept, self._kept = self._kept, []
        return kept
