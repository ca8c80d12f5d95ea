"""Large histories: one synthetic night, repeated by Spark with other verdicts, as Parquet run folders."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from spark_reports.schemas import EVENT
from spark_reports.synthetic import History, Plan

NIGHTS = 100
START = dt.date(2026, 1, 1)
#: One night of this plan has about 1,000 cases per unit of `cases`.
BASE = Plan(
    nights=1,
    implementations=("reference", "heron", "osprey", "kestrel", "merlin", "harrier"),
    protocols=("peerbus", "sbp", "bccn", "frog", "trueseal"),
    planted=0,
    outage=False,
)


def write_history(spark: SparkSession, rows: int, folder: Path) -> int:
    """About `rows` case results below `folder`, one Parquet run folder each; returns their exact number."""
    pairs = len(BASE.protocols) * len(BASE.implementations) ** 2 * 4 + 2 * BASE.repetitions
    cases = max(1, round((rows / NIGHTS - pairs) / (len(BASE.protocols) * len(BASE.implementations))))
    plan = Plan(**{**vars(BASE), "cases": cases})
    with tempfile.TemporaryDirectory() as scratch:
        truth = History(plan).write(Path(scratch))
        night = spark.read.schema(EVENT).json(f"{scratch}/*/events.ndjson").repartition(8).cache()
        nights = spark.range(NIGHTS).withColumnRenamed("id", "night")
        date = F.date_add(F.lit(START), F.col("night").cast("int")).cast("string")
        run_id = F.concat(date, F.substring("run_id", 11, 200))
        replaced = {
            "run_id": run_id,
            "verdict": _verdict(),
            "started_at": F.concat(date, F.substring("started_at", 11, 100)),
        }
        events = night.crossJoin(nights).select(
            *[replaced.get(name, F.col(name)).alias(name) for name in EVENT.names], run_id.alias("run")
        )
        events.repartition(64, "run").write.partitionBy("run").parquet(str(folder / "staged"))
    for staged in (folder / "staged").glob("run=*"):
        run = folder / "runs" / staged.name.removeprefix("run=")
        run.mkdir(parents=True)
        staged.rename(run / "events.parquet")
    return truth.events * NIGHTS


def _verdict() -> Column:
    """One passing case in a thousand fails in a night, so that there are flakes, regressions and fixes to find."""
    unlucky = F.pmod(F.xxhash64("case", "target", "peer", "night"), F.lit(1000)) == 0
    return F.when((F.col("verdict") == "pass") & unlucky, "fail").otherwise(F.col("verdict"))
