"""A planted fault is named on either side, by both opinions; its capsule replays; what hangs or dies costs its own cells only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from harness.errors import Unavailable, UsageError
from harness.judging.capsule import load
from harness.judging.result import BAD, CaseResult, Verdict
from harness.matrix.along import Said
from harness.matrix.block import played
from harness.matrix.cells import Block
from harness.matrix.culprit import readings
from harness.matrix.pairing import pairings
from harness.matrix.proof import Proof, Tried, _tried
from harness.matrix.report import MatrixSummary, culprits
from harness.matrix.run import MatrixPlan, run_matrix
from harness.running.replay import replay
from reference_impl.peerbus.frames import Frame, Peers, Register
from suites.peerbus.along import read_along as read_clients
from suites.peerbus.envelopes import codec
from suites.sbp import wire
from suites.sbp.along import read_along

MUTANT = "mutant:sbp/acks-twice"
EXCHANGE = "sbp/dialler-acceptor/interop/exchange[size=small]"


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("profile", ["none", "slow"])
def test_a_planted_fault_is_named_by_both_opinions(side: str, profile: str) -> None:
    sides = {"client": "reference", "server": "reference", side: MUTANT}
    block = Block("sbp", "dialler-acceptor", sides["client"], sides["server"], profile, scenarios=(EXCHANGE,))
    [result] = played(block)
    assert result.verdict is Verdict.FAIL
    assert result.culprit == side
    assert result.reading_along.startswith(f"{side}: "), result.reading_along
    assert "SBP-ACK" in result.reading_along
    assert result.example == "", "it needs no fault, and the shortest schedule says so"
    assert {"proxy"} < {entry.sender for entry in result.timeline}


def test_two_that_are_wrong_are_both_named() -> None:
    [result] = played(Block("sbp", "dialler-acceptor", MUTANT, MUTANT, "none", scenarios=(EXCHANGE,)))
    assert result.culprit == "both"


def test_reading_along_finds_nothing_in_an_honest_conversation() -> None:
    frames = [
        ("up", wire.handshake("a")),
        ("down", wire.handshake("b")),
        ("up", wire.ping()),
        ("up", wire.message("app/x")),
    ]
    said = [Said(t, "session", 0, way, raw) for t, (way, raw) in enumerate(frames)]
    assert read_along(said) is None
    illegal = read_along([*said, Said(9, "session", 0, "down", b"\x07" * 18)])
    assert illegal
    assert (illegal.seat, illegal.clause) == ("acceptor", "SBP-KIND-03")


@pytest.mark.parametrize("first", [Peers(), Register("", "anna")])
def test_a_broker_that_turns_a_client_away_has_said_nothing_illegal(first: Frame) -> None:
    """Its close tells the reason, and no broker takes an empty token."""
    said = [Said(0, "sender", 0, "up", codec.encode(first).decode()), Said(1, "sender", 0, "down", None, 1008)]
    assert read_clients(said) is None


@pytest.mark.parametrize("protocol", ["frog", "peerbus", "sbp"])
def test_nothing_is_illegal_between_honest_ends(protocol: str) -> None:
    name = pairings(protocol)[0].name
    assert asyncio.run(readings(Block(protocol, name, "reference", "reference", "none"))) == []


def test_a_capsule_of_the_matrix_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = MatrixPlan(["sbp"], ["reference", MUTANT], workers=1)
    finished = run_matrix(plan, tmp_path, [MatrixSummary(tmp_path / "m.json")])
    assert finished.exit_code == 1
    red = [result for result in finished.results if result.verdict in BAD]
    capsule = Path(red[0].replay.split()[-1])
    assert load(capsule).peer
    assert replay([capsule], []) == 1
    assert "still FAIL" in capsys.readouterr().out
    told = msgspec.json.decode((tmp_path / "m.json").read_bytes())
    assert {entry["name"] for entry in told["culprits"] if entry["culprit"] != "both"} == {MUTANT}
    assert sum(pair["cells"] for pair in told["pairs"]) == told["cases"] == len(finished.results)


def test_shards_together_are_the_whole(tmp_path: Path) -> None:
    whole = MatrixPlan(["bccn", "sbp"], ["reference", "python:selftests.sbp.variants:Eager"], workers=1)
    cells = {cell(r) for r in run_matrix(whole, tmp_path, []).results}
    parts: list[CaseResult] = []
    for shard in ("1/2", "2/2"):
        plan = MatrixPlan(whole.protocols, whole.targets, shard=shard, workers=1)
        parts += run_matrix(plan, tmp_path, []).results
    assert sorted(cells) == sorted(cell(r) for r in parts)


def cell(result: CaseResult) -> tuple[str, str, str, str]:
    return result.case, result.target, result.peer, result.verdict


def test_one_that_was_asked_for_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nobody"):
        run_matrix(MatrixPlan(["sbp"], ["reference", "nobody"]), tmp_path, [])
    with pytest.raises(UsageError, match="no case"):
        run_matrix(MatrixPlan(["sbp"], ["reference-document"]), tmp_path, [])


def test_only_a_red_cell_has_a_culprit() -> None:
    [result] = played(Block("sbp", "dialler-acceptor", "reference", "reference", "none", scenarios=(EXCHANGE,)))
    assert (result.culprit, result.reading_along, culprits([result])) == ("", "", [])


def test_a_mutant_is_tried_on_either_side_until_a_cell_is_red() -> None:
    caught = _tried(("sbp", "acks-its-own-id", "peer", ""), 0)
    assert (caught.is_caught, caught.is_named) == (True, True)
    assert Proof("sbp", tried=[caught, Tried("quiet", "")]).named == [caught]
