"""Whole ranges: every reserved flag byte, every reserved kind and op, every cut of every golden frame."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.sbp import wire
from suites.sbp.codec.under_test import CodecUnderTest, Refusal
from suites.sbp.wire import A

GOLDEN = load("sbp/golden").vectors
TS = 1_700_000_000_123
OPEN_ENDED = {"message": "data", "close": "reason", "error": "details"}
"""The last member of a frame that takes whatever bytes are left."""


@dataclass(frozen=True)
class Try:
    """One input of a sweep; without `fields` it has to be refused."""

    name: str
    wire: bytes
    clauses: tuple[str, ...]
    fields: dict[str, Any] = field(default_factory=dict)


def sweep(codec: CodecUnderTest) -> Callable[[Try], Awaitable[Any]]:
    async def judge(one: Try) -> None:
        if one.fields:
            await codec.must_mean(one.wire, one.fields, one.clauses[0])
        else:
            await codec.must_refuse(one.wire, one.clauses[0])

    return judge


@clauses("SBP-FLAGS-04")
async def test_every_reserved_flag_byte_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """Any of the bits 1 to 7, alone or with others, with or without a timestamp: InvalidFrame."""

    async def judge(one: Try) -> None:
        refusal = await codec.must_refuse(one.wire, "SBP-FLAGS-04")
        if refusal.code not in (None, 1002):
            raise Broken("SBP-FLAGS-04", "code 1002, where one is given", str(refusal))

    flags = [f for f in range(256) if f & 0xFE]
    await each(
        [Try(f"{f:02x}", wire.frame(0, b"\x01", A, TS if f & 1 else None, flags=f), ("SBP-FLAGS-04",)) for f in flags],
        judge,
    )


@clauses("SBP-FLAGS-04", "SBP-CMP-01")
async def test_a_reserved_flag_is_refused_on_every_kind(codec: CodecUnderTest, each: Each) -> None:
    """No kind of frame has a use for a reserved bit."""
    bits = [1 << n for n in range(1, 8)]
    await each(
        [
            Try(f"{v.name}-{b:02x}", flagged(v.given("wire"), b), ("SBP-FLAGS-04", "SBP-CMP-01"))
            for v in GOLDEN
            for b in bits
        ],
        sweep(codec),
    )


def flagged(raw: bytes, bit: int) -> bytes:
    return raw[:1] + bytes([raw[1] | bit]) + raw[2:]


@clauses("SBP-KIND-02", "SBP-CMP-01")
async def test_every_reserved_kind_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """Kinds 4 to 255 do not exist in v1, whatever their body looks like."""
    bodies = {"empty": b"", "op": b"\x01", "sixteen": bytes(16), "text": b"\x05\x00\x00\x00app/x"}
    await each(
        [
            Try(f"{kind}-{label}", wire.frame(kind, body, A), ("SBP-KIND-02", "SBP-CMP-01"))
            for kind in range(4, 256)
            for label, body in bodies.items()
        ],
        sweep(codec),
    )


@clauses("SBP-CTRL-04", "SBP-CMP-01")
async def test_a_reserved_op_is_none_of_the_four(codec: CodecUnderTest, each: Each) -> None:
    """Ops 4 to 255 are refused or left alone, never read as a Handshake, Ping, Pong or Close."""

    async def judge(one: Try) -> None:
        got = await codec.decode(one.wire)
        if not isinstance(got, Refusal) and got["kind"] in ("handshake", "ping", "pong", "close"):
            raise Broken("SBP-CMP-01", "a refusal, or a control frame of an unknown op", str(got))

    await each([Try(str(op), wire.control(op, b"", A), ("SBP-CTRL-04", "SBP-CMP-01")) for op in range(4, 256)], judge)


@clauses("SBP-REQ-01", "SBP-FID-01", "SBP-FID-06", "SBP-TS-04", "SBP-CMP-01", "SBP-MSG-05", "SBP-ACK-02", "SBP-ERR-03")
@clauses("SBP-CTRL-01", "SBP-HDR-01")
async def test_every_cut_of_a_golden_frame(codec: CodecUnderTest, each: Each) -> None:
    """A frame that ends before its required fields do is refused; behind them, only its last member is shorter."""
    await each([cut for vector in GOLDEN for cut in cuts(vector)], sweep(codec))


def cuts(vector: Vector) -> Iterator[Try]:
    raw, fields = vector.given("wire"), vector.expected["frame"]
    for size in range(len(raw)):
        name = f"{vector.name}-{size}"
        if size < vector.expected["shortest"]:
            yield Try(name, raw[:size], cut_clauses(raw, size))
        else:
            yield Try(name, raw[:size], ("SBP-REQ-02",), shortened(fields, len(raw) - size))


def cut_clauses(raw: bytes, size: int) -> tuple[str, ...]:
    """Which field is cut."""
    if size < 2:
        return ("SBP-HDR-01", "SBP-REQ-01")
    if size < 18:
        return ("SBP-FID-06", "SBP-FID-01", "SBP-REQ-01")
    if raw[1] & 1 and size < 26:
        return ("SBP-TS-04", "SBP-CMP-01", "SBP-REQ-01")
    return (("SBP-CTRL-01", "SBP-MSG-05", "SBP-ACK-02", "SBP-ERR-03")[raw[0]], "SBP-REQ-01")


def shortened(fields: dict[str, Any], missing: int) -> dict[str, Any]:
    name = OPEN_ENDED[fields["kind"]]
    step = 1 if name == "reason" else 2  # a reason is text, the others are hex
    return fields | {name: fields[name][: -missing * step]}


@clauses("SBP-ACK-02")
async def test_every_other_ack_length_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """An Ack's body is sixteen bytes: not one less or more."""
    sizes = [n for n in range(65) if n != 16]
    await each([Try(str(n), wire.ack(bytes(n), A), ("SBP-ACK-02",)) for n in sizes], sweep(codec))


@clauses("SBP-PING-02")
async def test_every_length_of_ping_data_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """Ping and Pong end with their op, with a timestamp as without."""
    await each(
        [
            Try(f"{name}-{n}{'-ts' if ts else ''}", wire.control(op, bytes(n), A, ts), ("SBP-PING-02",))
            for name, op in {"ping": 1, "pong": 2}.items()
            for n in range(1, 33)
            for ts in (None, TS)
        ],
        sweep(codec),
    )


@clauses("SBP-MSG-06", "SBP-ERR-03")
async def test_every_length_beyond_the_rest_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """A declared length is compared with what is there, and never believed."""
    fields = (("subject", 1, b"", "SBP-MSG-06"), ("message", 3, b"\xe8\x03", "SBP-ERR-03"))
    lengths = [*range(6, 40), *(2**n for n in range(6, 32)), *(2**n - 1 for n in range(7, 33)), 2**32 - 5]
    await each(
        [
            Try(f"{name}-{size}", wire.frame(kind, head + size.to_bytes(4, "little") + b"app/x", A), (clause,))
            for name, kind, head, clause in fields
            for size in sorted(set(lengths))
        ],
        sweep(codec),
    )


@clauses("SBP-TS-03", "SBP-INT-01")
async def test_every_bit_of_a_timestamp_counts(codec: CodecUnderTest, each: Each) -> None:
    """Sixty-four bits, signed, little-endian, exact."""
    values = [v for n in range(63) for v in (1 << n, -(1 << n), (1 << n) + 1)] + [2**63 - 1, -(2**63)]
    await each(
        [
            Try(
                f"{v}",
                wire.ping(A, v),
                ("SBP-TS-03", "SBP-INT-01"),
                {"kind": "ping", "id": A.hex(), "ts": str(v)},
            )
            for v in dict.fromkeys(values)
        ],
        sweep(codec),
    )


@clauses("SBP-LIM-06", "SBP-CMP-01")
async def test_a_long_subject_is_taken_whole_or_refused(codec: CodecUnderTest, trial: Trial) -> None:
    """Beyond 256 bytes a subject may be refused, but never cut."""
    for size in (257, 1_000, 65_536, 70_000):
        subject = "app/" + "x" * (size - 4)
        got = await codec.decode(wire.message(subject, b"\x01", A))
        if isinstance(got, Refusal):
            trial.info(f"a subject of {size} bytes is refused")
        else:
            trial.expect(got["subject"] == subject, "the whole subject", f"{len(got['subject'])} letters", "SBP-CMP-01")
