"""The envelope layer by itself: it frames and authenticates bodies of any version (BCCN-ENV-19)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.bccn.codec.under_test import CodecUnderTest
from suites.bccn.wire import SECRET, framed, signed

BODY = bytes(range(256)) + b"]|:[ no BCCN1 body"
MAGICS = ["BCCN1", "BCCN2", "BCCN1a", "BCCN10"]


@clauses("BCCN-ENV-19", "BCCN-ENV-20")
@needs("envelope")
@axis("magic", MAGICS)
async def test_any_version_is_framed(codec: CodecUnderTest, trial: Trial, magic: str) -> None:
    """Magic, len and body are found without knowing what is in the body."""
    got = await codec.parse_envelope(framed(BODY, magic=magic)) or {}
    trial.expect((got.get("magic"), got.get("body")) == (magic, BODY.hex()), f"{magic} and its body", got)


@clauses("BCCN-ENV-19", "BCCN-INT-01")
@needs("envelope")
@axis("magic", MAGICS)
async def test_any_version_is_authenticated(codec: CodecUnderTest, trial: Trial, magic: str) -> None:
    """The tag of a body of any version is verified, and a wrong one is noticed."""
    good = await codec.parse_envelope(signed(BODY, magic=magic), SECRET) or {}
    trial.expect(good.get("verified") is True, "verified", good)
    bad = await codec.parse_envelope(signed(BODY, magic=magic), b"another") or {}
    trial.expect(bad.get("verified") is not True, "not verified under another key", bad)


BROKEN = {
    "len": ("BCCN-ENV-08", b"BCCN2[5]four"),
    "no-end": ("BCCN-ENV-04", b"BCCN1[8x"),  # a len that would be true of the whole
    "no-magic": ("BCCN-ENV-03", b"[3]abc"),
    "no-bracket": ("BCCN-ENV-03", b"BCCN1"),
    "turned-round": ("BCCN-ENV-04", b"BCCN1]3[abc"),
}


@clauses("BCCN-ENV-19", "BCCN-ENV-08", "BCCN-ENV-04", "BCCN-ENV-03")
@needs("envelope")
@axis("wire", BROKEN)
async def test_a_broken_envelope_is_refused_in_any_version(
    codec: CodecUnderTest, trial: Trial, wire: tuple[str, bytes]
) -> None:
    """The envelope layer itself checks magic, brackets and len."""
    clause, data = wire
    got = await codec.parse_envelope(data)
    trial.expect(got is None, "a refusal", got, clause)
