"""The same job on a real standalone master with two workers on loopback gives the same tables as local mode."""

from __future__ import annotations

import dataclasses
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import spark_reports.__main__
from spark_reports.java import find_java_home
from spark_reports.schemas import TABLES_VERSION
from spark_reports.session import SMALL_SETTINGS

SPARK_HOME = Path(pyspark.__file__).parent
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a JVM that lives for a minute among four others: compile in haste, and collect with one thread."""
TABLES = ("target_case", "culprits", "matrix", "groups", "ledger", "flaky", "changes", "lossy", "latency", "trends")


@dataclasses.dataclass
class Daemon:
    """A Spark daemon; its log is read as events."""

    process: subprocess.Popen[str]
    lines: queue.Queue[str]

    @classmethod
    def start(cls, java_class: str, *arguments: str, work: Path) -> Daemon:
        environment = os.environ | {
            "JAVA_HOME": str(find_java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_WORKER_DIR": str(work),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        }
        command = [str(SPARK_HOME / "bin" / "spark-class"), java_class, "--host", "127.0.0.1", *arguments]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        daemon = cls(process, queue.Queue())
        threading.Thread(target=daemon._read, daemon=True).start()
        return daemon

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)

    def wait_for(self, pattern: str) -> str:
        seen = []
        while True:
            try:
                seen.append(self.lines.get(timeout=90))
            except queue.Empty:
                pytest.fail(f"no {pattern!r} in:\n{''.join(seen)}")
            if found := re.search(pattern, seen[-1]):
                return found.group(1)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    work = tmp_path_factory.mktemp("spark")
    daemons = [Daemon.start("org.apache.spark.deploy.master.Master", "--port", "0", "--webui-port", "0", work=work)]
    try:
        url = daemons[0].wait_for(r"Starting Spark master at (spark://\S+)")
        worker = "org.apache.spark.deploy.worker.Worker"
        for _ in range(2):
            daemons.append(Daemon.start(worker, "--cores", "1", "--memory", "1g", "--webui-port", "0", url, work=work))
        for _ in range(2):
            daemons[0].wait_for(r"Registering worker (\S+)")
        yield url
    finally:
        for daemon in daemons:
            daemon.process.terminate()
            daemon.process.wait(timeout=30)


@pytest.fixture(scope="module")
def defaults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration folder as a cluster's owner would keep it: here, settings for little data."""
    folder = tmp_path_factory.mktemp("conf")
    lines = {**SMALL_SETTINGS, "spark.executor.memory": "512m", "spark.executor.extraJavaOptions": SHORT_LIVED}
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
    return folder


def by_module(url: str) -> list[str]:
    return [sys.executable, "-m", "spark_reports", "--master", url]


def by_spark_submit(url: str) -> list[str]:
    return [str(SPARK_HOME / "bin" / "spark-submit"), "--master", url, str(spark_reports.__main__.__file__)]


@pytest.mark.parametrize("command", [by_module, by_spark_submit])
def test_a_cluster_gives_the_tables_of_local_mode(
    spark: SparkSession, reported, master: str, defaults: Path, tmp_path: Path, command: Callable[[str], list[str]]
) -> None:
    environment = os.environ | {
        "JAVA_HOME": str(find_java_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(defaults),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    arguments = [*command(master), str(reported.runs), "--out", str(tmp_path / "site")]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    for name in TABLES:
        here = spark.read.parquet(str(reported.site / "tables" / f"v{TABLES_VERSION}" / "tables" / name))
        there = spark.read.parquet(str(tmp_path / "site" / "tables" / f"v{TABLES_VERSION}" / "tables" / name))
        columns = [column for column, kind in here.dtypes if "map" not in kind]
        ours, theirs = (sorted(map(repr, table.select(columns).collect())) for table in (here, there))
        assert ours == theirs, name
        assert ours, name
