"""The vectors of vectors/sbp: frames that mean something, both ways, and bytes that are no frame."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harness.cases import clauses
from harness.vectors import Vector, load
from suites.sbp.codec.asked import Asked

GOLDEN, FRAMES = load("sbp/golden"), load("sbp/frames")
MALFORMED, HANDSHAKE = load("sbp/malformed"), load("sbp/handshake")
Each = Callable[..., Awaitable[None]]


async def decodes(codec: Asked, vector: Vector) -> None:
    if vector.result == "invalid":
        await codec.must_refuse(vector.given("wire"), vector.clauses[0], vector.comment)
    else:
        await codec.must_mean(vector.given("wire"), vector.expected["frame"], vector.clauses[0])


async def encodes(codec: Asked, vector: Vector) -> None:
    await codec.must_write(vector.expected["frame"], vector.given("wire"), vector.clauses[0])


@clauses(*GOLDEN.clauses)
async def test_golden_frame_decodes(codec: Asked, each: Each) -> None:
    """A golden frame means what the sheet says."""
    await each(GOLDEN.vectors, lambda vector: decodes(codec, vector))


@clauses(*GOLDEN.clauses)
async def test_golden_frame_encodes(codec: Asked, each: Each) -> None:
    """What a golden frame means is written as its bytes."""
    await each(GOLDEN.vectors, lambda vector: encodes(codec, vector))


@clauses(*FRAMES.clauses)
async def test_frame_decodes(codec: Asked, each: Each) -> None:
    """Ids, timestamps, subjects, data, codes and details of every shape are taken as they are."""
    await each(FRAMES.vectors, lambda vector: decodes(codec, vector))


@clauses(*FRAMES.clauses)
async def test_frame_encodes(codec: Asked, each: Each) -> None:
    """And written as they are."""
    await each(FRAMES.vectors, lambda vector: encodes(codec, vector))


@clauses(*MALFORMED.clauses)
async def test_malformed_is_refused(codec: Asked, each: Each) -> None:
    """Bytes that break a rule are no frame."""
    await each(MALFORMED.vectors, lambda vector: decodes(codec, vector))


@clauses(*HANDSHAKE.clauses)
async def test_handshake(codec: Asked, each: Each) -> None:
    """A Handshake's payload is one JSON object with three strings; what is unknown in it is ignored."""
    await each(HANDSHAKE.vectors, lambda vector: decodes(codec, vector))
