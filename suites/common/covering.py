"""Covering arrays: few combinations of many parameters in which every pair of values occurs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, str]
"""A label for each parameter."""
Pair = frozenset[tuple[str, str]]


def pairs_of(row: Mapping[str, str]) -> set[Pair]:
    return {frozenset(two) for two in itertools.combinations(row.items(), 2)}


def covering(parameters: Mapping[str, Sequence[Any] | Mapping[str, Any]]) -> list[Row]:
    """Rows in which each value of each parameter meets each value of every other; greedy, and the same every time."""
    labels = {name: list(map(str, values)) for name, values in parameters.items()}
    left = {
        frozenset([(one, a), (two, b)])
        for one, two in itertools.combinations(labels, 2)
        for a in labels[one]
        for b in labels[two]
    }
    rows: list[Row] = []
    while left:
        rows.append(_best(labels, left))
        left -= pairs_of(rows[-1])
    return rows


def _best(labels: Mapping[str, list[str]], left: set[Pair]) -> Row:
    """One open pair, and for each other parameter the value that covers most beside what is chosen."""
    row: Row = dict(min(left, key=sorted))
    for name in labels:
        if name not in row:
            row[name] = max(labels[name], key=lambda value: len(left & pairs_of(row | {name: value})))
    return {name: row[name] for name in labels}
