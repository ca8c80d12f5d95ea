"""The tours of every role that has some: they cover what there is, and their case claims what they try."""

from __future__ import annotations

import importlib

import pytest

from harness.catalogue.requirements import protocols
from harness.touring.tours import groups_of_tours, tours_of

GROUPS = [(protocol, *group) for protocol in protocols() for group in groups_of_tours(protocol)]


@pytest.mark.parametrize(("protocol", "role", "group"), GROUPS, ids=["/".join(path) for path in GROUPS])
def test_every_pair_is_covered(protocol: str, role: str, group: str) -> None:
    """Whatever the alphabet allows from a state is part of some walk, or the tours say why it is not."""
    tours = tours_of(protocol, role, group)
    covered = tours.coverage
    assert covered.covered == covered.pairs, [f"{one}, {two}" for _, one, two in covered.left_out[:5]]
    assert all(tours.left_out.values())


@pytest.mark.parametrize(("protocol", "role", "group"), GROUPS, ids=["/".join(path) for path in GROUPS])
def test_the_case_claims_what_its_walks_claim(protocol: str, role: str, group: str) -> None:
    """The list at the case is written down, so that nothing is derived when cases are only listed."""
    case = importlib.import_module(f"suites.{protocol}.{role}.test_{group.replace('-', '_')}").test_walk
    [mark] = [mark for mark in case.pytestmark if mark.name == "clauses"]
    assert set(mark.args) == set(tours_of(protocol, role, group).clauses)
