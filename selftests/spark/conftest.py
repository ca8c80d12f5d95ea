"""One warm Spark session, one reported synthetic history and one browser for all tests of the reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the reports need the spark extra")

from pyspark.sql import SparkSession

from spark_reports.files import Files
from spark_reports.job import Options, report_with
from spark_reports.lake import Lake
from spark_reports.session import SMALL_SETTINGS, build_session
from spark_reports.summary import Summary
from spark_reports.synthetic import History, Plan, Truth


@dataclasses.dataclass(frozen=True)
class Reported:
    """A history, what is true of it, and what the report made of it."""

    runs: Path
    site: Path
    truth: Truth
    plan: Plan
    summary: Summary


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = build_session("local[2]", SMALL_SETTINGS)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Six nights of four implementations in two protocols, reported with a page of requirements."""
    root = tmp_path_factory.mktemp("history")
    plan = Plan(nights=6)
    truth = History(plan).write(root / "runs")
    suites = write_requirements(root / "suites")
    summary = report_with(spark, [root / "runs"], root / "site", Options(suites=suites))
    return Reported(root / "runs", root / "site", truth, plan, summary)


def write_requirements(suites: Path) -> Path:
    (suites / "peerbus").mkdir(parents=True)
    (suites / "peerbus" / "requirements.toml").write_text(
        """
        [[requirement]]
        id = "PB-1-00"
        level = "MUST"
        roles = ["broker"]
        text = "The broker answers a register."
        observe = "A peers frame follows."
        reading = "The answer is a peers frame."

        [[requirement]]
        id = "PB-9-99"
        level = "SHOULD"
        roles = ["client"]
        text = "Nobody tests this."
        observe = "Nothing."

        [[requirement]]
        id = "PB-0-01"
        level = "MAY"
        roles = ["broker"]
        text = "A meta rule."
        observe = "Nothing."
        excluded = "it binds the authors of the text"
        """,
        encoding="utf-8",
    )
    return suites


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, Files(spark), str(tmp_path / "tables"))
