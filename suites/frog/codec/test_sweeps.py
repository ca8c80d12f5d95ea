"""Whole ranges: every byte between fields, every place for a space, every field missing or once more, every number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Each
from harness.targets import Target
from suites.frog.codec.under_test import CodecUnderTest, wire_of

COMMANDS = load("frog/commands")
SHORT = [vector for vector in COMMANDS.vectors if "fill_hex" not in vector.input]
RID, KEY = "2N9VVK36ZP3JH2M8QAK1JY7Z5T", "BLUTELLA:AS3NN9TMCD3MR0M5VXEVYAYAPW"


@dataclass(frozen=True)
class Try:
    """One input of a sweep, which has to be refused."""

    name: str
    direction: str
    wire: bytes
    clauses: tuple[str, ...]


async def swept(codec: CodecUnderTest, each: Each, target: Target, tries: Iterator[Try]) -> None:
    ways = await target.capabilities("frog/codec")
    mine = [one for one in tries if one.direction in ways]
    await each(mine, lambda one: codec.must_refuse(one.direction, one.wire, one.clauses[0]))


def header_and_payload(vector: Vector) -> tuple[bytes, bytes]:
    header, _, payload = wire_of(vector).partition(b"\n")
    return header, payload


@clauses("FROG-6-03", "FROG-5-08", "FROG-5-05", "FROG-5-03", "FROG-5-02")
async def test_only_a_space_parts_fields(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Any other byte in the place of a space makes another message, and no command."""

    def tries() -> Iterator[Try]:
        for byte in range(256):
            clause = {9: "FROG-5-08", 13: "FROG-5-05"}.get(byte, "FROG-5-03" if byte > 126 else "FROG-6-03")
            if byte not in (10, 32):
                wire = b"FIND F1" + bytes([byte]) + b"3\n"
                yield Try(f"{byte:02x}", "to_server", wire, (clause,))

    await swept(codec, each, target, tries())


@clauses("FROG-5-06", "FROG-5-07", "FROG-5-09", "FROG-5-10")
async def test_a_space_too_many_is_refused(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """In front, behind, and doubled at each place of every command."""

    def tries() -> Iterator[Try]:
        for vector in SHORT:
            header, payload = header_and_payload(vector)
            places = [0, *(n for n, byte in enumerate(header) if byte == 32), len(header)]
            for place in places:
                clause = "FROG-5-06" if place == 0 else "FROG-5-07" if place == len(header) else "FROG-5-09"
                wire = header[:place] + b" " + header[place:] + b"\n" + payload
                yield Try(f"{vector.name}-{place}", vector.input["direction"], wire, (clause,))

    await swept(codec, each, target, tries())


@clauses("FROG-13-01", "FROG-13.1-01", "FROG-13.1-02", "FROG-13.2-01", "FROG-5-11", "FROG-5-14")
async def test_a_field_missing_or_too_many_is_refused(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Of every command, the last field left out, and one more."""
    shape = {"to_server": "FROG-13.1-01", "to_client": "FROG-13.1-02", "sister": "FROG-13.2-01"}

    def tries() -> Iterator[Try]:
        for vector in SHORT:
            header, payload = header_and_payload(vector)
            way = vector.input["direction"]
            if b" " in header:
                shorter = header.rpartition(b" ")[0] + b"\n" + payload
                yield Try(f"{vector.name}-short", way, shorter, (shape[way],))
            yield Try(f"{vector.name}-long", way, header + b" X\n" + payload, ("FROG-5-11",))

    await swept(codec, each, target, tries())


@clauses("FROG-5-01", "FROG-5-16", "FROG-5-18", "FROG-5-05", "FROG-4-07", "FROG-13.3-01")
async def test_a_wrong_end_is_refused(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Of every command: without its line feed, with CR LF, with a byte more."""

    def tries() -> Iterator[Try]:
        for vector in SHORT:
            header, payload = header_and_payload(vector)
            way, carries = vector.input["direction"], "payload" in vector.expected["command"]
            yield Try(f"{vector.name}-bare", way, header, ("FROG-5-01",))
            yield Try(f"{vector.name}-cr", way, header + b"\r\n" + payload, ("FROG-5-05",))
            more = "FROG-5-16" if carries else "FROG-5-18"
            yield Try(f"{vector.name}-more", way, header + b"\n" + payload + b"\n", (more,))

    await swept(codec, each, target, tries())


@clauses("FROG-6-01")
async def test_words_are_case_sensitive(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Every command in lower case is none."""

    def tries() -> Iterator[Try]:
        for vector in SHORT:
            word, _, rest = wire_of(vector).partition(b" ")
            wire = word.lower() + (b" " + rest if rest else b"")
            yield Try(vector.name, vector.input["direction"], wire, ("FROG-6-01",))

    await swept(codec, each, target, tries())


@clauses("FROG-5-13")
async def test_other_directions_are_refused(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """No command is legal in a direction that is not its own."""

    def tries() -> Iterator[Try]:
        for vector in SHORT:
            for way in ("to_server", "to_client", "sister"):
                if way != vector.input["direction"]:
                    yield Try(f"{vector.name}-{way}", way, wire_of(vector), ("FROG-5-13",))

    await swept(codec, each, target, tries())


NUMBERS = [
    "",
    "-1",
    "+3",
    "03",
    "00",
    "3.0",
    "3e0",
    "0x3",
    "3_",
    "٣",
    "8",
    "9",
    "10",
    "255",
    "256",
    "4294967299",
    "9" * 60,
]


@clauses("FROG-6-04", "FROG-6-05", "FROG-6-07", "FROG-21-02", "FROG-22-01", "FROG-34-01")
async def test_a_number_out_of_line_is_refused(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Limits and TTLs have one digit, and no other spelling."""
    forms = {
        "getservers": ("to_server", "GETSERVERS A1 {}\n", "FROG-21-02"),
        "find": ("to_server", "FIND A1 {}\n", "FROG-22-01"),
        "list": ("sister", "@LIST A1 {}\n", "FROG-6-05"),
        "sister-find": ("sister", f"@FIND A1 {RID} {KEY} {{}} 3\n", "FROG-6-05"),
        "ttl": ("sister", f"@FIND A1 {RID} {KEY} 3 {{}}\n", "FROG-34-01"),
        "lookup-ttl": ("sister", f"@LOOKUP {RID} {RID} {KEY} {KEY} {{}}\n", "FROG-34-01"),
        "count": ("to_client", "TRY A1 {}\n", "FROG-6-04"),
    }

    def tries() -> Iterator[Try]:
        for form, (way, text, clause) in forms.items():
            for n, number in enumerate(NUMBERS):
                yield Try(f"{form}-{n}", way, text.format(number).encode(), (clause,))
            if "ttl" not in form and form != "count":
                yield Try(f"{form}-zero", way, text.format(0).encode(), (clause,))

    await swept(codec, each, target, tries())


WRAPS = [
    2**8,
    2**16,
    2**17,
    2**31,
    2**32,
    2**53,
    2**63,
    2**64,
    2**128,
    *(10**digits for digits in (2, 3, 4, 5, 6, 9, 10, 20)),
]
"""What may be lost of a length that is kept in so many bits, or read from so many digits."""


@clauses("FROG-5-17", "FROG-6-07", "FROG-5-16")
async def test_a_length_is_read_as_a_whole(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Five bytes, and a length that is five only for who drops a part of it."""
    forms = {
        "signal": ("to_server", f"SIGNAL {RID} ICE {{}}\n"),
        "signal-from": ("to_client", f"SIGNAL-FROM {RID} {KEY} ICE {{}}\n"),
        "sister-signal": ("sister", f"@SIGNAL {RID} {KEY} ICE {{}}\n"),
    }

    def tries() -> Iterator[Try]:
        for form, (way, text) in forms.items():
            for n, wrap in enumerate(WRAPS):
                clause = "FROG-5-17" if wrap + 5 > 65_536 else "FROG-5-16"
                yield Try(f"{form}-{n}", way, text.format(wrap + 5).encode() + b"hello", (clause,))

    await swept(codec, each, target, tries())


@clauses("FROG-6-02", "FROG-7.9-02", "FROG-13.1-06", "FROG-13.1-07", "FROG-8-01", "FROG-5-17")
async def test_what_no_sender_may_emit_is_not_written(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """An encoder refuses what it would have to refuse as a receiver."""
    ways = await target.capabilities("frog/codec")
    commands: list[tuple[str, str, dict[str, Any], str]] = [
        ("dash-as-cid", "to_server", {"command": "FIND", "cid": "-", "limit": 3}, "FROG-7.9-02"),
        ("space-in-cid", "to_server", {"command": "FIND", "cid": "A 1", "limit": 3}, "FROG-6-02"),
        ("empty-cid", "to_server", {"command": "FIND", "cid": "", "limit": 3}, "FROG-6-02"),
        ("limit-of-eight", "to_server", {"command": "FIND", "cid": "A1", "limit": 8}, "FROG-22-01"),
        ("limit-of-none", "to_server", {"command": "GETSERVERS", "cid": "A1", "limit": 0}, "FROG-21-02"),
        ("lower-case-key", "to_server", {"command": "JOIN", "peer_key": KEY.lower()}, "FROG-7.5-01"),
        ("line-feed-in-a-key", "to_server", {"command": "JOIN", "peer_key": KEY + "\n"}, "FROG-6-02"),
        ("unknown-kind", "to_server", {"command": "SIGNAL", "route_id": RID, "kind": "BYE", "payload": ""}, "FROG-13.1-03"),
        ("payload", "to_server", {"command": "SIGNAL", "route_id": RID, "kind": "ICE", "payload": "00" * 65537}, "FROG-5-17"),
        ("eight-peers", "to_client", {"command": "PEERS", "cid": "A1", "peer_keys": [KEY] * 8}, "FROG-13.1-07"),
        ("eight-uris", "to_client", {"command": "TRY", "cid": "-", "uris": ["ws://h/"] * 8}, "FROG-13.1-06"),
        ("uri", "to_client", {"command": "TRY", "cid": "-", "uris": ["wss://rv.example.net"]}, "FROG-8-14"),
        ("unknown-code", "to_client", {"command": "ERR", "id": "-", "code": "TEAPOT"}, "FROG-38-05"),
    ]  # fmt: skip

    @dataclass(frozen=True)
    class Unsayable:
        name: str
        command: dict[str, Any]
        clauses: tuple[str, ...]

    tries = [Unsayable(name, command, (clause,)) for name, way, command, clause in commands if way in ways]
    await each(tries, lambda one: codec.must_not_write(one.command, one.clauses[0]))
