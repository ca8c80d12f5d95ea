"""Every line is a case or is counted with a reason; partial, late, duplicate and foreign runs do no harm."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.judging.result import encode
from spark_reports.batch import take_in
from spark_reports.errors import Unavailable
from spark_reports.files import Files
from spark_reports.lake import Lake, live_runs
from spark_reports.runs import COMPLETE, DUPLICATE, PARTIAL, REJECTED, Run, describe
from spark_reports.schemas import EVENT
from spark_reports.streams import StreamFile
from spark_reports.synthetic import History, Plan, write_run

PLAN = Plan(nights=2, protocols=("peerbus",), cases=8, repetitions=2, planted=1)
CASES = 8

GOOD_LINE = (
    b'{"type":"case","run_id":"R","case":"p/r/g/c","protocol":"p","role":"r","group":"g",'
    b'"verdict":"pass","target":"t","requirements":[]%s}'
)
BAD_LINES = {
    b'{"type":"case","run_id': "not JSON",
    GOOD_LINE % b',"schema":2': "another schema version",
    GOOD_LINE % b',"repetition":"many"': "a field of the wrong type",
    GOOD_LINE.replace(b"pass", b"splendid") % b"": "an unknown verdict",
    GOOD_LINE.replace(b'"target":"t",', b"") % b"": "a required field is missing",
    GOOD_LINE.replace(b'"run_id":"R"', b'"run_id":"other"') % b"": "belongs to another run",
    b'{"type":"gossip","run_id":"R"}': "an unknown event type",
    GOOD_LINE % rb',"scenario":"a\u001fb"': "a control character in a name",
    GOOD_LINE.replace(b"[]", rb'["A-1\u001fA-2"]') % b"": "a control character in a name",
}


def check_runs(night: int = 0) -> dict[str, list]:
    return {run_id: events for run_id, events in History(PLAN).runs_of(night) if "check" in run_id}


@pytest.fixture(scope="module")
def mess(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, dict[str, Run]]:
    """A folder with everything that can be wrong, ingested once; the runs come back by folder name."""
    root = tmp_path_factory.mktemp("mess")
    whole, truncated, spoiled, doubled = list(check_runs().items())
    write_run(root / "runs" / "whole run [1]", whole[1])
    shutil.copytree(root / "runs" / "whole run [1]", root / "runs" / "copy")
    stream = write_run(root / "runs" / "truncated", truncated[1])
    stream.write_bytes(stream.read_bytes()[: -len(encode(truncated[1][-1])) - 40])
    stream = write_run(root / "runs" / "spoiled", spoiled[1])
    lines = stream.read_bytes().splitlines()
    bad = [line.replace(b'"R"', b'"%s"' % spoiled[0].encode()) for line in BAD_LINES]
    stream.write_bytes(b"\n".join([*lines[:-1], *bad, lines[-1], b""]))
    write_run(root / "runs" / "doubled", [doubled[1][0], *doubled[1][1:-1] * 2, doubled[1][-1]])
    later = write_run(root / "runs" / "version-2", whole[1])
    later.write_bytes(later.read_bytes().replace(b'"schema":1', b'"schema":2'))
    (root / "runs" / "empty").mkdir()
    (root / "runs" / "empty" / "events.ndjson").touch()
    (root / "runs" / "holiday-pictures").mkdir()
    lake = Lake(spark, Files(spark), str(root / "tables"))
    runs = take_in(lake, [str(root / "runs")])
    named = {run.path.removesuffix("/events.ndjson").rpartition("/")[2]: run for run in runs}
    return lake, named


def test_each_stream_gets_its_state(mess: tuple[Lake, dict[str, Run]]) -> None:
    _, runs = mess
    states = {name: run.state for name, run in runs.items()}
    copies = {states.pop("whole run [1]"), states.pop("copy")}
    assert copies == {COMPLETE, DUPLICATE}
    assert states == {
        "truncated": PARTIAL,
        "spoiled": COMPLETE,
        "doubled": COMPLETE,
        "version-2": REJECTED,
        "empty": REJECTED,
        "holiday-pictures": REJECTED,
    }


def test_each_rejection_says_why(mess: tuple[Lake, dict[str, Run]]) -> None:
    _, runs = mess
    assert runs["version-2"].reason == "schema version 2, this report reads version 1"
    assert runs["empty"].reason == "an empty stream"
    assert runs["holiday-pictures"].reason.startswith("not a run")
    assert runs["truncated"].reason == "no footer"


def test_cases_are_counted_once_and_only_good_ones(mess: tuple[Lake, dict[str, Run]]) -> None:
    """A case told twice counts once; the last line of the truncated stream is the one that is lost."""
    _, runs = mess
    assert (runs["doubled"].cases, runs["spoiled"].cases, runs["truncated"].cases) == (CASES, CASES, CASES - 1)
    assert runs["truncated"].bad_lines == 1


def test_every_bad_line_is_kept_with_its_reason(mess: tuple[Lake, dict[str, Run]]) -> None:
    lake, runs = mess
    kept = lake.quarantine([runs["spoiled"]]).collect()
    assert sorted(row.reason for row in kept) == sorted(BAD_LINES.values())
    assert runs["spoiled"].bad_lines == len(BAD_LINES)
    assert {row.line.encode().replace(runs["spoiled"].run_id.encode(), b"R") for row in kept} == set(BAD_LINES)


def test_a_second_look_reads_nothing_again(mess: tuple[Lake, dict[str, Run]]) -> None:
    lake, runs = mess
    folder = str(Path(runs["copy"].path.removeprefix("file:")).parents[1])
    assert take_in(lake, [folder]) == sorted(runs.values(), key=lambda run: run.path)


def test_a_run_that_grew_replaces_what_was_read_of_it(lake: Lake, tmp_path: Path) -> None:
    """The partial run is read as far as it goes; the finished one takes its place without a trace of the first."""
    run_id, events = next(iter(check_runs().items()))
    write_run(tmp_path / "runs" / run_id, events[:4])
    (partial,) = take_in(lake, [str(tmp_path / "runs")])
    write_run(tmp_path / "runs" / run_id, events)
    (finished,) = take_in(lake, [str(tmp_path / "runs")])
    assert (partial.state, partial.cases) == (PARTIAL, 3)
    assert (finished.state, finished.cases, lake.facts([finished]).count()) == (COMPLETE, CASES, CASES)
    assert [row.cases for row in lake.tallies(live_runs([finished])).collect()] == [CASES]


def test_parquet_runs_give_the_same_facts_as_ndjson(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    run_id, events = next(iter(check_runs().items()))
    text = write_run(tmp_path / "text" / run_id, events)
    rows = spark.read.schema(EVENT).json(str(text))
    rows.coalesce(1).write.parquet(str(tmp_path / "columns" / run_id / "events.parquet"))
    (tmp_path / "columns" / "broken").mkdir()
    (tmp_path / "columns" / "broken" / "events.parquet").write_bytes(b"PAR1 this is not a Parquet file PAR1")
    broken, columnar = sorted(take_in(lake, [str(tmp_path / "columns")]), key=lambda run: run.state, reverse=True)
    other = Lake(spark, Files(spark), str(tmp_path / "other"))
    textual = take_in(other, [str(tmp_path / "text")])
    assert broken.state == REJECTED
    assert broken.reason.startswith("unreadable as Parquet")
    assert (columnar.state, columnar.cases) == (COMPLETE, CASES)
    ours, theirs = lake.results([columnar]), other.results(textual)
    assert ours.count() == theirs.count() == CASES
    assert ours.exceptAll(theirs).count() == 0


def test_a_path_without_runs_is_one_sentence(lake: Lake, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no such file or folder"):
        take_in(lake, [str(tmp_path / "nowhere")])
    with pytest.raises(Unavailable, match="holds no run"):
        take_in(lake, [str(tmp_path)])


def test_a_first_line_that_nobody_can_follow_is_no_header() -> None:
    """Nesting without end is no JSON that anybody reads, and no reason to stop."""
    run, _ = describe(StreamFile("deep", "ndjson", 1, 1), b"[" * 5_000, None)
    assert run.reason == "its first line is not JSON"
