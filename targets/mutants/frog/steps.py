"""Steps with debts added, changed or forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from reference_impl.core import Channel, Expectation, Step

S = TypeVar("S")


def without(step: Step[S], *kinds: type) -> Step[S]:
    return replace(step, owes=tuple(debt for debt in step.owes if not isinstance(debt.template, kinds)))


def also(step: Step[S], channel: Channel, *frames: object) -> Step[S]:
    return replace(step, owes=(*step.owes, *(Expectation("", frame, channel) for frame in frames)))


def changed(step: Step[S], kind: type, change: Callable[[Any], Any]) -> Step[S]:
    """With each template of that kind replaced."""
    owes = (
        replace(debt, template=change(debt.template)) if isinstance(debt.template, kind) else debt for debt in step.owes
    )
    return replace(step, owes=tuple(owes))
