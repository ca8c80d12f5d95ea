"""What is said on a connection in a walk or a random run: a frame, or a text that is none or spells one in its own way."""

from __future__ import annotations

import enum
import functools
from typing import Any

from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Binary, Close, Frame, Opened
from suites.peerbus.envelopes import codec
from suites.peerbus.line import PeerbusLine

Said = Frame | Binary | str | Close | Opened


@functools.lru_cache(1024)
def understood(said: Any) -> Any:
    """A text as the other side reads it; whatever else is said means itself."""
    return codec.decode(said.encode()) if isinstance(said, str) else said


async def say(line: PeerbusLine, said: Said) -> None:
    """On the wire, as it is spelled."""
    match said:
        case Binary(data):
            await line.binary(data)
        case str():
            await line.text(said)
        case _:
            await line.text(codec.encode(said).decode())  # type: ignore[arg-type]  # connections are opened and closed elsewhere


def count(trial: Trial, phase: enum.Enum, event: object) -> None:
    """How often this was said in that phase, among the case's measures."""
    situation = f"{phase.value} {type(event).__name__}"
    trial.measures[situation] = trial.measures.get(situation, 0) + 1
