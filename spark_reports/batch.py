"""One batch: finds what is new under the given paths and adds it to the lake. Everything seen before is left alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from functools import partial

from pyspark.sql import functions as F

from spark_reports.ingest import read_facts
from spark_reports.lake import Lake
from spark_reports.parquet import describe_parquet, unreadable_parquet
from spark_reports.runs import COMPLETE, LIVE, PARTIAL, REJECTED, Run, describe_ndjson, settle_duplicates
from spark_reports.session import SPARK_ERRORS, side_by_side
from spark_reports.streams import NDJSON, PARQUET, StreamFile, find_streams
from spark_reports.tables.tallies import tally


def take_in(lake: Lake, paths: Iterable[str], leave_out: Collection[str] = ()) -> list[Run]:
    """Ingest the new streams; returns the latest word about every stream ever seen."""
    streams, strays = find_streams(lake.files, paths, leave_out)
    known = {run.path: run for run in lake.known_runs()}
    seen = {run.fingerprint for run in known.values()}
    new = [stream for stream in streams if (stream.path, stream.length, stream.modified) not in seen]
    batch = 1 + max((run.batch for run in known.values()), default=0)
    rejected = [Run(stray.path, reason=stray.reason, batch=batch) for stray in strays if stray.path not in known]
    if new or rejected:
        told = [*rejected, *_ingest(lake, new, list(known.values()), batch)]
        lake.write_runs(told)
        known |= {run.path: run for run in told}
    return sorted(known.values(), key=lambda run: run.path)


def _ingest(lake: Lake, streams: list[StreamFile], known: list[Run], batch: int) -> list[Run]:
    """Peek, settle duplicates, store the cases, check them against the footers.

    A stream with a footer is stored as it comes, the others without repeated cases. If more came of it than its footer
    counts, it is stored once more like the others, as a batch of its own: that is rare and the check is free.
    """
    texts = [stream for stream in streams if stream.format == NDJSON]
    columns = [stream for stream in streams if stream.format == PARQUET]
    peeked = [*describe_ndjson(lake.files, texts), *describe_parquet(lake.spark, columns)]
    claimed = {run.path: cases for run, cases in peeked}
    runs = settle_duplicates([run for run, _ in peeked], known)
    live = [run for run in runs if run.state in LIVE]
    sure = _store(lake, [run for run in live if claimed[run.path] is not None], batch, distinct=False)
    twice = [run for run in sure if run.state in LIVE and run.cases > (claimed[run.path] or 0)]
    doubtful = [*twice, *(run for run in live if claimed[run.path] is None)]
    careful = _store(lake, doubtful, batch + 1, distinct=True)
    settled = {run.path: _settle(run, claimed[run.path]) for run in [*sure, *careful]}
    return [settled.get(run.path, dataclasses.replace(run, batch=batch)) for run in runs]


def _store(lake: Lake, runs: list[Run], batch: int, distinct: bool) -> list[Run]:
    """Write facts, tallies and bad lines; a Parquet file that turns out unreadable is rejected and the others are stored."""
    mine = [dataclasses.replace(run, batch=batch) for run in runs]
    if not mine:
        return []
    try:
        months = sorted({run.month for run in mine})
        side_by_side({month: partial(_write_month, lake, mine, month, distinct) for month in months})
    except SPARK_ERRORS:
        reasons = unreadable_parquet(lake.spark, [run.path for run in mine if run.format == PARQUET])
        if not reasons:
            raise
        readable = [run for run in mine if run.path not in reasons]
        refused = [run for run in mine if run.path in reasons]
        rejected = [dataclasses.replace(run, state=REJECTED, reason=reasons[run.path]) for run in refused]
        return [*rejected, *_store(lake, readable, batch, distinct)]
    counted = _tally(lake, mine, batch)
    spoiled = [run for run in counted if run.bad_lines]
    if spoiled:
        lake.write_quarantine(lake.facts(spoiled).where("reason IS NOT NULL"), batch)
    return counted


def _write_month(lake: Lake, runs: list[Run], month: str, distinct: bool) -> None:
    mine = [run for run in runs if run.month == month]
    lake.write_facts(read_facts(lake.spark, mine, distinct), mine[0].batch, month)


def _tally(lake: Lake, runs: list[Run], batch: int) -> list[Run]:
    """Store the tallies of these runs; returns the runs with the good cases and bad lines of each."""
    lake.write_tallies(tally(lake.facts(runs)), batch)
    rows = lake.tallies(runs).groupBy("run_id").agg(F.sum("cases"), F.sum("bad_lines")).collect()
    counts = {run_id: (good, bad) for run_id, good, bad in rows}
    found = [(run, *counts.get(run.run_id, (0, 0))) for run in runs]
    return [dataclasses.replace(run, cases=good, bad_lines=bad) for run, good, bad in found]


def _settle(run: Run, claimed: int | None) -> Run:
    """A run that has fewer cases than its footer or its plan says is partial, footer or not."""
    if run.state == COMPLETE and claimed is not None and run.cases < claimed:
        reason = f"{run.cases} of the {claimed} cases its footer counts"
        return dataclasses.replace(run, state=PARTIAL, reason=reason)
    if run.state == COMPLETE and run.cases < run.planned:
        reason = f"{run.cases} of {run.planned} planned cases"
        return dataclasses.replace(run, state=PARTIAL, reason=reason)
    return run
