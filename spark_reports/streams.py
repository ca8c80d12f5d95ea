"""Finds the result streams below the paths a caller names, on any file system that Hadoop can read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_reports.errors import Unavailable, first_sentence

NDJSON, PARQUET = "ndjson", "parquet"
NAMES = {"events.ndjson": NDJSON, "events.parquet": PARQUET}


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


class Files:
    """The few file operations a report needs, through Hadoop so that `hdfs:` and `s3a:` work like a local path."""

    def __init__(self, spark: SparkSession):
        self._jvm = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()

    def path(self, text: str):
        return self._jvm.org.apache.hadoop.fs.Path(text)

    def system(self, text: str):
        return self.path(text).getFileSystem(self._conf)

    def glob(self, pattern: str) -> list:
        """The statuses that match, or that are at the path itself; empty when nothing is there."""
        system = self.system(pattern)
        plain = self.path(pattern)
        if system.exists(plain):
            return [system.getFileStatus(plain)]
        return list(system.globStatus(plain) or [])

    def children(self, folder: str) -> list:
        return sorted(self.system(folder).listStatus(self.path(folder)), key=lambda status: status.getPath().getName())

    def exists(self, text: str) -> bool:
        return self.system(text).exists(self.path(text))

    def delete(self, text: str) -> None:
        self.system(text).delete(self.path(text), True)

    def read(self, text: str, start: int, length: int) -> bytes:
        stream = self.system(text).open(self.path(text))
        try:
            stream.seek(start)
            return bytes(stream.readNBytes(length))
        finally:
            stream.close()


def find_streams(files: Files, paths: Iterable[str]) -> tuple[list[StreamFile], list[NotARun]]:
    """Every stream below the paths, and every folder there that is none; a path with nothing in it is an error."""
    streams: dict[str, StreamFile] = {}
    strays: dict[str, NotARun] = {}
    for path in paths:
        found = list(_below(files, path))
        if not any(isinstance(item, StreamFile) for item in found):
            raise Unavailable(f"{path} holds no run: a run is a folder with events.ndjson or events.parquet in it.")
        for item in found:
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


def _from_root(files: Files, root) -> Iterator[StreamFile | NotARun]:
    """A stream, a run folder, or a folder of run folders."""
    stream = _as_stream(files, root) or _as_run(files, root)
    if stream:
        yield stream
        return
    if not root.isDirectory():
        yield NotARun(root.getPath().toString(), "not a result stream")
        return
    for child in files.children(root.getPath().toString()):
        name = child.getPath().getName()
        if name.startswith((".", "_")):
            continue
        stream = _as_stream(files, child) or _as_run(files, child)
        if stream:
            yield stream
        elif child.isDirectory():
            yield NotARun(child.getPath().toString(), "not a run: no events.ndjson and no events.parquet in it")


def _as_stream(files: Files, status) -> StreamFile | None:
    suffix = status.getPath().getName().rpartition(".")[2]
    if suffix == NDJSON and status.isFile():
        return StreamFile(status.getPath().toString(), NDJSON, status.getLen(), status.getModificationTime())
    if suffix == PARQUET:
        return _parquet(files, status)
    return None


def _as_run(files: Files, status) -> StreamFile | None:
    if not status.isDirectory():
        return None
    for name in NAMES:
        inside = status.getPath().toString() + "/" + name
        if files.exists(inside):
            return _as_stream(files, files.glob(inside)[0])
    return None


def _parquet(files: Files, status) -> StreamFile:
    """A single file, or the folder of part files that Spark writes."""
    path = status.getPath().toString()
    parts = [status] if status.isFile() else files.children(path)
    length = sum(part.getLen() for part in parts)
    return StreamFile(path, PARQUET, length, max((part.getModificationTime() for part in parts), default=0))
