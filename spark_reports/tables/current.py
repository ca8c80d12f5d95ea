"""The present: the newest result of every cell that the newest complete run of its series still tests."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.schemas import CELL, SERIES, TEXT, WHOLE, is_blamed
from spark_reports.tables.wilson import MINIMUM_RATE, wilson_high, wilson_low

START = T.StructType([*[T.StructField(name, TEXT) for name in SERIES], T.StructField("from_seq", WHOLE)])


def series_starts(tallies: DataFrame) -> DataFrame:
    """For each series the newest complete run, `from_seq`: what is older has been superseded, what is newer adds to it.

    A partial run after it replaces the cells it reached and leaves the others as they were, so a run that died early
    does not make the report smaller. `present` has all runs of the series from there on.
    """
    complete = F.max(F.when(F.col("state") == "complete", F.col("seq")))
    starts = (
        tallies.where("cases > 0")
        .groupBy(*SERIES)
        .agg(F.coalesce(complete, F.min("seq")).alias("from_seq"), F.collect_set("seq").alias("seen"))
    )
    present = F.filter("seen", lambda seq: seq >= F.col("from_seq"))
    return starts.select(*SERIES, "from_seq", present.alias("present"))


def current(results: DataFrame, starts: DataFrame) -> DataFrame:
    """One row per cell: its newest result, the repetitions of a lossy cell taken together."""
    fresh = results.join(F.broadcast(starts), on=list(SERIES), how="inner").where(F.col("seq") >= F.col("from_seq"))
    same_run = Window.partitionBy("cell", "seq")
    # Of several repetitions the failing one is shown: it has the evidence.
    newest_first = Window.partitionBy("cell").orderBy(F.desc("seq"), F.desc("is_blamed"), F.desc("repetition"))
    newest = (
        fresh.withColumn("trials", F.count_if("is_evidence").over(same_run))
        .withColumn("passes", F.count_if(F.col("is_evidence") & ~F.col("is_blamed")).over(same_run))
        .withColumn("rank", F.row_number().over(newest_first))
        .where("rank = 1")
        .drop("rank", "from_seq")
    )
    return _judged(newest)


def _judged(newest: DataFrame) -> DataFrame:
    """A lossy cell is red only when its pass rate is confidently too low."""
    passes, trials = F.col("passes"), F.col("trials")
    by_rate = F.when(wilson_high(passes, trials) < MINIMUM_RATE, "fail").otherwise("pass")
    is_rated = F.col("is_lossy") & (trials > 0)
    return (
        newest.withColumn("rate_low", wilson_low(passes, trials))
        .withColumn("rate_high", wilson_high(passes, trials))
        .withColumn("verdict", F.when(is_rated, by_rate).otherwise(F.col("verdict")))
        .withColumn("is_blamed", is_blamed())
        .withColumn("is_surprising", is_surprising())
    )


def is_surprising() -> Column:
    """Does the result go against what the target's manifest said beforehand? The rule of `CaseResult.surprising`."""
    is_error = F.col("verdict") == "error"
    return (
        F.when(F.col("expected") == "known-flaky", is_error)
        .when(F.col("expected") == "known-failing", is_error | ~is_blamed())
        .otherwise(is_error | is_blamed())
    )


def with_history(cells: DataFrame, histories: DataFrame) -> DataFrame:
    """`target_case`: the present of every cell beside its past; the central table of the report."""
    joined = cells.join(histories, on="cell", how="left")
    is_newest = F.col("last_seq") == F.col("seq")
    changed_now = is_newest & (F.col("changed_seq") == F.col("last_seq"))
    steady = ~F.coalesce("is_flaky", F.lit(False))
    return (
        joined.withColumn("is_flaky", ~steady)
        .withColumn("is_regression", F.coalesce(changed_now & F.col("is_blamed") & steady, F.lit(False)))
        .withColumn("is_fix", F.coalesce(changed_now & ~F.col("is_blamed") & steady, F.lit(False)))
    )


#: The natural columns of `target_case`, in the order in which they are published.
TARGET_CASE = (
    *CELL,
    *("role", "group", "kind", "run_id", "run_date", "seq", "verdict", "expected", "target_version", "peer_version"),
    *(
        "requirements",
        "failure",
        "note",
        "timeline",
        "seed",
        "example",
        "replay",
        "culprit",
        "reading_along",
        "repetition",
        "is_lossy",
        "is_blamed",
        "is_surprising",
    ),
    *(
        "trials",
        "passes",
        "rate_low",
        "rate_high",
        "observed",
        "failures",
        "broke",
        "mended",
        "previous_seq",
        "changed_seq",
    ),
    *("is_flaky", "is_regression", "is_fix"),
)
