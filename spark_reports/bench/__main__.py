"""`python -m spark_reports.bench [ROWS]`: the figures of the README, all in one run.

Measured: the whole command at a tenth of the rows and at all rows (JVM start included), the peak memory of both halves
of the driver, and the two heavy aggregations in Spark and in DuckDB on the same files, whose answers must agree. For these each
engine is asked several times in one process: the first time shows what starting costs, the best one what the engine can do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.bench import duck
from spark_reports.bench.data import NIGHTS, write_history
from spark_reports.bench.duck import Answers
from spark_reports.files import Files
from spark_reports.job import numbered_runs
from spark_reports.lake import Lake, live_runs
from spark_reports.schemas import VERDICTS, run_number
from spark_reports.session import spark_session
from spark_reports.tables.history import history
from spark_reports.tables.tallies import tally

THREADS = 2
#: How often each engine is asked for the aggregations; the JVM's compiler is done after five times.
TIMES = 7


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as scratch:
        small = whole_command(rows // 10, Path(scratch) / "small")
        shutil.rmtree(Path(scratch) / "small")
        large = whole_command(rows, Path(scratch) / "large")
        spark_s, duck_s = aggregations(Path(scratch) / "large")
    print_table(small, large, spark_s, duck_s)
    return 0


def whole_command(rows: int, folder: Path) -> dict[str, Any]:
    """Generate, then time `python -m spark_reports` as a person would start it."""
    folder.mkdir(parents=True)
    with spark_session(f"local[{THREADS}]") as spark:
        exact = write_history(spark, rows, folder)
    command = [sys.executable, "-m", "spark_reports", str(folder / "runs"), "--out", str(folder / "site")]
    begin = time.perf_counter()
    started = subprocess.Popen(
        [*command, "--master", f"local[{THREADS}]", "--window", str(NIGHTS)], stdout=subprocess.PIPE, text=True
    )
    peak = {"python": 0, "jvm": 0, "cpu": 0}
    watcher = threading.Thread(target=_watch, args=(started, peak), daemon=True)
    watcher.start()
    said, _ = started.communicate()
    seconds = time.perf_counter() - begin
    if started.returncode:
        raise SystemExit(f"the report failed with exit code {started.returncode}")
    print(
        f"{exact:,} results in {seconds:.1f} s ({peak['cpu']} s of processor time); {said.splitlines()[0]}", flush=True
    )
    return {"rows": exact, "seconds": seconds, **peak, "page": (folder / "site" / "index.html").stat().st_size}


def _watch(started: subprocess.Popen[str], peak: dict[str, int]) -> None:
    """The high-water marks of the process and of the JVM below it in MiB, and the JVM's processor time in seconds."""
    while started.poll() is None:
        for pid in [started.pid, *_children(started.pid)]:
            name, mark = _high_water(pid)
            kind = "jvm" if name == "java" else "python"
            peak[kind] = max(peak[kind], mark)
            peak["cpu"] = max(peak["cpu"], _processor_seconds(pid))
        threading.Event().wait(0.5)


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _high_water(pid: int) -> tuple[str, int]:
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return fields["Name"].strip(), int(fields.get("VmHWM", "0 kB").split()[0]) // 1024
    except (OSError, KeyError):
        return "", 0


def _processor_seconds(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) // os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def aggregations(folder: Path) -> tuple[float, float]:
    """Seconds of Spark and of DuckDB at their best; stops when their answers differ."""
    with spark_session(f"local[{THREADS}]") as spark:
        lake = Lake(spark, Files(spark), str(folder / "site" / "tables"))
        live = live_runs(lake.known_runs())
        spark_s, ours = asked("Spark", lambda: _aggregate(lake.facts(live)))
        runs = numbered_runs(spark, live).select(run_number(), "seq").collect()
        place = Path(lake.folder("facts"))
    duck_s, theirs = asked("DuckDB", duck.engine(place, [(run, seq) for run, seq in runs], THREADS))
    if not agree(ours, theirs):
        raise SystemExit(f"Spark and DuckDB disagree: {ours} and {theirs}")
    return spark_s, duck_s


def asked(name: str, answer: Callable[[], Answers]) -> tuple[float, Answers]:
    seconds = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        answers = answer()
        seconds.append(time.perf_counter() - begin)
    print(f"{name}: first {seconds[0]:.1f} s, best {min(seconds):.1f} s: {answers}", flush=True)
    return min(seconds), answers


def _aggregate(facts: DataFrame) -> Answers:
    past = history(facts).agg(
        F.count("*"),
        *[F.sum(name) for name in ("observed", "failures", "broke", "mended")],
        F.count_if("is_flaky"),
        *[F.sum(name) for name in ("last_seq", "changed_seq")],
    )
    tallies = tally(facts).agg(F.count("*"), *[F.sum(name) for name in ("cases", "timed", *VERDICTS, "p90")])
    return {name: tuple(frame.collect()[0]) for name, frame in (("history", past), ("tallies", tallies))}


def agree(ours: Answers, theirs: Answers) -> bool:
    """Counts must be equal; the sum of the 90th percentiles, exact in DuckDB, within a hundredth."""
    *counts, marks = ours["tallies"]
    *other_counts, other_marks = theirs["tallies"]
    return ours["history"] == theirs["history"] and counts == other_counts and abs(marks / other_marks - 1) < 0.01


def print_table(small: dict[str, Any], large: dict[str, Any], spark_s: float, duck_s: float) -> None:
    ratio = large["seconds"] / small["seconds"]
    print("\n| what | measured | bound |\n|---|---|---|")
    print(
        f"| {large['rows']:,} results to all tables and the site, JVM start included | {large['seconds']:.0f} s | 120 s |"
    )
    print(f"| {small['rows']:,} results | {small['seconds']:.0f} s | |")
    print(f"| processor time of the JVM | {small['cpu']} -> {large['cpu']} s | |")
    print(f"| ten times the rows, times the time | {ratio:.1f} | 10 |")
    print(f"| the aggregations, Spark : DuckDB | {spark_s:.1f} s : {duck_s:.1f} s = {spark_s / duck_s:.1f} | 4 |")
    print(f"| driver, Python half, peak | {small['python']} -> {large['python']} MiB | flat |")
    print(f"| driver, JVM, peak (heap limited to 3 GiB) | {small['jvm']} -> {large['jvm']} MiB | below its limit |")
    print(f"| index.html | {small['page'] // 1024} -> {large['page'] // 1024} KiB | |")


if __name__ == "__main__":
    sys.exit(main())
