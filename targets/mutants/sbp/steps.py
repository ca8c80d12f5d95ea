"""Steps of a peer with debts added or forgotten."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Expectation
from reference_impl.sbp.frames import Frame, Hangup
from reference_impl.sbp.peer import WIRE, PeerStep, State


def without(step: PeerStep, *kinds: type) -> PeerStep:
    """The step with some of its debts forgotten."""
    return replace(step, owes=tuple(debt for debt in step.owes if not isinstance(debt.template, kinds)))


def also(step: PeerStep, *frames: Frame) -> PeerStep:
    return replace(step, owes=(*step.owes, *(Expectation("", frame, WIRE) for frame in frames)))


def still_open(step: PeerStep, state: State) -> PeerStep:
    return replace(without(step, Hangup), state=state, lapses=frozenset())
