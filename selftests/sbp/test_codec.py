"""The reference's codec: the golden bytes, any frame there and back, and never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalogue.vectors import Vector, load
from reference_impl.sbp.codec import Codec, Unencodable
from reference_impl.sbp.frames import (
    Ack,
    BadFlags,
    BadHandshake,
    Close,
    Error,
    Frame,
    Handshake,
    Malformed,
    Message,
    Ping,
    Pong,
    UnknownOp,
)

codec = Codec()
NO_FRAME = (BadFlags, Malformed, BadHandshake)
ids = st.binary(min_size=16, max_size=16)
times = st.none() | st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
frames = st.one_of(
    st.builds(Ping, ids, times),
    st.builds(Pong, ids, times),
    st.builds(Close, ids, st.none() | texts.filter(bool), times),
    st.builds(Message, ids, texts.filter(bool), st.binary(max_size=40), times),
    st.builds(Ack, ids, ids, times),
    st.builds(Error, ids, st.integers(0, 65535), texts, st.binary(max_size=40), times),
)


@pytest.mark.parametrize("vector", load("sbp/golden").vectors, ids=lambda vector: vector.name)
def test_golden_bytes_go_round(vector: Vector) -> None:
    frame = codec.decode(vector.given("wire"))
    assert not isinstance(frame, NO_FRAME)
    assert codec.encode(frame) == vector.given("wire")


@settings(max_examples=300)
@given(frame=frames)
def test_any_frame_goes_round(frame: Frame) -> None:
    assert codec.decode(codec.encode(frame)) == frame


@given(peer_id=texts, caps=st.none() | st.lists(texts, max_size=3), ts=times)
def test_any_handshake_goes_round(peer_id: str, caps: list[str] | None, ts: int | None) -> None:
    frame = Handshake(bytes(16), peer_id, None if caps is None else tuple(caps), '{"a:b":[1,null]}', ts=ts)
    got = codec.decode(codec.encode(frame))
    assert isinstance(got, Handshake)
    assert (got.peer_id, got.caps, got.metadata, got.ts) == (frame.peer_id, frame.caps, frame.metadata, ts)


@settings(max_examples=500)
@given(
    raw=st.one_of(
        st.binary(max_size=60),
        st.builds(lambda head, rest: bytes([head, 0]) + bytes(16) + rest, st.integers(0, 4), st.binary(max_size=40)),
    )
)
def test_any_bytes_get_an_answer(raw: bytes) -> None:
    """What is taken is written back as it came, but for a Handshake's JSON; an op that is reserved cannot be written."""
    frame = codec.decode(raw)
    if not isinstance(frame, (*NO_FRAME, Handshake, UnknownOp)):
        assert codec.encode(frame) == raw


@pytest.mark.parametrize(
    "frame",
    [
        Ping(b"short"),
        Ping(bytes(16), 2**63),
        Ack(bytes(16), bytes(15)),
        Error(bytes(16), 65536),
        Error(bytes(16), -1),
        Message(bytes(16), ""),
        Message(bytes(16), "\ud800"),
        UnknownOp(bytes(16), 4),
        *(Handshake(bytes(16), "me", metadata=f'{{"{key}":1}}') for key in ("", "bare", ":name", ":a:b")),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_not_written(frame: Frame) -> None:
    with pytest.raises(Unencodable):
        codec.encode(frame)


@pytest.mark.parametrize(
    "payload", [b"NaN", b'{"protocol":"sideband","version":"1","peerId":"\\ud800"}', b'{"a":' * 5000]
)
def test_json_that_python_would_take_is_refused(payload: bytes) -> None:
    """A constant that is no JSON, half a character, and more nesting than the reader can hold."""
    assert isinstance(codec.decode(bytes(19) + payload), BadHandshake)


def test_a_frame_shows_its_bytes_in_hex() -> None:
    """As the shim's contract spells them; what was not given is left out, what is long is cut."""
    id = bytes(range(16))
    assert str(Ack(id, b"\xff" * 16, 5)) == f"Ack(id={id.hex()}, of={'ff' * 16}, ts=5)"
    assert str(Message(id, "app/x", bytes(100))).endswith(f"data={'00' * 64}… (100 bytes))")
