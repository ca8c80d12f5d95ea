"""Which datagrams are messages, and what they say (sheet 1.2 to 1.7)."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.bccn.codec.strategies import KEY, MESSAGE, PAYLOAD
from suites.bccn.codec.under_test import CodecUnderTest
from suites.bccn.reading import Message, judge_reading, key_of
from suites.bccn.wire import SECRET, body, datagram, framed, mode_of, signed

ENVELOPES, BODIES = load("bccn/envelopes"), load("bccn/bodies")
FORGERIES, EXAMPLES, KNOWN = load("bccn/forgeries"), load("bccn/examples"), load("bccn/hmac")


async def reads(codec: CodecUnderTest, vector: Vector) -> None:
    judge_reading(vector, await codec.decode(vector.given("wire"), key_of(vector)))


@clauses(*ENVELOPES.clauses)
async def test_envelope(codec: CodecUnderTest, each: Each) -> None:
    """A datagram whose envelope is sound is read, any other is refused."""
    await each(ENVELOPES, partial(reads, codec))


@clauses(*BODIES.clauses)
async def test_body(codec: CodecUnderTest, each: Each) -> None:
    """A body of three sound fields is read byte for byte, any other is refused."""
    await each(BODIES, partial(reads, codec))


@clauses(*FORGERIES.clauses)
async def test_forgery(codec: CodecUnderTest, each: Each) -> None:
    """Under a key only the body's own tag is accepted."""
    await each(FORGERIES, partial(reads, codec))


@clauses(*EXAMPLES.clauses)
async def test_example(codec: CodecUnderTest, each: Each) -> None:
    """The specification's examples: the right ones are read, those whose len is wrong are refused."""
    await each(EXAMPLES, partial(reads, codec))


@clauses(*KNOWN.clauses)
async def test_known_answer(codec: CodecUnderTest, each: Each) -> None:
    """A datagram under its known tag is accepted."""

    async def try_one(vector: Vector) -> None:
        said = await codec.decode(vector.wanted("wire"), vector.given("key"))
        if said is None or said.payload != vector.given("payload"):
            raise Broken.of(vector, "accepted", str(said))

    await each(KNOWN, try_one)


@clauses("BCCN-BODY-01", "BCCN-BODY-05", "BCCN-BODY-07", "BCCN-BODY-08", "BCCN-SRC-05", "BCCN-CHN-05", "BCCN-SEQ-07")
@given(message=MESSAGE, key=KEY)
async def test_any_message_is_read_back(codec: CodecUnderTest, trial: Trial, message: Message, key: bytes) -> None:
    """Whatever src, seq, chan and payload a datagram holds, they are read unchanged."""
    trial.restart()
    said = await codec.decode(datagram(*message, key), key)
    trial.expect(said is not None and said.message == message, str(message), said)


@clauses("BCCN-ENV-08", "BCCN-ENV-22")
@given(payload=PAYLOAD, off=st.integers(-40, 40).filter(bool))
async def test_any_wrong_len_is_refused(codec: CodecUnderTest, trial: Trial, payload: bytes, off: int) -> None:
    """len is the number of bytes behind the bracket, and no other."""
    trial.restart()
    content = body("a", 1, "c", payload)
    said = await codec.decode(f"BCCN1[{len(content) + off}]".encode() + content)
    trial.expect(said is None, f"no message: len is off by {off}", said)


@clauses("BCCN-INT-09", "BCCN-INT-01", "BCCN-INT-03")
@given(payload=PAYLOAD, where=st.integers(0, 10**6), flip=st.integers(1, 255))
async def test_any_changed_body_byte_is_noticed(codec: CodecUnderTest, payload: bytes, where: int, flip: int) -> None:
    """The tag binds every byte of the body."""
    codec.trial.restart()
    wire = bytearray(signed(body("a", 1, "c", payload)))
    begin = wire.index(b"]") + 1
    wire[begin + where % (len(wire) - begin)] ^= flip
    said = await codec.decode(bytes(wire), SECRET)
    codec.trial.expect(said is None, "no message: a byte was changed", said)


@clauses("BCCN-ENV-22", "BCCN-ENV-08")
@given(noise=st.one_of(st.binary(max_size=60), st.binary(max_size=40).map(lambda b: b"BCCN1[" + b)))
async def test_noise_is_refused_not_fatal(codec: CodecUnderTest, trial: Trial, noise: bytes) -> None:
    """Arbitrary bytes are refused like any malformed datagram, and the codec goes on."""
    trial.restart()
    await codec.decode(noise)
    said = await codec.decode(framed(b"a:1:c|x"))
    trial.expect(said is not None, "the next good datagram to be read", said)


CHANS = {"plain": "c", "bang-inside": "c!", "bang-in-token": "a/!", "all": "!", "directed": "!x", "two-bangs": "!!"}


@clauses("BCCN-CHN-06", "BCCN-CHN-07", "BCCN-CHN-08")
@axis("chan", CHANS)
async def test_the_form_is_told(codec: CodecUnderTest, trial: Trial, chan: str) -> None:
    """Exactly "!" is ALL, "!" with more is DIRECTED, everything else is PLAIN; a codec need not tell."""
    said = await codec.decode(datagram("a", 1, chan, b"x"))
    clause, mode = mode_of(chan)
    trial.expect(said is not None and said.mode in ("", mode), f"a message, delivery mode {mode}", said, clause)


@clauses("BCCN-INT-18")
async def test_what_nobody_signed_is_not_authenticated(codec: CodecUnderTest, trial: Trial) -> None:
    """A message without any check, read without a key, is not called authenticated."""
    said = await codec.decode(framed(b"a:1:c|x"))
    trial.expect(said is not None and not said.authenticated, "read and not called authenticated", said)


@clauses("BCCN-INT-18")
@axis("algo", ["hmac", "crc32", "sig", "sha1", "unknown"])
async def test_an_unverified_check_is_never_authentication(codec: CodecUnderTest, trial: Trial, algo: str) -> None:
    """Without a key a datagram with a check may be read or refused, but is never called authenticated."""
    said = await codec.decode(framed(b"a:1:c|x", f":{algo}=a1b2c3d4e5f60718"))
    trial.expect(said is None or not said.authenticated, "not called authenticated", said)
    trial.info(f"{algo} without a key: {'refused' if said is None else 'read, not authenticated'}")
