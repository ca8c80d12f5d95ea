"""Pairs of the reference: nothing is red that conforms, and what breaks costs its own cells only."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.catalogue.requirements import catalogue
from harness.judging.result import Verdict
from harness.matrix.block import played
from harness.matrix.cells import Block
from harness.matrix.pairing import paired_protocols, pairings

PAIRINGS = [pairing for protocol in paired_protocols() for pairing in pairings(protocol)]


@pytest.mark.parametrize("pairing", PAIRINGS, ids=lambda pairing: f"{pairing.protocol}-{pairing.name}")
@pytest.mark.parametrize("disturbed", [False, True], ids=["plain", "disturbed"])
def test_the_reference_keeps_every_promise(pairing: object, disturbed: bool) -> None:
    assert hasattr(pairing, "profiles")
    profile = pairing.profiles[:2][-1] if disturbed else "none"
    results = played(Block(pairing.protocol, pairing.name, "reference", "reference", profile, seed=3))
    assert results
    assert {result.verdict for result in results} == {Verdict.PASS}, [(r.case, r.failure, r.note) for r in results]


@pytest.mark.parametrize("pairing", PAIRINGS, ids=lambda pairing: f"{pairing.protocol}-{pairing.name}")
def test_a_scenario_names_clauses_that_there_are(pairing: object) -> None:
    assert hasattr(pairing, "scenarios")
    named = {clause for scenario in pairing.scenarios for clause in scenario.clauses}
    assert named <= set(catalogue(pairing.protocol))


VARIANTS = [
    ("sbp", "Odd", "Eager"),
    ("sbp", "Strict", "Odd"),
    ("bccn", "Terse", "Odd"),
    ("bccn", "Odd", "Bare"),
    ("bccn", "Numberless", "Capped"),
]


@pytest.mark.parametrize(("protocol", "client", "server"), VARIANTS)
def test_nobody_is_red_for_a_freedom(protocol: str, client: str, server: str) -> None:
    """A Ping that is not answered is a SHOULD, and warned of; nothing else is said."""
    variants = f"python:selftests.{protocol}.variants"
    name = pairings(protocol)[0].name
    results = played(Block(protocol, name, f"{variants}:{client}", f"{variants}:{server}", "none"))
    bad = [(r.case, r.verdict, r.failure) for r in results if r.verdict not in (Verdict.PASS, Verdict.UNSUPPORTED)]
    assert all(case.endswith("/pings") and verdict is Verdict.WARN for case, verdict, _ in bad), bad


def test_what_dies_at_the_first_word_is_crashed_and_then_not_tried() -> None:
    results = played(Block("sbp", "dialler-acceptor", "cmd:false", "reference", "none"))
    assert {result.verdict for result in results} == {Verdict.CRASHED}


@pytest.mark.parametrize("profile", ["none", "cut"])
def test_the_same_seed_gives_the_same_verdicts(profile: str) -> None:
    block = Block("sbp", "dialler-acceptor", "mutant:sbp/acks-twice", "reference", profile, reps=2)
    again = [Counter((r.case, r.repetition, r.verdict) for r in played(block)) for _ in range(2)]
    assert again[0] == again[1]
