"""Runs kept as Parquet: the same events, one row each, in `events.parquet`."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_reports.errors import first_sentence
from spark_reports.ingest import normal_path, read_parquet, stream_of
from spark_reports.runs import Run, describe
from spark_reports.schemas import FOOTER, HEADER
from spark_reports.session import SPARK_ERRORS
from spark_reports.streams import StreamFile

Described = tuple[Run, int | None]


def describe_parquet(spark: SparkSession, streams: list[StreamFile]) -> list[Described]:
    """Each stream's run, from its header and footer rows spelled as the lines they would be in NDJSON."""
    if not streams:
        return []
    try:
        frames = _frames(spark, [stream.path for stream in streams])
    except SPARK_ERRORS:
        reasons = unreadable_parquet(spark, [stream.path for stream in streams])
        readable = [stream for stream in streams if stream.path not in reasons]
        refused = [_rejected(stream, reasons[stream.path]) for stream in streams if stream.path in reasons]
        return [*refused, *(describe_parquet(spark, readable) if refused else [])]
    nothing: dict[str, bytes] = {}
    found = [(stream, frames.get(normal_path(stream.path), nothing)) for stream in streams]
    return [describe(stream, lines.get("header", b""), lines.get("footer")) for stream, lines in found]


def unreadable_parquet(spark: SparkSession, paths: Iterable[str]) -> dict[str, str]:
    """Which of the files cannot be read with this schema, and why; slow, so only asked once something failed."""
    reasons = {}
    for path in paths:
        try:
            read_parquet(spark, [path]).write.format("noop").mode("overwrite").save()
        except SPARK_ERRORS as error:
            reasons[path] = f"unreadable as Parquet: {first_sentence(error)}"
    return reasons


def _frames(spark: SparkSession, paths: list[str]) -> dict[str, dict[str, bytes]]:
    rows = read_parquet(spark, paths).where(F.col("type").isin("header", "footer"))
    as_line = F.when(F.col("type") == "header", F.to_json(F.struct("type", *HEADER.names))).otherwise(
        F.to_json(F.struct("type", *FOOTER.names))
    )
    frames: dict[str, dict[str, bytes]] = {}
    for stream, kind, line in rows.select(stream_of("file"), "type", as_line).collect():
        frames.setdefault(stream, {}).setdefault(kind, line.encode())
    return frames


def _rejected(stream: StreamFile, reason: str) -> Described:
    return Run(stream.path, stream.format, stream.length, stream.modified, reason=reason), None
