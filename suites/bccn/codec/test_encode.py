"""Which bytes a message becomes (sheet 1.2 to 1.6, the encoder's side)."""

from __future__ import annotations

import re
from functools import partial

from hypothesis import given

from harness.catalogue.cases import axis, clauses, needs
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.bccn.codec.strategies import KEY, MESSAGE
from suites.bccn.codec.under_test import CodecUnderTest
from suites.bccn.lint import fault
from suites.bccn.reading import Message
from suites.bccn.wire import SECRET, datagram

ENCODINGS, KNOWN = load("bccn/encodings"), load("bccn/hmac")


async def writes(codec: CodecUnderTest, vector: Vector) -> None:
    wire = await codec.encode_vector(vector)
    if vector.refused:
        if wire is not None:
            raise Broken.of(vector, "a refusal", repr(wire))
    elif wire != (right := vector.wanted("wire")):
        raise Broken.of(vector, repr(right), repr(wire), fault(right, wire))


@clauses(*ENCODINGS.clauses)
async def test_encoding(codec: CodecUnderTest, each: Each) -> None:
    """A message has exactly one datagram; what no datagram can say is refused."""
    await each(ENCODINGS, partial(writes, codec))


@clauses(*KNOWN.clauses)
async def test_known_answer(codec: CodecUnderTest, each: Each) -> None:
    """The tag of a known message under a known key."""
    await each(KNOWN, partial(writes, codec))


@clauses("BCCN-ENV-18", "BCCN-ENV-10", "BCCN-BODY-01", "BCCN-SEQ-07", "BCCN-INT-20")
@given(message=MESSAGE, key=KEY)
async def test_any_message_has_one_datagram(codec: CodecUnderTest, trial: Trial, message: Message, key: bytes) -> None:
    """Whatever is said, the datagram is the one that the format prescribes."""
    trial.restart()
    wire, right = await codec.encode(*message, key), datagram(*message, key)
    trial.expect(wire == right, repr(right), repr(wire), fault(right, wire))


@clauses("BCCN-BODY-09", "BCCN-ENV-05", "BCCN-ENV-17", "BCCN-INT-08", "BCCN-INT-07", "BCCN-ENV-14", "BCCN-INT-04")
@axis("key", {"none": b"", "secret": SECRET})
async def test_shape(codec: CodecUnderTest, trial: Trial, key: bytes) -> None:
    """magic[len] or magic[len:hmac=16 lower-case hex digits], then three fields, a bar and the payload in clear."""
    wire = await codec.encode("a", 1, "c", b"payload", key) or b""
    bracket = rb"\[[0-9]+:hmac=[0-9a-f]{16}\]" if key else rb"\[[0-9]+\]"
    clause = "BCCN-INT-08" if key else "BCCN-ENV-17"
    trial.expect(bool(re.match(rb"BCCN1" + bracket, wire)), bracket.decode(), repr(wire), clause)
    body = wire.partition(b"]")[2]
    trial.expect(bool(re.match(rb"[^:|]+:[0-9]+:[^:|]+\|", body)), "src:seq:chan|", repr(body), "BCCN-BODY-09")
    trial.expect(body.endswith(b"|payload"), "the payload in clear", repr(body), "BCCN-INT-20")


@clauses("BCCN-INT-17")
@needs("algo:crc32")
async def test_crc32_fits_into_the_same_slot(codec: CodecUnderTest, trial: Trial) -> None:
    """A declared other check stands where hmac stands, holds for its own body and for no other."""
    wire = await codec.encode("a", 1, "c", b"payload", algo="crc32") or b""
    trial.expect(bool(re.match(rb"BCCN1\[13:crc32=[0-9a-f]+\]a:1:c\|", wire)), "[13:crc32=hex]", repr(wire))
    trial.expect(await codec.decode(wire) is not None, "its own datagram to be read", repr(wire))
    said = await codec.decode(wire[:-1] + b"D")
    trial.expect(said is None, "no message: a byte was changed", said)
