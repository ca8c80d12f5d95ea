"""The small tables that people read: matrix, ledger, flaky, changes, lossy, latency, trends."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.schemas import BLAMED, CELL, SERIES, VERDICTS
from spark_reports.tables.tallies import PERCENTILES


def matrix(cells: DataFrame, blame: DataFrame) -> DataFrame:
    """Client x server, and target alone where `peer` is empty: one row for each coloured square."""
    named = (
        blame.where("culprit_name <> ''")
        .groupBy("protocol", "target", "peer")
        .agg(F.sort_array(F.collect_set("culprit_name")).alias("culprits"))
    )
    counts = [F.count_if(F.col("verdict") == verdict).alias(verdict) for verdict in VERDICTS]
    squares = cells.groupBy("protocol", "target", "peer").agg(
        F.count("*").alias("cases"),
        *counts,
        F.count_if("is_surprising").alias("surprising"),
        F.count_if("is_regression").alias("regressions"),
        F.count_if("is_fix").alias("fixes"),
        F.count_if("is_flaky").alias("flaky"),
        F.max("run_date").alias("run_date"),
        F.max_by("target_version", F.struct("seq", "target_version")).alias("target_version"),
        F.max_by("peer_version", F.struct("seq", "peer_version")).alias("peer_version"),
    )
    return squares.join(named, on=["protocol", "target", "peer"], how="left")


def layers(cells: DataFrame) -> DataFrame:
    """The squares of pairs once more, one for each fault profile."""
    counts = [F.count_if(F.col("verdict") == verdict).alias(verdict) for verdict in VERDICTS]
    pairs = cells.where("peer <> ''")
    return pairs.groupBy("protocol", "target", "peer", "fault_profile").agg(F.count("*").alias("cases"), *counts)


def groups(cells: DataFrame) -> DataFrame:
    """The same squares one level deeper: per role and group of cases."""
    counts = [F.count_if(F.col("verdict") == verdict).alias(verdict) for verdict in VERDICTS]
    return cells.groupBy("protocol", "target", "peer", "role", "group").agg(F.count("*").alias("cases"), *counts)


def ledger(cells: DataFrame) -> DataFrame:
    """Requirement by target: met, broken, warned, or not decided. Pairs are left out: there a culprit has to be found first."""
    alone = cells.where(F.col("peer") == "")
    claimed = alone.select("protocol", "target", "verdict", F.explode("requirements").alias("requirement"))
    blamed = F.count_if(F.col("verdict").isin(*BLAMED))
    warned, passed = F.count_if(F.col("verdict") == "warn"), F.count_if(F.col("verdict") == "pass")
    absent = F.count_if(F.col("verdict") == "unsupported")
    status = (
        F.when(blamed > 0, "broken").when(warned > 0, "warned").when(passed > 0, "met").when(absent > 0, "unsupported")
    )
    return claimed.groupBy("protocol", "target", "requirement").agg(
        F.count("*").alias("cases"),
        passed.alias("passed"),
        blamed.alias("failed"),
        warned.alias("warned"),
        status.otherwise("undecided").alias("status"),
    )


def flaky(cells: DataFrame) -> DataFrame:
    """Cells that went from pass to fail and from fail to pass within the window."""
    return cells.where("is_flaky").select(*CELL, "kind", "run_id", "verdict", "observed", "failures", "broke", "mended")


def changes(cells: DataFrame, runs: DataFrame) -> DataFrame:
    """Regressions and fixes against the run before, and steady changes of earlier nights in the window."""
    moved = cells.where("changed_seq IS NOT NULL AND NOT is_flaky")
    dates = runs.select(
        F.col("seq").alias("changed_seq"), F.col("run_id").alias("changed_run"), F.col("run_date").alias("changed_on")
    )
    before = runs.select(F.col("seq").alias("previous_seq"), F.col("run_id").alias("aligned_run"))
    direction = F.when(F.col("is_blamed"), "regression").otherwise("fix")
    return (
        moved.join(F.broadcast(dates), on="changed_seq", how="left")
        .join(F.broadcast(before), on="previous_seq", how="left")
        .withColumn("change", direction)
        .withColumn("is_latest", F.col("is_regression") | F.col("is_fix"))
        .select(
            *CELL,
            "change",
            "is_latest",
            "verdict",
            "expected",
            "run_id",
            "aligned_run",
            "changed_run",
            "changed_on",
            "target_version",
        )
    )


def lossy(cells: DataFrame) -> DataFrame:
    """Lossy cells: pass rate with Wilson's 95 % bounds."""
    rate = F.col("passes") / F.col("trials")
    return cells.where("is_lossy AND trials > 0").select(
        *CELL, "run_id", "verdict", "passes", "trials", rate.alias("rate"), "rate_low", "rate_high"
    )


def latency(tallies: DataFrame, starts: DataFrame) -> DataFrame:
    """Percentiles of each series in its newest complete run."""
    seen = tallies.where("timed > 0").join(F.broadcast(starts), on=list(SERIES), how="inner")
    newest = seen.where(F.col("seq") == F.col("from_seq"))
    return newest.select("protocol", "target", "target_version", "peer", "run_id", "run_date", "timed", *PERCENTILES)


def trends(tallies: DataFrame) -> DataFrame:
    """Per day, protocol, target and version: counts, pass rate and the latency of that day's slowest run or pair."""
    sums = [F.sum(name).alias(name) for name in ("cases", *VERDICTS)]
    marks = [F.max(name).alias(name) for name in PERCENTILES]
    judged = F.col("cases") - F.col("error") - F.col("unsupported")
    blamed = sum((F.col(name) for name in BLAMED), F.lit(0))
    rate = F.when(judged > 0, 1 - blamed / judged)
    days = (
        tallies.where("cases > 0")
        .groupBy("protocol", "target", "target_version", "kind", "run_date")
        .agg(*sums, *marks)
    )
    return days.withColumn("pass_rate", rate)
