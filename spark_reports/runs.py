"""What is known about each stream before its cases are read: its header, its footer, and whether it is worth reading."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from pyspark.sql import Row

from harness.judging.result import Footer, Header, decode
from spark_reports.files import Files
from spark_reports.schemas import KNOWN_SCHEMA, RUN
from spark_reports.streams import StreamFile

COMPLETE, PARTIAL, DUPLICATE, REJECTED = "complete", "partial", "duplicate", "rejected"
LIVE = (COMPLETE, PARTIAL)

#: A header names targets and a command: a few hundred bytes; a longer first line is read up to the second number.
PEEK, PEEK_MOST = 16 * 1024, 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Run:
    """One stream and the run it holds: a row of the manifest."""

    path: str
    format: str = ""
    length: int = 0
    modified: int = 0
    state: str = REJECTED
    reason: str = ""
    run_id: str = ""
    run_date: str = ""
    started_at: str = ""
    finished_at: str = ""
    kind: str = ""
    seed: int = 0
    planned: int = 0
    command: str = ""
    harness_version: str = ""
    commit: str = ""
    python: str = ""
    platform: str = ""
    protocols: list[str] = dataclasses.field(default_factory=list)
    targets: list[dict[str, str]] = dataclasses.field(default_factory=list)
    exit_code: int = 0
    duration_s: float = 0.0
    measures: dict[str, float] = dataclasses.field(default_factory=dict)
    cases: int = 0
    bad_lines: int = 0
    batch: int = 0
    seq: int = 0  # its place among the live runs in the order in which they began; not stored, a late run may change it

    @property
    def month(self) -> str:
        return self.run_date[:7]

    @property
    def fingerprint(self) -> tuple[str, int, int]:
        return self.path, self.length, self.modified

    def row(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in RUN.fields}


def run_from_row(row: Row) -> Run:
    fields = row.asDict(recursive=True)
    return Run(**{field.name: fields[field.name] for field in RUN.fields})


def describe_ndjson(files: Files, streams: Iterable[StreamFile]) -> Iterator[tuple[Run, int | None]]:
    """Each stream's run and the number of cases its footer claims; None without a footer."""
    with ThreadPoolExecutor(8) as pool:
        yield from pool.map(lambda stream: _peek(files, stream), streams)


def _peek(files: Files, stream: StreamFile) -> tuple[Run, int | None]:
    if stream.length == 0:
        return describe(stream, b"", None)
    head = files.read(stream.path, 0, PEEK)
    if b"\n" not in head and stream.length > PEEK:
        head = files.read(stream.path, 0, PEEK_MOST)
    tail = files.read(stream.path, max(0, stream.length - PEEK), PEEK)
    return describe(stream, head.split(b"\n", 1)[0], tail.rstrip(b"\n").rsplit(b"\n", 1)[-1])


def describe(stream: StreamFile, first: bytes, last: bytes | None) -> tuple[Run, int | None]:
    """The run that a stream's first and last line speak of."""
    seen = Run(stream.path, stream.format, stream.length, stream.modified)
    if not first.strip():
        return dataclasses.replace(seen, reason="an empty stream"), None
    header = _header(first)
    if isinstance(header, str):
        return dataclasses.replace(seen, reason=header), None
    started = _utc(header.started_at)
    if started is None:
        return dataclasses.replace(seen, reason=f"its header has no usable start: {header.started_at!r}"), None
    run = dataclasses.replace(
        seen,
        state=PARTIAL,
        reason="no footer",
        run_date=started.date().isoformat(),
        targets=[msgspec.to_builtins(target) for target in header.targets],
        **{name: getattr(header, name) for name in _FROM_HEADER},
        started_at=started.isoformat(timespec="microseconds"),
    )
    return _with_footer(run, last)


_FROM_HEADER = (
    "run_id",
    "kind",
    "seed",
    "planned",
    "command",
    "harness_version",
    "commit",
    "python",
    "platform",
    "protocols",
)


def _with_footer(run: Run, last: bytes | None) -> tuple[Run, int | None]:
    try:
        footer = decode(last or b"")
    except msgspec.MsgspecError:
        return run, None
    if not isinstance(footer, Footer) or footer.run_id != run.run_id:
        return run, None
    complete = dataclasses.replace(
        run,
        state=PARTIAL if footer.interrupted else COMPLETE,
        reason="it was interrupted" if footer.interrupted else "",
        finished_at=footer.finished_at,
        exit_code=footer.exit_code,
        duration_s=footer.duration_s,
        measures=footer.measures,
    )
    return complete, sum(footer.counts.values())


def _header(line: bytes) -> Header | str:
    """The header on a line, or why it is none."""
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return "its first line is not JSON"
    version = raw.get("schema", KNOWN_SCHEMA) if isinstance(raw, dict) else KNOWN_SCHEMA
    if version != KNOWN_SCHEMA:
        return f"schema version {version}, this report reads version {KNOWN_SCHEMA}"
    try:
        header = decode(line)
    except msgspec.MsgspecError as error:
        return f"its first line is no header: {error}"
    if not isinstance(header, Header):
        return "its first line is no header"
    return header if header.run_id else "its header names no run"


def _utc(text: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def settle_duplicates(new: list[Run], known: list[Run]) -> list[Run]:
    """Of the streams that tell the same run the fullest is read; the others are remembered as duplicates."""
    best: dict[str, Run] = {run.run_id: run for run in known if run.state in LIVE}
    for run in (run for run in new if run.state in LIVE):
        held = best.get(run.run_id)
        if held is None or held.path == run.path or _fullness(run) > _fullness(held):
            best[run.run_id] = run
    return [
        run
        if run.state not in LIVE or best[run.run_id] is run
        else dataclasses.replace(run, state=DUPLICATE, reason=f"the same run as {best[run.run_id].path}")
        for run in new
    ]


def _fullness(run: Run) -> tuple[bool, int]:
    return run.state == COMPLETE, run.length
