"""What a transport owes whoever uses it. Each raises the same two errors: nobody is there, and nobody is there any more."""

from __future__ import annotations

from typing import Protocol, TypeVar

ENDED, LOST = 0, 1006
"""Codes where the transport has none of its own: a byte stream that was closed, and anything that was cut off."""

M_in = TypeVar("M_in", covariant=True)
M_out = TypeVar("M_out", contravariant=True)


class NoConnection(ConnectionError):
    """A dial that came to nothing: refused, not answered in time, or not in the transport's language."""


class HungUp(ConnectionError):
    """The other side is gone. `code` is the transport's own (a WebSocket close code), or ENDED or LOST."""

    def __init__(self, code: int = LOST, reason: str = "") -> None:
        super().__init__(f"hung up with {code} {reason}".rstrip())
        self.code, self.reason = code, reason


class TooMuch(HungUp):
    """The other side went on beyond a bound of ours, and we hung up; `reason` says which."""


class NoAnswer(NoConnection):
    """A dial on which nobody said anything in time."""


class Carrier(Protocol[M_in, M_out]):
    """Carries messages, or pieces of a byte stream, in order."""

    async def send(self, message: M_out, /) -> None:
        """Raises HungUp where the other side is gone."""

    async def receive(self) -> M_in:
        """What comes next; raises HungUp, now and ever after, once nothing will."""

    async def close(self, code: int = 1000) -> None:
        """Say goodbye in the transport's own way, and wait for it to be over."""

    def cut(self) -> None:
        """End without a word, as a power cut would."""
