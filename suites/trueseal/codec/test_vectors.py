"""The vectors of vectors/trueseal: frames both ways, messages that are none, and Noise sessions with fixed keys."""

from __future__ import annotations

from harness.catalogue.cases import clauses, needs
from harness.catalogue.vectors import Vector, load
from harness.errors import TargetRefused
from harness.judging.trial import Broken, Each
from suites.trueseal.codec.under_test import CodecUnderTest

GOLDEN, FRAMES, MALFORMED = load("trueseal/golden"), load("trueseal/frames"), load("trueseal/malformed")
NOISE, SESSIONS = load("trueseal/noise"), load("trueseal/sessions")


def messages(vector: Vector) -> list[bytes]:
    return [bytes.fromhex(message) for message in vector.input["messages_hex"]]


async def decodes(codec: CodecUnderTest, vector: Vector) -> None:
    if vector.result == "valid":
        await codec.must_mean(messages(vector), vector.expected["frame"], clause=vector.clauses[0])
    elif "frame" in vector.expected:
        await codec.may_mean(messages(vector), vector.expected["frame"], clause=vector.clauses[0])
    else:
        await codec.must_refuse(messages(vector), vector.clauses[0], vector.comment, vector.contested)


async def encodes(codec: CodecUnderTest, vector: Vector) -> None:
    await codec.must_write(vector.expected["frame"], b"".join(messages(vector)), vector.clauses[0])


async def plays(codec: CodecUnderTest, vector: Vector) -> None:
    """One side of a session: what it writes and reads, step by step."""
    told = vector.input
    keys = {
        name: told[f"{name}_hex"]
        for name in ("ephemeral", "static", "remote_static", "prologue")
        if f"{name}_hex" in told
    }
    script = [list(step) for step in zip(told["verbs"], told["script_hex"], strict=True)]
    try:
        said = await codec.do("noise", pattern=told["pattern"], side=told["side"], script=script, **keys)
    except TargetRefused as refused:
        if vector.result == "valid":
            raise Broken.of(vector, "a session that goes through", f"refused: {refused}") from None
        return
    if vector.result == "invalid":
        raise Broken.of(vector, f"a refusal: {vector.comment}", str(said))
    for name, wanted in (("results", vector.expected["results_hex"]), ("hash", vector.expected["hash_hex"])):
        if said.get(name) != wanted:
            raise Broken.of(vector, f"{name} {wanted}", str(said.get(name)))


@clauses(*GOLDEN.clauses)
async def test_golden_frame_decodes(codec: CodecUnderTest, each: Each) -> None:
    """A golden frame means what the sheet says."""
    await each(GOLDEN, lambda vector: decodes(codec, vector))


@clauses(*GOLDEN.clauses)
async def test_golden_frame_encodes(codec: CodecUnderTest, each: Each) -> None:
    """What a golden frame means is written as its bytes."""
    await each(GOLDEN, lambda vector: encodes(codec, vector))


@clauses(*FRAMES.clauses)
async def test_frame_decodes(codec: CodecUnderTest, each: Each) -> None:
    """Keys, ids and envelopes of every shape are taken as they are, in one message or in several."""
    await each(FRAMES, lambda vector: decodes(codec, vector))


@clauses(*FRAMES.clauses)
async def test_frame_encodes(codec: CodecUnderTest, each: Each) -> None:
    """And written as they are, in one message."""
    await each(FRAMES, lambda vector: encodes(codec, vector))


@clauses(*MALFORMED.clauses)
async def test_malformed_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """Messages that break a rule are no frame."""
    await each(MALFORMED, lambda vector: decodes(codec, vector))


@clauses(*NOISE.clauses)
@needs("noise")
async def test_public_noise_vectors(codec: CodecUnderTest, each: Each) -> None:
    """Both suites come to the bytes of the public vectors, on either side."""
    await each(NOISE, lambda vector: plays(codec, vector))


@clauses(*SESSIONS.clauses)
@needs("noise")
async def test_whole_sessions(codec: CodecUnderTest, each: Each) -> None:
    """A session with fixed keys has these bytes, from its handshake to its last frame; a forged one is refused."""
    await each(SESSIONS, lambda vector: plays(codec, vector))
