"""Brings bounded pieces of the tables to the driver: the page must not grow with the history."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.schemas import CELL
from spark_reports.session import side_by_side

Row = dict[str, Any]

#: Failures shown in full per square and on the whole page; the rest is counted.
FINDINGS_PER_SQUARE, FINDINGS = 12, 400
#: Frames drawn of one timeline, and characters kept of one text a target chose.
LADDER, TEXT = 60, 600
#: Squares, ledger rows and days that fit a page which still opens at once on a phone.
SQUARES, LEDGER, GROUPS, CHANGES, DAYS = 4000, 20000, 8000, 200, 120
#: The order in which failures are worth reading.
SHOWN = ("crashed", "fail", "timeout", "error", "warn")


@dataclasses.dataclass(frozen=True)
class Collected:
    """All that the page is made of."""

    squares: list[Row]
    layers: list[Row]
    groups: list[Row]
    findings: list[Row]
    changes: list[Row]
    flaky: list[Row]
    lossy: list[Row]
    ledger: list[Row]
    readings: list[Row]
    latency: list[Row]
    trends: list[Row]
    quarantine: list[Row]

    def total(self, *columns: str) -> int:
        """A sum over all squares: what was counted, whether it is shown or not."""
        return sum(row[column] for row in self.squares for column in columns)


def collect(tables: Any, quarantine: DataFrame | None, first_day: str) -> Collected:
    """`tables` is `job.Tables`, read back as published; plots begin with `first_day`."""
    recent = tables.changes.where("is_latest")
    worst_first = F.when(F.col("change") == "regression", 0).otherwise(1)
    pieces = {
        "squares": (tables.matrix.orderBy("protocol", "target", "peer"), SQUARES),
        "layers": (tables.layers.orderBy("protocol", "target", "peer", "fault_profile"), SQUARES),
        "groups": (tables.groups.orderBy("protocol", "target", "peer", "role", "group"), GROUPS),
        "findings": (findings(tables.target_case, tables.culprits, tables.changes), FINDINGS),
        "changes": (recent.orderBy(worst_first, *CELL), CHANGES),
        "flaky": (tables.flaky.orderBy(F.desc("failures"), *CELL), CHANGES),
        "lossy": (tables.lossy.orderBy("rate_high", *CELL), CHANGES),
        "ledger": (tables.ledger.orderBy("protocol", "requirement", "target"), LEDGER),
        "readings": (choices(tables.target_case), LEDGER),
        "latency": (tables.latency.orderBy("protocol", "target", "peer"), SQUARES),
        "trends": (check_trends(tables.trends, first_day), SQUARES * 10),
    }
    if quarantine is not None:
        pieces["quarantine"] = (reasons(quarantine), CHANGES)
    found = side_by_side({name: partial(rows, frame, most) for name, (frame, most) in pieces.items()})
    return Collected(**{"quarantine": [], **found})


def choices(target_case: DataFrame) -> DataFrame:
    """What the targets, each by itself, did where a text can be read in more than one way."""
    open_ones = target_case.where((F.col("peer") == "") & F.col("verdict").isin("warn", "info"))
    short = F.substring("note", 1, TEXT).alias("note")
    return open_ones.orderBy(*CELL).select("protocol", "target", "verdict", "requirements", short, _short_failure())


def reasons(quarantine: DataFrame) -> DataFrame:
    counted = quarantine.groupBy("reason").agg(F.count("*").alias("lines"), F.min("line").alias("example"))
    return counted.orderBy(F.desc("lines"), "reason")


def rows(frame: DataFrame, most: int) -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.limit(most).collect()]


def findings(target_case: DataFrame, culprits: DataFrame, changes: DataFrame) -> DataFrame:
    """The failures worth showing in full: new ones first, then by severity, a few of each square."""
    severity = F.array_position(F.array(*[F.lit(verdict) for verdict in SHOWN]), F.col("verdict"))
    urgency: list[Column | str] = [F.desc("is_regression"), F.desc("is_surprising"), severity, *CELL]
    per_square = Window.partitionBy("protocol", "target", "peer").orderBy(*urgency)
    since = changes.where("change = 'regression'").select(*CELL, "changed_on")
    blamed = culprits.select(
        "protocol", "target", "peer", "case", "reach", "scenario", "fault_profile", "culprit", "culprit_name"
    )
    return (
        target_case.where(F.col("verdict").isin(*SHOWN))
        .drop("culprit")
        .withColumn("rank", F.row_number().over(per_square))
        .where(F.col("rank") <= FINDINGS_PER_SQUARE)
        .join(blamed, on=list(CELL), how="left")
        .join(since, on=list(CELL), how="left")
        .orderBy(*urgency)
        .select(*_FINDING, *_short_texts(), _short_failure(), _short_timeline(), F.size("timeline").alias("frames"))
    )


_FINDING = (
    *CELL,
    *(
        "role",
        "group",
        "kind",
        "run_id",
        "run_date",
        "verdict",
        "expected",
        "target_version",
        "peer_version",
        "requirements",
    ),
    *("seed", "repetition", "is_lossy", "trials", "passes", "observed", "failures", "is_flaky", "is_regression"),
    *("culprit", "culprit_name", "changed_on"),
)


def _short_texts() -> list[Column]:
    return [F.substring(name, 1, TEXT).alias(name) for name in ("note", "example", "replay", "reading_along")]


def _short_failure() -> Column:
    names = ("message", "clause", "reading", "expected", "observed")
    return F.struct(*[F.substring(f"failure.{name}", 1, TEXT).alias(name) for name in names]).alias("failure")


def _short_timeline() -> Column:
    short = F.transform(
        F.slice("timeline", 1, LADDER),
        lambda entry: F.struct(
            entry["t"].alias("t"),
            *[F.substring(entry[name], 1, TEXT).alias(name) for name in ("sender", "receiver", "kind", "text", "raw")],
            entry["size"].alias("size"),
        ),
    )
    return short.alias("timeline")


def check_trends(trends: DataFrame, first_day: str) -> DataFrame:
    """Check results only: the plots compare like with like."""
    checks = trends.where((F.col("kind") == "check") & (F.col("run_date") >= first_day))
    return checks.orderBy("protocol", "target", "run_date", "target_version")
