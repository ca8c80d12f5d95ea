"""A matrix and its report: the folders of its shards together give the tables of one run, and a large one arrives unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from pyspark.sql import Row, SparkSession

from harness.judging.result import CaseResult, Failure, TargetInfo, TimelineEntry, Verdict
from harness.matrix.run import MatrixPlan, MatrixStream, run_matrix
from harness.running.recorder import Recorder
from spark_reports.batch import take_in
from spark_reports.job import Options, report_with
from spark_reports.lake import TABLES_VERSION, Lake
from spark_reports.runs import COMPLETE

PROTOCOL, TARGETS = "sbp", ("reference", "python:selftests.sbp.variants:Eager", "mutant:sbp/trims-subjects")
TABLES = ("target_case", "culprits", "matrix", "layers", "groups")  # of one night: no changes, nothing flaky
OF_ONE_RUN = {"run_id", "run_date", "seq", "began", "failure", "timeline", "replay", "reading_along"}
"""Which run it was and when, and what has the random names of one run in it."""


def rows(spark: SparkSession, site: Path, name: str) -> list[str]:
    table = spark.read.parquet(str(site / "tables" / f"v{TABLES_VERSION}" / "tables" / name))
    columns = [column for column, kind in table.dtypes if column not in OF_ONE_RUN and "map" not in kind]
    return sorted(map(repr, table.select(columns).collect()))


def test_shards_on_two_folders_give_the_tables_of_one_run(spark: SparkSession, tmp_path: Path) -> None:
    whole = run_matrix(MatrixPlan([PROTOCOL], TARGETS, workers=1), tmp_path / "whole", [])
    shards = [
        run_matrix(MatrixPlan([PROTOCOL], TARGETS, shard=f"{n}/2", workers=1), tmp_path / f"shard {n}", [])
        for n in (1, 2)
    ]
    assert all(shard.results for shard in shards)
    assert sum(len(shard.results) for shard in shards) == len(whole.results)
    folders = {"whole": [tmp_path / "whole"], "parts": [tmp_path / "shard 1", tmp_path / "shard 2"]}
    for name, runs in folders.items():
        report_with(spark, runs, tmp_path / name / "site", Options())
    for name in TABLES:
        of_one, of_two = (rows(spark, tmp_path / folder / "site", name) for folder in folders)
        assert of_one == of_two, name
    assert rows(spark, tmp_path / "whole" / "site", "culprits"), "there is somebody to blame"


MAKES = [f"make-{n}" for n in range(10)]
PROFILES = ["", "slow", "cut", "kill-server"]
KEPT = ("case", "target", "peer", "peer_version", "fault_profile", "scenario", "repetition", "verdict")
EVIDENT = ("failure", "note", "timeline", "example", "replay", "culprit", "reading_along")


def ten_thousand() -> list[CaseResult]:
    """Every pair under every profile, 25 times; each seventh is red, with evidence that is nobody else's."""
    cells = [(c, s, p, n) for c in MAKES for s in MAKES for p in PROFILES for n in range(25)]
    return [result_of(number, *cell) for number, cell in enumerate(cells, 1)]


def result_of(number: int, client: str, server: str, profile: str, repetition: int) -> CaseResult:
    exact = CaseResult(
        run_id="",
        case="sbp/dialler-acceptor/interop/exchange[size=small]",
        protocol="sbp",
        role="dialler-acceptor",
        group="interop",
        verdict=Verdict.PASS,
        target=client,
        requirements=["SBP-SES-10"],
        peer=server,
        peer_version=f"0.{number % 3}",
        scenario="exchange",
        fault_profile=profile,
        repetition=repetition,
        measures={"latency_ms": number / 8},
    )
    if number % 7:
        return exact
    said = f'cell {number} \u00e9 \u2028 \U0001d11e \\ "quoted"\tand a tab'
    return msgspec.structs.replace(
        exact,
        verdict=Verdict.FAIL,
        failure=Failure(said, "SBP-SES-10", "a reading", "everything arrives", said),
        timeline=[TimelineEntry(number / 16, f"{client} (client)", "proxy", "frame", said, f"{number:08x}", number)],
        example=f"cut session connection {number} up, byte {number}",
        culprit=("client", "server", "both", "pair")[number % 4],
        reading_along=f"client: dialler broke SBP-SES-10: {number}",
    )


def test_ten_thousand_results_stream_to_the_report_unchanged(lake: Lake, tmp_path: Path) -> None:
    """One run, as a matrix streams it: every name, verdict, repetition and latency, and all evidence of what is red."""
    recorder = Recorder("matrix", [TargetInfo(name) for name in MAKES], ["sbp"], 0, tmp_path / "runs")
    recorder.subscribe(MatrixStream(recorder.folder))
    results = ten_thousand()
    recorder.start(len(results))
    for result in results:
        recorder.result(result)
    recorder.finish()
    [run] = take_in(lake, [str(tmp_path / "runs")])
    assert (run.state, run.cases, run.bad_lines) == (COMPLETE, 10_000, 0)
    stored = sorted(as_stored(row) for row in lake.results([run]).collect())
    told = sorted(as_said(result) for result in recorder.results)
    differing = [pair for pair in zip(stored, told, strict=True) if pair[0] != pair[1]]
    assert differing[:1] == []


def as_said(result: CaseResult) -> str:
    kept = msgspec.to_builtins({name: getattr(result, name) for name in KEPT})
    evidence = msgspec.to_builtins({name: getattr(result, name) for name in EVIDENT}) if result.failure else {}
    return spelled(kept, result.measures["latency_ms"], evidence)


def as_stored(row: Row) -> str:
    columns = row.asDict(recursive=True)
    evidence = {name: columns[name] for name in EVIDENT} if columns["failure"] else {}
    return spelled({name: columns[name] for name in KEPT}, columns["latency_ms"], evidence)


def spelled(*parts: object) -> str:
    return json.dumps(parts, sort_keys=True)
