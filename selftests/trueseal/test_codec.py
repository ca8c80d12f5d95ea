"""The frame codec: golden bytes, every split of a large frame, and whatever is no frame."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue import vectors
from reference_impl.trueseal.codec import MAX_PLAINTEXT, Codec, Reader, Unencodable
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    MAX_ID,
    NO_FRAMES,
    Ack,
    BadAnswer,
    BadDeliverAck,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Heartbeat,
    Malformed,
    Oversize,
    Push,
    ShortPush,
    Trailing,
    UnknownType,
)
from suites.trueseal.line import meaning

KEY = bytes(range(32))
GOLDEN: list[tuple[Frame, str]] = [  # the sheet's section 2.5
    (Heartbeat(), "0300000000"),
    (Ack(), "0400000000"),
    (Error(), "0500000000"),
    (DeliverAck(0x0102030405060708), "06000000080102030405060708"),
    (Deliver(42, b"hi"), "020000000a000000000000002a6869"),
    (Push(KEY, b"hi"), f"0100000022{KEY.hex()}6869"),
]
keys = st.binary(min_size=32, max_size=32)
ids = st.integers(0, MAX_ID)
frames = st.one_of(
    st.builds(Push, keys, st.binary(max_size=300)),
    st.builds(Deliver, ids, st.binary(max_size=300)),
    st.builds(DeliverAck, ids),
    st.sampled_from([Heartbeat(), Ack(), Error()]),
)


@pytest.mark.parametrize(("frame", "wire"), GOLDEN, ids=[type(frame).__name__ for frame, _ in GOLDEN])
def test_golden_frames(frame: Frame, wire: str) -> None:
    assert Codec().encode(frame) == [bytes.fromhex(wire)]
    assert Codec().decode([bytes.fromhex(wire)]) == [frame]


@pytest.mark.parametrize("vector", vectors.load("trueseal/malformed").vectors, ids=lambda vector: vector.name)
def test_malformed_vectors(vector: vectors.Vector) -> None:
    """Derived apart from this codec, and none of them is a frame to it."""
    [event] = Codec().decode(map(bytes.fromhex, vector.input["messages_hex"]))
    assert isinstance(event, NO_FRAMES)


@given(frame=frames)
def test_a_frame_comes_back(frame: Frame) -> None:
    assert Codec().decode(Codec().encode(frame)) == [frame]


@given(frame=frames, data=st.data())
def test_any_split_gives_the_same_frame(frame: Frame, data: st.DataObject) -> None:
    """The header stands in the first message; behind it a body may be cut anywhere, down to nothing at all."""
    [wire] = Codec().encode(frame)
    cuts = sorted(data.draw(st.lists(st.integers(5, len(wire)), max_size=6)))
    pieces = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    reader = Reader(Codec())
    events = [reader.read(piece) for piece in pieces if piece]
    assert [event for event in events if event is not None] == [frame]


def test_byte_by_byte() -> None:
    [wire] = Codec().encode(Push(KEY, b"abc"))
    messages = [wire[:5], *(wire[at : at + 1] for at in range(5, len(wire)))]
    assert Codec().decode(messages) == [Push(KEY, b"abc")]


@pytest.mark.parametrize("size", [65_482, 65_483, 200_000, MAX_ENVELOPE])
def test_large_frames(size: int) -> None:
    """One Noise message as long as it fits, then several that hold nothing else."""
    frame = Push(KEY, bytes(size))
    messages = Codec().encode(frame)
    assert [len(message) for message in messages[:-1]] == [MAX_PLAINTEXT] * (len(messages) - 1)
    assert (len(messages) == 1) == (size <= 65_482)
    assert Codec().decode(messages) == [frame]
    if size > 65_482:
        with pytest.raises(Unencodable):
            Codec(large_frames=False).encode(frame)


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ("", Malformed("0 bytes: shorter than a header")),
        ("03000000", Malformed("4 bytes: shorter than a header")),
        ("0000000000", UnknownType(0)),
        ("07000000050102", UnknownType(7)),
        ("ffffffffff", UnknownType(255)),
        ("010000000141", ShortPush(1)),
        ("0100000000", ShortPush(0)),
        ("0300000001ff", BadHeartbeat(b"\xff")),
        ("0600000007" + "00" * 7, BadDeliverAck(bytes(7))),
        ("0600000009" + "00" * 9, BadDeliverAck(bytes(9))),
        ("0200000007" + "00" * 7, Malformed("a Deliver of 7 bytes, shorter than an id", 2)),
        ("040000000100", BadAnswer(Ack(), b"\x00")),
        ("050000000100", BadAnswer(Error(), b"\x00")),
        ("0300000000ff", Trailing(Heartbeat(), b"\xff")),
        ("0300000000" * 2, Trailing(Heartbeat(), bytes.fromhex("0300000000"))),
        ("017fffffff", Malformed("a body of 2147483647 bytes", 1)),
        ("01ffffffff41", Malformed("a body of 4294967295 bytes", 1)),
        ("0280000000", Malformed("a body of 2147483648 bytes", 2)),
        ("0600200000", Malformed("a body of 2097152 bytes", 6)),
    ],
)
def test_what_is_no_frame(wire: str, event: object) -> None:
    assert Codec().decode([bytes.fromhex(wire)]) == [event]


@given(wire=st.binary(max_size=64))
def test_no_bytes_raise(wire: bytes) -> None:
    """Each message gives at most one event, and the next one is read whatever it was."""
    for codec in (Codec(), Codec(large_frames=False)):
        reader = Reader(codec)
        reader.read(wire)
        if not reader.inside:
            assert reader.read(bytes.fromhex("0300000000")) == Heartbeat()


def test_a_body_that_stays_away() -> None:
    """With large frames it is waited for, without it is malformed."""
    wire = bytes.fromhex("0100000022") + KEY + b"h"
    assert Codec().decode([wire]) == [Malformed("the last frame is not complete")]
    assert Codec(large_frames=False).decode([wire]) == [Malformed("33 bytes of 34", 1)]


def test_what_is_over_the_limit_is_counted_and_not_kept() -> None:
    size = MAX_ENVELOPE + 1
    wire = b"\x01" + (32 + size).to_bytes(4, "big") + KEY + bytes(size)
    messages = [wire[at : at + MAX_PLAINTEXT] for at in range(0, len(wire), MAX_PLAINTEXT)]
    reader = Reader(Codec())
    events = [reader.read(message) for message in messages]
    assert events[-1] == Oversize(size)
    assert not any(events[:-1])
    assert not reader._pieces
    assert reader.read(bytes.fromhex("0300000000")) == Heartbeat()


@pytest.mark.parametrize(
    "frame", [Push(b"k", b""), DeliverAck(-1), Deliver(2**64, b""), Push(KEY, bytes(MAX_ENVELOPE + 1))]
)
def test_what_has_no_bytes(frame: Frame) -> None:
    with pytest.raises(Unencodable):
        Codec().encode(frame)


@pytest.mark.parametrize("message", [b"\x04\x00\x00\x00\x01", b"\x01\x00\x00\x00\x2a" + KEY])
def test_to_the_oracle_a_frame_that_would_have_fitted_is_not_begun(message: bytes) -> None:
    """Whoever ends the session at once is right, and so is who waits for the rest (TS-FRM-06)."""
    assert isinstance(meaning(Reader(Codec()), message), Malformed)


def test_to_the_oracle_a_frame_that_does_not_fit_goes_on() -> None:
    push, reader = Push(KEY, bytes(70_000)), Reader(Codec())
    assert [meaning(reader, message) for message in Codec().encode(push)] == [None, push]
