"""The few file operations a report needs: through Hadoop, so that `hdfs:` and `s3a:` work, and directly on a local disk.

A call into the JVM costs half a millisecond and a listing needs dozens per run: a thousand local runs took ten seconds.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from pyspark.sql import SparkSession

LOCAL = "file:"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file or folder; `path` is spelled as Hadoop spells it, with its scheme."""

    path: str
    is_folder: bool
    length: int
    modified: int  # milliseconds since 1970

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Files:
    """Local paths are those that begin with `file:`; whether a bare path is one is for Hadoop's configuration to say."""

    def __init__(self, spark: SparkSession):
        self._path: Any = spark._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]  # looked up once: that is slow
        self._conf: Any = spark._jsc.hadoopConfiguration()

    def glob(self, pattern: str) -> list[Entry]:
        """What matches, or what is at the path itself; empty when nothing is there."""
        system, plain = self._system(pattern)
        if system.exists(plain):
            return [_entry(system.getFileStatus(plain))]
        return [_entry(status) for status in system.globStatus(plain) or []]

    def children(self, folder: str) -> list[Entry]:
        if folder.startswith(LOCAL):
            with os.scandir(_plain(folder)) as found:
                entries = [_local_entry(folder, entry) for entry in found]
        else:
            system, path = self._system(folder)
            entries = [_entry(status) for status in system.listStatus(path)]
        return sorted(entries, key=lambda entry: entry.name)

    def exists(self, text: str) -> bool:
        if text.startswith(LOCAL):
            return os.path.exists(_plain(text))
        system, path = self._system(text)
        return bool(system.exists(path))

    def read(self, text: str, start: int, length: int) -> bytes:
        if text.startswith(LOCAL):
            with open(_plain(text), "rb") as file:
                file.seek(start)
                return file.read(length)
        system, path = self._system(text)
        stream = system.open(path)
        try:
            stream.seek(start)
            return bytes(stream.readNBytes(length))
        finally:
            stream.close()

    def _system(self, text: str) -> tuple[Any, Any]:
        path = self._path(text)
        return path.getFileSystem(self._conf), path


def _plain(path: str) -> str:
    return "/" + path.removeprefix(LOCAL).lstrip("/")


def _entry(status: Any) -> Entry:
    return Entry(status.getPath().toString(), status.isDirectory(), status.getLen(), status.getModificationTime())


def _local_entry(folder: str, entry: os.DirEntry[str]) -> Entry:
    """A dangling link counts as an empty file, as a stream that vanished while we looked."""
    try:
        seen = entry.stat()
    except FileNotFoundError:
        seen = entry.stat(follow_symlinks=False)
    return Entry(f"{folder.rstrip('/')}/{entry.name}", entry.is_dir(), seen.st_size, seen.st_mtime_ns // 1_000_000)
