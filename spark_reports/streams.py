"""Finds the result streams below the paths a caller names, on any file system that Hadoop can read."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it ships no types

from spark_reports.errors import Unavailable, first_sentence
from spark_reports.files import LOCAL, Entry, Files

NDJSON, PARQUET = "ndjson", "parquet"
NAMES = ("events.ndjson", "events.parquet")


@dataclasses.dataclass(frozen=True)
class StreamFile:
    """One stream as the file system shows it; length and time of change tell whether it was read before."""

    path: str
    format: str
    length: int
    modified: int


@dataclasses.dataclass(frozen=True)
class NotARun:
    path: str
    reason: str


def find_streams(
    files: Files, paths: Iterable[str], leave_out: Collection[str] = ()
) -> tuple[list[StreamFile], list[NotARun]]:
    """Every stream below the paths but those to leave out, and every folder there that is none; a path with nothing in it is an
    error."""
    unwanted = {f"{LOCAL}{path}" for path in leave_out}
    streams: dict[str, StreamFile] = {}
    strays: dict[str, NotARun] = {}
    for path in paths:
        found = list(_below(files, path))
        if not any(isinstance(item, StreamFile) for item in found):
            raise Unavailable(f"{path} holds no run: a run is a folder with events.ndjson or events.parquet in it.")
        for item in found:
            if item.path in unwanted or item.path.rpartition("/")[0] in unwanted:
                continue
            if isinstance(item, StreamFile):
                streams[item.path] = item
            else:
                strays[item.path] = item
    return sorted(streams.values(), key=lambda stream: stream.path), list(strays.values())


def _below(files: Files, path: str) -> Iterator[StreamFile | NotARun]:
    try:
        roots = files.glob(path)
        if not roots:
            raise Unavailable(f"{path} cannot be read: there is no such file or folder.")
        for root in roots:
            yield from _from_root(files, root)
    except Py4JJavaError as error:
        raise Unavailable(f"{path} cannot be read: {first_sentence(error.java_exception)}.") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error


def _from_root(files: Files, root: Entry) -> Iterator[StreamFile | NotARun]:
    """A stream, a run folder, or a folder of run folders."""
    if not root.is_folder:
        yield _as_stream(files, root) or NotARun(root.path, "not a result stream")
        return
    inside = files.children(root.path)
    stream = _as_stream(files, root) or _as_run(files, inside)
    if stream:
        yield stream
        return
    for child in inside:
        if child.name.startswith((".", "_")):
            continue
        stream = _as_stream(files, child) or (_as_run(files, files.children(child.path)) if child.is_folder else None)
        if stream:
            yield stream
        elif child.is_folder:
            yield NotARun(child.path, "not a run: no events.ndjson and no events.parquet in it")


def _as_stream(files: Files, entry: Entry) -> StreamFile | None:
    suffix = entry.name.rpartition(".")[2]
    if suffix == NDJSON and not entry.is_folder:
        return StreamFile(entry.path, NDJSON, entry.length, entry.modified)
    if suffix == PARQUET:
        return _parquet(files, entry)
    return None


def _as_run(files: Files, inside: list[Entry]) -> StreamFile | None:
    found = {entry.name: entry for entry in inside if entry.name in NAMES}
    return next((_as_stream(files, found[name]) for name in NAMES if name in found), None)


def _parquet(files: Files, entry: Entry) -> StreamFile:
    """A single file, or the folder of part files that Spark writes."""
    parts = files.children(entry.path) if entry.is_folder else [entry]
    length = sum(part.length for part in parts)
    return StreamFile(entry.path, PARQUET, length, max((part.modified for part in parts), default=0))
