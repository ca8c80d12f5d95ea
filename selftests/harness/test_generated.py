"""Mutants that nobody planted: what is changed, how a copy stays apart from the honest reference, and how one is hunted."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from harness.catalogue.cases import check_of
from harness.catalogue.requirements import protocols
from harness.mutation.gaps import gaps_of
from harness.mutation.generated import copies
from harness.mutation.generated.changes import Change, changes_in, changes_of
from harness.mutation.generated.hunt import Hunted, Hunter, Outcome, as_judge, as_target, by_oracle, judged
from harness.mutation.generated.listed import listed
from harness.mutation.generated.reach import can_show
from harness.mutation.generated.score import Score, record, stems_read
from harness.mutation.ledger import generated_kills
from harness.mutation.mutant import mutants_of
from harness.running.plan import cases
from harness.running.stream import EVENTS, read_run
from reference_impl.sbp import codec as honest

SOURCE = """
    \"\"\"A module.\"\"\"
    from os import path
    Alias = int | str
    LIMIT = 10

    def allowed(size: int | None, known: set) -> bool:
        \"\"\"Says so.\"\"\"
        if size is None or size > LIMIT:
            raise ValueError("it is far too long")
        known.add(size)
        return ("X-SIZ-01", "X-SIZ-02"), [size, 1]
"""


@pytest.fixture
def changes(tmp_path: Path) -> list[Change]:
    path = tmp_path / "limits.py"
    path.write_text(textwrap.dedent(SOURCE))
    found = list(changes_in("package.limits", path))
    assert all(ast.parse(change.applied(path.read_bytes())) for change in found)
    return found


def spelled(changes: list[Change]) -> set[tuple[str, str]]:
    return {(change.before, change.after) for change in changes}


def test_operators_change_what_runs(changes: list[Change]) -> None:
    """Boundaries, connectives, constants; a statement or an element goes missing."""
    assert {
        ("10", "(11)"),
        ("10", "(9)"),
        ("size > LIMIT", "(size >= LIMIT)"),
        ("size is None or size > LIMIT", "(size is None and size > LIMIT)"),
        ("size is None or size > LIMIT", "(size > LIMIT)"),
        ("known.add(size)", "pass"),
        ("[size, 1]", "[1]"),
    } <= spelled(changes)


def test_what_is_only_read_by_people_or_types_stays(changes: list[Change]) -> None:
    """Docstrings, imports, annotations, aliases, clause ids and sentences have no effect on what is said."""
    for_people = ('"""A module."""', '"""Says so."""', '"X-SIZ-01"', '("X-SIZ-01", "X-SIZ-02")', '"it is far too long"')
    assert not {change.before for change in changes}.intersection((*for_people, "int | str", "int | None", "path"))


def test_a_changes_name_outlives_edits_elsewhere(changes: list[Change], tmp_path: Path) -> None:
    """A list of survivors names changes: it must not break whenever a line moves."""
    path = tmp_path / "limits.py"
    path.write_text("# one more line\nOTHER = 3\n" + path.read_text())
    assert {change.name for change in changes} <= {change.name for change in changes_in("package.limits", path)}


def named(text: str) -> Change:
    return next(change for change in changes_of("sbp") if text in str(change) and change.stem == "codec")


async def test_a_copy_has_the_change_and_the_honest_reference_does_not() -> None:
    """The judge must not share the target's fault."""
    change = named("codec:Codec.metadata")
    shim = copies.copied("sbp", change)()
    assert "sbp/codec" in (await shim.hello()).roles
    assert type(shim).__module__ == "harness.shim.roles"
    from reference_impl.sbp import codec as again

    assert again is honest


def test_what_a_module_binds_shows_where_somebody_reads_it() -> None:
    """A table of what else conforms is the oracle's alone, a table of rows is the player's too."""
    tables = [change for change in changes_of("trueseal") if change.name.startswith("relay:module:")]
    freedom = next(change for change in tables if change.before == "(M.ignore, M.complain, M.complain_and_end)")
    row = next(change for change in tables if change.before == "(PUSH, Push)")
    assert not can_show(freedom, {"relay:RelayMachine.receive": ["a/case"]})
    assert can_show(freedom, {"relay:RelayMachine.alternatives": ["a/case"]})
    assert can_show(row, {"relay:RelayMachine.receive": ["a/case"]})


def test_every_listed_survivor_exists() -> None:
    """A reason for a change that can no longer be made misleads whoever reads it."""
    for protocol in protocols():
        known = {change.name for change in changes_of(protocol)}
        assert not [name for name in listed(protocol) if name not in known], protocol


def test_every_known_gap_exists() -> None:
    """A list of what is not caught yet names planted mutants and checks that there are."""
    for protocol in protocols():
        gaps = gaps_of(protocol)
        assert gaps.mutants <= mutants_of(protocol).keys(), protocol
        assert gaps.checks <= {check_of(case.id) for case in cases([protocol])} if gaps.checks else True, protocol


def test_a_wrong_change_is_killed_and_one_without_effect_survives() -> None:
    """In processes of their own, which leave nothing behind."""
    wrong = named("codec:Codec.sized")
    hunter = Hunter("sbp", select="sbp/codec")
    hunter.listen()
    [killed] = hunter.hunt([as_target("sbp", wrong, hunter.called["target"])])
    assert killed.outcome is Outcome.KILLED
    assert killed.by.startswith("sbp/codec/")
    same = Change("same", wrong.module, wrong.line, wrong.before, wrong.before, wrong.start, wrong.end)
    [survived] = hunter.hunt([as_target("sbp", same, hunter.called["target"])])
    assert survived.outcome is Outcome.SURVIVED


def test_a_score_is_a_run_that_the_ledger_counts(tmp_path: Path) -> None:
    """By the clauses of the case that caught each change first; one that only a blind judge gave away has no case."""
    every = {change.name: change for change in changes_of("sbp")[:3]}
    killed, blind, _ = every
    score = Score(every, {})
    by = "sbp/codec/vectors/frame-decodes[vector=one]"
    score.take([Hunted(killed, Outcome.KILLED, by, ("SBP-FRM-01", "SBP-FRM-02"), "fail")])
    score.take_blind([Hunted(blind, Outcome.SURVIVED)])
    folder = record(score, "sbp", tmp_path, seed=0)
    run = read_run(folder / EVENTS)
    assert run.footer
    assert run.footer.measures == {"mutants": 3, "killed": 2, "listed": 0, "incompetent": 0}
    assert [(result.case, result.requirements) for result in run.cases] == [(by, ["SBP-FRM-01", "SBP-FRM-02"])]
    assert generated_kills(tmp_path, "sbp") == {"SBP-FRM-01": 1, "SBP-FRM-02": 1}
    assert generated_kills(tmp_path, "bccn") == {}


def test_an_oracle_reads_all_that_its_machine_stands_on() -> None:
    """Also by way of another module."""
    assert {"server", "relaying", "flooding", "gossip", "handshake"} <= stems_read("frog", "server")
    assert "codec" not in stems_read("frog", "server")


def test_tours_of_a_part_are_tours() -> None:
    """What an oracle judges alone is known by how its group ends."""
    walk = "frog/server/federation-tours/walk"
    assert by_oracle(walk)
    assert judged("frog", "server", "tours")(walk)
    assert not judged("frog", "client")(walk)
    assert not by_oracle("frog/server/federation-floods/no-more-than-the-fanout")


def test_a_judge_that_is_put_in_its_own_place_is_the_same() -> None:
    """Whoever judges with a module that did not change must not find anything: else every change would seem to show."""
    change = next(change for change in changes_of("bccn") if change.stem == "node")
    same = Change("same", change.module, change.line, change.before, change.before, change.start, change.end)
    [survived] = Hunter("bccn", select="bccn/node/tours").hunt([as_judge("bccn", same, "node")])
    assert survived.outcome is Outcome.SURVIVED, survived
