"""The vectors of vectors/sbp: frames that mean something, both ways, and bytes that are no frame."""

from __future__ import annotations

from functools import partial

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Each
from suites.sbp.codec.under_test import CodecUnderTest

GOLDEN, FRAMES = load("sbp/golden"), load("sbp/frames")
MALFORMED, HANDSHAKE = load("sbp/malformed"), load("sbp/handshake")


async def decodes(codec: CodecUnderTest, vector: Vector) -> None:
    wire, clause = vector.given("wire"), vector.clauses[0]
    if vector.refused:
        await codec.must_refuse(wire, clause, vector.comment, vector.contested)
    else:
        await codec.must_mean(wire, vector.expected["frame"], clause, vector.contested)


async def encodes(codec: CodecUnderTest, vector: Vector) -> None:
    await codec.must_write(vector.expected["frame"], vector.given("wire"), vector.clauses[0], vector.contested)


@clauses(*GOLDEN.clauses)
async def test_golden_frame_decodes(codec: CodecUnderTest, each: Each) -> None:
    """A golden frame means what the sheet says."""
    await each(GOLDEN, partial(decodes, codec))


@clauses(*GOLDEN.clauses)
async def test_golden_frame_encodes(codec: CodecUnderTest, each: Each) -> None:
    """What a golden frame means is written as its bytes."""
    await each(GOLDEN, partial(encodes, codec))


@clauses(*FRAMES.clauses)
async def test_frame_decodes(codec: CodecUnderTest, each: Each) -> None:
    """Ids, timestamps, subjects, data, codes and details of every shape are taken as they are."""
    await each(FRAMES, partial(decodes, codec))


@clauses(*FRAMES.clauses)
async def test_frame_encodes(codec: CodecUnderTest, each: Each) -> None:
    """And written as they are."""
    await each(FRAMES, partial(encodes, codec))


@clauses(*MALFORMED.clauses)
async def test_malformed_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """Bytes that break a rule are no frame."""
    await each(MALFORMED, partial(decodes, codec))


@clauses(*HANDSHAKE.clauses)
async def test_handshake(codec: CodecUnderTest, each: Each) -> None:
    """A Handshake's payload is one JSON object with three strings; what is unknown in it is ignored."""
    await each(HANDSHAKE, partial(decodes, codec))
