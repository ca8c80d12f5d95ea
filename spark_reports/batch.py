"""One batch: finds what is new under the given paths and adds it to the lake. Everything seen before is left alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from pyspark.sql import functions as F

from spark_reports.ingest import read_facts
from spark_reports.lake import Lake
from spark_reports.parquet import describe_parquet, unreadable_parquet
from spark_reports.runs import COMPLETE, LIVE, PARTIAL, REJECTED, Run, describe_ndjson, settle_duplicates
from spark_reports.session import SPARK_ERRORS
from spark_reports.streams import NDJSON, PARQUET, StreamFile, find_streams
from spark_reports.tables.tallies import tally


def take_in(lake: Lake, paths: Iterable[str]) -> list[Run]:
    """Ingest the new streams; returns the latest word about every stream ever seen."""
    streams, strays = find_streams(lake.files, paths)
    known = {run.path: run for run in lake.known_runs()}
    seen = {run.fingerprint for run in known.values()}
    new = [stream for stream in streams if (stream.path, stream.length, stream.modified) not in seen]
    rejected = [Run(stray.path, reason=stray.reason) for stray in strays if stray.path not in known]
    if new or rejected:
        batch = 1 + max((run.batch for run in known.values()), default=0)
        described = [*rejected, *_ingest(lake, new, list(known.values()), batch)]
        stamped = [dataclasses.replace(run, batch=batch) for run in described]
        lake.write_runs(stamped, batch)
        known |= {run.path: run for run in stamped}
    return sorted(known.values(), key=lambda run: run.path)


def _ingest(lake: Lake, streams: list[StreamFile], known: list[Run], batch: int) -> list[Run]:
    """Peek, settle duplicates, read the cases, check them against the footers, tally."""
    texts = [stream for stream in streams if stream.format == NDJSON]
    columns = [stream for stream in streams if stream.format == PARQUET]
    peeked = [*describe_ndjson(lake.files, texts), *describe_parquet(lake.spark, columns)]
    claimed = {run.path: cases for run, cases in peeked}
    runs = settle_duplicates([run for run, _ in peeked], known)
    live = [run for run in runs if run.state in LIVE]
    if not live:
        return runs
    live, broken = _write(lake, live, claimed)
    counts = _tally(lake, live, batch)
    twice = [run for run in live if claimed[run.path] is not None and counts[run.run_id][0] > claimed[run.path]]
    if twice:
        _store(lake, twice, distinct=True)
        counts = _tally(lake, live, batch)
    spoiled = [run for run in live if counts[run.run_id][1]]
    if spoiled:
        lake.write_quarantine(lake.facts(spoiled).where("reason IS NOT NULL"), batch)
    settled = {run.path: _settle(run, *counts[run.run_id], claimed[run.path]) for run in live}
    return [settled.get(run.path, broken.get(run.path, run)) for run in runs]


def _write(lake: Lake, live: list[Run], claimed: dict[str, int | None]) -> tuple[list[Run], dict[str, Run]]:
    """Store the facts; a Parquet file that turns out unreadable is put aside and the others are stored without it."""
    broken: dict[str, Run] = {}
    for sure in (True, False):
        part = [run for run in live if (claimed[run.path] is not None) is sure]
        try:
            _store(lake, part, distinct=not sure)
        except SPARK_ERRORS:
            reasons = unreadable_parquet(lake.spark, [run.path for run in part if run.format == PARQUET])
            if not reasons:
                raise
            broken |= {run.path: _reject(run, reasons[run.path]) for run in part if run.path in reasons}
            _store(lake, [run for run in part if run.path not in reasons], distinct=not sure)
    return [run for run in live if run.path not in broken], broken


def _reject(run: Run, reason: str) -> Run:
    return dataclasses.replace(run, state=REJECTED, reason=reason)


def _store(lake: Lake, runs: list[Run], distinct: bool) -> None:
    if runs:
        lake.write_facts(read_facts(lake.spark, runs, distinct), runs)


def _tally(lake: Lake, runs: list[Run], batch: int) -> dict[str, tuple[int, int]]:
    """Store the tallies of these runs; returns the good cases and bad lines of each."""
    stored = lake.write_tallies(tally(lake.facts(runs)), batch)
    rows = stored.groupBy("run_id").agg(F.sum("cases"), F.sum("bad_lines")).collect()
    return {run.run_id: (0, 0) for run in runs} | {run_id: (good, bad) for run_id, good, bad in rows}


def _settle(run: Run, cases: int, bad_lines: int, claimed: int | None) -> Run:
    """A run that has fewer cases than its footer or its plan says is partial, footer or not."""
    counted = dataclasses.replace(run, cases=cases, bad_lines=bad_lines)
    if run.state == COMPLETE and claimed is not None and cases < claimed:
        return dataclasses.replace(counted, state=PARTIAL, reason=f"{cases} of the {claimed} cases its footer counts")
    if run.state == COMPLETE and cases < run.planned:
        return dataclasses.replace(counted, state=PARTIAL, reason=f"{cases} of {run.planned} planned cases")
    return counted
