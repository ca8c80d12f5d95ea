"""The vectors of vectors/sbp: frames that mean something, both ways, and bytes that are no frame."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from harness.cases import clauses
from harness.trial import Broken
from harness.vectors import Vector, load
from suites.sbp.codec.asked import Asked, Refusal

GOLDEN, FRAMES = load("sbp/golden"), load("sbp/frames")
MALFORMED, HANDSHAKE = load("sbp/malformed"), load("sbp/handshake")
Each = Callable[..., Awaitable[None]]


async def decodes(codec: Asked, vector: Vector) -> None:
    if vector.result == "invalid":
        await codec.must_refuse(vector.given("wire"), vector.clauses[0], vector.comment)
    else:
        await codec.must_mean(vector.given("wire"), vector.expected["frame"], vector.clauses[0])


async def encodes(codec: Asked, vector: Vector) -> None:
    fields, wanted = vector.expected["frame"], vector.given("wire")
    got = await codec.encode(fields)
    if isinstance(got, Refusal):
        raise Broken(vector.clauses[0], wanted.hex(), f"refused: {got}")
    start = wanted.index(b"{") if fields["kind"] == "handshake" else len(wanted)
    same = got[:start] == wanted[:start] and as_json(got[start:]) == as_json(wanted[start:])
    if not same:
        raise Broken(vector.clauses[0], wanted.hex(), got.hex())


def as_json(raw: bytes) -> object:
    """JSON has many spellings; what is none is compared as it is."""
    try:
        return json.loads(raw.decode()) if raw else raw
    except ValueError:
        return raw


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
