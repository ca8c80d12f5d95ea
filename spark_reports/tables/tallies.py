"""Tallies: each run's counts and latency percentiles per pair of implementations, made once when the run is ingested."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.schemas import REAL, TEXT, VERDICTS, WHOLE

GROUP = ("run", "protocol", "target", "target_version", "peer", "peer_version")
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
#: Latencies are counted in slots that grow by a hundredth, so a percentile is right to half of that.
SLOTS = 100

TALLY = T.StructType(
    [T.StructField(name, WHOLE if name == "run" else TEXT) for name in GROUP]
    + [T.StructField(name, WHOLE) for name in ("cases", "bad_lines", *VERDICTS, "timed")]
    + [T.StructField(name, REAL) for name in PERCENTILES]
)


def tally(facts: DataFrame) -> DataFrame:
    """One row for each run and pair: how many cases, how they ended, how fast they were; bad lines are only counted.

    Counted by slot first and summed then: Spark's own approximate percentiles took twice as long as all the rest.
    """
    is_good = F.col("reason").isNull()
    counts = {verdict: F.count_if(is_good & (F.col("verdict") == verdict)) for verdict in VERDICTS}
    counts |= {"cases": F.count_if(is_good), "bad_lines": F.count_if(~is_good), "timed": F.count("latency_ms")}
    slot = F.floor(F.log("latency_ms") * SLOTS).cast("int")
    by_slot = facts.groupBy(*GROUP, slot.alias("slot")).agg(*[count.alias(name) for name, count in counts.items()])
    marks = F.percentile("slot", list(PERCENTILES.values()), F.col("timed"))
    grouped = by_slot.groupBy(*GROUP).agg(*[F.sum(name).alias(name) for name in counts], marks.alias("marks"))
    named = [F.exp((F.col("marks")[index] + 0.5) / SLOTS).alias(name) for index, name in enumerate(PERCENTILES)]
    return grouped.select(*GROUP, "cases", "bad_lines", *VERDICTS, "timed", *named)
