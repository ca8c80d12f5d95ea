"""What an encoder must not write, and how it writes what it may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Each, Trial
from suites.common import shim
from suites.sbp.codec.under_test import CodecUnderTest, Refusal, same_frame
from suites.sbp.wire import A

KINDS: dict[str, dict[str, Any]] = {
    "handshake": {"peer_id": "peer-a"},
    "ping": {},
    "pong": {},
    "close": {},
    "message": {"subject": "app/x", "data": "01"},
    "ack": {"ack": "f0" * 16},
    "error": {"code": 2000, "message": "m", "details": "01"},
}


def fields(kind: str, **changes: Any) -> dict[str, Any]:
    return {"kind": kind, "id": A.hex()} | KINDS[kind] | changes


@dataclass(frozen=True)
class BadId:
    name: str
    fields: dict[str, Any]
    clauses: tuple[str, ...] = ("SBP-FID-06",)


@clauses("SBP-FID-06")
async def test_an_id_of_another_length_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """An id is exactly sixteen bytes, in each kind; so is the id that an Ack names."""
    sizes = (0, 1, 15, 17, 32)
    bad = [BadId(f"{kind}-{n}", fields(kind, id="ab" * n)) for kind in KINDS for n in sizes]
    bad += [BadId(f"acked-{n}", fields("ack", ack="ab" * n)) for n in sizes]

    async def judge(one: BadId) -> None:
        got = await codec.encode(one.fields)
        if not isinstance(got, Refusal):
            raise Broken("SBP-FID-06", "a refusal", got.hex())

    await each(bad, judge)


@clauses("SBP-FLAGS-02", "SBP-FLAGS-01", "SBP-FLAGS-03", "SBP-TS-05", "SBP-PAY-01", "SBP-FID-01", "SBP-VER-01")
@axis("kind", KINDS)
async def test_the_timestamp_bit_says_whether_there_is_one(
    codec: CodecUnderTest, trial: Trial, kind: dict[str, Any]
) -> None:
    """With a timestamp a frame has bit 0 and eight bytes more behind its id; without, neither."""
    name = next(n for n, body in KINDS.items() if body is kind)
    plain, stamped = [await written(codec, fields(name, ts=ts)) for ts in (None, "0")]
    trial.expect(len(plain) >= 18 and plain[2:18] == A, "the id at offset 2", plain.hex(), "SBP-FID-01")
    trial.expect(plain[0] <= 3, "a kind of v1 at offset 0", plain.hex(), "SBP-VER-01")
    trial.expect(plain[1] == 0, "flags 00", plain.hex(), "SBP-FLAGS-02")
    trial.expect(stamped[1] & 1 == 1, "bit 0: a timestamp of zero is one", stamped.hex(), "SBP-TS-05")
    trial.expect(stamped[1] == 1, "flags 01", stamped.hex(), "SBP-FLAGS-03")
    wanted = plain[:1] + b"\x01" + plain[2:18] + bytes(8) + plain[18:]
    trial.expect(same_frame(stamped, wanted), wanted.hex(), stamped.hex(), "SBP-FLAGS-01")


async def written(codec: CodecUnderTest, members: dict[str, Any]) -> bytes:
    got = await codec.encode(members)
    if isinstance(got, Refusal):
        raise Broken(codec.trial.own_clause, "bytes", f"refused: {got}")
    return got


@clauses("SBP-HSP-01", "SBP-HSP-02", "SBP-HSP-03", "SBP-HSP-05", "SBP-HSP-06", "SBP-HS-01")
@axis(
    "hints",
    {
        "none": {},
        "caps": {"caps": ["rpc", "app:é"]},
        "metadata": {"metadata": {"vendor:zz": "1", "tracing:id": "ü"}},
        "both": {"caps": [], "metadata": {}},
    },
)
async def test_a_handshake_is_written_as_json(codec: CodecUnderTest, trial: Trial, hints: dict[str, Any]) -> None:
    """Protocol and version are v1's, the peer id as given, hints where they are given."""
    raw = await written(codec, fields("handshake", peer_id="p\u00e9er", **hints))
    trial.expect(raw[0] == 0 and raw[18] == 0, "Control, op 0", raw[:19].hex(), "SBP-HS-01")
    payload = parsed(raw[19:])
    trial.expect(payload.get("protocol") == "sideband", 'protocol "sideband"', payload, "SBP-HSP-01")
    trial.expect(payload.get("version") == "1", 'version "1", a string', payload, "SBP-HSP-02")
    trial.expect(payload.get("peerId") == "p\u00e9er", 'peerId "p\u00e9er"', payload, "SBP-HSP-03")
    caps, metadata = payload.get("caps") or [], payload.get("metadata") or {}
    trial.expect(caps == hints.get("caps", []), str(hints), payload, "SBP-HSP-05")
    trial.expect(metadata == hints.get("metadata", {}), str(hints), payload, "SBP-HSP-06")


def parsed(raw: bytes) -> dict[str, Any]:
    try:
        payload = shim.parsed(raw.decode("utf-8"))
    except ValueError as error:
        raise Broken("SBP-HS-01", "JSON in UTF-8", f"{raw!r}: {error}") from None
    if not isinstance(payload, dict):
        raise Broken("SBP-HS-01", "one JSON object", repr(raw))
    return payload


NO_BYTES: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"ts-{ts}": ("SBP-TS-03", fields("ping", ts=str(ts))) for ts in (2**63, -(2**63) - 1, 2**64)},
    **{f"code-{code}": ("SBP-ERR-02", fields("error", code=code)) for code in (65_536, 67_536, -1)},
    "subject-empty": ("SBP-MSG-05", fields("message", subject="")),
}


@clauses("SBP-TS-03", "SBP-ERR-02", "SBP-MSG-05")
@axis("frame", NO_BYTES)
async def test_what_has_no_bytes_is_refused(
    codec: CodecUnderTest, trial: Trial, frame: tuple[str, dict[str, Any]]
) -> None:
    """A number that does not fit would be another one on the wire, and a Message without a subject is none."""
    clause, members = frame
    got = await codec.encode(members)
    trial.expect(isinstance(got, Refusal), "a refusal", got.hex() if isinstance(got, bytes) else got, clause)


@clauses("SBP-HSP-07")
@axis("key", ["bare", "", ":name", ":a:b"])
async def test_a_bare_metadata_key_is_never_written(codec: CodecUnderTest, trial: Trial, key: str) -> None:
    """A key has a namespace and a colon: an encoder that is given another refuses it, or leaves it out."""
    got = await codec.encode(fields("handshake", metadata={"vendor:x": "1", key: "2"}))
    if not isinstance(got, Refusal):
        keys = list(parsed(got[19:]).get("metadata") or {})
        trial.expect(key not in keys, f"no key {key!r}", keys, "SBP-HSP-07")
