"""The kernel every protocol shares: one machine, two readers.

A protocol's rules are a pure `Machine`. A `Player` pays what the machine says its role owes, which makes a server or a
client; an `Oracle` watches a target in that role pay, which makes a judge. Nothing here opens a socket, reads a clock or
draws a random number.
"""

from reference_impl.core.expectation import (
    Channel,
    Expectation,
    Level,
    any_order,
    anything,
    derived,
    fresh,
    one_of,
    text,
)
from reference_impl.core.machine import CLOCK, Machine, Row, Step, Tick
from reference_impl.core.oracle import NotAllowed, Oracle, Overdue
from reference_impl.core.player import Player, Turn

__all__ = [
    "CLOCK",
    "Channel",
    "Expectation",
    "Level",
    "Machine",
    "NotAllowed",
    "Oracle",
    "Overdue",
    "Player",
    "Row",
    "Step",
    "Tick",
    "Turn",
    "any_order",
    "anything",
    "derived",
    "fresh",
    "one_of",
    "text",
]
