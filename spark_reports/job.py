"""The job: ingest what is new, build every table, publish them and the site. The same code on a laptop and on a cluster."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from spark_reports.batch import take_in
from spark_reports.errors import Unavailable, first_sentence
from spark_reports.files import LOCAL, Files
from spark_reports.lake import Lake, in_window, live_runs
from spark_reports.runs import Run
from spark_reports.schemas import RUN, STATUS_KINDS, WHOLE
from spark_reports.session import SPARK_ERRORS, local_frame, side_by_side, spark_session, volume_settings
from spark_reports.site.build import build_site
from spark_reports.summary import Summary
from spark_reports.tables import summaries
from spark_reports.tables.culprits import culprits
from spark_reports.tables.current import START, TARGET_CASE, current, series_starts, with_history
from spark_reports.tables.history import history


@dataclasses.dataclass(frozen=True)
class Options:
    """What a caller may choose; every default suits a laptop."""

    tables: str | None = None  # where the Parquet lives; `<out>/tables` by default
    suites: Path | None = None  # folder with <protocol>/requirements.toml, for coverage and readings
    reference: str = "reference"  # the implementation that decides culprits
    window_days: int = 30  # flakes, regressions and the present are looked for in this many days
    leave_out: frozenset[str] = frozenset()  # absolute local paths of runs that are not to be believed


@dataclasses.dataclass(frozen=True)
class Tables:
    """Every table of a report, by name; `runs` has one row per readable run of the window, in order."""

    runs: DataFrame
    target_case: DataFrame
    culprits: DataFrame
    matrix: DataFrame
    layers: DataFrame
    groups: DataFrame
    ledger: DataFrame
    flaky: DataFrame
    changes: DataFrame
    lossy: DataFrame
    latency: DataFrame
    trends: DataFrame


def report(
    runs: Sequence[str | os.PathLike[str]],
    out: Path,
    master: str | None = None,
    options: Options | None = None,
    settings: dict[str, str] | None = None,
) -> Summary:
    """Read `runs`, write the tables and the site below `out`; `ReportError` says in one sentence what is wrong."""
    tables = (options or Options()).tables or Path(out, "tables")
    with spark_session(master, {**volume_settings([*runs, tables], master), **(settings or {})}) as spark:
        return report_with(spark, runs, out, options or Options())


def report_with(spark: SparkSession, runs: Sequence[str | os.PathLike[str]], out: Path, options: Options) -> Summary:
    """The same on a session that the caller keeps."""
    _make_writable(out)
    try:
        return _report(spark, runs, out, options)
    except SPARK_ERRORS as error:
        raise Unavailable(f"Spark gave up: {first_sentence(error)}.") from error


def _report(spark: SparkSession, runs: Sequence[str | os.PathLike[str]], out: Path, options: Options) -> Summary:
    root = options.tables or f"{LOCAL}{Path(out, 'tables').resolve()}"
    lake = Lake(spark, Files(spark), root)
    everything = take_in(lake, [os.fspath(path) for path in runs], options.leave_out)
    status = [run for run in live_runs(everything) if run.kind in STATUS_KINDS]
    if not status:
        raise Unavailable("None of the runs can be reported: no check and no matrix run with a readable header.")
    tables = publish(lake, build_tables(lake, status, options))
    return build_site(lake, tables, everything, status, out, options.suites)


def build_tables(lake: Lake, status: list[Run], options: Options) -> Tables:
    """All tables from the lake: facts of the window only, tallies of the whole history."""
    window = in_window(status, options.window_days)
    runs = numbered_runs(lake.spark, window)
    tallies = lake.tallies(window)
    series = [row.asDict() for row in series_starts(tallies).collect()]
    starts = local_frame(lake.spark, series, START)
    present = {seq for row in series for seq in row["present"]}
    # The runs that hold the present of some series: about one night's worth.
    newest = lake.results(run for run in window if run.seq in present)
    cells = with_history(current(newest, starts), history(lake.facts(window)))
    target_case = lake.publish("target_case", cells.select(*TARGET_CASE))
    blame = lake.publish("culprits", culprits(target_case, options.reference).coalesce(1))
    return Tables(
        runs=runs,
        target_case=target_case,
        culprits=blame,
        matrix=summaries.matrix(target_case, blame),
        layers=summaries.layers(target_case),
        groups=summaries.groups(target_case),
        ledger=summaries.ledger(target_case),
        flaky=summaries.flaky(target_case),
        changes=summaries.changes(target_case, runs),
        lossy=summaries.lossy(target_case),
        latency=summaries.latency(tallies, starts),
        trends=summaries.trends(lake.tallies(status)),
    )


def numbered_runs(spark: SparkSession, runs: list[Run]) -> DataFrame:
    """The runs in the order in which they began: `seq` is what "before" and "after" mean, late arrivals included."""
    schema = T.StructType([*RUN.fields, T.StructField("seq", WHOLE)])
    return local_frame(spark, [{**run.row(), "seq": run.seq} for run in runs], schema)


def publish(lake: Lake, tables: Tables) -> Tables:
    """Write the tables that are not stored yet, and return all of them as stored."""
    names = [field.name for field in dataclasses.fields(Tables) if field.name not in ("target_case", "culprits")]
    jobs = {name: partial(lake.publish, name, getattr(tables, name).coalesce(1)) for name in names}
    return dataclasses.replace(tables, **side_by_side(jobs))


def _make_writable(out: Path) -> None:
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{out} cannot be written: {error.strerror}.") from error
