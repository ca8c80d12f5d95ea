"""The reference's codec and names: every vector, any command there and back, and never an exception."""

from __future__ import annotations

import time
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalogue.vectors import Vector, load
from reference_impl.frog import identifiers
from reference_impl.frog.codec import Codec, Direction, Unencodable
from reference_impl.frog.frames import (
    MAX_PAYLOAD,
    Code,
    Find,
    Found,
    Frame,
    GetServers,
    Kind,
    Lookup,
    Malformed,
    Peers,
    Signal,
    SignalFrom,
    SisterFind,
    SisterServers,
    Stray,
    Try,
)
from reference_impl.frog.grammar import BY_FRAME, FORMS
from reference_impl.frog.identity import ClientProof, Identities, ServerProof
from reference_impl.frog.uri import is_canonical
from targets.reference.frog import command_of, frame_of

codec, names = Codec(), Identities()
NO_FRAME = (Malformed, Stray)
CHECKS: dict[str, Any] = {
    "network": identifiers.is_network,
    "peer_key": identifiers.is_peer_key,
    "cid": identifiers.is_request_id,
    "fcid": identifiers.is_request_id,
    "public_key": identifiers.is_public_key,
    "signature": identifiers.is_signature,
}


def wire_of(vector: Vector) -> bytes:
    fill = bytes.fromhex(vector.input.get("fill_hex", "")) * vector.input.get("fill_count", 0)
    return vector.given("wire") + fill + bytes.fromhex(vector.input.get("end_hex", ""))


def every(group: str) -> Any:
    return pytest.mark.parametrize("vector", load(f"frog/{group}").vectors, ids=lambda vector: vector.name)


@every("commands")
def test_a_command_means_what_it_says_and_goes_round(vector: Vector) -> None:
    wanted = dict(vector.expected["command"])
    if count := vector.expected.get("payload_count"):
        wanted["payload"] = vector.expected["payload_fill_hex"] * count
    frame = codec.decode(wire_of(vector), Direction(vector.input["direction"]))
    assert not isinstance(frame, NO_FRAME), frame
    assert command_of(frame) == wanted
    assert codec.encode(frame_of(wanted)) == wire_of(vector)


@every("refused")
def test_what_is_to_be_refused_is(vector: Vector) -> None:
    got = codec.decode(wire_of(vector), Direction(vector.input["direction"]))
    if "command" in vector.expected:
        assert not isinstance(got, NO_FRAME)
        assert command_of(got) == vector.expected["command"]
    else:
        assert isinstance(got, NO_FRAME)
    if isinstance(got, Malformed) and "codes" in vector.expected:
        assert got.codes[0] in vector.expected["codes"]
        assert got.id == vector.expected["id"]


@every("uris")
def test_a_uri_is_canonical_or_not(vector: Vector) -> None:
    assert is_canonical(vector.input["uri"]) is vector.expected["valid"]


@every("identifiers")
def test_an_identifier_is_one_or_not(vector: Vector) -> None:
    check = CHECKS.get(vector.input["kind"], identifiers.is_id)
    assert check(vector.input["text"]) is vector.expected["valid"]


@every("identities")
def test_names_follow_from_keys(vector: Vector) -> None:
    if "bytes_hex" in vector.input:
        raw = vector.given("bytes")
        assert identifiers.encode(raw) == vector.expected["text"]
        assert identifiers.decode(vector.expected["text"], len(raw)) == raw
    else:
        assert names.id_of(identifiers.decode(vector.input["public_key"], 32)) == vector.expected["id"]


@every("proofs")
def test_a_proof_holds_or_not(vector: Vector) -> None:
    given = dict(vector.input)
    kind = ClientProof if given.pop("role") == "client" else ServerProof
    key, signature, seed = given.pop("public_key"), given.pop("signature"), given.pop("seed_hex", "")
    proof = kind(**given)
    assert names.verify(key, signature, proof) is vector.expected["valid"]
    if seed:
        assert names.sign(bytes.fromhex(seed), proof) == (key, signature)


# -- any command -------------------------------------------------------------------------------------------------------

ids = st.text(identifiers.ALPHABET, min_size=26, max_size=26)
requests = st.text("ABCXYZ019_-", min_size=1, max_size=32).filter(lambda id: id != "-")
keys = st.builds(lambda network, id: f"{network}:{id}", st.text("AZ09_", min_size=1, max_size=16), ids)
uris = st.integers(1, 65535).filter(lambda port: port != 80).map(lambda port: f"ws://[2001:db8::{port:x}]:{port}/a%20b")
limits, ttls = st.integers(1, 7), st.integers(0, 7)
few_keys = st.lists(keys, max_size=7).map(tuple)
payloads = st.binary(max_size=80)
kinds = st.sampled_from(list(Kind))
frames = st.one_of(
    st.builds(GetServers, requests, limits),
    st.builds(Find, requests, limits),
    st.builds(Lookup, requests, keys),
    st.builds(Signal, ids, kinds, payloads),
    st.builds(Try, requests | st.just("-"), st.lists(uris, max_size=7).map(tuple)),
    st.builds(Peers, requests, few_keys),
    st.builds(Found, requests, keys, ids),
    st.builds(SignalFrom, ids, keys, kinds, payloads),
    st.builds(SisterServers, requests, st.lists(st.tuples(ids, uris), max_size=7).map(tuple)),
    st.builds(SisterFind, requests, ids, keys, limits, ttls),
)
DIRECTION = {form.frame: way for way, forms in FORMS.items() for form in forms}


def test_the_grammar_has_every_command() -> None:
    """29 forms: 8 to a server, 9 to a client, 12 among sisters."""
    assert set(BY_FRAME) == set(get_args(Frame))
    assert [len(forms) for forms in FORMS.values()] == [8, 9, 12]


@settings(max_examples=300)
@given(frame=frames)
def test_any_command_goes_round(frame: Frame) -> None:
    assert codec.decode(codec.encode(frame), DIRECTION[type(frame)]) == frame


@settings(max_examples=300)
@given(frame=frames, at=st.integers(0, 200), byte=st.integers(0, 255), way=st.sampled_from(list(Direction)))
def test_a_damaged_message_is_refused_or_is_another_command(frame: Frame, at: int, byte: int, way: Direction) -> None:
    wire = bytearray(codec.encode(frame))
    wire[at % len(wire)] = byte
    got = codec.decode(bytes(wire), way)
    assert isinstance(got, NO_FRAME) or codec.encode(got) == bytes(wire) or isinstance(got, Try)


@settings(max_examples=300)
@given(wire=st.binary(max_size=60), way=st.sampled_from(list(Direction)))
def test_noise_is_refused_or_happens_to_be_a_command(wire: bytes, way: Direction) -> None:
    """Hypothesis reads our sources and knows the words."""
    got = codec.decode(wire, way)
    assert isinstance(got, NO_FRAME) or codec.encode(got) == wire or isinstance(got, Try)


@pytest.mark.parametrize(
    "frame",
    [
        GetServers("-", 3),
        GetServers("A1", 8),
        Find("A1", 0),
        Lookup("A1", "blutella:" + "0" * 26),
        Signal("0" * 26, "BYE", b""),
        Signal("0" * 26, "ICE", bytes(MAX_PAYLOAD + 1)),
        Try("-", ("wss://rv.example.net",)),
        Try("-", ("ws://h/",) * 8),
        Peers("A1", ("N:" + "0" * 26,) * 8),
    ],
)
def test_what_no_sender_may_emit_is_refused(frame: Frame) -> None:
    with pytest.raises(Unencodable):
        codec.encode(frame)


def test_payload_codes() -> None:
    """The declared length decides: over the maximum has a code of its own (AMB-03, AMB-04)."""
    route = b"SIGNAL 2N9VVK36ZP3JH2M8QAK1JY7Z5T OFFER "
    declared = codec.decode(route + b"65537\n" + bytes(65537), Direction.TO_SERVER)
    present = codec.decode(route + b"5\n" + bytes(65537), Direction.TO_SERVER)
    assert isinstance(declared, Malformed)
    assert declared.codes[0] is Code.PAYLOAD_TOO_LARGE
    assert isinstance(present, Malformed)
    assert present.codes == (Code.BAD_REQUEST,)


def test_the_codec_is_fast_enough() -> None:
    """At least 4,000 messages in a second, by far."""
    wires = [wire_of(vector) for vector in load("frog/refused").vectors]
    began, count = time.process_time(), 0
    while time.process_time() - began < 0.3:
        for wire in wires:
            codec.decode(wire, Direction.TO_SERVER)
        count += len(wires)
    assert count > 4_000 * 0.3
