"""Section 4, for the recipient: which signatures verify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.cases import clauses
from harness.trial import Broken, Trial
from harness.vectors import Vector, load
from suites.peerbus.codec.asked import Asked
from suites.peerbus.codec.texts import NAMES, Parts, parts

VECTORS = load("peerbus/verify")
secrets = st.binary(min_size=32, max_size=80)


@clauses(*VECTORS.clauses)
async def test_vector(codec: Asked, each: Callable[..., Awaitable[None]]) -> None:
    """An envelope verifies exactly if its hmac is the MAC of its canonical form under a long enough secret."""
    profile = await codec.profile()

    async def try_one(vector: Vector) -> None:
        got = await codec.verify(vector.given("wire"), vector.given("secret"))
        if got != vector.expected["valid"]:
            raise Broken(vector.clauses[0], VERDICT[not got], VERDICT[got], vector.contested)

    await each([v for v in VECTORS.vectors if profile in v.needs or not v.needs], try_one)


VERDICT = {True: "the signature verifies", False: "the signature is rejected"}


@clauses("PB-4-13", "PB-4-14")
@given(said=parts(), secret=secrets)
async def test_what_it_signs_it_verifies(codec: Asked, trial: Trial, said: Parts, secret: bytes) -> None:
    """A signature that the codec makes is the HMAC-SHA256 in lower-case hex, and it verifies."""
    trial.restart()
    got = await codec.sign(said.wire(), secret)
    trial.expect(got is not None and got.lower() == said.mac(secret), said.mac(secret), got, "PB-4-13")
    trial.expect(got == said.mac(secret), "64 lower-case hex digits", got, "PB-4-14")
    trial.expect(await codec.verify(said.wire(said.mac(secret)), secret), VERDICT[True], VERDICT[False], "PB-4-13")


@clauses("PB-4-18", "PB-4-26")
@given(said=parts(), name=st.sampled_from(NAMES), at=st.integers(0, 30), new=st.sampled_from("aB7 /\u00e9"))
async def test_any_changed_character_of_the_header_breaks_it(
    codec: Asked, trial: Trial, said: Parts, name: str, at: int, new: str
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
async def test_another_body_breaks_it(codec: Asked, trial: Trial, one: Parts, other: Parts) -> None:
    """A signature is for one body: any other text in its place is rejected."""
    trial.restart()
    assume("".join(one.body) != "".join(other.body))
    swapped = Parts(one.header, other.body)
    got = await codec.verify(swapped.wire(one.mac()))
    trial.expect(not got, VERDICT[False], VERDICT[got], "PB-4-18")


@clauses("PB-4-18", "PB-4-19")
@given(said=parts(), at=st.integers(0, 63), digit=st.sampled_from("0123456789abcdef"), keep=st.integers(0, 63))
async def test_any_changed_or_missing_digit_breaks_it(
    codec: Asked, trial: Trial, said: Parts, at: int, digit: str, keep: int
) -> None:
    """A MAC with one other digit, or with only its first digits, is rejected."""
    trial.restart()
    mac = said.mac()
    wrong = mac[:at] + digit + mac[at + 1 :]
    if wrong != mac:
        trial.expect(not await codec.verify(said.wire(wrong)), VERDICT[False], VERDICT[True], "PB-4-18")
    trial.expect(not await codec.verify(said.wire(mac[:keep])), VERDICT[False], VERDICT[True], "PB-4-19")
