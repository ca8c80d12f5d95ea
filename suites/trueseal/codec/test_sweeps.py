"""Whole ranges: every tag that nobody has, every cut of every golden frame, bodies around every border."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from harness.catalogue.cases import clauses, needs
from harness.catalogue.vectors import load
from harness.judging.trial import Broken, Each
from suites.trueseal import wire
from suites.trueseal.codec.under_test import CodecUnderTest, Refusal

GOLDEN = load("trueseal/golden").vectors
KEY = bytes(range(32))


@dataclass(frozen=True)
class Try:
    """One input of a sweep; without `fields` it has to be refused."""

    name: str
    messages: tuple[bytes, ...]
    clauses: tuple[str, ...]
    fields: dict[str, Any] = field(default_factory=dict)


def sweep(codec: CodecUnderTest) -> Callable[[Try], Awaitable[None]]:
    async def judge(one: Try) -> None:
        if one.fields:
            await codec.must_mean(one.messages, one.fields, clause=one.clauses[0])
            await codec.must_write(one.fields, b"".join(one.messages), one.clauses[0])
        else:
            await codec.must_refuse(one.messages, one.clauses[0])

    return judge


def means_push(envelope: bytes) -> dict[str, Any]:
    return {"type": "push", "recipient": KEY.hex(), "envelope": envelope.hex()}


@clauses("TS-TYP-02", "TS-TYP-01")
async def test_every_other_tag_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """All 250 values, with a body of any size that a known tag would have."""
    unknown = [tag for tag in range(256) if not 1 <= tag <= 6]
    bodies = {"empty": b"", "id": bytes(8), "push": KEY + b"hi"}
    tries = [
        Try(f"{tag:02x}-{name}", (wire.frame(tag, body),), ("TS-TYP-02",))
        for tag in unknown
        for name, body in bodies.items()
    ]
    await each(tries, sweep(codec))


@clauses("TS-FRM-06", "TS-FRM-05")
async def test_every_prefix_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """A frame that was cut anywhere is none."""
    tries = []
    for vector in GOLDEN:
        whole = bytes.fromhex(vector.input["messages_hex"][0])
        for size in range(len(whole)):
            clause = "TS-FRM-05" if size < wire.HEADER_SIZE else "TS-FRM-06"
            tries.append(Try(f"{vector.name}-{size}", (whole[:size],), (clause,)))
    await each(tries, sweep(codec))


@clauses("TS-FRM-02", "TS-FRM-03", "TS-FRM-01", "TS-PUSH-01")
async def test_bodies_around_every_border(codec: CodecUnderTest, each: Each) -> None:
    """Where another byte of the length comes into use, up to the last body that fits into one Noise message."""
    sizes = (0, 1, 95, 96, 223, 224, 225, 226, 4_000, 32_735, 32_736, 65_471, 65_481, wire.FITS)
    tries = []
    for size in sizes:
        envelope = wire.blob(size)
        tries.append(
            Try(
                f"envelope-{size}",
                (wire.push(KEY, envelope),),
                ("TS-FRM-02", "TS-FRM-03", "TS-FRM-01", "TS-PUSH-01"),
                means_push(envelope),
            )
        )
    await each(tries, sweep(codec))


@clauses("TS-FRM-06", "TS-FRM-01")
@needs("large_frames")
async def test_a_header_with_little_or_nothing_behind_it(codec: CodecUnderTest, each: Each) -> None:
    """The message that begins a large frame holds at least the header; how much of the body comes with it is free."""
    envelope = wire.blob(70_000)
    packed, tries = wire.push(KEY, envelope), []
    for first in (wire.HEADER_SIZE, wire.HEADER_SIZE + 1, wire.HEADER_SIZE + len(KEY)):
        messages = (packed[:first], packed[first : first + 60_000], packed[first + 60_000 :])
        tries.append(Try(f"first-{first}", messages, ("TS-FRM-06", "TS-FRM-01"), means_push(envelope)))

    async def judge(one: Try) -> None:
        await codec.must_mean(one.messages, one.fields, clause=one.clauses[0])

    await each(tries, judge)


@clauses("TS-FRM-02", "TS-SIZE-01", "TS-FRM-01")
@needs("large_frames")
async def test_large_frames_both_ways(codec: CodecUnderTest, each: Each) -> None:
    """A body that does not fit goes on in the next messages, and comes back whole: up to the limit."""

    async def judge(one: Try) -> None:
        await codec.must_mean(one.messages, one.fields, clause=one.clauses[0])
        got = await codec.encode(one.fields)
        if isinstance(got, Refusal) or b"".join(got) != b"".join(one.messages):
            raise Broken(one.clauses[0], "the same bytes", got if isinstance(got, Refusal) else f"{len(got)} messages")
        if any(len(message) > wire.MAX_PLAINTEXT for message in got) or len(got[0]) < wire.HEADER_SIZE:
            raise Broken("TS-FRM-01", "Noise messages of at most 65,519 bytes", str([len(message) for message in got]))

    tries = []
    for size in (wire.FITS + 1, 65_536 - 32, 65_536, 2 * wire.MAX_PLAINTEXT - 37, 131_038, 200_000, wire.LIMIT):
        envelope = wire.blob(size)
        messages = tuple(wire.cut(wire.push(KEY, envelope)))
        tries.append(Try(f"envelope-{size}", messages, ("TS-FRM-02", "TS-SIZE-01", "TS-FRM-01"), means_push(envelope)))
    await each(tries, judge)


@clauses("TS-FRM-06")
@needs("large_frames")
async def test_a_body_that_looks_like_frames(codec: CodecUnderTest, each: Each) -> None:
    """Each message behind the first begins with what could be a header: it is the body all the same."""
    tries = []
    for tag in range(wire.PUSH, wire.DELIVER_ACK + 1):
        pages = [(wire.frame(tag, bytes(8)) * 5_041)[: wire.MAX_PLAINTEXT] for _ in range(3)]
        envelope = bytes(wire.FITS) + b"".join(pages)[:150_000]
        messages = tuple(wire.cut(wire.push(KEY, envelope)))
        tries.append(Try(f"tag-{tag}", messages, ("TS-FRM-06",), means_push(envelope)))

    async def judge(one: Try) -> None:
        await codec.must_mean(one.messages, one.fields, clause=one.clauses[0])

    await each(tries, judge)


@clauses("TS-FRM-01", "TS-DACK-01", "TS-PUSH-01")
async def test_what_has_no_bytes_is_refused(codec: CodecUnderTest, each: Each) -> None:
    """A key that is no key, and an id that does not fit into 64 bits."""

    async def judge(one: Try) -> None:
        got = await codec.encode(one.fields)
        if not isinstance(got, Refusal):
            raise Broken(one.clauses[0], "a refusal", str(got))

    tries = [
        Try(f"key-of-{size}", (), ("TS-PUSH-01",), {"type": "push", "recipient": "ab" * size, "envelope": ""})
        for size in (0, 31, 33)
    ]
    for kind, clause in (("deliver", "TS-DLV-01"), ("deliver_ack", "TS-DACK-01")):
        for id in (2**64, 2**64 + 1, -1):
            fields = {"type": kind, "blob_id": str(id)} | ({"envelope": ""} if kind == "deliver" else {})
            tries.append(Try(f"{kind.replace('_', '-')}-id-{id}".replace("--", "-minus-"), (), (clause,), fields))
    await each(tries, judge)
