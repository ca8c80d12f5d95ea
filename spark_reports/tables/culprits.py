"""Culprits: whose fault a red cell of a pair is, from what both sides did against the reference."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.schemas import is_evidence

WHERE = ("protocol", "case", "scenario", "fault_profile")
CLIENT, SERVER, BOTH, PAIR, REFERENCE, UNKNOWN = "client", "server", "both", "pair", "reference", "unknown"


def is_reference(column: str, reference: str) -> Column:
    """`reference` in any of its reaches: `reference`, `reference-process`, `reference-docker`."""
    return (F.col(column) == reference) | F.col(column).startswith(f"{reference}-")


def culprits(cells: DataFrame, reference: str) -> DataFrame:
    """One row for each red cell of a pair, with `culprit` and the implementation it names.

    A run that has played the cell with the reference on either side says itself who it was; else the cells are compared.
    """
    pairs = cells.where((F.col("peer") != "") & is_evidence())
    as_client, as_server = is_reference("target", reference), is_reference("peer", reference)
    against_reference = _control(pairs.where(as_server), "target", "client_fails")
    from_reference = _control(pairs.where(as_client), "peer", "server_fails")
    itself = pairs.where(as_client & as_server).groupBy(*WHERE).agg(F.max("is_blamed").alias("reference_fails"))
    return (
        pairs.where("is_blamed")
        .join(against_reference, on=[*WHERE, "target"], how="left")
        .join(from_reference, on=[*WHERE, "peer"], how="left")
        .join(itself, on=list(WHERE), how="left")
        .withColumn("culprit", F.coalesce(F.nullif("culprit", F.lit("")), _culprit(as_client, as_server)))
        .withColumn("culprit_name", _named())
        .select(*WHERE, "target", "peer", "reach", "run_id", "client_fails", "server_fails", "culprit", "culprit_name")
    )


def _control(pairs: DataFrame, side: str, name: str) -> DataFrame:
    return pairs.groupBy(*WHERE, side).agg(F.max("is_blamed").alias(name))


def _culprit(as_client: Column, as_server: Column) -> Column:
    """A control that failed convicts; only two that passed acquit both and leave the combination."""
    client, server = F.col("client_fails"), F.col("server_fails")
    return (
        F.when(F.coalesce("reference_fails", F.lit(False)), REFERENCE)
        .when(as_client, SERVER)
        .when(as_server, CLIENT)
        .when(client & server, BOTH)
        .when(client, CLIENT)
        .when(server, SERVER)
        .when(~client & ~server, PAIR)
        .otherwise(UNKNOWN)
    )


def _named() -> Column:
    both = F.concat_ws(" + ", "target", "peer")
    return (
        F.when(F.col("culprit") == CLIENT, F.col("target"))
        .when(F.col("culprit") == SERVER, F.col("peer"))
        .when(F.col("culprit").isin(BOTH, PAIR), both)
        .when(F.col("culprit") == REFERENCE, F.lit(REFERENCE))
        .otherwise(F.lit(""))
    )
