"""Any frame goes round; any bytes get a clean answer, and the right one."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.catalogue.cases import clauses
from harness.judging.trial import Broken, Trial
from suites.sbp import wire
from suites.sbp.codec.strategies import frames, near_frames
from suites.sbp.codec.under_test import CodecUnderTest, Fields, Refusal, may_be_refused, normal
from suites.sbp.lint import lint

MANY = settings(max_examples=100)


def packed(fields: Fields) -> bytes:
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
            return wire.error(fields["code"], fields["message"], bytes.fromhex(fields["details"]), id, ts)


@clauses("SBP-CMP-01", "SBP-INT-01", "SBP-TS-03", "SBP-MSG-01", "SBP-ERR-01")
@MANY
@given(fields=frames)
async def test_any_frame_goes_round(codec: CodecUnderTest, trial: Trial, fields: dict[str, Any]) -> None:
    """Whatever fits is written as the layout says, and read back as it was."""
    trial.restart()
    raw = packed(fields)
    await codec.must_write(fields, raw, "SBP-CMP-01")
    await codec.must_mean(raw, fields, "SBP-CMP-01")


@clauses("SBP-CMP-01", "SBP-MSG-06", "SBP-ERR-03")
@MANY
@given(raw=st.binary(max_size=80))
@example(raw=b"")
async def test_garbage_gets_a_clean_answer(codec: CodecUnderTest, trial: Trial, raw: bytes) -> None:
    """Random bytes are refused, or mean the one thing that the layout says."""
    trial.restart()
    await judge(codec, trial, raw)


@clauses("SBP-CMP-01", "SBP-FLAGS-04", "SBP-KIND-02", "SBP-ACK-02", "SBP-PING-02")
@MANY
@given(raw=near_frames)
async def test_near_frames_get_the_right_answer(codec: CodecUnderTest, trial: Trial, raw: bytes) -> None:
    """Bytes that begin like a frame are judged by the layout, to the last one."""
    trial.restart()
    await judge(codec, trial, raw)


async def judge(codec: CodecUnderTest, trial: Trial, raw: bytes) -> None:
    wanted = meaning(raw)
    got = await codec.decode(raw)
    if wanted is None:
        trial.expect(isinstance(got, Refusal), "a refusal", got, "SBP-CMP-01")
    elif wanted["kind"] != "free" and not (isinstance(got, Refusal) and may_be_refused(wanted)):
        trial.expect(got == normal(wanted), str(normal(wanted)), got, "SBP-CMP-01")


FREE: Fields = {"kind": "free"}
"""Reserved ops, the text of a Close reason and what a Handshake says: what a decoder does with them is not said."""
NOT_THE_LAYOUTS = {"SBP-CTRL-03", "SBP-CLOSE-02", "SBP-ACK-04", *(f"SBP-HSP-{n:02}" for n in range(1, 8))}
"""What no peer may emit, and a decoder need not refuse."""


def meaning(raw: bytes) -> Fields | None:
    """The layout read by hand: the fields, None for what must be refused, FREE for what may be either."""
    try:
        list(lint(raw))
    except Broken as broken:
        if broken.clause not in NOT_THE_LAYOUTS:
            return None
    body, said = raw[18:], {"id": raw[2:18].hex(), "ts": None}
    if raw[1]:
        said["ts"], body = str(int.from_bytes(body[:8], "little", signed=True)), body[8:]
    return said | (control, message, ack, error)[raw[0]](body)


def control(body: bytes) -> Fields:
    try:
        return {1: {"kind": "ping"}, 2: {"kind": "pong"}, 3: {"kind": "close", "reason": body[1:].decode()}}[body[0]]
    except (KeyError, UnicodeDecodeError):
        return FREE


def message(body: bytes) -> Fields:
    end = 4 + int.from_bytes(body[:4], "little")
    return {"kind": "message", "subject": body[4:end].decode(), "data": body[end:].hex()}


def ack(body: bytes) -> Fields:
    return {"kind": "ack", "ack": body.hex()}


def error(body: bytes) -> Fields:
    code, end = int.from_bytes(body[:2], "little"), 6 + int.from_bytes(body[2:6], "little")
    return {"kind": "error", "code": code, "message": body[6:end].decode(), "details": body[end:].hex()}
