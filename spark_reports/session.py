"""The one place that builds a Spark session, with the settings every report relies on."""

from __future__ import annotations

import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it ships no types
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.errors import BadUsage, Unavailable, first_sentence
from spark_reports.java import find_java_home

Result = TypeVar("Result")
#: Jobs that are planned and run side by side.
AT_ONCE = 3

#: What a failing Spark action raises, depending on whether Spark has a name for the error.
SPARK_ERRORS = (PySparkException, Py4JJavaError)

#: Twenty times the JVM's own thresholds for its optimising compiler. A report is hundreds of generated classes and most run for
#: a second: compiling them well was a third of the processor time for ten million results. What runs per result gets there.
_LATER_OPTIMISATION = (
    "-XX:Tier4InvocationThreshold=100000 -XX:Tier4MinInvocationThreshold=12000 "
    "-XX:Tier4CompileThreshold=300000 -XX:Tier4BackEdgeThreshold=800000"
)

_LOGGING = Path(__file__).with_name("log4j2.properties")
_MASTER = re.compile(r"local(\[[^\]]+\])?|spark://[^/\s]+|yarn|k8s://\S+")

#: Settings that are about correctness or speed everywhere; spark-submit and `SPARK_CONF_DIR` may add others.
SETTINGS = {
    "spark.app.name": "touchstone report",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",  # a bad value in a stream becomes null and is quarantined; it must not end the job
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a run called 20261116 stays a string
    "spark.sql.parquet.compression.codec": "zstd",
    # Tables are folders by protocol: open the few of them side by side rather than sort all rows first.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    # Streams are many small files; counting each as 4 MiB would make one task of every 32 runs at most.
    "spark.sql.files.openCostInBytes": "262144",
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000",
    # Tells the JVM the Python line of every column that is named: a third of the time that planning a table takes.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

#: A few nights are less work than compiling code for them: half the processor time of the defaults, seen on 5,000 results.
SMALL_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
#: Up to this much input and tables on local disks the above holds; beyond it compiled code wins.
SMALL_BYTES = 64 * 1024 * 1024
#: A result takes some 600 bytes as a line and some 40 as a row of Parquet.
PARQUET_WEIGHT = 16

#: Settings for one machine: no UI to bind a port, loopback only, few and larger shuffle partitions.
LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "4",
    # Planning each stage anew pays where sizes are unknown and many; here it was a tenth of the processor time.
    "spark.sql.adaptive.enabled": "false",
    # Ten million results are some 300 MiB of Parquet: enough tasks that no core waits long for the other's last one.
    "spark.sql.files.maxPartitionBytes": "33554432",
    # On a local disk this starts a thread for every few columns of every file.
    "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
    # Listing run folders is a matter of microseconds each on a local disk, a Spark job for it costs a second.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
}


@contextmanager
def spark_session(master: str | None = None, settings: dict[str, str] | None = None) -> Iterator[SparkSession]:
    """A session that ends with the block; `None` means what spark-submit says, else `local[*]`."""
    spark = build_session(master, settings)
    try:
        yield spark
    finally:
        spark.stop()


def build_session(master: str | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """Start Spark, or say in one sentence why it cannot be started."""
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    chosen = master or (None if submitted else "local[*]")
    _check_master(chosen)
    if submitted:
        SparkContext._ensure_initialized()
    conf = SparkConf()
    for name, value in {**SETTINGS, **_settings_for(chosen), **(settings or {})}.items():
        conf.setIfMissing(name, value)  # what a person told spark-submit goes first
    if chosen:
        conf.setMaster(chosen)
    with tempfile.TemporaryFile() as noise:
        try:
            gateway = None if submitted or SparkContext._gateway else _start_jvm(conf, noise)
            return _without_checksums(SparkSession(SparkContext(conf=conf, gateway=gateway)))
        except Unavailable:
            raise
        except Exception as error:
            noise.seek(0)
            said = noise.read().decode(errors="replace") if "JAVA_GATEWAY_EXITED" in str(error) else ""
            reason = _last_words(said) or first_sentence(error)
            raise Unavailable(f"Spark could not be started on {chosen or 'the submitted master'}: {reason}.") from error


def _without_checksums(spark: SparkSession) -> SparkSession:
    """On a local disk Hadoop adds a checksum file to each file and starts `chmod` for both; Parquet has its own checksums."""
    hadoop: Any = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    hadoop.FileSystem.getLocal(spark._jsc.hadoopConfiguration()).setWriteChecksum(False)
    return spark


def volume_settings(paths: Iterable[str | os.PathLike[str]], master: str | None) -> dict[str, str]:
    """What to add for the amount of data: nothing, unless all of it is local and little."""
    if not _is_local(master or "local[*]"):
        return {}
    total = 0
    for size in chain.from_iterable(map(_sizes, paths)):
        total += size
        if total > SMALL_BYTES:
            return {}
    return SMALL_SETTINGS


def _sizes(path: str | os.PathLike[str]) -> Iterator[int]:
    """How much every file below a local path weighs; one we cannot look into weighs more than little."""
    plain = os.fspath(path).removeprefix("file://")
    if "*" in plain or ":/" in plain:
        yield SMALL_BYTES + 1
    if os.path.isfile(plain):
        yield _weight(plain)
    for folder, _, names in os.walk(plain):
        yield from (_weight(os.path.join(folder, name)) for name in names)


def _weight(file: str) -> int:
    return os.path.getsize(file) * (PARQUET_WEIGHT if file.endswith(".parquet") else 1)


def local_frame(spark: SparkSession, rows: Sequence[Mapping[str, Any]], schema: T.StructType) -> DataFrame:
    """A small frame of the driver's own rows, made inside the JVM.

    `createDataFrame` of a list would start Python workers, which costs seconds and asks every executor for a Python.
    """
    text = F.lit(msgspec.json.encode(rows).decode())
    return spark.range(1).select(F.inline(F.from_json(text, T.ArrayType(schema))))


def _last_words(printed: str) -> str:
    """Why a JVM ended: its root cause where it printed a stack trace, else its last line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip() and not line.startswith("\t")]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return next(iter([*causes[-1:], *lines[-1:]]), "")


def side_by_side(jobs: Mapping[str, Callable[[], Result]]) -> dict[str, Result]:
    """The results of Spark jobs by name: planning keeps one core busy, and so does the last task of a job."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {name: pool.submit(job) for name, job in jobs.items()}
        return {name: job.result() for name, job in running.items()}


def _start_jvm(conf: SparkConf, noise: IO[bytes]) -> object:
    os.environ["JAVA_HOME"] = str(find_java_home())
    if _is_local(conf.get("spark.master")):  # else Spark asks for the machine's name, which may not resolve
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    options = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} -XX:+UseParallelGC {_LATER_OPTIMISATION}"
    conf.set("spark.driver.extraJavaOptions", f"{options} {conf.get('spark.driver.extraJavaOptions', '')}".strip())
    return launch_gateway(conf, {"stderr": noise})  # type: ignore[no-untyped-call]  # pyspark has no types for it


def _settings_for(master: str | None) -> dict[str, str]:
    if _is_local(master):
        return LOCAL_SETTINGS
    # A master on loopback has its workers there too; the driver must not announce another address to them.
    on_loopback = master is not None and re.match(r"spark://(127\.|localhost|\[::1\])", master)
    return (
        {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
        if on_loopback
        else {}
    )


def _is_local(master: str | None) -> bool:
    return master is not None and master.startswith("local")


def _check_master(master: str | None) -> None:
    """Spark itself takes a minute to find out that nobody listens; a connection attempt takes a moment."""
    if master is None:
        return
    if not _MASTER.fullmatch(master):
        raise BadUsage(f"--master must be local[N], spark://host:port, yarn or k8s://..., not {master!r}.")
    if not master.startswith("spark://"):
        return
    refused = [address for address in master.removeprefix("spark://").split(",") if not _listens(address)]
    if len(refused) == len(master.removeprefix("spark://").split(",")):
        raise Unavailable(f"No Spark master answers at {master}.")


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise BadUsage(f"--master needs a port: spark://host:port, not spark://{address}.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=5):
            return True
    except OSError:
        return False
