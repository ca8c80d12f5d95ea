"""Section 4, for the recipient: which signatures verify."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.peerbus.codec.strategies import NAMES, Parts, parts
from suites.peerbus.codec.under_test import CodecUnderTest

VECTORS = load("peerbus/verify")
secrets = st.binary(min_size=32, max_size=80)


@clauses(*VECTORS.clauses)
async def test_vector(codec: CodecUnderTest, each: Each) -> None:
    """An envelope verifies exactly if its hmac is the MAC of its canonical form under a long enough secret."""

    async def try_one(vector: Vector) -> None:
        got = await codec.verify(vector.given("wire"), vector.given("secret"))
        if got != vector.expected["valid"]:
            raise Broken.of(vector, VERDICT[not got], VERDICT[got])

    await each(VECTORS, try_one, declared=[await codec.profile()])


VERDICT = {True: "the signature verifies", False: "the signature is rejected"}


@clauses("PB-4-13", "PB-4-14")
@given(said=parts(), secret=secrets)
async def test_what_it_signs_it_verifies(codec: CodecUnderTest, trial: Trial, said: Parts, secret: bytes) -> None:
    """A signature that the codec makes is the HMAC-SHA256 in lower-case hex, and it verifies."""
    trial.restart()
    got = await codec.sign(said.wire(), secret)
    trial.expect(got is not None and got.lower() == said.mac(secret), said.mac(secret), got, "PB-4-13")
    trial.expect(got == said.mac(secret), "64 lower-case hex digits", got, "PB-4-14")
    trial.expect(await codec.verify(said.wire(said.mac(secret)), secret), VERDICT[True], VERDICT[False], "PB-4-13")


@clauses("PB-4-18", "PB-4-26")
@given(said=parts(), name=st.sampled_from(NAMES), at=st.integers(0, 30), new=st.sampled_from("aB7 /\u00e9"))
async def test_any_changed_character_of_the_header_breaks_it(
    codec: CodecUnderTest, trial: Trial, said: Parts, name: str, at: int, new: str
) -> None:
    """One other character in a signed header field, and the signature is rejected."""
    trial.restart()
    old = said.header[NAMES.index(name)]
    at = min(at, len(old))
    changed = said.with_field(name, old[:at] + new + old[at + 1 :])
    assume(changed != said)
    got = await codec.verify(changed.wire(said.mac()))
    trial.expect(not got, VERDICT[False], VERDICT[got], "PB-4-26" if name == "protocol_version" else "PB-4-18")


@clauses("PB-4-18", "PB-4-06", "PB-4-07", "PB-4-08", "PB-4-09")
@given(one=parts(), other=parts())
async def test_another_body_breaks_it(codec: CodecUnderTest, trial: Trial, one: Parts, other: Parts) -> None:
    """A signature is for one body: any other text in its place is rejected."""
    trial.restart()
    assume("".join(one.body) != "".join(other.body))
    swapped = Parts(one.header, other.body)
    got = await codec.verify(swapped.wire(one.mac()))
    trial.expect(not got, VERDICT[False], VERDICT[got], "PB-4-18")


@clauses("PB-4-18", "PB-4-19")
@given(said=parts(), at=st.integers(0, 63), digit=st.sampled_from("0123456789abcdef"), keep=st.integers(0, 63))
async def test_any_changed_or_missing_digit_breaks_it(
    codec: CodecUnderTest, trial: Trial, said: Parts, at: int, digit: str, keep: int
) -> None:
    """A MAC with one other digit, or with only its first digits, is rejected."""
    trial.restart()
    mac = said.mac()
    wrong = mac[:at] + digit + mac[at + 1 :]
    if wrong != mac:
        trial.expect(not await codec.verify(said.wire(wrong)), VERDICT[False], VERDICT[True], "PB-4-18")
    trial.expect(not await codec.verify(said.wire(mac[:keep])), VERDICT[False], VERDICT[True], "PB-4-19")


@clauses("PB-4-13", "PB-4-18")
@axis("size", [1024, 4096, 65_535, 65_536, 70_000, 200_000])
async def test_a_long_body_is_signed_to_its_end(codec: CodecUnderTest, trial: Trial, size: int) -> None:
    """The MAC is over all of it: the last character counts like the first."""
    said = Parts(("v1", "m1", "alice", "bob", "", "", "msg"), (f'"{"x" * size}"',))
    got = await codec.sign(said.wire())
    trial.expect(got == said.mac(), said.mac(), got, "PB-4-13")
    changed = Parts(said.header, (f'"{"x" * (size - 1)}y"',))
    trial.expect(not await codec.verify(changed.wire(said.mac())), VERDICT[False], VERDICT[True], "PB-4-18")
