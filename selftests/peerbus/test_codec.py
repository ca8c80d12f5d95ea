"""The reference's wire: its JSON reader beside the standard library's, and its parsers each three ways."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.codec import MAX_LINE, Codec, LineDecoder
from reference_impl.peerbus.frames import Ack, Deliver, Envelope, Frame, Garbage, Peers, Register
from reference_impl.peerbus.signing import Profile

EXAMPLES = settings(max_examples=200)
codec = Codec()
ENVELOPE = Envelope(
    "m1", "al\nice", "bob", "2026-05-18T12:00:00Z", "peer-bus", "msg", b'{"z":1.0,"a":"\\/"}', hmac="ab" * 32
)
FRAMES: list[Frame] = [
    Register("t", "b\u00f6b"),
    Ack("m1|bob"),
    Peers(),
    Peers(("alice", "b<b", "")),
    ENVELOPE,
    Envelope(),
    Deliver("m1|bob", ENVELOPE),
]

# -- JSON as text ------------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)
spelled = st.builds(
    lambda value, ascii, indent: json.dumps(value, ensure_ascii=ascii, indent=indent),
    values,
    st.booleans(),
    st.sampled_from([None, 1]),
).filter(lambda text: _utf8(text) is not None)
soup = st.text('{}[],:"\\/bfnrtu0123456789.eE+-truefalsn \t\r\n\x00\x1f\x7f\u00e9', max_size=12)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A JSON text with one small wound."""
    text = draw(spelled)
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(soup.map(lambda s: s[:2])) + text[at + draw(st.integers(0, 2)) :]


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _standard(text: str, hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """What the standard library reads, kept strict; raises ValueError for what is no JSON."""

    def never(constant: str) -> Any:
        raise ValueError(constant)

    return json.loads(text, parse_constant=never, parse_int=str, parse_float=str, object_pairs_hook=hook)


@EXAMPLES
@given(st.one_of(spelled, damaged(), soup))
def test_it_takes_exactly_what_the_standard_library_takes(text: str) -> None:
    data = _utf8(text)
    if data is None:
        return
    try:
        _standard(text)
        valid = True
    except ValueError:
        valid = False
    try:
        list(jsontext.tokens(data))
        taken = True
    except jsontext.NotJson:
        taken = False
    assert taken is valid


@EXAMPLES
@given(spelled)
def test_compacting_keeps_the_value_and_every_spelling(text: str) -> None:
    """Numbers are compared as they are written, objects with their order and duplicates."""
    compact = jsontext.compact(text.encode())
    assert _standard(compact.decode(), tuple) == _standard(text, tuple)
    assert jsontext.compact(compact) == compact
    assert b"\n" not in compact


@EXAMPLES
@given(spelled)
def test_slices_are_what_the_standard_library_reads(text: str) -> None:
    value = _standard(text, list)
    if text[0] == "[":
        assert [_standard(e.decode(), list) for e in jsontext.elements(text.encode())] == value
    elif text[0] == "{":
        pairs = jsontext.members(text.encode())
        assert [(json.loads(key), _standard(item.decode(), list)) for key, item in pairs] == value


@pytest.mark.parametrize("text", [b"[]", b"1", b'"x"', b"null"])
def test_only_an_object_has_members(text: bytes) -> None:
    with pytest.raises(jsontext.NotJson):
        jsontext.members(text)


@pytest.mark.parametrize("text", [b"{}", b"1", b'"x"', b"null"])
def test_only_an_array_has_elements(text: bytes) -> None:
    with pytest.raises(jsontext.NotJson):
        jsontext.elements(text)


@pytest.mark.parametrize(("depth", "taken"), [(jsontext.MAX_DEPTH, True), (jsontext.MAX_DEPTH + 1, False)])
def test_nesting_has_a_bound_that_is_not_the_interpreters(depth: int, taken: bool) -> None:
    text = b"[" * depth + b"]" * depth
    if taken:
        assert jsontext.compact(text) == text
    else:
        with pytest.raises(jsontext.NotJson):
            list(jsontext.tokens(text))


# -- frames ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_what_is_encoded_decodes_to_itself(frame: Frame, profile: Profile) -> None:
    one = Codec(profile)
    assert one.decode(one.encode(frame)) == frame


@EXAMPLES
@given(st.one_of(soup, damaged(), spelled).map(_utf8) | st.binary(max_size=60))
def test_decoding_never_raises(text: bytes | None) -> None:
    if text is not None:
        codec.decode(text)
        codec.decode(b'{"type":"peers","names":' + text + b"}")
        codec.decode(b'{"type":"deliver","delivery_key":' + text + b',"envelope":' + text + b"}")


@pytest.mark.parametrize("names", [b"[" * 5000 + b"]" * 5000, b"[" + b"1" * 5000 + b"]", b'["a",1]', b"{}", b'"a"'])
def test_names_that_are_none_are_garbage(names: bytes) -> None:
    """However deep or long: a decoding parser would give up on the first two in its own way."""
    assert isinstance(codec.decode(b'{"type":"peers","names":' + names + b"}"), Garbage)


def test_names_are_read_like_every_string() -> None:
    frame = codec.decode(b'{"protocol_version":"v1","type":"peers","names":["\\u0061",null, "\\ud800" ,"\xff"]}')
    assert frame == Peers(("a", "", "\ufffd", "\ufffd"))


# -- lines, each three ways --------------------------------------------------------------------------------------------

STREAM = b"".join(map(codec.encode_line, FRAMES))


def read(chunks: list[bytes]) -> list[Frame | Garbage]:
    lines = codec.lines()
    return [frame for chunk in chunks for frame in lines.feed(chunk)]


def one_by_one(stream: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in stream]


WAYS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda stream: [stream],
    "byte by byte": one_by_one,
    "with trailing bytes": lambda stream: [stream + b'{"protocol_ver'],
}


@pytest.mark.parametrize("way", WAYS)
def test_frames_come_out_of_a_stream(way: str) -> None:
    assert read(WAYS[way](STREAM)) == FRAMES


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", [b"nope", b"{}{}", b"[]", b"", b'{"id":1}'])
def test_a_bad_line_is_one_garbage_and_the_next_is_read(bad: bytes, way: str) -> None:
    before, error, after = read(
        WAYS[way](STREAM[: STREAM.index(b"\n") + 1] + bad + b"\n" + codec.encode_line(Ack("x")))
    )
    assert (before, type(error), after) == (FRAMES[0], Garbage, Ack("x"))


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_any_cut_gives_the_same_frames(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert read([STREAM[a:b] for a, b in itertools.pairwise(edges)]) == FRAMES


class Short(LineDecoder):
    longest = 60


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("size", "errors"), [(60, 0), (61, 1), (62, 1), (200, 1)])
def test_a_line_beyond_the_limit_is_one_garbage(size: int, errors: int, way: str) -> None:
    """Also while it is still coming, and the line behind it is read."""
    empty = len(codec.encode(Ack("")))
    long = codec.encode_line(Ack("x" * (size - empty)))
    assert len(long) == size + 1
    lines = Short(codec)
    got = [frame for chunk in WAYS[way](long + codec.encode_line(Ack("y"))) for frame in lines.feed(chunk)]
    assert [type(frame) for frame in got] == [Garbage if errors else Ack, Ack]
    assert got[-1] == Ack("y")


def test_the_longest_line_is_read_and_one_byte_more_is_not() -> None:
    empty = len(codec.encode(Envelope(body=b'""')))
    for size, kind in ((MAX_LINE, Envelope), (MAX_LINE + 1, Garbage)):
        line = codec.encode_line(Envelope(body=b'"%s"' % (b"x" * (size - empty))))
        assert [type(frame) for frame in read([line[:1000], line[1000:]])] == [kind]
