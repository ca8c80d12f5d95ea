"""What an error of Spark says to a reader: one sentence, and why."""

from __future__ import annotations

from spark_reports.errors import first_sentence

FULL_DISK = """An error occurred while calling o1532.parquet.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/site/tables. SQLSTATE: 58030
\tat org.apache.spark.sql.execution.datasources.FileFormatDataWriter.commit(FileFormatDataWriter.scala:123)
Caused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\tSuppressed: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\t\tCaused by: java.io.IOException: No space left on device
Caused by: java.io.IOException: No space left on device
\t... 3 more
"""


def test_a_full_disk_is_named() -> None:
    """That a task has failed helps nobody."""
    said = first_sentence(FULL_DISK)
    assert said == "Task failed while writing rows to file:/site/tables, because of: No space left on device"


def test_a_cause_that_was_said_is_not_said_again() -> None:
    assert first_sentence("java.lang.Error: it broke\nCaused by: java.lang.Error: it broke") == "it broke"
