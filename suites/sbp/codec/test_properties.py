"""Any frame goes round; any bytes get a clean answer, and the right one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.cases import clauses
from harness.trial import Trial
from suites.sbp import wire
from suites.sbp.codec.asked import Asked, Refusal, normal

ids = st.binary(min_size=16, max_size=16)
times = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1).map(str))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
subjects = texts.filter(lambda s: "\0" not in s).map(lambda s: f"app/{s}")  # 164 bytes at most; NUL: see may_be_refused
hexes = st.binary(max_size=60).map(bytes.hex)


def kind(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(name), "id": ids.map(bytes.hex), "ts": times, **fields})


frames = st.one_of(
    kind("ping"),
    kind("pong"),
    kind("close", reason=texts),
    kind("message", subject=subjects, data=hexes),
    kind("ack", ack=ids.map(bytes.hex)),
    kind("error", code=st.integers(0, 65535), message=texts, details=hexes),
)
MANY = settings(max_examples=100)


def packed(fields: dict[str, Any]) -> bytes:
    """The bytes of a frame, by hand."""
    id, ts = bytes.fromhex(fields["id"]), None if fields["ts"] is None else int(fields["ts"])
    match fields["kind"]:
        case "ping":
            return wire.ping(id, ts)
        case "pong":
            return wire.pong(id, ts)
        case "close":
            return wire.control(3, fields["reason"].encode(), id, ts)
        case "message":
            return wire.message(fields["subject"], bytes.fromhex(fields["data"]), id, ts)
        case "ack":
            return wire.ack(bytes.fromhex(fields["ack"]), id, ts)
        case _:
            raw = fields["message"].encode()
            body = fields["code"].to_bytes(2, "little") + len(raw).to_bytes(4, "little") + raw
            return wire.frame(3, body + bytes.fromhex(fields["details"]), id, ts)


@clauses("SBP-CMP-01", "SBP-INT-01", "SBP-TS-03", "SBP-MSG-01", "SBP-ERR-01")
@MANY
@given(fields=frames)
async def test_any_frame_goes_round(codec: Asked, trial: Trial, fields: dict[str, Any]) -> None:
    """Whatever fits is written as the layout says, and read back as it was."""
    trial.restart()
    raw = packed(fields)
    await codec.must_write(fields, raw, "SBP-CMP-01")
    await codec.must_mean(raw, fields, "SBP-CMP-01")


@clauses("SBP-CMP-01", "SBP-MSG-06", "SBP-ERR-03")
@MANY
@given(raw=st.binary(max_size=80))
@example(raw=b"")
async def test_garbage_gets_a_clean_answer(codec: Asked, trial: Trial, raw: bytes) -> None:
    """Random bytes are refused, or mean the one thing that the layout says."""
    trial.restart()
    await judge(codec, trial, raw)


@clauses("SBP-CMP-01", "SBP-FLAGS-04", "SBP-KIND-02", "SBP-ACK-02", "SBP-PING-02")
@MANY
@given(
    head=st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 0, 1, 2, 0x80, 0x81])),
    id=ids,
    rest=st.one_of(
        st.binary(max_size=40),
        st.builds(lambda n, b: n.to_bytes(4, "little") + b, st.integers(0, 12), st.binary(max_size=16)),
        st.builds(lambda n, b: bytes(8) + bytes([n]) + b, st.integers(0, 5), st.binary(max_size=2)),
    ),
)
async def test_near_frames_get_the_right_answer(
    codec: Asked, trial: Trial, head: tuple[int, int], id: bytes, rest: bytes
) -> None:
    """Bytes that begin like a frame are judged by the layout, to the last one."""
    trial.restart()
    await judge(codec, trial, bytes(head) + id + rest)


async def judge(codec: Asked, trial: Trial, raw: bytes) -> None:
    wanted = meaning(raw)
    got = await codec.decode(raw)
    if wanted is None:
        trial.expect(isinstance(got, Refusal), "a refusal", got, "SBP-CMP-01")
    elif wanted != FREE and not (isinstance(got, Refusal) and may_be_refused(wanted)):
        trial.expect(got == normal(wanted), str(normal(wanted)), got, "SBP-CMP-01")


def may_be_refused(fields: dict[str, Any]) -> bool:
    """A NUL in a subject: the profiles for subjects, which are off here, forbid it."""
    return "\0" in fields.get("subject", "")


FREE: dict[str, Any] = {"kind": "free"}
"""Reserved ops and the text of a Close reason: what a decoder does with them is not said."""


def meaning(raw: bytes) -> dict[str, Any] | None:
    """The layout read by hand: the fields, None for what must be refused, FREE for what may be either."""
    if len(raw) < 18 or raw[0] > 3 or raw[1] & 0xFE:
        return None
    said: dict[str, Any] = {"id": raw[2:18].hex(), "ts": None}
    body = raw[18:]
    if raw[1]:
        if len(body) < 8:
            return None
        said["ts"], body = str(int.from_bytes(body[:8], "little", signed=True)), body[8:]
    fields = (control, message, ack, error)[raw[0]](body)
    return fields if fields is None or fields == FREE else said | fields


def control(body: bytes) -> dict[str, Any] | None:
    if not body or (body[0] in (1, 2) and len(body) > 1):
        return None
    if body[0] == 0:
        return handshake(body[1:])
    if body[0] == 3:
        reason = utf8(body[1:])
        return FREE if reason is None else {"kind": "close", "reason": reason}
    return FREE if body[0] > 3 else {"kind": "ping" if body[0] == 1 else "pong"}


def handshake(data: bytes) -> dict[str, Any] | None:
    try:
        return None if not isinstance(json.loads(data.decode()), dict) else FREE
    except ValueError:
        return None


def message(body: bytes) -> dict[str, Any] | None:
    size = int.from_bytes(body[:4], "little")
    subject = utf8(body[4 : 4 + size])
    if len(body) < 4 or not 0 < size <= len(body) - 4 or subject is None:
        return None
    return {"kind": "message", "subject": subject, "data": body[4 + size :].hex()}


def ack(body: bytes) -> dict[str, Any] | None:
    return {"kind": "ack", "ack": body.hex()} if len(body) == 16 else None


def error(body: bytes) -> dict[str, Any] | None:
    size = int.from_bytes(body[2:6], "little")
    text = utf8(body[6 : 6 + size])
    if len(body) < 6 or size > len(body) - 6 or text is None:
        return None
    code = int.from_bytes(body[:2], "little")
    return {"kind": "error", "code": code, "message": text, "details": body[6 + size :].hex()}


def utf8(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
