"""Writes the SBP vector files. Stand-alone on purpose: standard library only, nothing of ours is imported.

Golden frames are the rows of the sheet's appendix A, copied as hex. Everything else is packed here with struct, field by field
from the seed's layout; what a frame means is spelled by hand beside it. Nothing here decodes.
"""
# ruff: noqa: E501  a row of a table stays on its line

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "sbp"
A, B = bytes(range(16)), bytes(range(0xF0, 0x100))
TS = 1_700_000_000_123
MIN, MAX = -(2**63), 2**63 - 1
Fields = dict[str, Any]
Row = tuple[str, str, bytes, Fields]  # name, clauses, wire, what it means

# -- packing -----------------------------------------------------------------------------------------------------------


def frame(kind: int, body: bytes, ts: int | None = None, id: bytes = A, flags: int | None = None) -> bytes:
    if flags is None:
        flags = 0 if ts is None else 1
    return struct.pack("<BB16s", kind, flags, id) + (b"" if ts is None else struct.pack("<q", ts)) + body


def control(op: int, data: bytes = b"", ts: int | None = None, id: bytes = A) -> bytes:
    return frame(0, bytes([op]) + data, ts, id)


def message(subject: bytes, data: bytes = b"", ts: int | None = None, size: int | None = None) -> bytes:
    return frame(1, struct.pack("<I", len(subject) if size is None else size) + subject + data, ts)


def ack(of: bytes, ts: int | None = None) -> bytes:
    return frame(2, of, ts)


def error(code: int, text: bytes = b"", details: bytes = b"", ts: int | None = None, size: int | None = None) -> bytes:
    return frame(3, struct.pack("<HI", code, len(text) if size is None else size) + text + details, ts)


def hello(**members: Any) -> bytes:
    """A Handshake; a member given as None is left out, `raw` is the whole payload."""
    raw = members.pop("raw", None)
    if raw is None:
        said = {"protocol": "sideband", "version": "1", "peerId": "peer-a"} | members
        raw = json.dumps({k: v for k, v in said.items() if v is not ...}, ensure_ascii=False).encode()
    return control(0, raw)


# -- meaning: the fields of the shim's contract ------------------------------------------------------------------------


def means(kind: str, ts: int | None = None, id: bytes = A, **fields: Any) -> Fields:
    return {"kind": kind, "id": id.hex(), "ts": None if ts is None else str(ts)} | fields


def means_message(subject: str, data: bytes = b"", ts: int | None = None) -> Fields:
    return means("message", ts, subject=subject, data=data.hex())


def means_error(code: int, text: str = "", details: bytes = b"", ts: int | None = None) -> Fields:
    return means("error", ts, code=code, message=text, details=details.hex())


def means_hello(caps: list[str] | None = None, metadata: Fields | None = None, **fields: Any) -> Fields:
    said = {"protocol": "sideband", "version": "1", "peer_id": "peer-a", "caps": caps, "metadata": metadata}
    return means("handshake", **(said | fields))


# -- appendix A: name, clauses, hex, meaning, bytes of its shortest prefix that is still a frame -------------------------

GOLDEN: list[tuple[str, str, str, Fields, int]] = [
    ("v01-ping", "KIND-01 CTRL-02 HDR-01 PING-01 INT-02", "0000000102030405060708090a0b0c0d0e0f01", means("ping"), 19),
    (
        "v02-ping-ts",
        "TS-02 TS-01 HDR-02 INT-01 FLAGS-01 PAY-01 PING-03 INT-02",
        "0001000102030405060708090a0b0c0d0e0f7b68e5cf8b01000001",
        means("ping", TS),
        27,
    ),
    (
        "v03-pong-ts-minus-one",
        "TS-03 CTRL-02 FLAGS-01 PING-03 INT-02",
        "0001000102030405060708090a0b0c0d0e0fffffffffffffffff02",
        means("pong", -1),
        27,
    ),
    ("v04-close", "CLOSE-01 CTRL-02 INT-02", "0000000102030405060708090a0b0c0d0e0f03", means("close", reason=None), 19),
    (
        "v05-close-bye",
        "CLOSE-01 CTRL-02 CLOSE-02 INT-02",
        "0000000102030405060708090a0b0c0d0e0f03627965",
        means("close", reason="bye"),
        19,
    ),
    (
        "v06-handshake",
        "HS-01 CTRL-02 HSP-01 HSP-02 HSP-03 REQ-02 INT-02",
        "0000000102030405060708090a0b0c0d0e0f007b2270726f746f636f6c223a227369646562616e64222c2276657273696f6e223a2231222c22706565724964223a22706565722d61227d",
        means_hello(),
        74,
    ),
    (
        "v07-message",
        "MSG-01 KIND-01 MSG-04 PAY-01 INT-01 INT-02",
        "0100000102030405060708090a0b0c0d0e0f050000006170702f780102ff",
        means_message("app/x", b"\x01\x02\xff"),
        27,
    ),
    (
        "v08-message-ts-no-data",
        "MSG-07 TS-01 PAY-01 MSG-04 REQ-02 INT-02",
        "0101000102030405060708090a0b0c0d0e0f7b68e5cf8b010000050000006170702f78",
        means_message("app/x", b"", TS),
        35,
    ),
    (
        "v09-message-two-byte-letter",
        "MSG-02 MSG-01 MSG-03 INT-02",
        "0100000102030405060708090a0b0c0d0e0f060000006170702fc3a900",
        means_message("app/\u00e9", b"\x00"),
        28,
    ),
    (
        "v10-ack",
        "ACK-01 KIND-01 INT-02",
        "0200000102030405060708090a0b0c0d0e0ff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        means("ack", ack=B.hex()),
        34,
    ),
    (
        "v11-ack-ts-zero",
        "TS-05 TS-01 ACK-01 INT-02",
        "0201000102030405060708090a0b0c0d0e0f0000000000000000f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        means("ack", 0, ack=B.hex()),
        42,
    ),
    (
        "v12-error",
        "ERR-01 KIND-01 INT-01 INT-02",
        "0300000102030405060708090a0b0c0d0e0fea0303000000626164",
        means_error(1002, "bad"),
        27,
    ),
    (
        "v13-error-details",
        "ERR-01 ERR-04 ERR-05 INT-02",
        "0300000102030405060708090a0b0c0d0e0fd00702000000c3a9dead",
        means_error(2000, "\u00e9", b"\xde\xad"),
        26,
    ),
    (
        "v14-error-empty",
        "ERR-04 ERR-01 REQ-02 INT-02",
        "0300000102030405060708090a0b0c0d0e0fe80300000000",
        means_error(1000),
        24,
    ),
    (
        "v15-ping-zero-id",
        "FID-05 FID-03 FID-04 INT-02",
        "00000000000000000000000000000000000001",
        means("ping", id=bytes(16)),
        19,
    ),
    (
        "v16-ping-ff-id",
        "FID-05 FID-03 FID-04 INT-02",
        "0000ffffffffffffffffffffffffffffffff01",
        means("ping", id=b"\xff" * 16),
        19,
    ),
]

# -- more frames that must be taken ------------------------------------------------------------------------------------

IDS = {
    "spaces": b" " * 16,
    "trailing-nul": b"\x01" * 15 + b"\x00",
    "trailing-space": b"\x01" * 15 + b" ",
    "leading-nul": b"\x00" + b"\x01" * 15,
    "crlf": b"\r\n" * 8,
    "no-utf8": b"\xc3\x28" * 8,
    "hex-text": b"0123456789abcdef",
    **{f"version-nibble-{n:x}": A[:6] + bytes([n << 4]) + A[7:] for n in range(16)},
    **{f"variant-nibble-{n:x}": A[:8] + bytes([n << 4]) + A[9:] for n in range(16)},
}
TIMES = {
    "zero": 0,
    "one": 1,
    "minus-one": -1,
    "max": MAX,
    "min": MIN,
    "over-32-bits": 2**32,
    "over-53-bits": 2**53 + 1,
    "under-53-bits": -(2**53) - 1,
}
BOM = "\ufeff"
DATA = {
    "nul": b"\x00",
    "ff": b"\xff",
    "crlf": b"\r\n",
    "looks-like-a-frame": control(1),
    "no-utf8": b"\xc3\x28\xed\xa0\x80",
    "2k": bytes(range(256)) * 8,
}
SUBJECTS = {
    "one-byte": "x", "nul-free-ascii": "app/a b~", "three-byte-letters": "app/\u65e5\u672c", "four-byte-letter": "app/\U0001f600",
    "bom-first": BOM + "app/x", "bom-inside": "app/" + BOM + "x", "decomposed": "app/e\u0301", "bidi": "app/\u202ex",
    "256-bytes": "app/" + "x" * 252, "256-bytes-of-two-byte-letters": "app/" + "\u00e9" * 126,
}  # fmt: skip

VALID: list[Row] = [
    *(
        (f"id-{name}", "FID-04 FID-05 FID-03 HDR-02", control(1, id=id), means("ping", id=id))
        for name, id in IDS.items()
    ),
    *(
        (f"ts-{name}", "TS-03 TS-02 FLAGS-01" + (" TS-05" if ts == 0 else ""), control(1, ts=ts), means("ping", ts))
        for name, ts in TIMES.items()
    ),
    *(
        (f"data-{name}", "MSG-04 MSG-01", message(b"app/x", data), means_message("app/x", data))
        for name, data in DATA.items()
    ),
    *(
        (
            f"subject-{name}",
            f"{'SES-13 ' if 'bom' in name else ''}{'CMP-01 LIM-05 ' if '256' in name else ''}MSG-02 MSG-03 MSG-01",
            message(text.encode(), b"\x01"),
            means_message(text, b"\x01"),
        )
        for name, text in SUBJECTS.items()
    ),
    *(
        (f"code-{code}", "ERR-02 ERR-01 INT-01", error(code, b"m"), means_error(code, "m"))
        for code in (0, 1, 255, 256, 999, 1003, 2000, 0x1234, 0x7FFF, 0x8000, 0xFFFF)
    ),
    ("details-no-utf8", "ERR-05", error(2000, b"m", b"\xff\x00\xc3\x28"), means_error(2000, "m", b"\xff\x00\xc3\x28")),
    ("details-without-message", "ERR-05 ERR-04", error(2000, b"", b"\x01"), means_error(2000, "", b"\x01")),
    ("error-message-bom", "SES-13 ERR-04", error(2000, (BOM + "m").encode()), means_error(2000, BOM + "m")),
    (
        "ts-on-handshake",
        "TS-01 FLAGS-07",
        control(0, b'{"protocol":"sideband","version":"1","peerId":"peer-a"}', TS),
        means_hello() | {"ts": str(TS)},
    ),
    ("ts-on-close", "TS-01 FLAGS-07", control(3, b"bye", TS), means("close", TS, reason="bye")),
    ("ts-on-close-no-reason", "TS-01 FLAGS-07 CLOSE-01", control(3, b"", TS), means("close", TS, reason=None)),
    ("ts-on-pong", "TS-01 FLAGS-07 PING-03", control(2, b"", TS), means("pong", TS)),
    (
        "ts-on-message",
        "TS-01 FLAGS-07 PAY-01 MSG-07",
        message(b"app/x", b"\x01\x02\xff", TS),
        means_message("app/x", b"\x01\x02\xff", TS),
    ),
    ("ts-on-ack", "TS-01 FLAGS-07", ack(B, TS), means("ack", TS, ack=B.hex())),
    ("ts-on-error", "TS-01 FLAGS-07", error(1002, b"bad", b"\x01", TS), means_error(1002, "bad", b"\x01", TS)),
    ("pong", "CTRL-02 PING-01", control(2), means("pong")),
    ("shortest-message", "REQ-01 MSG-01", message(b"x"), means_message("x")),
    ("ack-of-itself", "ACK-01 FID-05", ack(A), means("ack", ack=A.hex())),
    ("ack-of-zero", "ACK-01 FID-05", ack(bytes(16)), means("ack", ack="00" * 16)),
    ("close-two-byte-letter", "CLOSE-02", control(3, "\u00e9".encode()), means("close", reason="\u00e9")),
    ("close-bom", "SES-13 CLOSE-02", control(3, (BOM + "bye").encode()), means("close", reason=BOM + "bye")),
]

# -- bytes that are no frame -------------------------------------------------------------------------------------------

LENGTH = "a declared length is more than what is left"
SHORT = "a required field is missing or cut"
UTF8 = "the text is not UTF-8"
NOT_UTF8 = {
    "ff": b"\xff", "lone-continuation": b"\x80", "cut-two": b"\xc3", "cut-three": b"\xe6\x97", "cut-four": b"\xf0\x9f\x98",
    "overlong-slash": b"\xc0\xaf", "overlong-three": b"\xe0\x80\xaf", "overlong-four": b"\xf0\x80\x80\xaf", "overlong-nul": b"\xc0\x80",
    "high-surrogate": b"\xed\xa0\x80", "low-surrogate": b"\xed\xbf\xbf", "surrogate-pair": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond-unicode": b"\xf4\x90\x80\x80", "five-bytes": b"\xf8\x88\x80\x80\x80", "bad-second": b"\xc3\x28",
}  # fmt: skip

INVALID: list[tuple[str, str, bytes, str]] = [
    ("nothing", "HDR-01 FID-06", b"", SHORT),
    ("one-byte", "HDR-01 FID-06", b"\x00", SHORT),
    ("header-only", "FID-01 FID-06", b"\x00\x00", SHORT),
    ("sheet-id-cut", "FID-06 FID-01", frame(0, b"")[:17], SHORT),
    ("sheet-no-op", "CTRL-01 REQ-01", frame(0, b""), SHORT),
    ("no-op-behind-ts", "CTRL-01 REQ-01", frame(0, b"", TS), SHORT),
    ("sheet-flag-bit-1", "FLAGS-04", frame(0, b"\x01", flags=0x02), "a reserved flag bit is set"),
    ("sheet-flag-bit-7", "FLAGS-04", frame(0, b"\x01", flags=0x80), "a reserved flag bit is set"),
    ("sheet-flag-bit-1-and-ts", "FLAGS-04", frame(0, b"\x01", TS, flags=0x03), "a reserved flag bit is set"),
    *((f"ts-cut-to-{n}", "TS-04", frame(0, bytes(n), flags=1), "a flagged timestamp is cut") for n in range(8)),
    ("sheet-kind-4", "KIND-02 CMP-01", frame(4, b""), "the kind is reserved"),
    ("sheet-kind-255", "KIND-02 CMP-01", frame(255, b""), "the kind is reserved"),
    ("sheet-ping-data", "PING-02", control(1, b"\x00"), "a Ping carries no data"),
    ("sheet-pong-data", "PING-02", control(2, b"\xff"), "a Pong carries no data"),
    ("ping-data-behind-ts", "PING-02", control(1, b"\x00", TS), "a Ping carries no data"),
    ("ping-with-ts-but-no-flag", "PING-02 FLAGS-02", frame(0, b"\x01" + bytes(8), flags=0), "without the flag there is no timestamp: these are data"),
    ("sheet-handshake-empty", "HS-01 REQ-01", control(0), "nothing is no JSON object"),
    *((f"message-body-of-{n}", "MSG-05 REQ-01", frame(1, bytes(n)), SHORT) for n in range(4)),
    ("sheet-subject-one-too-long", "MSG-06", message(b"app/x", size=6), LENGTH),
    ("sheet-subject-len-ffffffff", "MSG-06", message(b"", size=0xFFFFFFFF), LENGTH),
    ("subject-len-80000000", "MSG-06", message(b"app/x", size=0x80000000), LENGTH),
    ("subject-len-7fffffff", "MSG-06", message(b"app/x", size=0x7FFFFFFF), LENGTH),
    ("subject-len-big-endian", "INT-01 MSG-06", frame(1, b"\x00\x00\x00\x05app/x"), "read as little-endian, the length is 83886080"),
    ("subject-len-big-endian-ts", "INT-01 MSG-06", frame(1, b"\x00\x00\x00\x05app/x", TS), "read as little-endian, the length is 83886080"),
    ("subject-empty", "MSG-05", message(b""), "an empty subject is a missing one"),
    ("subject-empty-with-data", "MSG-05", message(b"", b"\x01\x02"), "an empty subject is a missing one"),
    *((f"subject-{name}", "MSG-03 SES-13", message(b"app/" + raw), UTF8) for name, raw in NOT_UTF8.items()),
    ("subject-letter-cut-by-its-length", "MSG-03 MSG-02", message("app/\u00e9".encode(), size=5), "the length ends inside a letter"),
    *((f"ack-of-{n}", "ACK-02" + (" REQ-01" if n < 16 else ""), ack(bytes(n)), "an Ack's body is exactly 16 bytes") for n in (0, 1, 8, 15, 17, 24, 32, 48)),
    *((f"error-body-of-{n}", "ERR-03 REQ-01", frame(3, b"\xe8\x03\x00\x00\x00"[:n]), SHORT) for n in range(6)),
    ("sheet-error-message-too-long", "ERR-03", error(1000, b"\x01\x02\x03", size=20), LENGTH),
    ("error-message-one-too-long", "ERR-03", error(1000, b"bad", size=4), LENGTH),
    ("error-message-len-ffffffff", "ERR-03", error(1000, b"bad", size=0xFFFFFFFF), LENGTH),
    ("error-message-len-80000000", "ERR-03", error(1000, b"bad", size=0x80000000), LENGTH),
    ("error-message-len-big-endian", "INT-01 ERR-03", frame(3, b"\xe8\x03\x00\x00\x00\x03bad"), "read as little-endian, the length is 50331648"),
    *((f"error-message-{name}", "ERR-04 SES-13", error(1000, raw), UTF8) for name, raw in NOT_UTF8.items()),
]  # fmt: skip

# -- Handshakes --------------------------------------------------------------------------------------------------------

HELLOS: list[Row] = [
    ("caps-empty", "HSP-05", hello(caps=[]), means_hello([])),
    ("caps-one", "HSP-05 HSP-11", hello(caps=["rpc"]), means_hello(["rpc"])),
    ("caps-unknown", "HSP-11", hello(caps=["zz:unknown", "rpc", "\u00e9"]), means_hello(["zz:unknown", "rpc", "\u00e9"])),
    ("metadata-empty", "HSP-06", hello(metadata={}), means_hello(metadata={})),
    ("metadata-unknown", "HSP-12", hello(metadata={"vendor:zz": "1"}), means_hello(metadata={"vendor:zz": "1"})),
    ("unknown-member", "EXT-01", hello(future={"a": [1, None]}), means_hello()),
    ("unknown-member-first", "EXT-01", hello(raw=b'{"x":true,"protocol":"sideband","version":"1","peerId":"peer-a"}'), means_hello()),
    ("spaces", "HS-01", hello(raw=b' {\n"protocol" : "sideband",\t"version":"1","peerId":"peer-a" }\r\n'), means_hello()),
    ("escapes", "HS-01", hello(raw=b'{"protocol":"\\u0073ideband","version":"\\u0031","peerId":"peer-\\u00e9\\ud83d\\ude00"}'), means_hello(peer_id="peer-\u00e9\U0001f600")),
    ("peer-id-letters", "HS-01 HSP-03", hello(peerId="p\u00e9er-\U0001f600"), means_hello(peer_id="p\u00e9er-\U0001f600")),
    ("other-order", "HS-01", hello(raw=b'{"peerId":"peer-a","version":"1","protocol":"sideband"}'), means_hello()),
]  # fmt: skip

JSON = "the payload is not one JSON object in UTF-8"
BAD_HELLOS: list[tuple[str, str, bytes, str]] = [
    *((f"no-{name.lower()}", f"{'HSP-03' if name == 'peerId' else f'HSP-0{1 + i}'} HSP-08 REQ-01", hello(**{name: ...}), "a required member is missing") for i, name in enumerate(("protocol", "version", "peerId"))),
    *((f"{name.lower()}-{label}", "HSP-08", hello(**{name: value}), "a required member is not a string") for name in ("protocol", "version", "peerId") for label, value in {"number": 1, "null": None, "true": True, "array": ["1"], "object": {}}.items()),
    *((name, "HS-01", hello(raw=raw), JSON) for name, raw in {
        "not-json": b"hello", "cut-object": b'{"protocol":"sideband","version":"1","peerId":"peer-a"', "array": b"[]", "string": b'"sideband"', "number": b"1", "null": b"null",
        "two-objects": b'{"protocol":"sideband","version":"1","peerId":"a"}{}', "single-quotes": b"{'protocol':'sideband','version':'1','peerId':'a'}",
        "no-utf8": b'{"protocol":"sideband","version":"1","peerId":"\xff"}', "utf-16": '{"protocol":"sideband","version":"1","peerId":"a"}'.encode("utf-16-le"),
        "overlong-letter": b'{"protocol":"sideband","version":"1","peerId":"\xc0\xaf"}', "raw-surrogate": b'{"protocol":"sideband","version":"1","peerId":"\xed\xa0\x80"}',
        "nul-behind": b'{"protocol":"sideband","version":"1","peerId":"a"}\x00', "nested-3k": b'{"a":' + b"[" * 3_000,
    }.items()),
]  # fmt: skip

# -- writing -----------------------------------------------------------------------------------------------------------

SEED = "SBP wire format v1 (the seed) and the sheet's readings"
PACKED = (
    "packed with struct in derivations/sbp.py, meaning spelled by hand beside each; shares no code with reference_impl"
)
CONTRACT = "A frame's members are those of the shim contract in suites/sbp/README.md; `ts` is a decimal string."


def ids(clauses: str) -> list[str]:
    return [f"SBP-{clause}" for clause in clauses.split()]


def valid(rows: list[Row]) -> list[Fields]:
    return [
        {"name": n, "clauses": ids(c), "result": "valid", "input": {"wire_hex": w.hex()}, "expected": {"frame": f}}
        for n, c, w, f in rows
    ]


def invalid(rows: list[tuple[str, str, bytes, str]]) -> list[Fields]:
    return [
        {"name": n, "clauses": ids(c), "result": "invalid", "comment": why, "input": {"wire_hex": w.hex()}}
        for n, c, w, why in rows
    ]


def golden() -> list[Fields]:
    made = valid([(n, c, bytes.fromhex(wire), f) for n, c, wire, f, _ in GOLDEN])
    for vector, (*_, shortest) in zip(made, GOLDEN, strict=True):
        vector["expected"]["shortest"] = shortest
    return made


def write(group: str, source: str, derivation: str, notes: list[str], vectors: list[Fields]) -> None:
    file = {
        "protocol": "sbp",
        "group": group,
        "provenance": {"source": source, "derivation": derivation},
        "notes": notes,
        "vectors": vectors,
    }
    (VECTORS / f"{group}.json").write_text(json.dumps(file, indent=1) + "\n")


def main() -> None:
    write(
        "golden",
        "the sheet's appendix A, V01 to V16",
        "copied as hex; meaning and shortest legal prefix spelled by hand",
        [
            "Decode gives the frame; encode of the frame gives the bytes (the JSON of V06 may be spelled otherwise).",
            "`shortest`: bytes of the shortest prefix that is still a frame; all shorter ones are refused.",
            CONTRACT,
        ],
        golden(),
    )
    write("frames", SEED, PACKED, ["More frames that must be taken, both ways.", CONTRACT], valid(VALID))
    write(
        "malformed",
        SEED + "; rows marked `sheet` are the negative companions of its appendix A",
        PACKED,
        ["Decode refuses each of these."],
        invalid(INVALID),
    )
    write(
        "handshake",
        SEED,
        PACKED,
        ["Decode only: JSON has many spellings.", CONTRACT],
        valid(HELLOS) + invalid(BAD_HELLOS),
    )


if __name__ == "__main__":
    sys.exit(main())
