"""The shortest history that still breaks the same invariant: less of everything, for as long as there is a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from harness.simulation.plan import Event, Outcome, Plan

MOST_TURNS = 400_000
"""Inputs that are read in all for it: a budget that is the same on every machine."""

T = TypeVar("T")


def shrink(plan: Plan, first: Outcome, run: Callable[[Plan], Outcome]) -> tuple[Plan, Outcome]:
    """The smallest plan found, and how it went."""
    assert first.breach, "nothing to be shrunk"
    best, shown, spent, again = plan, first, 0, True
    while again:
        again = False
        for smaller in candidates(best):
            if spent > MOST_TURNS:
                return best, shown
            outcome = run(smaller)
            spent += outcome.turns + 1
            if outcome.breach and outcome.breach.invariant == first.breach.invariant:
                best, shown, again = smaller, outcome, True
                break
    return best, shown


def candidates(plan: Plan) -> Iterator[Plan]:
    """The boldest first."""
    yield from (replace(plan, events=some) for some in fewer(plan.events))
    wanted = {number for event in plan.events for number in event.whom}
    idle = tuple(peer for peer in plan.peers if peer[0] not in wanted)
    if idle:
        yield replace(plan, peers=tuple(peer for peer in plan.peers if peer not in idle))
    yield from (replace(plan, peers=some) for some in fewer(plan.peers))
    yield from (without(plan, set(plan.servers) - set(some)) for some in fewer(plan.servers))
    yield from (replace(plan, links=some) for some in fewer(plan.links))
    if plan.loss:
        yield replace(plan, loss=0.0)
    if plan.jitter:
        yield replace(plan, jitter=0.0)
    earlier = tuple(Event(float(n), event.what, event.whom) for n, event in enumerate(plan.events))
    if any(one.at > two.at for one, two in zip(plan.events, earlier, strict=True)):
        yield replace(plan, events=earlier)


def fewer(things: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Without a half, without a quarter, and so on to without each one."""
    size = len(things) // 2
    while size:
        for start in range(0, len(things), size):
            yield things[:start] + things[start + size :]
        size //= 2
    if len(things) == 1:
        yield ()


def without(plan: Plan, gone: set[int]) -> Plan:
    """Their links and peers go with servers."""
    return replace(
        plan,
        servers=tuple(server for server in plan.servers if server not in gone),
        links=tuple(link for link in plan.links if not gone.intersection(link)),
        peers=tuple(peer for peer in plan.peers if peer[1] not in gone),
    )
