"""The two heavy aggregations as SQL for DuckDB, on the Parquet that the report stored."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from spark_reports.schemas import BLAMED, CELL, SILENT, VERDICTS

CELLS = ", ".join(f'"{name}"' for name in CELL)

HISTORY = f"""
WITH judged AS (
    SELECT {CELLS}, seq, repetition, verdict IN {BLAMED} AS blamed
    FROM facts JOIN runs USING (run_id) WHERE reason IS NULL AND verdict NOT IN {SILENT}
), lossy AS (
    SELECT {CELLS}, seq, count(*) AS n, count(*) FILTER (NOT blamed) AS k
    FROM judged WHERE fault_profile NOT IN ('', 'none') GROUP BY ALL
), observed AS (
    SELECT {CELLS}, seq, repetition, blamed FROM judged WHERE fault_profile IN ('', 'none')
    UNION ALL
    SELECT {CELLS}, seq, 0,
        (k/n + 1.9207294/n + 1.9599640 * sqrt(k/n * (1 - k/n) / n + 0.9603647/(n*n))) / (1 + 3.8414588/n) < 0.9
    FROM lossy
), moved AS (
    SELECT *, lag(blamed) OVER (PARTITION BY {CELLS} ORDER BY seq, repetition) AS was FROM observed
), histories AS (
    SELECT {CELLS}, count(*) AS observed, count(*) FILTER (blamed) AS failures,
        count(*) FILTER (blamed AND NOT was) AS broke, count(*) FILTER (NOT blamed AND was) AS mended,
        max(seq) AS last_seq, max(seq) FILTER (blamed <> was) AS changed_seq
    FROM moved GROUP BY {CELLS}
)
SELECT count(*), sum(observed), sum(failures), sum(broke), sum(mended), count(*) FILTER (broke > 0 AND mended > 0) FROM histories
"""

TALLIES = f"""
WITH tallies AS (
    SELECT run_id, protocol, target, target_version, peer, peer_version, count(*) AS cases,
        {", ".join(f"count(*) FILTER (verdict = '{name}') AS n_{name}" for name in VERDICTS)},
        approx_quantile(coalesce(measures['latency_ms'], nullif(duration_s * 1000, 0)), [0.5, 0.9, 0.99]) AS marks
    FROM facts WHERE reason IS NULL GROUP BY ALL
)
SELECT count(*), sum(cases), sum(n_pass), sum(n_fail) FROM tallies
"""


def measure(facts: Path, runs: list[tuple[str, int]], threads: int) -> tuple[float, dict[str, tuple[Any, ...]]]:
    """Seconds for both, and what they found, to be held against Spark's answer."""
    import duckdb  # only the benchmark needs it

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("CREATE TABLE runs (run_id VARCHAR, seq BIGINT)")
    connection.executemany("INSERT INTO runs VALUES (?, ?)", runs)
    connection.execute(
        f"CREATE VIEW facts AS SELECT * FROM read_parquet('{facts}/*/*/*.parquet', hive_partitioning = true, "
        "hive_types = {'run_id': VARCHAR, 'run_date': VARCHAR})"
    )
    begin = time.perf_counter()
    found = {name: connection.execute(sql).fetchone() for name, sql in (("history", HISTORY), ("tallies", TALLIES))}
    return time.perf_counter() - begin, found
