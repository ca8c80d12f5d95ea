"""History: for each cell, how often it failed in the window, when it last changed, and whether it goes both ways.

This is the one pass over every fact of the window, so it carries only three narrow columns through its one shuffle.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.schemas import case_key, is_blamed, is_evidence
from spark_reports.tables.wilson import MINIMUM_RATE, wilson_high


def is_lossy() -> Column:
    return ~F.col("fault_profile").isin("", "none")


def observations(facts: DataFrame, runs: DataFrame) -> DataFrame:
    """`key, seq, repetition, blamed`: one per judged case; the repetitions of a lossy case are judged together."""
    judged = facts.where(is_evidence()).join(F.broadcast(runs.select("run_id", "seq")), on="run_id", how="inner")
    columns = [case_key().alias("key"), "seq", "repetition", is_blamed().alias("blamed")]
    exact = judged.where(~is_lossy()).select(*columns)
    lossy = (
        judged.where(is_lossy())
        .select(*columns)
        .groupBy("key", "seq")
        .agg(F.count("*").alias("trials"), F.count_if(~F.col("blamed")).alias("passes"))
    )
    rated = wilson_high(F.col("passes"), F.col("trials")) < MINIMUM_RATE
    return exact.unionByName(
        lossy.select("key", "seq", F.lit(0).cast("long").alias("repetition"), rated.alias("blamed"))
    )


def history(observed: DataFrame) -> DataFrame:
    """One row per cell: counts, changes in both directions, the last observation and the one before it.

    Repetitions of a case that loses nothing must agree: a difference between them is a change like one between nights.
    """
    in_order = Window.partitionBy("key").orderBy("seq", "repetition")
    before = observed.withColumn("was", F.lag("blamed").over(in_order)).withColumn(
        "before", F.lag("seq").over(in_order)
    )
    broke = F.col("blamed") & ~F.col("was")
    mended = ~F.col("blamed") & F.col("was")
    place = F.struct("seq", "repetition")
    return (
        before.groupBy("key")
        .agg(
            F.count("*").alias("observed"),
            F.count_if("blamed").alias("failures"),
            F.count_if(broke).alias("broke"),
            F.count_if(mended).alias("mended"),
            F.max("seq").alias("last_seq"),
            F.max_by("blamed", place).alias("last_blamed"),
            F.max_by("before", place).alias("previous_seq"),
            F.max(F.when(broke | mended, F.col("seq"))).alias("changed_seq"),
        )
        .withColumn("is_flaky", (F.col("broke") > 0) & (F.col("mended") > 0))
    )
