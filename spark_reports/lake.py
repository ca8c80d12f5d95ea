"""The stored history, by batch: facts, tallies, bad lines and the manifest. What was ingested is never read again.

A batch is what one call of the report took in. Its manifest is written last: a batch that died before left nothing that the
next one would believe, and its folders are replaced. A run that is taken in anew belongs to the later batch from then on;
what the earlier one stored of it stays there and counts no more.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_reports.files import Files
from spark_reports.runs import LIVE, Run, run_from_row
from spark_reports.schemas import (
    EVIDENCE,
    FACT,
    OF_RUN,
    QUARANTINE,
    RUN,
    TABLES_VERSION,
    about_parts,
    pair_parts,
    run_number,
)
from spark_reports.session import local_frame
from spark_reports.tables.tallies import TALLY

#: A night tells each cell once, so only a page of many nights shows Parquet that a dictionary pays: a twelfth of the bytes.
#: Every latency is another number: a dictionary of them is built in vain.
PAGES: dict[str, int | str] = {
    "parquet.page.size": 16 * 1024 * 1024,
    "parquet.page.row.count.limit": 1_000_000,
    "parquet.dictionary.page.size": 8 * 1024 * 1024,
    "parquet.enable.dictionary#latency_ms": "false",
}


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

    def write_runs(self, runs: Iterable[Run]) -> None:
        """The commit of their batches; the rows lie in the folder of the last one."""
        rows = [run.row() for run in runs]
        frame = local_frame(self.spark, rows, RUN).coalesce(1)
        frame.write.mode("overwrite").parquet(f"{self.folder('manifest')}/until={max(row['batch'] for row in rows)}")

    def write_facts(self, facts: DataFrame, batch: int, month: str) -> None:
        """By month: a year taken in at once is a dozen folders, and a report of thirty days opens two of them.

        A folder for each run cost a second of processor time for every twenty runs, written and read again.
        """
        facts.write.mode("overwrite").options(**PAGES).parquet(f"{self.folder('facts')}/batch={batch}/month={month}")

    def facts(self, runs: Iterable[Run]) -> DataFrame:
        """The facts of these runs as they are stored; only the folders of their months are opened."""
        wanted = list(runs)
        months = {f"{self.folder('facts')}/batch={run.batch}/month={run.month}" for run in wanted}
        return self._of_runs(sorted(months), FACT, wanted)

    def results(self, runs: Iterable[Run]) -> DataFrame:
        """The good facts of these runs with every text and the evidence in columns of their own."""
        good = self.facts(runs).where("reason IS NULL")
        facts = good.withColumn("evidence", F.from_json("evidence", EVIDENCE))
        return facts.select("*", *pair_parts(), *about_parts(), "evidence.*").drop("evidence", "about")

    def write_tallies(self, tallies: DataFrame, batch: int) -> None:
        tallies.coalesce(1).write.mode("overwrite").parquet(f"{self.folder('tallies')}/batch={batch}")

    def tallies(self, runs: Iterable[Run]) -> DataFrame:
        """The tallies of these runs: some dozens of rows each, whatever the number of cases."""
        return self._of_runs([self.folder("tallies")], TALLY, runs)

    def write_quarantine(self, bad: DataFrame, batch: int) -> None:
        lines = bad.select(*QUARANTINE.names).coalesce(1)
        lines.write.mode("overwrite").parquet(f"{self.folder('quarantine')}/batch={batch}")

    def quarantine(self, runs: Iterable[Run]) -> DataFrame:
        """The bad lines of these runs, each with its reason."""
        return self._of_runs([self.folder("quarantine")], QUARANTINE, runs)

    def _of_runs(self, folders: list[str], schema: T.StructType, runs: Iterable[Run]) -> DataFrame:
        """What is stored of these runs with what it inherits from them, and without what a later batch replaced."""
        present = [folder for folder in folders if self.files.exists(folder)]
        stored = self.spark.read.schema(schema).parquet(*present) if present else local_frame(self.spark, [], schema)
        rows = [{name: getattr(run, name) for name in OF_RUN.names} for run in runs]
        owners = local_frame(self.spark, rows, OF_RUN).withColumn("run", run_number()).drop("batch")
        return stored.select(*schema.names).join(F.broadcast(owners), on="run", how="inner")

    def publish(self, name: str, table: DataFrame) -> DataFrame:
        """A table for others to read, rebuilt with every report; returns it as stored, so that it is computed once."""
        writer = table.write.mode("overwrite")
        by_protocol = "protocol" in table.columns
        (writer.partitionBy("protocol") if by_protocol else writer).parquet(self.folder(f"tables/{name}"))
        return self.published(name, table.schema)

    def published(self, name: str, schema: T.StructType) -> DataFrame:
        return self.spark.read.schema(schema).parquet(self.folder(f"tables/{name}"))


def live_runs(runs: Iterable[Run]) -> list[Run]:
    """One stream for each run: the one read last; numbered in the order in which the runs began."""
    newest: dict[str, Run] = {}
    for run in sorted((run for run in runs if run.state in LIVE), key=lambda run: run.batch):
        newest[run.run_id] = run
    ordered = sorted(newest.values(), key=lambda run: (run.started_at, run.run_id))
    return [dataclasses.replace(run, seq=seq) for seq, run in enumerate(ordered)]


def in_window(runs: list[Run], days: int) -> list[Run]:
    """The runs of the last `days` days, counted from the newest run rather than from today."""
    if not runs:
        return []
    newest = dt.date.fromisoformat(max(run.run_date for run in runs))
    oldest = (newest - dt.timedelta(days=days - 1)).isoformat()
    return [run for run in runs if run.run_date >= oldest]
