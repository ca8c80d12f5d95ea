"""Steps with debts added or forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from reference_impl.core import Channel, Expectation, Step

S = TypeVar("S")


def without(step: Step[S], *kinds: type) -> Step[S]:
    """The step with some of its debts forgotten."""
    return replace(step, owes=tuple(debt for debt in step.owes if not isinstance(debt.template, kinds)))


def also(step: Step[S], channel: Channel, *frames: Any) -> Step[S]:
    """The step with something more to say."""
    return replace(step, owes=(*step.owes, *(Expectation("", frame, channel) for frame in frames)))


def twice(step: Step[S], *kinds: type) -> Step[S]:
    """The step with some of its debts paid two times."""
    return replace(step, owes=tuple(d for d in step.owes for _ in range(1 + isinstance(d.template, kinds))))
