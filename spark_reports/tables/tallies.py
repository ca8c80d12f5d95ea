"""Tallies: each run's counts and latency percentiles per pair of implementations, made once when the run is ingested."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.schemas import REAL, TEXT, VERDICTS, WHOLE

GROUP = ("run_id", "protocol", "target", "target_version", "peer", "peer_version")
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
#: percentile_approx is exact to one part in this many.
ACCURACY = 1000

TALLY = T.StructType(
    [T.StructField(name, TEXT) for name in GROUP]
    + [T.StructField(name, WHOLE) for name in ("cases", "bad_lines", *VERDICTS, "timed")]
    + [T.StructField(name, REAL) for name in PERCENTILES]
    + [T.StructField("batch", WHOLE)]
)


def latency_ms() -> Column:
    """What the case measured, else how long it took as a whole."""
    return F.coalesce(F.element_at("measures", "latency_ms"), F.nullif(F.col("duration_s") * 1000, F.lit(0.0)))


def tally(facts: DataFrame) -> DataFrame:
    """One row for each run and pair: how many cases, how they ended, how fast they were; bad lines are only counted."""
    is_good = F.col("reason").isNull()
    latency = F.when(is_good, latency_ms())
    counts = [F.count_if(is_good & (F.col("verdict") == verdict)).alias(verdict) for verdict in VERDICTS]
    marks = F.percentile_approx(latency, list(PERCENTILES.values()), ACCURACY)
    grouped = facts.groupBy(*GROUP).agg(
        F.count_if(is_good).alias("cases"),
        F.count_if(~is_good).alias("bad_lines"),
        *counts,
        F.count(latency).alias("timed"),
        marks.alias("marks"),
    )
    named = [F.col("marks")[index].alias(name) for index, name in enumerate(PERCENTILES)]
    return grouped.select(*GROUP, "cases", "bad_lines", *VERDICTS, "timed", *named)
