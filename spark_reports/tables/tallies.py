"""Tallies: each run's counts and latency percentiles per pair of implementations, made once when the run is ingested."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.schemas import PAIR, REAL, TEXT, VERDICTS, WHOLE, pair_parts

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
#: Latencies are counted in slots that grow by a twenty-fifth, so a percentile is right to half of that.
SLOTS = 25

TALLY = T.StructType(
    [T.StructField("run", WHOLE), *(T.StructField(name, TEXT) for name in PAIR)]
    + [T.StructField(name, WHOLE) for name in ("cases", "bad_lines", *VERDICTS, "timed")]
    + [T.StructField(name, REAL) for name in PERCENTILES]
)


def tally(facts: DataFrame) -> DataFrame:
    """One row for each run and pair: how many cases, how they ended, how fast they were; bad lines are only counted.

    Counted by slot first and summed then: Spark's own approximate percentiles took twice as long as all the rest.
    """
    counts = {verdict: F.count_if(F.col("verdict") == verdict) for verdict in VERDICTS}
    counts |= {"lines": F.count("*"), "cases": F.count("verdict"), "timed": F.count("slot")}
    slots = facts.select("run", "pair", "verdict", F.floor(F.log("latency_ms") * SLOTS).cast("int").alias("slot"))
    by_slot = slots.groupBy("run", "pair", "slot").agg(*[count.alias(name) for name, count in counts.items()])
    marks = F.percentile("slot", list(PERCENTILES.values()), F.col("lines"))
    grouped = by_slot.groupBy("run", "pair").agg(*[F.sum(name).alias(name) for name in counts], marks.alias("marks"))
    named = [F.exp((F.col("marks")[index] + 0.5) / SLOTS).alias(name) for index, name in enumerate(PERCENTILES)]
    bad_lines = (F.col("lines") - F.col("cases")).alias("bad_lines")
    return grouped.select("run", *pair_parts(), "cases", bad_lines, *VERDICTS, "timed", *named)
