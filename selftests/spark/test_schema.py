"""The Spark schema follows the result schema of the harness field by field."""

from __future__ import annotations

import typing

import msgspec
import pytest
from pyspark.sql import types as T

from harness.judging import result as results
from spark_reports import schemas


def spark_type(annotation: object) -> T.DataType:
    """What a msgspec annotation must be in Spark, derived here independently of `schemas`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return T.ArrayType(spark_type(arguments[0]))
    if origin is dict:
        return T.MapType(spark_type(arguments[0]), spark_type(arguments[1]))
    if arguments:
        return spark_type(next(argument for argument in arguments if argument is not type(None)))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        hints = typing.get_type_hints(annotation)
        return T.StructType([T.StructField(name, spark_type(hints[name])) for name in annotation.__struct_fields__])
    plain = {bool: T.BooleanType(), int: T.LongType(), float: T.DoubleType()}
    return plain.get(annotation, T.StringType())


@pytest.mark.parametrize(
    ("struct", "schema"),
    [(results.CaseResult, schemas.CASE), (results.Header, schemas.HEADER), (results.Footer, schemas.FOOTER)],
)
def test_every_field_of_an_event_has_its_column(struct: type, schema: T.StructType) -> None:
    assert spark_type(struct) == schema


def test_blamed_and_silent_split_the_verdicts_as_the_harness_does() -> None:
    """A bad verdict is the target's fault unless it is the harness's own error."""
    assert set(schemas.BLAMED) | {"error"} == {str(verdict) for verdict in results.BAD}
    assert set(schemas.VERDICTS) == {str(verdict) for verdict in results.Verdict}
