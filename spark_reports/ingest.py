"""Turns lines and Parquet rows into facts: every line is either a good case or carries the reason why it is not."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.runs import Run
from spark_reports.schemas import (
    ABOUT,
    EVENT,
    EVIDENCE,
    FACT,
    KNOWN_SCHEMA,
    OWNER,
    PAIR,
    REQUIRED,
    SEPARATOR,
    VERDICTS,
    cell_number,
    is_blamed,
    is_evidence,
    is_lossy,
    joined,
    run_number,
)
from spark_reports.session import local_frame
from spark_reports.streams import NDJSON, PARQUET

CORRUPT = "_corrupt"
#: Enough of a bad line to recognise it; the stream itself keeps the rest.
LINE_KEPT = 500

#: Defaults of the optional case columns, as the schema gives them.
_DEFAULTS = {
    **dict.fromkeys(("reach", "target_version", "peer", "peer_version", "scenario", "fault_profile"), ""),
    **dict.fromkeys(("note", "example", "replay", "culprit", "reading_along"), ""),
    **dict.fromkeys(("repetition", "seed"), 0),
    "expected": "pass",
}


def read_facts(spark: SparkSession, runs: list[Run], distinct: bool) -> DataFrame:
    """The facts of these runs; `distinct` drops a case that a stream tells twice, at the price of a shuffle."""
    readers = {NDJSON: _read_ndjson, PARQUET: read_parquet}
    parts = [
        read(spark, [run.path for run in runs if run.format == kind])
        for kind, read in readers.items()
        if any(run.format == kind for run in runs)
    ]
    events = reduce(DataFrame.unionByName, parts)
    facts = to_facts(events.join(F.broadcast(_owners(spark, runs)), on="file", how="inner"))
    return facts.dropDuplicates(["run", "reason", "line", "cell", "repetition"]) if distinct else facts


def _owners(spark: SparkSession, runs: list[Run]) -> DataFrame:
    """`file, owner, run` of every file, named as Spark names it: decoding that name for each of its rows is dear."""
    owners = [{"stream": normal_path(run.path), "owner": run.run_id, "batch": run.batch} for run in runs]
    listed = spark.read.format("binaryFile").load([_literal(run.path) for run in runs])
    files = listed.select(_file()).withColumn("stream", stream_of("file"))
    owned = files.join(F.broadcast(local_frame(spark, owners, OWNER)), on="stream", how="inner")
    return owned.select("file", "owner", run_number("owner").alias("run"))


def _read_ndjson(spark: SparkSession, paths: list[str]) -> DataFrame:
    with_corrupt = T.StructType([*EVENT.fields, T.StructField(CORRUPT, T.StringType())])
    parsed = F.from_json("value", with_corrupt, {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})
    lines = spark.read.text([_literal(path) for path in paths]).where(F.trim("value") != "")
    return lines.select(_file(), "value", parsed.alias("event")).select("file", "value", "event.*")


def read_parquet(spark: SparkSession, paths: list[str]) -> DataFrame:
    rows = spark.read.schema(EVENT).parquet(*[_literal(path) for path in paths])
    empty = F.lit(None).cast("string")
    return rows.select(_file(), empty.alias("value"), *EVENT.names, empty.alias(CORRUPT))


def to_facts(events: DataFrame) -> DataFrame:
    """Pure: events with their owner in, `FACT` out; headers and footers that fit are left to the manifest."""
    is_case = F.coalesce(F.col("type") == "case", F.lit(False))
    is_frame = F.col("type").isin("header", "footer") & (F.col("run_id") == F.col("owner"))
    complete = events.withColumns({name: F.coalesce(name, F.lit(value)) for name, value in _DEFAULTS.items()})
    judged = complete.withColumn("reason", why_bad()).where(is_case | F.col("reason").isNotNull() | ~is_frame)
    is_good = F.col("reason").isNull()
    line = F.substring(F.coalesce("value", F.to_json(F.struct("type", *REQUIRED))), 1, LINE_KEPT)
    columns = {
        "cell": cell_number(),
        "is_evidence": is_good & is_evidence(),
        "is_blamed": is_good & is_blamed(),
        "is_lossy": is_lossy(),
        "latency_ms": F.when(is_good, latency_ms()),
        "verdict": F.when(is_good, F.col("verdict")),
        "pair": F.when(is_good, joined(*PAIR)),
        "about": F.when(is_good, joined(*ABOUT, "requirements")),
        "evidence": F.when(is_good & (F.col("verdict") != "pass"), F.to_json(F.struct(*EVIDENCE.names))),
        "line": F.when(~is_good, line),
    }
    return judged.select(*[columns.get(name, F.col(name)).alias(name) for name in FACT.names])


def latency_ms() -> Column:
    """What the case measured, else how long it took as a whole."""
    return F.coalesce(F.element_at("measures", "latency_ms"), F.nullif(F.col("duration_s") * 1000, F.lit(0.0)))


def why_bad() -> Column:
    """The first reason that applies to an event, or null."""
    missing = reduce(Column.__or__, [F.col(name).isNull() for name in REQUIRED])
    is_case = F.col("type") == "case"
    return (
        F.when(F.coalesce("schema", F.lit(KNOWN_SCHEMA)) != KNOWN_SCHEMA, F.lit("another schema version"))
        .when(F.col(CORRUPT).isNotNull() & F.col("type").isNull(), F.lit("not JSON"))
        .when(F.col(CORRUPT).isNotNull(), F.lit("a field of the wrong type"))
        .when(F.col("type").isNull() | ~F.col("type").isin("header", "case", "footer"), F.lit("an unknown event type"))
        .when(is_case & missing, F.lit("a required field is missing"))
        .when(F.col("run_id").isNull() | (F.col("run_id") != F.col("owner")), F.lit("belongs to another run"))
        .when(is_case & ~F.col("verdict").isin(*VERDICTS), F.lit("an unknown verdict"))
        .when(
            is_case & F.concat_ws("", *PAIR, *ABOUT, "requirements").contains(SEPARATOR),
            F.lit("a control character in a name"),
        )
    )


def normal_path(path: str) -> str:
    """Hadoop spells a local path `file:/x`, Spark's metadata `file:///x`, percent-encoded."""
    scheme, _, rest = path.partition(":")
    return f"{scheme}:/{rest.lstrip('/')}" if scheme == "file" else path


def _file() -> Column:
    """The file a row was read from, percent-encoded."""
    return F.col("_metadata.file_path").alias("file")


def stream_of(file: str) -> Column:
    """The stream a file belongs to: itself, or the folder `x.parquet` it is a part of."""
    decoded = F.url_decode(F.replace(F.col(file), F.lit("+"), F.lit("%2B")))
    return F.regexp_replace(F.regexp_replace(decoded, "^file:/+", "file:/"), "([.]parquet)/[^/]*$", "$1")


def _literal(path: str) -> str:
    """A path as a glob pattern that matches only itself."""
    return "".join("\\" + letter if letter in "{}[]*?\\" else letter for letter in path)
