"""The Noise sessions: public known answers, any segmentation of the stream, and whoever is not who they should be."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue import vectors
from reference_impl.trueseal.noise import Noise, NoiseFailed, Pattern, Secured, WrongKey, public_key

EVERY = [*vectors.load("trueseal/noise").vectors, *vectors.load("trueseal/sessions").vectors]


def played(vector: vectors.Vector) -> tuple[list[str], str]:
    """The results of the vector's script, and the handshake hash."""
    told: dict[str, Any] = vector.input
    noise = Noise(
        Pattern[told["pattern"]],
        initiator=told["side"] == "initiator",
        entropy=lambda size: bytes.fromhex(told["ephemeral_hex"]),
        static=bytes.fromhex(told.get("static_hex", "")) or None,
        remote_static=bytes.fromhex(told.get("remote_static_hex", "")) or None,
        prologue=bytes.fromhex(told.get("prologue_hex", "")),
    )
    results = [
        (noise.write if verb == "write" else noise.read)(bytes.fromhex(data)).hex()
        for verb, data in zip(told["verbs"], told["script_hex"], strict=True)
    ]
    return results, noise.hash.hex()


@pytest.mark.parametrize("vector", EVERY, ids=lambda vector: vector.name)
def test_known_answers(vector: vectors.Vector) -> None:
    """Each side of each session writes and reads exactly these bytes, and refuses the forged ones."""
    if vector.result == "valid":
        assert played(vector) == (vector.expected["results_hex"], vector.expected["hash_hex"])
    else:
        with pytest.raises(NoiseFailed):
            played(vector)


RELAY, DEVICE = bytes(range(32)), bytes(range(32, 64))


def pair(pattern: Pattern, trusted: bytes | None = None) -> tuple[Secured, Secured]:
    keys = {"remote_static": public_key(RELAY)} if pattern is Pattern.NK else {"static": DEVICE}
    initiator = Noise(pattern, initiator=True, entropy=secrets.token_bytes, **keys)
    responder = Noise(pattern, initiator=False, entropy=secrets.token_bytes, static=RELAY)
    return Secured(initiator, trusted), Secured(responder)


def delivered(data: bytes, to: Secured) -> tuple[bytes, list[bytes]]:
    """What it answers and what it hears, when these bytes come."""
    reply, heard = b"", []
    to.feed(data)
    while read := to.read():
        reply += read[0]
        heard += [] if read[1] is None else [read[1]]
    return reply, heard


def shaken(pattern: Pattern) -> tuple[Secured, Secured]:
    one, other = pair(pattern)
    message, turn = one.opening(), 0
    while message:
        message, _ = delivered(message, (other, one)[turn])
        turn = 1 - turn
    assert one.noise.finished
    assert other.noise.finished
    return one, other


@pytest.mark.parametrize("pattern", Pattern)
def test_both_sides_name_the_session_alike(pattern: Pattern) -> None:
    one, other = shaken(pattern)
    assert one.noise.hash == other.noise.hash
    assert one.noise.remote_static == public_key(RELAY)
    assert other.noise.remote_static == (public_key(DEVICE) if pattern is Pattern.XX else None)


@pytest.mark.parametrize(("pattern", "sizes"), [(Pattern.NK, [50, 50]), (Pattern.XX, [34, 98, 66])])
def test_handshake_sizes(pattern: Pattern, sizes: list[int]) -> None:
    """As in the sheet's section 2.1, each behind its length."""
    one, other = pair(pattern)
    messages = [one.opening()]
    while reply := delivered(messages[-1], (other, one)[len(messages) % 2 - 1])[0]:
        messages.append(reply)
    assert [len(message) for message in messages] == sizes


@given(plaintexts=st.lists(st.binary(max_size=200), max_size=5), cuts=st.lists(st.integers(0, 1200), max_size=8))
def test_any_segmentation(plaintexts: list[bytes], cuts: list[int]) -> None:
    one, other = shaken(Pattern.NK)
    stream = b"".join(one.seal(plaintext) for plaintext in plaintexts)
    ends = [*sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    heard = [delivered(stream[a:b], other)[1] for a, b in zip([0, *ends], ends, strict=False)]
    assert [plaintext for some in heard for plaintext in some] == plaintexts


@pytest.mark.parametrize("pattern", Pattern)
def test_byte_by_byte(pattern: Pattern) -> None:
    """From the first byte of the handshake on."""
    one, other = pair(pattern)
    flying, turn = one.opening(), 0
    while flying:
        answers = [delivered(flying[at : at + 1], (other, one)[turn])[0] for at in range(len(flying))]
        flying, turn = b"".join(answers), 1 - turn
    sealed = one.seal(b"hello")
    assert [delivered(sealed[at : at + 1], other)[1] for at in range(len(sealed))][-1] == [b"hello"]


def test_another_key_than_the_trusted_one_is_found_before_ours_is_shown() -> None:
    one, other = pair(Pattern.XX, trusted=public_key(DEVICE))
    second, _ = delivered(one.opening(), other)
    with pytest.raises(WrongKey):
        delivered(second, one)


def test_a_relay_without_the_key_cannot_answer() -> None:
    stranger = Secured(Noise(Pattern.NK, initiator=False, entropy=secrets.token_bytes, static=DEVICE))
    one, _ = pair(Pattern.NK)
    with pytest.raises(NoiseFailed):
        delivered(one.opening(), stranger)


@pytest.mark.parametrize("message", [b"", bytes(15), bytes(16), bytes(32), bytes(48), bytes(100)])
@pytest.mark.parametrize("pattern", Pattern)
def test_what_does_not_authenticate(pattern: Pattern, message: bytes) -> None:
    """Short, long, all zeros (a point of low order): one error, whatever the library says."""
    if pattern is Pattern.NK or len(message) < 32:
        with pytest.raises(NoiseFailed):
            pair(pattern)[1].noise.read(message)
    one, _ = shaken(pattern)
    with pytest.raises(NoiseFailed):
        one.noise.read(message)


def test_a_replayed_message_is_found() -> None:
    one, other = shaken(Pattern.XX)
    sealed = one.seal(b"once")
    assert delivered(sealed, other)[1] == [b"once"]
    with pytest.raises(NoiseFailed):
        delivered(sealed, other)
