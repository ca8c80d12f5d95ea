"""Covering arrays: every pair of values occurs, in far fewer rows than there are combinations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from suites.common.covering import Pair, covering, pairs_of

PARAMETERS: Mapping[str, Sequence[object] | Mapping[str, object]] = {
    "size": [0, 1, 2, 3],
    "side": ["a", "b"],
    "kind": {"x": 1, "y": 2, "z": 3},
    "cut": "pqr",
}


def test_every_pair_of_values_occurs() -> None:
    """Whatever two parameters are looked at, each value of one meets each value of the other."""
    met = set[Pair]().union(*map(pairs_of, covering(PARAMETERS)))
    for one, two in itertools.combinations(PARAMETERS, 2):
        for a, b in itertools.product(PARAMETERS[one], PARAMETERS[two]):
            assert frozenset([(one, str(a)), (two, str(b))]) in met


def test_it_takes_few_rows_and_always_the_same() -> None:
    """72 combinations; twelve pairs of the two largest parameters are the least that there can be."""
    rows = covering(PARAMETERS)
    assert 12 <= len(rows) <= 18
    assert rows == covering(PARAMETERS)
