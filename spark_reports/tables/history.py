"""History: for each cell, how often it failed in the window, when it last changed, and whether it goes both ways.

Only a cell that was seen good and seen blamed has changes to find, and only finding them needs its observations in order. Few
cells are like that: every fact is counted, and those of such cells alone are shuffled and sorted.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.tables.wilson import MINIMUM_RATE, wilson_high


def history(facts: DataFrame) -> DataFrame:
    """One row per cell: counts, the last observation, and for a cell that moved its changes in both directions."""
    # Spark finds out for itself that a join needs cells; said here, it sees twice the same scan and makes one.
    judged = facts.where("is_evidence AND cell IS NOT NULL").select(
        "cell", "seq", "repetition", "is_lossy", F.col("is_blamed").alias("blamed")
    )
    counts = judged.groupBy("cell").agg(*_counts(), F.max("is_lossy").alias("is_lossy"))
    is_steady = ~F.col("is_lossy") & F.col("failures").isin(F.lit(0), F.col("observed"))
    steady = counts.where(is_steady).select("cell", "observed", "failures", "last_seq")
    # The bound always holds: it keeps `last_seq` in the plan, so that Spark sees twice the same counts and makes one.
    moving = counts.where(~is_steady & (F.col("last_seq") >= 0)).select("cell")
    moved = changes_of(observations(judged.join(F.broadcast(moving), on="cell", how="left_semi").repartition("cell")))
    return (
        steady.unionByName(moved, allowMissingColumns=True)
        .fillna(0, ["broke", "mended"])
        .withColumn("is_flaky", (F.col("broke") > 0) & (F.col("mended") > 0))
    )


def _counts() -> list[Column]:
    return [
        F.count("*").alias("observed"),
        F.count_if("blamed").alias("failures"),
        F.max("seq").alias("last_seq"),
    ]


def observations(judged: DataFrame) -> DataFrame:
    """`cell, seq, repetition, blamed`: one per judged case; the repetitions of a lossy case are judged together."""
    attempt = F.when(F.col("is_lossy"), F.lit(0).cast("long")).otherwise(F.col("repetition"))
    trials, passes = F.count("*"), F.count_if(~F.col("blamed"))
    is_rated_bad = wilson_high(passes, trials) < MINIMUM_RATE
    is_blamed = F.when(F.max("is_lossy"), is_rated_bad).otherwise(F.max("blamed"))
    grouped = judged.groupBy("cell", "seq", attempt.alias("repetition"))
    return grouped.agg(is_blamed.alias("blamed"))


def changes_of(observed: DataFrame) -> DataFrame:
    """The counts of each cell, how often it broke and mended, when it last did, and the observation before its last one.

    Repetitions of a case that loses nothing must agree: a difference between them is a change like one between nights.
    """
    in_order = Window.partitionBy("cell").orderBy("seq", "repetition")
    before = observed.withColumn("was", F.lag("blamed").over(in_order)).withColumn(
        "before", F.lag("seq").over(in_order)
    )
    broke = F.col("blamed") & ~F.col("was")
    mended = ~F.col("blamed") & F.col("was")
    return before.groupBy("cell").agg(
        *_counts(),
        F.count_if(broke).alias("broke"),
        F.count_if(mended).alias("mended"),
        F.max_by("before", F.struct("seq", "repetition")).alias("previous_seq"),
        F.max(F.when(broke | mended, F.col("seq"))).alias("changed_seq"),
    )
