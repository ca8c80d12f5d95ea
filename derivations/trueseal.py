"""Writes the TrueSeal vector files. Stand-alone on purpose: standard library only, nothing of ours is imported.

Golden frames are those of the sheet's section 2.5, copied as hex; other frames are packed here with struct from the seed's
layout. Noise is done here from its specification (revision 34), X25519 from RFC 7748, ChaCha20-Poly1305 from RFC 8439; `main`
checks all three against the public cacophony vectors before it writes anything.
"""
# ruff: noqa: E501  a row of a table stays on its line

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "trueseal"
Fields = dict[str, Any]

# -- X25519 (RFC 7748) -------------------------------------------------------------------------------------------------

P = 2**255 - 19


def x25519(scalar: bytes, point: bytes) -> bytes:
    """The Montgomery ladder, step by step as the RFC has it."""
    k = (int.from_bytes(scalar, "little") & (2**255 - 8)) | 2**254
    x1 = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in range(254, -1, -1):
        bit = (k >> t) & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def public(private: bytes) -> bytes:
    return x25519(private, (9).to_bytes(32, "little"))


# -- ChaCha20-Poly1305 (RFC 8439) --------------------------------------------------------------------------------------

ROUNDS = [
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
]


def rotated(value: int, by: int) -> int:
    value &= 0xFFFFFFFF
    return (value << by | value >> (32 - by)) & 0xFFFFFFFF


def chacha_block(key: bytes, counter: int, nonce: bytes) -> bytes:
    start = [
        *struct.unpack("<4I", b"expand 32-byte k"),
        *struct.unpack("<8I", key),
        counter,
        *struct.unpack("<3I", nonce),
    ]
    x = list(start)
    for a, b, c, d in ROUNDS * 10:
        x[a] += x[b]
        x[d] = rotated(x[d] ^ x[a], 16)
        x[c] += x[d]
        x[b] = rotated(x[b] ^ x[c], 12)
        x[a] += x[b]
        x[d] = rotated(x[d] ^ x[a], 8)
        x[c] += x[d]
        x[b] = rotated(x[b] ^ x[c], 7)
    return struct.pack("<16I", *((one + other) & 0xFFFFFFFF for one, other in zip(x, start, strict=True)))


def chacha(key: bytes, nonce: bytes, data: bytes) -> bytes:
    blocks = (chacha_block(key, 1 + at // 64, nonce) for at in range(0, len(data), 64))
    return bytes(one ^ other for one, other in zip(data, b"".join(blocks), strict=False))


def poly1305(key: bytes, message: bytes) -> bytes:
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at : at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def sealed(key: bytes, count: int, ad: bytes, plaintext: bytes) -> bytes:
    """Noise's ENCRYPT: the nonce is four zero bytes and the count, little-endian."""
    nonce = bytes(4) + struct.pack("<Q", count)
    ciphertext = chacha(key, nonce, plaintext)
    sizes = struct.pack("<QQ", len(ad), len(ciphertext))
    return ciphertext + poly1305(chacha_block(key, 0, nonce)[:32], padded(ad) + padded(ciphertext) + sizes)


# -- Noise (revision 34): the writing half is enough, since both sides are known -----------------------------------------

NK = [["e", "es"], ["e", "ee"]]
XX = [["e"], ["e", "ee", "s", "es"], ["s", "se"]]


def derive(chaining_key: bytes, material: bytes) -> tuple[bytes, bytes]:
    def mac(key: bytes, data: bytes) -> bytes:
        return hmac.new(key, data, hashlib.blake2s).digest()

    temporary = mac(chaining_key, material)
    first = mac(temporary, b"\1")
    return first, mac(temporary, first + b"\2")


class Session:
    """One handshake as both sides see it; keys are private ones."""

    def __init__(self, pattern: str, keys: dict[str, bytes], prologue: bytes = b"") -> None:
        name = f"Noise_{pattern}_25519_ChaChaPoly_BLAKE2s".encode()
        self.tokens = {"NK": NK, "XX": XX}[pattern]
        self.keys = keys  # "is", "ie", "rs", "re": static and ephemeral of initiator and responder
        self.h = name.ljust(32, b"\0") if len(name) <= 32 else hashlib.blake2s(name).digest()
        self.ck, self.k, self.n = self.h, b"", 0
        self.mix_hash(prologue)
        if pattern == "NK":
            self.mix_hash(public(keys["rs"]))

    def mix_hash(self, data: bytes) -> None:
        self.h = hashlib.blake2s(self.h + data).digest()

    def mix_key(self, secret: bytes) -> None:
        self.ck, self.k = derive(self.ck, secret)
        self.n = 0

    def seal(self, plaintext: bytes) -> bytes:
        message = plaintext
        if self.k:
            message = sealed(self.k, self.n, self.h, plaintext)
            self.n += 1
        self.mix_hash(message)
        return message

    def write(self, index: int, payload: bytes) -> bytes:
        """The handshake message of that number; the initiator writes the even ones."""
        me, out = "ir"[index % 2], b""
        for token in self.tokens[index]:
            if token == "e":
                out += public(self.keys[me + "e"])
                self.mix_hash(public(self.keys[me + "e"]))
            elif token == "s":
                out += self.seal(public(self.keys[me + "s"]))
            else:  # the first letter is the initiator's key, the second the responder's
                self.mix_key(x25519(self.keys["i" + token[0]], public(self.keys["r" + token[1]])))
        return out + self.seal(payload)

    def transport(self) -> tuple[bytes, bytes]:
        """The keys of both directions, the initiator's first."""
        return derive(self.ck, b"")


def conversation(
    pattern: str, keys: dict[str, bytes], said: list[tuple[str, bytes]], prologue: bytes = b""
) -> tuple[list[bytes], bytes]:
    """The Noise messages in which `i` and `r` say these payloads, the handshake's first; and the handshake hash."""
    session = Session(pattern, keys, prologue)
    shaking = len(session.tokens)
    messages = [session.write(index, payload) for index, (_, payload) in enumerate(said[:shaking])]
    sending, counts = dict(zip("ir", session.transport(), strict=True)), {"i": 0, "r": 0}
    for who, payload in said[shaking:]:
        messages.append(sealed(sending[who], counts[who], b"", payload))
        counts[who] += 1
    return messages, session.h


# -- the public cacophony vectors --------------------------------------------------------------------------------------

PROLOGUE = "4a6f686e2047616c74"
CACOPHONY: dict[str, Fields] = {
    "NK": dict(
        init_ephemeral="893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
        init_remote_static="31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62",
        resp_static="4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
        resp_ephemeral="bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
        handshake_hash="d7244d974066aae2376f7ba5534f60a6e4e82cd7c9751e226cae3928e6b49f14",
        messages=[
            (
                "4c756477696720766f6e204d69736573",
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c794454ae7612d1724af42adb130160a9a94e67b5b169b4e00c189f6467cd17eb7cad",
            ),
            (
                "4d757272617920526f746862617264",
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843986a5c929337e337ac8b4a074af12ab9f76318a5f18c8b599a443af07383ce",
            ),
            ("462e20412e20486179656b", "550027c7a5d450017bcb5e12b8253b1c53fd2213aeda84891d5f95"),
            ("4361726c204d656e676572", "dfbce0c38210ccee35e830aca9dd8b8b3997b933e75bfc8864b759"),
            (
                "4a65616e2d426170746973746520536179",
                "4c487a88330c7c65e44d430addf3d92d2a15b081a2892b96693e00b68aec0adac2",
            ),
            (
                "457567656e2042f6686d20766f6e2042617765726b",
                "471cb9f8252d8ae7b25c93f4b4aebdbf25e5baa23f14bc743559e3ef7fd065e69cfaef55ee",
            ),
        ],
    ),
    "XX": dict(
        init_static="e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
        init_ephemeral="893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
        resp_static="4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
        resp_ephemeral="bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
        handshake_hash="6c4c56cf71612f72d05ceb96c0155e6f4ea54a26b504c93de632a2db4a49d200",
        messages=[
            (
                "4c756477696720766f6e204d69736573",
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79444c756477696720766f6e204d69736573",
            ),
            (
                "4d757272617920526f746862617264",
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088437c365eb362a1c991b0557fe8a7fb187d99346765d93ec63db6c1b01504ebeec55a2298d2dbff80eff034d20595153f63a196a6cead1e11b2bb13e336fa13616dd3e8b0a070c882ed3f1a78c7c06c93",
            ),
            (
                "462e20412e20486179656b",
                "46c3307de83b014258717d97781c1f50936d8b7d50c0722a1739654d10392d415b670c114f79b9a4f80541570f77ce88802efa4220cff733e7b5668ba38059ec904b4b8eef9448085faf51",
            ),
            ("4361726c204d656e676572", "d5e83adfaac5dc324a68f1862df54549e56d209fba707205f328b2"),
            (
                "4a65616e2d426170746973746520536179",
                "d102c9029b1f55c788f561ba7737afbccef9c9f1bf2f238167fd40ba9c1c134867",
            ),
            (
                "457567656e2042f6686d20766f6e2042617765726b",
                "cb1ce80960382c6d5d5e740ffb724d1432f0310b200fb6f8424120f506092744baa415e155",
            ),
        ],
    ),
}


def cacophony(pattern: str) -> list[Fields]:
    """Both sides of a public vector, after we have come to the same bytes ourselves."""
    known = CACOPHONY[pattern]
    named = {"is": "init_static", "ie": "init_ephemeral", "rs": "resp_static", "re": "resp_ephemeral"}
    keys = {short: bytes.fromhex(known[name]) for short, name in named.items() if name in known}
    said = [("ir"[n % 2], bytes.fromhex(payload)) for n, (payload, _) in enumerate(known["messages"])]
    messages, hash = conversation(pattern, keys, said, bytes.fromhex(PROLOGUE))
    assert [message.hex() for message in messages] == [message for _, message in known["messages"]], pattern
    assert hash.hex() == known["handshake_hash"], pattern
    return sides(
        f"cacophony-{pattern.lower()}", PATTERN_CLAUSES[pattern], pattern, keys, said, messages, hash, PROLOGUE
    )


# -- frames ------------------------------------------------------------------------------------------------------------

KEY = bytes(range(32))
DEVICE = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
RELAY = bytes.fromhex("77076d0a7318a57d3c16c17251b26645c6c2f6c929b1a2b1f6c6c2f6c929b1a2")


def frame(tag: int, body: bytes = b"", size: int | None = None) -> bytes:
    return struct.pack(">BI", tag, len(body) if size is None else size) + body


def push(recipient: bytes, envelope: bytes) -> bytes:
    return frame(1, recipient + envelope)


def deliver(id: int, envelope: bytes) -> bytes:
    return frame(2, struct.pack(">Q", id) + envelope)


def deliver_ack(id: int) -> bytes:
    return frame(6, struct.pack(">Q", id))


HEARTBEAT, ACK, ERROR = frame(3), frame(4), frame(5)


def means_push(recipient: bytes, envelope: bytes) -> Fields:
    return {"type": "push", "recipient": recipient.hex(), "envelope": envelope.hex()}


def means_deliver(id: int, envelope: bytes) -> Fields:
    return {"type": "deliver", "blob_id": str(id), "envelope": envelope.hex()}


def means_deliver_ack(id: int) -> Fields:
    return {"type": "deliver_ack", "blob_id": str(id)}


# name, clauses, hex, meaning
GOLDEN: list[tuple[str, str, str, Fields]] = [
    ("heartbeat", "TYP-01 FRM-01 FRM-04 HB-03", "0300000000", {"type": "heartbeat"}),
    ("ack", "TYP-01 FRM-01 FRM-04 ACK-02", "0400000000", {"type": "ack"}),
    ("error", "TYP-01 FRM-01 FRM-04 ERR-02", "0500000000", {"type": "error"}),
    ("deliver-ack", "TYP-01 FRM-01 DACK-01", "06000000080102030405060708", means_deliver_ack(0x0102030405060708)),
    ("deliver", "TYP-01 FRM-01 DLV-01", "020000000a000000000000002a6869", means_deliver(42, b"hi")),
    ("push", "TYP-01 FRM-01 PUSH-01", "0100000022" + KEY.hex() + "6869", means_push(KEY, b"hi")),
]

EVERY_BYTE = bytes(range(256))
# name, clauses, the messages, meaning
VALID: list[tuple[str, str, list[bytes], Fields]] = [
    ("push-empty-envelope", "PUSH-05 PUSH-01", [push(KEY, b"")], means_push(KEY, b"")),
    ("push-of-one-byte", "PUSH-01 FRM-03", [push(KEY, b"\0")], means_push(KEY, b"\0")),
    ("push-zero-key", "PUSH-01", [push(bytes(32), b"x")], means_push(bytes(32), b"x")),
    ("push-ones-key", "PUSH-01", [push(b"\xff" * 32, b"x")], means_push(b"\xff" * 32, b"x")),
    ("push-body-of-255", "FRM-02 PUSH-01", [push(KEY, bytes(223))], means_push(KEY, bytes(223))),
    ("push-body-of-256", "FRM-02 PUSH-01", [push(KEY, bytes(224))], means_push(KEY, bytes(224))),
    ("push-body-of-258", "FRM-02 PUSH-01", [push(KEY, bytes(226))], means_push(KEY, bytes(226))),
    ("push-body-of-300", "FRM-02 FRM-03", [push(KEY, bytes(268))], means_push(KEY, bytes(268))),
    ("push-every-byte", "PUSH-01", [push(KEY, EVERY_BYTE)], means_push(KEY, EVERY_BYTE)),
    ("push-of-a-frame", "PUSH-01", [push(KEY, HEARTBEAT)], means_push(KEY, HEARTBEAT)),
    ("deliver-empty-envelope", "DLV-01", [deliver(7, b"")], means_deliver(7, b"")),
    ("deliver-id-0", "DLV-01", [deliver(0, b"x")], means_deliver(0, b"x")),
    (
        "deliver-id-one-in-each-byte",
        "DLV-01",
        [deliver(0x0102030405060708, b"x")],
        means_deliver(0x0102030405060708, b"x"),
    ),
    ("deliver-id-highest-bit", "DLV-01", [deliver(2**63, b"x")], means_deliver(2**63, b"x")),
    ("deliver-id-largest", "DLV-01", [deliver(2**64 - 1, b"x")], means_deliver(2**64 - 1, b"x")),
    ("deliver-every-byte", "DLV-01", [deliver(1, EVERY_BYTE)], means_deliver(1, EVERY_BYTE)),
    ("deliver-ack-id-0", "DACK-01", [deliver_ack(0)], means_deliver_ack(0)),
    ("deliver-ack-id-highest-bit", "DACK-01", [deliver_ack(2**63)], means_deliver_ack(2**63)),
    ("deliver-ack-id-largest", "DACK-01", [deliver_ack(2**64 - 1)], means_deliver_ack(2**64 - 1)),
]

# the same under `large_frames`: a body in several messages
LARGE: list[tuple[str, str, list[bytes], Fields]] = [
    ("push-header-alone", "FRM-06 FRM-01", [push(KEY, b"hi")[:5], KEY + b"hi"], means_push(KEY, b"hi")),
    ("push-cut-in-its-key", "FRM-06 PUSH-01", [push(KEY, b"hi")[:20], push(KEY, b"hi")[20:]], means_push(KEY, b"hi")),
    (
        "push-cut-three-times",
        "FRM-06 PUSH-01",
        [push(KEY, b"hi")[a:b] for a, b in ((0, 37), (37, 38), (38, 39))],
        means_push(KEY, b"hi"),
    ),
    (
        "deliver-cut-in-its-id",
        "FRM-06 DLV-01",
        [deliver(2**63, b"hi")[:9], deliver(2**63, b"hi")[9:]],
        means_deliver(2**63, b"hi"),
    ),
    (
        "deliver-ack-byte-by-byte",
        "FRM-06 DACK-01",
        [deliver_ack(258)[:5], *(deliver_ack(258)[n : n + 1] for n in range(5, 13))],
        means_deliver_ack(258),
    ),
]

# name, clauses, the messages, why
INVALID: list[tuple[str, str, list[bytes], str]] = [
    *((f"header-of-{n}", "FRM-05", [HEARTBEAT[:n]], f"{n} bytes are no header") for n in range(5)),
    *((f"ff-of-{n}", "FRM-05", [b"\xff" * n], f"{n} bytes are no header") for n in range(1, 5)),
    ("tag-00", "TYP-02", [frame(0)], "nobody has this tag"),
    ("tag-00-with-body", "TYP-02", [frame(0, KEY + b"hi")], "nobody has this tag"),
    ("tag-07", "TYP-02", [frame(7)], "one behind the last tag"),
    ("tag-07-with-body", "TYP-02", [frame(7, bytes(8))], "one behind the last tag"),
    ("tag-81", "TYP-02", [frame(0x81, KEY + b"hi")], "a Push with its highest bit set"),
    ("tag-ff", "TYP-02", [frame(255)], "nobody has this tag"),
    ("tag-push-in-ascii", "TYP-02", [frame(0x31, KEY + b"hi")], "a digit is no tag"),
    *((f"push-body-of-{n}", "PUSH-06", [frame(1, KEY[:n])], f"{n} bytes are no recipient") for n in (0, 1, 8, 31)),
    *((f"deliver-body-of-{n}", "DLV-01", [frame(2, bytes(n))], f"{n} bytes are no id") for n in (0, 1, 7)),
    ("push-one-byte-missing", "FRM-06", [push(KEY, b"hi")[:-1]], "the body is one byte shorter than its length"),
    ("push-body-missing", "FRM-06", [push(KEY, b"hi")[:5]], "a header and nothing else"),
    (
        "push-length-little-endian",
        "FRM-02",
        [b"\1" + struct.pack("<I", 34) + KEY + b"hi"],
        "read as it should be, the length is 570425344",
    ),
    (
        "push-length-counts-the-header",
        "FRM-03",
        [frame(1, KEY + b"hi", 39)],
        "the length is of the body alone, so five bytes are missing",
    ),
    ("deliver-ack-one-byte-missing", "FRM-06", [deliver_ack(258)[:-1]], "the body is one byte shorter than its length"),
    *(
        (f"length-{n:08x}", "FRM-07", [frame(1, KEY + b"hi", n)], "no message is that long")
        for n in (0x7FFFFFFF, 0x80000000, *range(0xFFFFFFFA, 0x100000000))
    ),
    *(
        (f"heartbeat-length-{n:08x}", "FRM-07", [frame(3, b"", n)], "no message is that long")
        for n in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFB, 0xFFFFFFFF)
    ),
]

OPEN: list[tuple[str, str, list[bytes], str]] = [
    ("heartbeat-with-a-body", "HB-04", [frame(3, b"\0")], "the text does not say what becomes of it; we refuse it"),
    (
        "ack-with-a-body",
        "ACK-02",
        [frame(4, b"\0")],
        "its body is empty, but nothing says that a reader checks it; we refuse it",
    ),
    ("error-with-a-body", "ERR-02", [frame(5, b"\1")], "a later draft puts a reason here; we refuse it"),
    ("deliver-ack-of-7", "DACK-08", [frame(6, bytes(7))], "the text does not say what becomes of it; we refuse it"),
    ("deliver-ack-of-9", "DACK-08", [frame(6, bytes(9))], "the text does not say what becomes of it; we refuse it"),
    (
        "byte-behind-a-heartbeat",
        "FRM-08",
        [HEARTBEAT + b"\0"],
        "the text says nothing of bytes behind a frame; we refuse them",
    ),
    (
        "byte-behind-a-push",
        "FRM-08",
        [push(KEY, b"hi") + b"\0"],
        "the text says nothing of bytes behind a frame; we refuse them",
    ),
    ("two-frames-in-one-message", "FRM-08", [HEARTBEAT * 2], "one message is one frame, as we read it"),
]

# -- sessions with fixed keys ------------------------------------------------------------------------------------------

PATTERN_CLAUSES = {"NK": "SES-01 SES-02", "XX": "SES-06"}
PUSHING = {"rs": RELAY, "ie": bytes(range(1, 33)), "re": bytes(range(33, 65))}
RECEIVING = {"is": DEVICE, "rs": RELAY, "ie": bytes(range(65, 97)), "re": bytes(range(97, 129))}
SESSIONS: list[tuple[str, str, str, dict[str, bytes], list[tuple[str, bytes]]]] = [
    ("push-and-ack", "SES-01 SES-02", "NK", PUSHING, [("i", push(public(DEVICE), b"sealed")), ("r", ACK)]),
    (
        "short-push-and-error",
        "SES-01",
        "NK",
        PUSHING,
        [("i", frame(1, KEY[:31])), ("r", ERROR), ("i", push(public(DEVICE), b"")), ("r", ACK)],
    ),
    (
        "three-pushes-at-once",
        "SES-01",
        "NK",
        PUSHING,
        [*[("i", push(public(DEVICE), bytes([n]) * 100)) for n in range(3)], *[("r", ACK)] * 3],
    ),
    (
        "deliver-and-ack",
        "SES-06",
        "XX",
        RECEIVING,
        [("r", deliver(2**63, b"sealed")), ("i", deliver_ack(2**63)), ("i", HEARTBEAT), ("r", HEARTBEAT)],
    ),
    (
        "two-deliveries-and-nothing",
        "SES-06",
        "XX",
        RECEIVING,
        [("r", deliver(1, b"")), ("r", deliver(2, b"")), ("i", b"")],
    ),
]


def sides(
    name: str,
    clauses: str,
    pattern: str,
    keys: dict[str, bytes],
    said: list[tuple[str, bytes]],
    messages: list[bytes],
    hash: bytes,
    prologue: str = "",
) -> list[Fields]:
    """The session as its initiator and as its responder have it."""
    return [side(name, clauses, pattern, keys, said, messages, hash, prologue, who) for who in "ir"]


def side(
    name: str,
    clauses: str,
    pattern: str,
    keys: dict[str, bytes],
    said: list[tuple[str, bytes]],
    messages: list[bytes],
    hash: bytes,
    prologue: str,
    who: str,
) -> Fields:
    role = {"i": "initiator", "r": "responder"}[who]
    told: Fields = {"pattern": pattern, "side": role, "ephemeral_hex": keys[who + "e"].hex()}
    if who + "s" in keys:
        told["static_hex"] = keys[who + "s"].hex()
    if pattern == "NK" and who == "i":
        told["remote_static_hex"] = public(keys["rs"]).hex()
    if prologue:
        told["prologue_hex"] = prologue
    pairs = [
        (payload, message) if speaker == who else (message, payload)
        for (speaker, payload), message in zip(said, messages, strict=True)
    ]
    told["verbs"] = ["write" if speaker == who else "read" for speaker, _ in said]
    told["script_hex"] = [given.hex() for given, _ in pairs]
    expected = {"results_hex": [result.hex() for _, result in pairs], "hash_hex": hash.hex()}
    return {"name": f"{name}-{role}", "clauses": ids(clauses), "result": "valid", "input": told, "expected": expected}


def shaken(pattern: str) -> list[tuple[str, bytes]]:
    """The handshake's own messages, whose payloads are empty."""
    return [("ir"[n % 2], b"") for n in range(2 if pattern == "NK" else 3)]


def sessions() -> list[Fields]:
    made = []
    for name, clauses, pattern, keys, frames in SESSIONS:
        said = shaken(pattern) + frames
        made += sides(name, clauses, pattern, keys, said, *conversation(pattern, keys, said))
    return made


def forged() -> list[Fields]:
    """One bit of one message is wrong, or a key: whoever reads it refuses."""
    made = []
    for name, clauses, pattern, keys, frames in (SESSIONS[0], SESSIONS[3]):
        said = shaken(pattern) + frames
        [initiator, responder] = sides(name, clauses, pattern, keys, said, *conversation(pattern, keys, said))
        for vector in (initiator, responder):
            reads = [n for n, verb in enumerate(vector["input"]["verbs"]) if verb == "read"]
            for n in reads:
                if pattern == "XX" and n == 0:
                    continue  # an ephemeral key in the clear: nothing to authenticate yet
                made.append(
                    cut_at(
                        vector,
                        n,
                        flipped(vector["input"]["script_hex"][n]),
                        f"message-{n}",
                        "the last bit of this message was turned over",
                    )
                )
                made.append(cut_at(vector, n, "", f"empty-message-{n}", "no bytes are no message"))
    stranger = {**PUSHING, "rs": DEVICE}
    said = shaken("NK")
    messages, hash = conversation("NK", PUSHING, said)
    vector = side("wrong-relay", "SES-02", "NK", stranger, said, messages, hash, "", "r")
    made.append(
        cut_at(
            vector, 0, messages[0].hex(), "message-0", "the responder has another static key than the initiator trusts"
        )
    )
    return made


def flipped(message: str) -> str:
    return message[:-2] + f"{int(message[-2:], 16) ^ 1:02x}"


def cut_at(vector: Fields, n: int, instead: str, suffix: str, why: str) -> Fields:
    told = {
        **vector["input"],
        "verbs": vector["input"]["verbs"][: n + 1],
        "script_hex": [*vector["input"]["script_hex"][:n], instead],
    }
    return {
        "name": f"{vector['name']}-{suffix}",
        "clauses": vector["clauses"][:1],
        "result": "invalid",
        "comment": why,
        "input": told,
    }


# -- writing -----------------------------------------------------------------------------------------------------------


def ids(clauses: str) -> list[str]:
    return [f"TS-{clause}" for clause in clauses.split()]


def both_ways(
    rows: list[tuple[str, str, list[bytes], Fields]], needs: tuple[str, ...] = (), why: str = ""
) -> list[Fields]:
    made = [
        {
            "name": name,
            "clauses": ids(clauses),
            "result": "acceptable" if why else "valid",
            "comment": why,
            "needs": list(needs),
            "input": {"messages_hex": [message.hex() for message in messages]},
            "expected": {"frame": frame},
        }
        for name, clauses, messages, frame in rows
    ]
    return [{member: value for member, value in row.items() if value} for row in made]


def refused(rows: list[tuple[str, str, list[bytes], str]], result: str) -> list[Fields]:
    return [
        {
            "name": name,
            "clauses": ids(clauses),
            "result": result,
            "comment": why,
            "input": {"messages_hex": [message.hex() for message in messages]},
        }
        for name, clauses, messages, why in rows
    ]


def write(group: str, source: str, derivation: str, notes: list[str], vectors: list[Fields]) -> None:
    file = {
        "protocol": "trueseal",
        "group": group,
        "provenance": {"source": source, "derivation": derivation},
        "notes": notes,
        "vectors": vectors,
    }
    (VECTORS / f"{group}.json").write_text(json.dumps(file, indent=1) + "\n")


CONTRACT = (
    "A frame's members are those of the shim contract in suites/trueseal/README.md; `blob_id` is a decimal string."
)
SEED, PACKED = (
    "the layouts of the seed",
    "packed with struct, field by field; meaning spelled by hand (derivations/trueseal.py)",
)
SCRIPT = "Operation `noise`: `verbs` and `script_hex` are its script, step by step; the results are the messages written and the payloads read."
NOISE = "Noise revision 34, RFC 7748 and RFC 8439 in the standard library alone (derivations/trueseal.py)"


def main() -> None:
    VECTORS.mkdir(exist_ok=True)
    golden = [(name, clauses, [bytes.fromhex(wire)], means) for name, clauses, wire, means in GOLDEN]
    write("golden", "the sheet's section 2.5", "copied as hex", ["Both ways.", CONTRACT], both_ways(golden))
    write(
        "frames",
        SEED,
        PACKED,
        [
            "`messages_hex` are plaintexts of Noise messages in order. Decode only where there are several: an encoder cuts where it likes.",
            CONTRACT,
        ],
        both_ways(VALID)
        + both_ways(LARGE, ("large_frames",), "a frame that fits travels in one message: in several it may be refused"),
    )
    write(
        "malformed",
        SEED,
        PACKED,
        ["Decode refuses each of these; `acceptable` ones it may take."],
        refused(INVALID, "invalid") + refused(OPEN, "acceptable"),
    )
    write(
        "noise",
        "the public cacophony vectors for both suites",
        "copied as hex, and computed again: " + NOISE,
        [SCRIPT],
        cacophony("NK") + cacophony("XX"),
    )
    write(
        "sessions",
        "the sheet's section 2.1: both suites, prologue and handshake payloads empty, counters from 0",
        NOISE,
        [
            SCRIPT,
            "On TCP each of these messages stands behind its length, u16 big-endian.",
            "`invalid`: the last message of the script is refused.",
        ],
        sessions() + forged(),
    )


if __name__ == "__main__":
    sys.exit(main())
