"""The stored history: facts by run date and run, tallies and manifest by batch. What was ingested is never read again.

A batch is one call of the report. Facts are written first, then tallies, the manifest last: a batch that died in between
left nothing that the next one would believe, and its folders are replaced.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.runs import LIVE, Run, run_from_row
from spark_reports.schemas import FACT, QUARANTINE, RUN, TABLES_VERSION
from spark_reports.session import local_frame
from spark_reports.streams import Files
from spark_reports.tables.tallies import TALLY


@dataclasses.dataclass(frozen=True)
class Lake:
    """Where the tables live; `root` is any path that Spark can write."""

    spark: SparkSession
    files: Files
    root: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", f"{self.root.rstrip('/')}/v{TABLES_VERSION}")

    def folder(self, name: str) -> str:
        return f"{self.root}/{name}"

    def known_runs(self) -> list[Run]:
        """The latest word about every stream that was ever seen."""
        if not self.files.exists(self.folder("manifest")):
            return []
        rows = self.spark.read.schema(RUN).parquet(self.folder("manifest"))
        newest = Window.partitionBy("path").orderBy(F.desc("batch"))
        latest = rows.withColumn("rank", F.row_number().over(newest)).where("rank = 1").drop("rank")
        return sorted(map(run_from_row, latest.collect()), key=lambda run: run.path)

    def write_runs(self, runs: Iterable[Run], batch: int) -> None:
        """The commit of a batch."""
        rows = [dataclasses.replace(run, batch=batch).row() for run in runs]
        frame = local_frame(self.spark, rows, RUN).coalesce(1)
        frame.drop("batch").write.mode("overwrite").parquet(f"{self.folder('manifest')}/batch={batch}")

    def write_facts(self, facts: DataFrame, runs: Iterable[Run]) -> None:
        for run in runs:
            self.files.delete(self._run_folder(run))
        facts.write.mode("append").partitionBy("run_date", "run_id").parquet(self.folder("facts"))

    def facts(self, runs: Iterable[Run]) -> DataFrame:
        """The facts of these runs, and of no other folder."""
        folders = [folder for folder in map(self._run_folder, runs) if self.files.exists(folder)]
        if not folders:
            return local_frame(self.spark, [], FACT)
        reader = self.spark.read.schema(FACT).option("basePath", self.folder("facts"))
        return reader.parquet(*folders)

    def write_tallies(self, tallies: DataFrame, batch: int) -> DataFrame:
        """Store a batch's tallies and return them as stored."""
        folder = f"{self.folder('tallies')}/batch={batch}"
        tallies.coalesce(1).write.mode("overwrite").parquet(folder)
        return self.spark.read.schema(tallies.schema).parquet(folder)

    def write_quarantine(self, bad: DataFrame, batch: int) -> None:
        lines = bad.select("run_date", "run_id", "reason", "line").coalesce(1)
        lines.write.mode("overwrite").parquet(f"{self.folder('quarantine')}/batch={batch}")

    def quarantine(self, live: Iterable[Run]) -> DataFrame:
        """The bad lines of the whole history, each with its reason."""
        return self._of_batches("quarantine", QUARANTINE, live)

    def tallies(self, live: Iterable[Run]) -> DataFrame:
        """Per-run tallies of the whole history: some dozens of rows a run, whatever its number of cases."""
        return self._of_batches("tallies", TALLY, live).where("cases > 0")

    def _of_batches(self, name: str, schema: T.StructType, live: Iterable[Run]) -> DataFrame:
        """What batches stored, without what a later batch replaced."""
        if not self.files.exists(self.folder(name)):
            return local_frame(self.spark, [], schema).drop("batch")
        owners = local_frame(self.spark, [run.row() for run in live], T.StructType([RUN["run_id"], RUN["batch"]]))
        stored = self.spark.read.schema(schema).parquet(self.folder(name))
        return stored.join(F.broadcast(owners), on=["run_id", "batch"], how="left_semi").drop("batch")

    def publish(self, name: str, table: DataFrame) -> DataFrame:
        """A table for others to read, rebuilt with every report; returns it as stored, so that it is computed once."""
        writer = table.coalesce(1).write.mode("overwrite")
        by_protocol = "protocol" in table.columns
        (writer.partitionBy("protocol") if by_protocol else writer).parquet(self.folder(f"tables/{name}"))
        return self.published(name, table.schema)

    def published(self, name: str, schema: T.StructType) -> DataFrame:
        return self.spark.read.schema(schema).parquet(self.folder(f"tables/{name}"))

    def _run_folder(self, run: Run) -> str:
        escape = self.spark._jvm.org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.escapePathName
        return f"{self.folder('facts')}/run_date={run.run_date}/run_id={escape(run.run_id)}"


def live_runs(runs: Iterable[Run]) -> list[Run]:
    """One stream for each run: the one read last."""
    newest: dict[str, Run] = {}
    for run in sorted((run for run in runs if run.state in LIVE), key=lambda run: run.batch):
        newest[run.run_id] = run
    return sorted(newest.values(), key=lambda run: (run.started_at, run.run_id))


def in_window(runs: list[Run], days: int) -> list[Run]:
    """The runs of the last `days` days, counted from the newest run rather than from today."""
    if not runs:
        return []
    newest = dt.date.fromisoformat(max(run.run_date for run in runs))
    oldest = (newest - dt.timedelta(days=days - 1)).isoformat()
    return [run for run in runs if run.run_date >= oldest]
