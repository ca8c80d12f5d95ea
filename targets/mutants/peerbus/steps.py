"""Steps of a client with something added."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Expectation
from reference_impl.peerbus.client import ClientStep


def also(step: ClientStep, *expectations: Expectation) -> ClientStep:
    return replace(step, owes=(*step.owes, *expectations))
