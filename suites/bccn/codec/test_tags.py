"""Keys and tags with bytes that text, numbers and C strings lose (sheet 1.3)."""

from __future__ import annotations

import itertools
import re

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.bccn.codec.under_test import CodecUnderTest
from suites.bccn.lint import fault
from suites.bccn.wire import SECRET, body, datagram, framed, tag

KEYS = {
    "blanks-around": b" secret\r\n",
    "nul-inside": b"se\0cret",
    "nul-behind": b"secret\0" + b"x" * 64,  # longer than a block: there a NUL more is another key
    "no-utf-8": bytes(range(0x80, 0xA0)),
    "like-hex": b"736563726574",
    "capitals": b"SECRET",
}
ZEROS = {"digit-in-front": "0[1-9a-f]", "byte-in-front": "00[1-9a-f]", "byte-inside": "(?!00)..(?:..){2}00(?!00)"}


def payload_for(shape: str) -> bytes:
    """The first number whose message has a tag that begins like this: one in a few hundred has."""
    numbers = (b"%d" % number for number in itertools.count())
    return next(number for number in numbers if re.match(shape, tag(body("a", 1, "c", number))))


@clauses("BCCN-INT-05")
@axis("key", KEYS)
async def test_a_key_is_bytes(codec: CodecUnderTest, trial: Trial, key: bytes) -> None:
    """A key is used to its last byte, whatever the bytes are, for writing and for reading."""
    right = datagram("a", 1, "c", b"x", key)
    wire = await codec.encode("a", 1, "c", b"x", key)
    trial.expect(wire == right, repr(right), repr(wire), fault(right, wire))
    said = await codec.decode(right, key)
    trial.expect(said is not None, "its own datagram to be read", said)


@clauses("BCCN-INT-07", "BCCN-INT-05")
@axis("zeros", ZEROS)
async def test_a_tag_with_zeros_is_written_whole(codec: CodecUnderTest, trial: Trial, zeros: str) -> None:
    """Sixteen digits, zeros in front and inside among them."""
    payload = payload_for(zeros)
    right = datagram("a", 1, "c", payload, SECRET)
    wire = await codec.encode("a", 1, "c", payload, SECRET)
    trial.expect(wire == right, repr(right), repr(wire), fault(right, wire))
    said = await codec.decode(right, SECRET)
    trial.expect(said is not None, "its own datagram to be read", said)


@clauses("BCCN-INT-14", "BCCN-INT-09")
@axis("zeros", ZEROS)
async def test_a_tag_with_zeros_is_compared_whole(codec: CodecUnderTest, trial: Trial, zeros: str) -> None:
    """Neither zeros in front nor what stands behind a zero byte may be left out, added or changed."""
    content = body("a", 1, "c", payload_for(zeros))
    right = tag(content)
    end = right.index("00") + 2 if zeros == ZEROS["byte-inside"] else 0
    flipped = right[:end] + "".join(f"{15 - int(digit, 16):x}" for digit in right[end:])
    for wrong in (f"00{right}", right[2:] if right.startswith("00") else right[:-2], flipped):
        said = await codec.decode(framed(content, f":hmac={wrong}"), SECRET)
        trial.expect(said is None, f"no message under {wrong} instead of {right}", said, "BCCN-INT-14")


@clauses("BCCN-ENV-08", "BCCN-ENV-07", "BCCN-BODY-06")
@axis("size", [6, 9, 10, 99, 100, 127, 128, 255, 256, 999, 1000, 1023, 1024, 1389])
async def test_a_len_has_as_many_digits_as_it_takes(codec: CodecUnderTest, trial: Trial, size: int) -> None:
    """Bodies of any size up to the largest, an empty payload first, are read under their len."""
    payload = b"x" * (size - len(body("a", 1, "c")))
    said = await codec.decode(datagram("a", 1, "c", payload))
    trial.expect(said is not None and said.payload == payload, f"a message of {len(payload)} bytes", said)


@clauses("BCCN-ENV-08", "BCCN-ENV-22")
@axis("digits", [19, 20, 21, 400, 5000])
async def test_a_len_of_many_digits_is_refused(codec: CodecUnderTest, trial: Trial, digits: int) -> None:
    """A number that no datagram is as long as, whatever a codec makes of so many digits."""
    content = body("a", 1, "c", b"x")
    said = await codec.decode(b"BCCN1[" + b"9" * digits + b"]" + content)
    trial.expect(said is None, f"no message: a len of {digits} digits", said)
