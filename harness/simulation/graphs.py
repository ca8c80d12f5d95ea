"""Who is joined to whom: the shapes of a mesh, each connected, drawn from a seed where there is something to draw."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from random import Random

Links = tuple[tuple[int, int], ...]

EACH = 3
"""Links per server of a random graph, and those with which a newcomer joins a scale-free one: six sisters on average."""


def line(count: int, _: Random) -> Links:
    return tuple((n, n + 1) for n in range(count - 1))


def ring(count: int, random: Random) -> Links:
    closing = ((count - 1, 0),) if count > 2 else ()
    return (*line(count, random), *closing)


def star(count: int, _: Random) -> Links:
    return tuple((0, n) for n in range(1, count))


def scattered(count: int, random: Random) -> Links:
    """A random tree, so that it is connected, and then any pairs."""
    links = {(random.randrange(n), n) for n in range(1, count)}
    most = count * (count - 1) // 2
    while len(links) < min(most, count * EACH):
        one, two = sorted(random.sample(range(count), 2))
        links.add((one, two))
    return tuple(sorted(links))


def scale_free(count: int, random: Random) -> Links:
    """Who comes joins those that have many sisters already (Barabási and Albert): few hubs, many leaves."""
    links, ends = list[tuple[int, int]](), [0]  # a server is in `ends` once more for each of its links
    for n in range(1, count):
        chosen, most = set[int](), min(n, EACH)
        while len(chosen) < most:
            chosen.add(random.choice(ends) if n > most else len(chosen))
        links += [(other, n) for other in sorted(chosen)]
        ends += [*sorted(chosen), *[n] * most]
    return tuple(links)


SHAPES = {"line": line, "ring": ring, "star": star, "random": scattered, "scale-free": scale_free}


def neighbours(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for one, two in links:
        found[one].add(two)
        found[two].add(one)
    return found


def distances(near: dict[int, set[int]], start: int) -> dict[int, int]:
    """How many links away each server is that can be reached at all."""
    far, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for other in near.get(here, ()):
            if other not in far:
                far[other] = far[here] + 1
                waiting.append(other)
    return far
