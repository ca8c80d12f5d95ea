"""Section 1, byte streams: one object, one line."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.errors import TargetFailed
from harness.judging.trial import Broken, Each, Trial
from suites.common import shim
from suites.peerbus.codec.strategies import Parts, parts, wires
from suites.peerbus.codec.under_test import CodecUnderTest

VECTORS = load("peerbus/framing")
LONGEST = 1_048_575  # bytes of a line before its LF
HEADER = ("v1", "m1", "alice", "bob", "2026-05-18T12:00:00Z", "peer-bus", "msg")
FRAMES = {
    "register": b'{"protocol_version":"v1","type":"register","token":"t","name":"bob"}',
    "ack": b'{"protocol_version":"v1","type":"ack","id":"m1|bob"}',
    "peers": b'{"protocol_version":"v1","type":"peers","names":["alice","bob"]}',
    "envelope": Parts(HEADER, ('{"text":"hello"}',)).wire("ab" * 32),
    "deliver": b'{"protocol_version":"v1","type":"deliver","delivery_key":"m1","envelope":'
    + Parts(HEADER, ("[1]",)).wire("cd" * 32)
    + b"}",
}
ACK = FRAMES["ack"]


def values(*wires: bytes) -> list[Any]:
    return [json.loads(wire) for wire in wires]


async def assert_objects(codec: CodecUnderTest, chunks: list[bytes], wanted: list[Any], clause: str) -> None:
    """Exactly these objects come out of the stream."""
    got = await codec.decode_lines(chunks)
    codec.trial.expect(got == wanted, str(wanted)[:400], "a refusal" if got is None else str(got)[:400], clause)


async def assert_lines(codec: CodecUnderTest, wires: list[bytes]) -> list[bytes]:
    """One line per object, ended by one LF and nothing else (PB-1-05); each is the object given (PB-1-09)."""
    stream = await codec.encode_lines(wires)
    expect = codec.trial.expect
    expect(stream is not None, "a stream", "a refusal", "PB-1-05")
    assert stream is not None
    lines = stream.split(b"\n")
    expect(lines[-1] == b"", "a LF at the end", stream[-40:], "PB-1-05")
    expect(b"\r" not in stream, "no CR", stream[:400], "PB-1-05")
    blank = b"" in lines[:-1]
    expect(not blank, "no blank line", stream[:400], "PB-1-05")
    broken = [line for line in lines[:-1] if not _is_object(line)]
    expect(not broken, "one whole object on each line", broken[:1], "PB-1-08")
    expect(len(lines) - 1 == len(wires), f"{len(wires)} lines", len(lines) - 1, "PB-1-05")
    for line, wire in zip(lines, wires, strict=False):
        expect(json.loads(line) == json.loads(wire), wire.decode()[:400], line.decode()[:400], "PB-1-09")
    return lines[:-1]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(shim.parsed(line), dict)
    except ValueError:
        return False


# -- encoding ----------------------------------------------------------------------------------------------------------


@clauses("PB-1-05")
@axis("objects", [1, 2, 50])
async def test_each_object_is_one_line(codec: CodecUnderTest, objects: int) -> None:
    """N objects are N lines, each ended by one LF."""
    await assert_lines(codec, [ACK.replace(b"m1", b"m%d" % i) for i in range(objects)])


@clauses("PB-1-08", "PB-1-05")
@axis("written", {"pretty": '{\n  "a": [\n    1,\n    2\n  ]\n}', "crlf": "[1,\r\n2]", "leading": "\n\n7\n"})
async def test_pretty_printed_body_is_one_line(codec: CodecUnderTest, written: str) -> None:
    """Line feeds between the tokens of a body do not get into the stream."""
    await assert_lines(codec, [Parts(HEADER, (written,)).wire(), ACK])


@clauses("PB-1-08")
@axis("where", {"body": ("", '"a\\nb\\u000a"'), "header": ("a\nb", "1")})
async def test_line_feed_in_a_string_stays_escaped(codec: CodecUnderTest, where: tuple[str, str]) -> None:
    """A string that holds a line feed does not end the line."""
    source, body = where
    await assert_lines(codec, [Parts(HEADER, (body,)).with_field("source", source).wire(), ACK])


@clauses("PB-1-08", "PB-1-05", "PB-1-09")
@given(data=st.data())
async def test_any_envelopes_are_as_many_lines(codec: CodecUnderTest, trial: Trial, data: st.DataObject) -> None:
    """Whatever envelopes say and however they were written, each is one line with the same object."""
    trial.restart()
    said = data.draw(st.lists(parts(), min_size=1, max_size=2))
    await assert_lines(codec, [data.draw(wires(one, spaced_body=True)) for one in said])


@clauses("PB-3-11")
@given(said=parts())
async def test_line_carries_the_body_verbatim(codec: CodecUnderTest, trial: Trial, said: Parts) -> None:
    """A compact body stands in its line byte for byte."""
    trial.restart()
    [line] = await assert_lines(codec, [said.wire()])
    body = "".join(said.body)
    trial.expect(f'"body":{body}'.encode() in line.replace(b'"body": ', b'"body":'), body, line.decode(), "PB-3-11")


@clauses("PB-1-09")
@axis("frame", FRAMES)
async def test_both_framings_carry_the_same_object(codec: CodecUnderTest, frame: bytes) -> None:
    """A frame written as a line and read again is the object that a WebSocket message carries."""
    [line] = await assert_lines(codec, [frame])
    await assert_objects(codec, [line + b"\n"], values(frame), "PB-1-09")


# -- decoding ----------------------------------------------------------------------------------------------------------


@clauses(*VECTORS.clauses)
async def test_vector(codec: CodecUnderTest, each: Each) -> None:
    """A stream's lines are the vector's objects; a bad line is an error and never an object."""

    async def try_one(vector: Vector) -> None:
        chunks = [bytes.fromhex(chunk) for chunk in vector.input["chunks_hex"]]
        wanted = [None if text is None else json.loads(text) for text in vector.expected["objects"]]
        got = await codec.decode_lines(chunks)
        if not agrees(got, wanted):
            raise Broken.of(vector, str(wanted), "a refusal" if got is None else str(got))

    await each(VECTORS, try_one)


def agrees(got: list[Any] | None, wanted: list[Any]) -> bool:
    """At its first error a decoder may go on, stop, or refuse the stream."""
    if None not in wanted:
        return got == wanted
    up_to_error = wanted[: wanted.index(None) + 1]
    return got is None or got in (wanted, up_to_error)


@clauses("PB-1-06")
@axis("cut", {"whole": 1 << 30, "byte-by-byte": 1, "sevens": 7})
async def test_lines_are_read_however_they_are_cut(codec: CodecUnderTest, cut: int) -> None:
    """The same bytes in other pieces are the same objects, in order."""
    stream = b"".join(frame + b"\n" for frame in FRAMES.values())
    await assert_objects(codec, pieces(stream, cut), values(*FRAMES.values()), "PB-1-06")


def pieces(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


@clauses("PB-1-06")
@axis("trailing", {"half-an-object": ACK[:20], "half-a-name": b'{"proto', "brace": b"{"})
async def test_trailing_bytes_wait_for_their_line(codec: CodecUnderTest, trailing: bytes) -> None:
    """Bytes behind the last LF are no object yet; with the rest of their line they are."""
    first = FRAMES["envelope"] + b"\n" + trailing
    got = await codec.decode_lines([first])
    wanted = values(FRAMES["envelope"])
    codec.trial.expect(got in (wanted, [*wanted, None]), str(wanted), got, "PB-1-06")
    rest = ACK[len(trailing) :] if ACK.startswith(trailing) else b"}"
    await assert_objects(codec, [first, rest + b"\n"], [*wanted, *values(trailing + rest)], "PB-1-06")


@clauses("PB-1-06")
@axis("cut", {"in-the-middle": 100, "before-its-last-byte": -1, "before-its-line-feed": None})
async def test_a_long_line_in_two_chunks_hides_no_short_ones(codec: CodecUnderTest, cut: int | None) -> None:
    """The chunk that ends a long line brings shorter ones behind it: each of them is read."""
    long, rest = FRAMES["deliver"][:cut], FRAMES["deliver"][len(FRAMES["deliver"][:cut]) :]
    chunks = [long, rest + b"\n" + ACK + b"\n" + FRAMES["peers"] + b"\n"]
    await assert_objects(codec, chunks, values(FRAMES["deliver"], ACK, FRAMES["peers"]), "PB-1-06")


@clauses("PB-1-06")
@given(data=st.data())
async def test_chunking_never_changes_the_objects(codec: CodecUnderTest, trial: Trial, data: st.DataObject) -> None:
    """Any split of a stream, inside characters too, gives its objects."""
    trial.restart()
    said = data.draw(st.lists(parts(), min_size=1, max_size=2))
    stream = b"".join(one.wire() + b"\n" for one in said)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    await assert_objects(codec, chunks, values(*(one.wire() for one in said)), "PB-1-06")


@clauses("PB-1-06")
@given(line=st.text('{}[],:"\\nul01 \t\r\x00\u00e9', min_size=1, max_size=30))
async def test_garbage_line_is_never_an_object(codec: CodecUnderTest, trial: Trial, line: str) -> None:
    """Text that is no object is an error, and the object before it still comes."""
    trial.restart()
    if _is_object(line.encode()) or not line.strip(" \t\r") or line.strip(" \t\r") == "null":
        return
    got = await codec.decode_lines([ACK + b"\n" + line.encode() + b"\n"])
    wanted = [*values(ACK), None]
    trial.expect(agrees(got, wanted), str(wanted), str(got), "PB-1-06")


# -- length ------------------------------------------------------------------------------------------------------------


def line_of(size: int) -> bytes:
    """An envelope of exactly that many bytes."""
    empty = Parts(HEADER, ('""',)).wire()
    return Parts(HEADER, (f'"{"x" * (size - len(empty))}"',)).wire()


@clauses("PB-1-07")
@axis("cut", {"whole": 1 << 30, "pieces": 65_536})
async def test_line_of_one_mebibyte_is_read(codec: CodecUnderTest, cut: int) -> None:
    """A line of 1,048,575 bytes and its LF is an object; so is the line behind it."""
    long = line_of(LONGEST)
    await assert_objects(codec, pieces(long + b"\n" + ACK + b"\n", cut), values(long, ACK), "PB-1-07")


@clauses("PB-1-07")
async def test_longer_line(codec: CodecUnderTest, trial: Trial) -> None:
    """What happens to a line beyond one mebibyte is not specified; it is recorded, an exception of the target too."""
    try:
        got = await codec.decode_lines([line_of(LONGEST + 2) + b"\n" + ACK + b"\n"])
    except TargetFailed:
        got = None
    taken = got is not None and got[:1] != [None]
    trial.info(f"a line of {LONGEST + 2} bytes is {'an object' if taken else 'an error'}")


@clauses("PB-1-06")
async def test_blank_line(codec: CodecUnderTest, trial: Trial) -> None:
    """A blank line is no object; whether it is an error is not specified, and recorded."""
    got = await codec.decode_lines([ACK + b"\n\n" + ACK + b"\n"])
    skipped, wanted = values(ACK, ACK), [*values(ACK), None, *values(ACK)]
    trial.expect(got == skipped or agrees(got, wanted), "the two objects", str(got), "PB-1-06")
    trial.info(f"a blank line is {'skipped' if got == skipped else 'an error'}")
