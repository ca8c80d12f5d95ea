"""The two heavy aggregations as SQL for DuckDB, on the Parquet that the report stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_reports.schemas import VERDICTS

Answers = dict[str, tuple[Any, ...]]

HISTORY = """
WITH judged AS (
    SELECT cell, seq, repetition, is_lossy, is_blamed AS blamed FROM facts JOIN runs USING (run) WHERE is_evidence
), lossy AS (
    SELECT cell, seq, count(*) AS n, count(*) FILTER (NOT blamed) AS k FROM judged WHERE is_lossy GROUP BY ALL
), observed AS (
    SELECT cell, seq, repetition, blamed FROM judged WHERE NOT is_lossy
    UNION ALL
    SELECT cell, seq, 0,
        (k/n + 1.9207294/n + 1.9599640 * sqrt(k/n * (1 - k/n) / n + 0.9603647/(n*n))) / (1 + 3.8414588/n) < 0.9
    FROM lossy
), counts AS (
    SELECT cell, count(*) AS observed, count(*) FILTER (blamed) AS failures, max(seq) AS last_seq FROM observed GROUP BY cell
), mixed AS (
    SELECT cell FROM counts WHERE failures > 0 AND failures < observed
), moved AS (
    SELECT cell, seq, blamed, lag(blamed) OVER (PARTITION BY cell ORDER BY seq, repetition) AS was
    FROM observed SEMI JOIN mixed USING (cell)
), changes AS (
    SELECT cell, count(*) FILTER (blamed AND NOT was) AS broke, count(*) FILTER (NOT blamed AND was) AS mended,
        max(seq) FILTER (blamed <> was) AS changed_seq
    FROM moved GROUP BY cell
)
SELECT count(*), sum(observed), sum(failures), sum(broke), sum(mended), count(*) FILTER (broke > 0 AND mended > 0),
    sum(last_seq), sum(changed_seq)
FROM counts LEFT JOIN changes USING (cell)
"""

TALLIES = f"""
WITH tallies AS (
    SELECT run, pair, count(verdict) AS cases, count(latency_ms) AS timed,
        {", ".join(f"count(*) FILTER (verdict = '{name}') AS n_{name}" for name in VERDICTS)},
        quantile_cont(latency_ms, [0.5, 0.9, 0.99]) AS marks
    FROM facts JOIN runs USING (run) GROUP BY run, pair
)
SELECT count(*), sum(cases), sum(timed), {", ".join(f"sum(n_{name})" for name in VERDICTS)}, sum(marks[2]) FROM tallies
"""

QUERIES = {"history": HISTORY, "tallies": TALLIES}


def engine(facts: Path, runs: list[tuple[int, int]], threads: int) -> Callable[[], Answers]:
    """What answers both questions anew at each call; `runs` are their numbers and places."""
    import duckdb  # only the benchmark needs it

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("CREATE TABLE runs (run BIGINT, seq BIGINT)")
    connection.executemany("INSERT INTO runs VALUES (?, ?)", runs)
    connection.execute(f"CREATE VIEW facts AS SELECT * FROM read_parquet('{facts}/*/*/*.parquet')")
    return lambda: {name: connection.execute(sql).fetchall()[0] for name, sql in QUERIES.items()}
