"""The tables state what was planted: regressions, fixes, flakes, culprits, loss, coverage."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_reports.batch import take_in
from spark_reports.files import Files
from spark_reports.job import Options, build_tables, report_with
from spark_reports.lake import Lake, live_runs
from spark_reports.synthetic import History, Plan
from spark_reports.tables.wilson import wilson_high, wilson_low


@pytest.fixture(scope="module")
def table(spark: SparkSession, reported):
    lake = Lake(spark, Files(spark), str(reported.site / "tables"))
    return lambda name: spark.read.parquet(lake.folder(f"tables/{name}"))


def cells(frame: DataFrame) -> set[tuple[str, str, str, str]]:
    return {tuple(row) for row in frame.select("protocol", "target", "peer", "case").collect()}


def test_regressions_and_fixes_are_those_planted_in_the_last_night(reported) -> None:
    summary, truth = reported.summary, reported.truth
    assert {(c.protocol, c.target, c.peer, c.case) for c in summary.regressions} == truth.regressions
    assert {(c.protocol, c.target, c.peer, c.case) for c in summary.fixes} == truth.fixes


def test_older_failures_name_the_night_they_began(table, reported) -> None:
    older = table("changes").where("NOT is_latest AND change = 'regression'")
    dated = {(row.protocol, row.target, row.peer, row.case): row.changed_on for row in older.collect()}
    assert dated == reported.truth.older


def test_flaky_cells_are_those_that_went_both_ways(table, reported) -> None:
    assert cells(table("flaky")) == reported.truth.flaky


def test_culprits_follow_from_the_runs_against_the_reference(table, reported) -> None:
    exact = table("culprits").where("fault_profile = ''").collect()
    named = {(row.protocol, row.target, row.peer, row.case): (row.culprit, row.culprit_name) for row in exact}
    assert named == reported.truth.culprits


def test_without_a_control_nobody_is_blamed(table) -> None:
    """The lossy cell was never run against the reference under the same profile."""
    (row,) = table("culprits").where("fault_profile <> ''").collect()
    assert (row.culprit, row.culprit_name) == ("unknown", "")


def test_lossy_cells_are_judged_by_their_rate(table, reported) -> None:
    rows = table("lossy").collect()
    counted = {(r.protocol, r.target, r.peer, r.case, r.fault_profile): (r.passes, r.trials) for r in rows}
    assert counted == reported.truth.lossy
    assert {r.fault_profile: r.verdict for r in rows} == {"loss-5": "pass", "loss-20": "fail"}


def test_counts_are_those_of_the_last_night(reported) -> None:
    """The lossy cells, judged as a whole, add one pass and one fail."""
    expected = reported.truth.counts + Counter({"pass": 1, "fail": 1})
    assert {name: count for name, count in reported.summary.counts.items() if count} == dict(expected)


def test_the_matrix_has_a_square_for_every_target_and_pair(table, reported) -> None:
    names, protocols = len(reported.plan.implementations), len(reported.plan.protocols)
    assert table("matrix").where("peer = ''").count() == names * protocols
    assert table("matrix").where("peer <> ''").count() == names * names * protocols


def test_the_ledger_breaks_a_requirement_exactly_where_its_case_fails(table) -> None:
    failing = (
        table("target_case").where("peer = '' AND is_blamed").select("protocol", "target", F.explode("requirements"))
    )
    broken = table("ledger").where("status = 'broken'").select("protocol", "target", "requirement")
    assert {tuple(row) for row in broken.collect()} == {tuple(row) for row in failing.collect()}


def test_an_outage_is_not_a_regression(table, reported) -> None:
    """The night in which an implementation was down left `error` verdicts in its pairs; they count as no evidence."""
    down = reported.plan.implementations[-1]
    moved = table("changes").where((F.col("peer") == down) | ((F.col("target") == down) & (F.col("peer") != "")))
    assert moved.count() == 0


def test_trends_have_a_point_for_each_night_a_target_ran(table, reported) -> None:
    checks = table("trends").where("kind = 'check' AND protocol = 'sbp'")
    nights = {
        row.target: row.nights
        for row in checks.groupBy("target").agg(F.count_distinct("run_date").alias("nights")).collect()
    }
    full = dict.fromkeys(reported.plan.implementations, reported.plan.nights)
    assert nights == full | {reported.plan.implementations[-1]: reported.plan.nights - 1}


@pytest.mark.parametrize(("passes", "trials"), [(0, 1), (1, 1), (12, 25), (24, 25), (999, 1000)])
def test_wilson_bounds_solve_the_score_equation(spark: SparkSession, passes: int, trials: int) -> None:
    """Independently of the closed form: at a bound b, |p - b| is z standard errors of b."""
    columns = F.lit(passes), F.lit(trials)
    low, high = spark.range(1).select(wilson_low(*columns), wilson_high(*columns)).first()
    for bound in {low, high} - {0.0, 1.0}:
        assert abs(passes / trials - bound) == pytest.approx(
            1.959963984540054 * math.sqrt(bound * (1 - bound) / trials)
        )
    assert 0.0 <= low <= passes / trials <= high <= 1.0


def test_a_late_run_takes_its_place_in_time(lake: Lake, tmp_path: Path) -> None:
    """A night that arrives after its successor changes nothing about what the newest night says."""
    history = History(Plan(nights=4, protocols=("sbp",), cases=17, repetitions=2, planted=1))
    for nights in (range(0, 2), range(3, 4), range(2, 3)):
        truth = history.write(tmp_path / "runs", nights)
        everything = take_in(lake, [str(tmp_path / "runs")])
    changes = build_tables(lake, live_runs(everything), Options()).changes.where("is_latest")
    assert cells(changes.where("change = 'regression'")) == truth.regressions
    assert cells(changes.where("change = 'fix'")) == truth.fixes


def test_a_thousand_runs_state_what_was_planted(spark: SparkSession, tmp_path: Path) -> None:
    """Two hundred nights of five runs; the window sees the last thirty, the trends all of them."""
    history = History(Plan(nights=200, protocols=("sbp",), cases=8, repetitions=10, planted=4, seed=11))
    truth = history.write(tmp_path / "runs")
    summary = report_with(spark, [tmp_path / "runs"], tmp_path / "site", Options())
    lake = Lake(spark, Files(spark), str(tmp_path / "site" / "tables"))
    stored = {name: spark.read.parquet(lake.folder(f"tables/{name}")) for name in ("flaky", "culprits", "trends")}
    culprits = stored["culprits"].where("fault_profile = ''").collect()
    assert summary.runs == truth.runs == 999  # one implementation was down for one night
    assert {(c.protocol, c.target, c.peer, c.case) for c in summary.regressions} == truth.regressions
    assert {(c.protocol, c.target, c.peer, c.case) for c in summary.fixes} == truth.fixes
    assert cells(stored["flaky"]) == truth.flaky
    assert {(r.protocol, r.target, r.peer, r.case): (r.culprit, r.culprit_name) for r in culprits} == truth.culprits
    assert stored["trends"].select("run_date").distinct().count() == 200
