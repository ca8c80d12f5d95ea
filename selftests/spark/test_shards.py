"""One matrix on two machines: the folders of its shards together give the tables of one run."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from harness.matrix.run import MatrixPlan, run_matrix
from spark_reports.job import Options, report_with
from spark_reports.lake import TABLES_VERSION

PROTOCOL, TARGETS = "sbp", ("reference", "python:selftests.sbp.variants:Eager", "mutant:sbp/trims-subjects")
TABLES = ("target_case", "culprits", "matrix", "layers", "groups")  # of one night: no changes, nothing flaky
OF_ONE_RUN = {"run_id", "run_date", "seq", "began", "failure", "timeline", "replay", "reading_along"}
"""Which run it was and when, and what has the random names of one run in it."""


def rows(spark: SparkSession, site: Path, name: str) -> list[str]:
    table = spark.read.parquet(str(site / "tables" / f"v{TABLES_VERSION}" / "tables" / name))
    columns = [column for column, kind in table.dtypes if column not in OF_ONE_RUN and "map" not in kind]
    return sorted(map(repr, table.select(columns).collect()))


def test_shards_on_two_folders_give_the_tables_of_one_run(spark: SparkSession, tmp_path: Path) -> None:
    whole = run_matrix(MatrixPlan([PROTOCOL], TARGETS, workers=1), tmp_path / "whole", [])
    shards = [
        run_matrix(MatrixPlan([PROTOCOL], TARGETS, shard=f"{n}/2", workers=1), tmp_path / f"shard {n}", [])
        for n in (1, 2)
    ]
    assert all(shard.results for shard in shards)
    assert sum(len(shard.results) for shard in shards) == len(whole.results)
    folders = {"whole": [tmp_path / "whole"], "parts": [tmp_path / "shard 1", tmp_path / "shard 2"]}
    for name, runs in folders.items():
        report_with(spark, runs, tmp_path / name / "site", Options())
    for name in TABLES:
        of_one, of_two = (rows(spark, tmp_path / folder / "site", name) for folder in folders)
        assert of_one == of_two, name
    assert rows(spark, tmp_path / "whole" / "site", "culprits"), "there is somebody to blame"
