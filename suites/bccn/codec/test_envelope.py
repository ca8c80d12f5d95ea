"""The envelope layer by itself: it frames and authenticates bodies of any version (BCCN-ENV-19)."""

from __future__ import annotations

from typing import Any

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Trial
from suites.bccn.codec.asked import ROLE, Asked
from suites.bccn.wire import SECRET, framed, signed

BODY = bytes(range(256)) + b"]|:[ no BCCN1 body"
MAGICS = ["BCCN1", "BCCN2", "BCCN1a", "BCCN10"]


async def parsed(codec: Asked, target: Target, wire: bytes, key: bytes = b"") -> dict[str, Any] | None:
    await target.need(ROLE, "envelope")
    return await codec.parse_envelope(wire, key)


@clauses("BCCN-ENV-19", "BCCN-ENV-20")
@axis("magic", MAGICS)
async def test_any_version_is_framed(codec: Asked, target: Target, trial: Trial, magic: str) -> None:
    """Magic, len and body are found without knowing what is in the body."""
    got = await parsed(codec, target, framed(BODY, magic=magic)) or {}
    trial.expect((got.get("magic"), got.get("body")) == (magic, BODY.hex()), f"{magic} and its body", got)


@clauses("BCCN-ENV-19", "BCCN-INT-01")
@axis("magic", MAGICS)
async def test_any_version_is_authenticated(codec: Asked, target: Target, trial: Trial, magic: str) -> None:
    """The tag of a body of any version is verified, and a wrong one is noticed."""
    good = await parsed(codec, target, signed(BODY, magic=magic), SECRET) or {}
    trial.expect(good.get("verified") is True, "verified", good)
    bad = await parsed(codec, target, signed(BODY, magic=magic), b"another") or {}
    trial.expect(bad.get("verified") is not True, "not verified under another key", bad)


@clauses("BCCN-ENV-19", "BCCN-ENV-08")
async def test_a_wrong_len_is_refused_in_any_version(codec: Asked, target: Target, trial: Trial) -> None:
    """The envelope layer itself checks len."""
    got = await parsed(codec, target, b"BCCN2[5]four")
    trial.expect(got is None, "a refusal", got, "BCCN-ENV-08")
