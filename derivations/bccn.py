"""Writes the BCCN vector files. Stand-alone on purpose: standard library only, nothing of ours is imported.

Datagrams are spelled in the rows. What has to be computed is computed in another way than an implementation would: HMAC by its
definition (RFC 2104) over SHA-256, the addressing table by comparing lists of tokens. The script checks itself against the
sheet's known answers, which two other programs (Perl's Digest::SHA, openssl) agreed with.
"""
# ruff: noqa: E501  a row of a table stays on its line

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "bccn"
SECRET = b"secret"
B = b"test:1:test/chan|hello"  # the sheet's base probe, 22 bytes
TAG = "dda368837299c7cf"  # its tag under `secret` (sheet 1.3a)
TOP = 2**64 - 1
FREE = "the text leaves it open: refused, or taken with exactly these values"
LOW = "the rule is implied, not stated: a refusal is expected"
Row = dict[str, Any]


def hmac_sha256(key: bytes, data: bytes) -> bytes:
    """RFC 2104, section 2, by the letter."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in block) + data).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in block) + inner).digest()


def tag(key: bytes, body: bytes) -> str:
    return hmac_sha256(key, body)[:8].hex()


def framed(body: bytes, check: str = "") -> bytes:
    return b"BCCN1[" + str(len(body)).encode() + check.encode() + b"]" + body


def signed(body: bytes, key: bytes = SECRET) -> bytes:
    return framed(body, f":hmac={tag(key, body)}")


def shown(name: str, data: bytes) -> Row:
    """Bytes as hex and, where they are text that one can read, as text."""
    if data.isascii() and data.decode().isprintable() and len(data) < 300:
        return {f"{name}_hex": data.hex(), f"{name}_text": data.decode()}
    return {f"{name}_hex": data.hex()}


def ids(clauses: str) -> list[str]:
    return [f"BCCN-{clause}" for clause in clauses.split()]


def vector(name: str, clauses: str, result: str, comment: str, given: Row, wanted: Row, needs: str = "") -> Row:
    made = {
        "name": name,
        "clauses": ids(clauses),
        "result": result,
        "comment": comment,
        "needs": needs.split(),
        "input": given,
        "expected": wanted,
    }
    return {member: value for member, value in made.items() if value}


def fields(src: str, seq: int, chan: str, payload: bytes) -> Row:
    return {"src": src, "seq": str(seq), "chan": chan, **shown("payload", payload)}


HELLO = fields("test", 1, "test/chan", b"hello")


# -- envelopes ---------------------------------------------------------------------------------------------------------


def taken(name: str, clauses: str, wire: bytes, wanted: Row, key: bytes = b"", comment: str = "") -> Row:
    return vector(name, clauses, "valid", comment, shown("wire", wire) | keyed(key), wanted)


def dropped(name: str, clauses: str, wire: bytes, comment: str, key: bytes = b"") -> Row:
    return vector(name, clauses, "invalid", comment, shown("wire", wire) | keyed(key), {})


def either(name: str, clauses: str, wire: bytes, wanted: Row, comment: str, key: bytes = b"") -> Row:
    return vector(name, clauses, "acceptable", f"{comment}; {FREE}", shown("wire", wire) | keyed(key), wanted)


def doubtful(name: str, clauses: str, wire: bytes, comment: str, key: bytes = b"") -> Row:
    return vector(name, clauses, "acceptable", f"{comment}; {LOW}", shown("wire", wire) | keyed(key), {"refused": True})


def keyed(key: bytes) -> Row:
    return shown("key", key) if key else {}


def envelopes() -> list[Row]:
    def wrong(name: str, clauses: str, head: bytes, comment: str) -> Row:
        return dropped(name, clauses, head + B, comment)

    rows = [
        taken("base", "ENV-16 ENV-01 BODY-01", b"BCCN1[22]" + B, HELLO),
        wrong("magic-lower-case", "ENV-01", b"bccn1[22]", "the magic is case-sensitive"),
        wrong("magic-mixed-case", "ENV-01", b"Bccn1[22]", "the magic is case-sensitive"),
        wrong("magic-after-a-byte", "ENV-01", b"xBCCN1[22]", "the magic starts at byte 0"),
        wrong("magic-after-a-blank", "ENV-01", b" BCCN1[22]", "the magic starts at byte 0"),
        wrong("magic-after-nul", "ENV-01", b"\0BCCN1[22]", "the magic starts at byte 0"),
        wrong("magic-after-lf", "ENV-01", b"\nBCCN1[22]", "the magic starts at byte 0"),
        wrong("magic-missing", "ENV-01", b"[22]", "no magic at all"),
        wrong("magic-bccn2", "ENV-02 ENV-01", b"BCCN2[22]", "another version is not read by the rules of this one"),
        wrong("magic-bccn1a", "ENV-02", b"BCCN1a[22]", "another version is not read by the rules of this one"),
        wrong("magic-bccn01", "ENV-02", b"BCCN01[22]", "another version is not read by the rules of this one"),
        wrong("magic-bccn11", "ENV-02", b"BCCN11[22]", "another version is not read by the rules of this one"),
        wrong("magic-bccn", "ENV-02", b"BCCN[22]", "another version is not read by the rules of this one"),
        wrong("blank-before-bracket", "ENV-03 ENV-02", b"BCCN1 [22]", "the bracket follows at once"),
        wrong("colon-before-bracket", "ENV-03 ENV-02", b"BCCN1:[22]", "the bracket follows at once"),
        wrong("round-brackets", "ENV-03", b"BCCN1(22)", "no bracket"),
        wrong("curly-brackets", "ENV-03", b"BCCN1{22}", "no bracket"),
        wrong("no-bracket", "ENV-03", b"BCCN1", "no bracket"),
        wrong("no-opening-bracket", "ENV-03", b"BCCN122]", "no bracket"),
        dropped("only-magic", "ENV-03 ENV-22", b"BCCN1", "no bracket"),
        dropped("empty", "ENV-22", b"", "an empty datagram"),
        wrong("no-closing-bracket", "ENV-04", b"BCCN1[22", "the bracket never closes"),
        taken("closing-bracket-in-payload", "ENV-04 ENV-20", framed(b"a:1:c|]x"), fields("a", 1, "c", b"]x")),
        taken("closing-bracket-in-src", "ENV-04 SRC-05", framed(b"]s:1:c|x"), fields("]s", 1, "c", b"x")),
        taken("opening-bracket-in-src", "ENV-04 SRC-05", framed(b"[s:1:c|x"), fields("[s", 1, "c", b"x")),
        taken(
            "payload-is-a-datagram", "ENV-20 BODY-08", framed(b"a:1:c|BCCN1[3]a:1"), fields("a", 1, "c", b"BCCN1[3]a:1")
        ),
        wrong("len-leading-blank", "ENV-05 ENV-07", b"BCCN1[ 22]", "no whitespace in the bracket"),
        wrong("len-trailing-blank", "ENV-05 ENV-07", b"BCCN1[22 ]", "no whitespace in the bracket"),
        wrong("len-leading-tab", "ENV-05 ENV-07", b"BCCN1[\t22]", "no whitespace in the bracket"),
        wrong("len-leading-lf", "ENV-05 ENV-07", b"BCCN1[\n22]", "no whitespace in the bracket"),
        wrong("len-trailing-cr", "ENV-05 ENV-07", b"BCCN1[22\r]", "no whitespace in the bracket"),
        wrong("len-missing", "ENV-06", b"BCCN1[]", "len is mandatory"),
        dropped(
            "len-missing-before-check", "ENV-06", b"BCCN1[:hmac=" + TAG.encode() + b"]" + B, "len is mandatory", SECRET
        ),
        dropped("len-after-check", "ENV-06", b"BCCN1[hmac=" + TAG.encode() + b":22]" + B, "len comes first", SECRET),
        wrong("len-hex", "ENV-07", b"BCCN1[0x16]", "not a decimal number"),
        wrong("len-hex-digits", "ENV-07", b"BCCN1[16h]", "not a decimal number"),
        wrong("len-fraction", "ENV-07", b"BCCN1[22.0]", "not a decimal number"),
        wrong("len-underscore", "ENV-07", b"BCCN1[2_2]", "not a decimal number"),
        wrong("len-exponent", "ENV-07", b"BCCN1[22e0]", "not a decimal number"),
        wrong("len-words", "ENV-07", b"BCCN1[twentytwo]", "not a decimal number"),
        wrong("len-arabic-indic", "ENV-07", b"BCCN1[" + "\u0662\u0662".encode() + b"]", "not ASCII digits"),
        wrong("len-superscript", "ENV-07", b"BCCN1[\xb2\xb2]", "not ASCII digits"),
        wrong("len-nul", "ENV-07", b"BCCN1[22\0]", "not a decimal number"),
        wrong("len-nul-junk", "ENV-07", b"BCCN1[22\0:junk]", "not a decimal number"),
        doubtful("len-plus", "ENV-07", b"BCCN1[+22]" + B, "a count has no sign"),
        wrong("len-minus", "ENV-07", b"BCCN1[-22]", "a count has no sign"),
        wrong(
            "len-wraps-64-bits-down", "ENV-07 ENV-08", b"BCCN1[-18446744073709551594]", "22 only after a wrap-around"
        ),
        wrong("len-wraps-64-bits-up", "ENV-08 ENV-07", b"BCCN1[18446744073709551638]", "22 only after a wrap-around"),
        wrong("len-wraps-32-bits", "ENV-08", b"BCCN1[4294967318]", "22 only after a wrap-around"),
        wrong("len-wraps-16-bits", "ENV-08", b"BCCN1[65558]", "22 only after a wrap-around"),
        either("len-leading-zero", "ENV-07", b"BCCN1[022]" + B, HELLO, "a second spelling of the number"),
        wrong("len-one-less", "ENV-08", b"BCCN1[21]", "len is not the body's"),
        wrong("len-one-more", "ENV-08", b"BCCN1[23]", "len is not the body's"),
        wrong("len-zero", "ENV-08", b"BCCN1[0]", "len is not the body's"),
        wrong("len-huge", "ENV-08", b"BCCN1[" + b"9" * 400 + b"]", "len is not the body's"),
        dropped("len-without-body", "ENV-08", b"BCCN1[22]", "len is not the body's"),
        dropped("one-byte-behind", "ENV-08", b"BCCN1[22]" + B + b"x", "a byte more than len says"),
        dropped("lf-behind", "ENV-08", b"BCCN1[22]" + B + b"\n", "a byte more than len says"),
        dropped("nul-behind", "ENV-08", b"BCCN1[22]" + B + b"\0", "a byte more than len says"),
        dropped("second-datagram-behind", "ENV-08", (b"BCCN1[22]" + B) * 2, "more bytes than len says"),
        taken(
            "len-counts-bytes",
            "ENV-10",
            framed(b"a:1:c|" + "\u20ac\U0001f600".encode()),
            fields("a", 1, "c", "\u20ac\U0001f600".encode()),
        ),
        dropped(
            "len-counts-characters",
            "ENV-10 ENV-08",
            b"BCCN1[8]a:1:c|" + "\u20ac\U0001f600".encode(),
            "8 characters are 13 bytes",
        ),
        dropped("check-no-equals", "ENV-21", b"BCCN1[22:hmac]" + B, "a check without a sum", SECRET),
        dropped("check-empty", "ENV-21", b"BCCN1[22:]" + B, "a colon without a check"),
        dropped("check-empty-with-key", "ENV-21", b"BCCN1[22:]" + B, "a colon without a check", SECRET),
        dropped(
            "check-empty-algo",
            "ENV-21 ENV-14",
            b"BCCN1[22:=" + TAG.encode() + b"]" + B,
            "a check without a name",
            SECRET,
        ),
        dropped("check-empty-algo-no-key", "ENV-21", b"BCCN1[22:=aa]" + B, "a check without a name"),
        dropped("check-empty-sum-no-key", "ENV-21", b"BCCN1[22:hmac=]" + B, "a check without a value"),
        dropped("check-name-only-no-key", "ENV-21", b"BCCN1[22:hmac]" + B, "a check without a value"),
    ]
    rows += [
        dropped(f"prefix-of-{size}", "ENV-22", (b"BCCN1[22]" + B)[:size], "a datagram that was cut")
        for size in range(1, 13)
    ]
    return rows


# -- integrity ---------------------------------------------------------------------------------------------------------

KNOWN = [  # sheet 1.3a: key, body, tag
    ("base", SECRET, B, TAG),
    ("unknown-sender", SECRET, b"?:1:bootstrap/started|pid=unknown", "85fb5d0273ca999a"),
    (
        "specification-l502",
        SECRET,
        b"relay01/cardsys-relay/12345:84213:cardsys/relay/tx/authorized|txnid=12345|amount=1234|rc=00|ts=...",
        "4e47d9208be1c679",
    ),
    ("empty-payload", SECRET, b"a:1:c|", "3f97e5073787f5a7"),
    ("key-of-one-block", b"k" * 64, b"a:1:c|x", "8422d0fde81169af"),
    ("key-longer-than-a-block", b"k" * 65, b"a:1:c|x", "c5c2b5926f019255"),
    (
        "binary-key-and-payload",
        bytes(range(32)),
        b"a:18446744073709551615:!|" + bytes.fromhex("00ff0d0a7c3a5b5d"),
        "542e569f4386a21d",
    ),
    ("all-form", SECRET, b"ops01/admin-tool/4711:42:!|emergency-shutdown", "275dff81704a8c2b"),
]


def parsed(body: bytes) -> Row:
    """The fields of a body that is known to be well-formed."""
    header, payload = body.split(b"|", 1)
    src, seq, chan = header.decode("latin-1").split(":")
    return fields(src, int(seq), chan, payload)


def hmacs() -> list[Row]:
    rows = []
    for name, key, body, known in KNOWN:
        assert tag(key, body) == known, name
        given = shown("key", key) | shown("body", body) | parsed(body)
        rows.append(
            vector(
                name,
                "INT-05 INT-01 INT-06 INT-07 INT-08 INT-04",
                "valid",
                "sheet 1.3a",
                given,
                {"tag": known} | shown("wire", framed(body, f":hmac={known}")),
            )
        )
    return rows


def forgeries() -> list[Row]:
    def other(name: str, clauses: str, check: str, comment: str) -> Row:
        return dropped(name, clauses, framed(B, f":{check}"), comment, SECRET)

    full = hmac_sha256(SECRET, B).hex()
    crlf = b"s:1:c| a\r\n\0\xff  \r\n"
    unix = crlf.replace(b"\r\n", b"\n")
    rows = [
        taken("signed", "ENV-12 ENV-11 ENV-15 INT-09 INT-01 INT-05 INT-06", signed(B), HELLO, SECRET),
        taken("signed-odd-bytes", "INT-03", signed(crlf), fields("s", 1, "c", b" a\r\n\0\xff  \r\n"), SECRET),
        dropped("unsigned", "INT-10", framed(B), "a key is set and nothing is signed", SECRET),
        dropped("signed-with-another-key", "INT-09", signed(B, b"Secret"), "another key", SECRET),
        dropped(
            "crc32-instead",
            "INT-11",
            framed(B, f":crc32={zlib.crc32(B):08x}"),
            "a check without a key does not stand in for one with",
            SECRET,
        ),
        other("tag-named-sig", "INT-04 INT-11", f"sig={TAG}", "the right value under another name"),
        other("tag-named-crc32", "INT-11 INT-04", f"crc32={TAG}", "the right value under another name"),
        other("tag-named-hmac256", "INT-04", f"hmac256={TAG}", "the right value under another name"),
        other("tag-named-hma", "INT-04", f"hma={TAG}", "the right value under another name"),
        doubtful("tag-named-upper-case", "ENV-14 INT-04", framed(B, f":HMAC={TAG}"), "names are lower-case", SECRET),
        other("tag-last-eight-bytes", "INT-06 INT-14", f"hmac={full[-16:]}", "the first 8 bytes count"),
        other("tag-of-four-bytes", "INT-14", f"hmac={TAG[:8]}", "the whole value is compared"),
        other("tag-of-one-byte", "INT-14", f"hmac={TAG[:2]}", "the whole value is compared"),
        other("tag-of-seven-bytes", "INT-14", f"hmac={TAG[:14]}", "the whole value is compared"),
        other("tag-of-one-byte-more", "INT-14", f"hmac={full[:18]}", "the whole value is compared"),
        other("tag-in-full", "INT-14 INT-06", f"hmac={full}", "the value is 8 bytes"),
        other("tag-empty", "INT-14 ENV-21", "hmac=", "the whole value is compared"),
        other("tag-with-trailing-blank", "ENV-05 ENV-13", f"hmac={TAG} ", "no whitespace in the bracket"),
        other("tag-with-leading-blank", "ENV-05 ENV-13", f" hmac={TAG}", "no whitespace in the bracket"),
        other("tag-blank-after-equals", "ENV-05 ENV-13", f"hmac= {TAG}", "no whitespace in the bracket"),
        other("tag-then-a-part", "ENV-13", f"hmac={TAG}:x=1", "nothing else lives in the bracket"),
        other("tag-then-a-colon", "ENV-13", f"hmac={TAG}:", "nothing else lives in the bracket"),
        other("tag-then-a-comma", "ENV-13", f"hmac={TAG},y", "nothing else lives in the bracket"),
        other("tag-then-an-equals", "ENV-13", f"hmac={TAG}=bb", "nothing else lives in the bracket"),
        other("part-before-tag", "ENV-13", f"x=1:hmac={TAG}", "nothing else lives in the bracket"),
        other("two-equals", "ENV-13 ENV-15", "hmac=aa=bb", "nothing else lives in the bracket"),
        other("tag-not-hex", "ENV-15", "hmac=ghijklmnopqrstuv", "the sum is hex"),
        other("tag-base64", "ENV-15", "hmac=3aNog3KZx88=", "the sum is hex"),
        other("tag-hex-prefix", "ENV-15", f"hmac=0x{TAG}", "the sum is hex"),
        other(
            "tag-of-whole-datagram",
            "INT-02 INT-01",
            f"hmac={tag(SECRET, b'BCCN1[22]' + B)}",
            "magic and bracket are no part of the input",
        ),
        other(
            "tag-of-bracket-and-body",
            "INT-02",
            f"hmac={tag(SECRET, b'[22]' + B)}",
            "magic and bracket are no part of the input",
        ),
        other("tag-of-payload", "INT-01", f"hmac={tag(SECRET, b'hello')}", "the whole body is the input"),
        other("tag-of-header", "INT-01", f"hmac={tag(SECRET, b'test:1:test/chan')}", "the whole body is the input"),
        other(
            "tag-plain-sha256",
            "INT-05",
            f"hmac={hashlib.sha256(SECRET + B).hexdigest()[:16]}",
            "HMAC, not a hash of key and body",
        ),
        either(
            "tag-upper-case-hex",
            "ENV-15",
            framed(B, f":hmac={TAG.upper()}"),
            HELLO,
            "a second spelling of the value",
            SECRET,
        ),
    ]
    for i, digit in enumerate(TAG):
        changed = TAG[:i] + f"{int(digit, 16) ^ (1 << i % 4):x}" + TAG[i + 1 :]
        rows.append(other(f"tag-digit-{i}-changed", "INT-09 INT-14", f"hmac={changed}", "one bit of the tag is wrong"))
    for i in range(len(B)):
        body = B[:i] + bytes([B[i] ^ 1]) + B[i + 1 :]
        rows.append(
            dropped(
                f"body-byte-{i}-changed",
                "INT-09 INT-01",
                framed(body, f":hmac={TAG}"),
                "one bit of the body is wrong",
                SECRET,
            )
        )
    for i, (old, new) in enumerate(
        [(b"\r\n", b"\n\n"), (b"  ", b" \t"), (b"\0", b"\1"), (b"\xff", b"\xfe"), (b" a", b"\ta")]
    ):
        body = crlf.replace(old, new)
        rows.append(
            dropped(
                f"odd-byte-{i}-changed",
                "INT-03 INT-09",
                framed(body, f":hmac={tag(SECRET, crlf)}"),
                "no byte is normalised away",
                SECRET,
            )
        )
    rows.append(
        dropped(
            "odd-bytes-stripped",
            "INT-03",
            framed(crlf.rstrip(), f":hmac={tag(SECRET, crlf)}"),
            "no byte is normalised away",
            SECRET,
        )
    )
    rows.append(
        dropped(
            "tag-of-stripped-body",
            "INT-03",
            framed(crlf, f":hmac={tag(SECRET, crlf.rstrip())}"),
            "no byte is normalised away",
            SECRET,
        )
    )
    rows.append(
        dropped(
            "tag-of-unix-lines",
            "INT-03",
            framed(crlf, f":hmac={tag(SECRET, unix)}"),
            "no byte is normalised away",
            SECRET,
        )
    )
    return rows


# -- bodies ------------------------------------------------------------------------------------------------------------


def bodies() -> list[Row]:
    def ok(name: str, clauses: str, src: str, seq: int, chan: str, payload: bytes) -> Row:
        body = f"{src}:{seq}:{chan}|".encode("latin-1") + payload
        return taken(name, clauses, framed(body), fields(src, seq, chan, payload))

    def bad(name: str, clauses: str, body: bytes, comment: str) -> Row:
        return dropped(name, clauses, framed(body), comment)

    rows = [
        ok("bar-in-payload", "BODY-02 BODY-05", "a", 1, "c", b"x|y"),
        ok("bar-begins-payload", "BODY-02", "a", 1, "c", b"|"),
        ok("colons-in-payload", "BODY-02 BODY-03", "a", 1, "c", b"a:b:c|d:e"),
        bad("one-field", "BODY-03", b"a|x", "three fields"),
        bad("two-fields", "BODY-03", b"a:1|x", "three fields"),
        bad("four-fields", "BODY-03 CHN-04", b"a:1:c:d|x", "three fields"),
        bad("five-fields", "BODY-03 CHN-04", b"a:1:c:d:e|x", "three fields"),
        bad("trailing-colon", "BODY-03 CHN-04", b"a:1:c:|x", "three fields"),
        bad("leading-colon", "BODY-03", b":a:1:c|x", "three fields"),
        bad("no-bar", "BODY-04", b"a:1:c", "the header never ends"),
        bad("no-bar-empty", "BODY-04 ENV-22", b"", "an empty body"),
        bad("only-bar", "BODY-03", b"|", "three fields"),
        ok("every-byte", "BODY-05 BODY-07", "a", 1, "c", bytes(range(256))),
        ok("every-byte-backwards", "BODY-05", "a", 1, "c", bytes(reversed(range(256)))),
        ok("empty-payload", "BODY-06", "a", 1, "c", b""),
        ok("payload-blanks", "BODY-07", "a", 1, "c", b" x "),
        ok("payload-trailing-lf", "BODY-07", "a", 1, "c", b"x\n"),
        ok("payload-crlf", "BODY-07 BODY-05", "a", 1, "c", b"\r\nx\r\n"),
        ok("payload-leading-nul", "BODY-05 BODY-07", "a", 1, "c", b"\0x\0"),
        ok("payload-invalid-utf8", "BODY-07", "a", 1, "c", b"\xff\xfe\xc0\x80"),
        ok("payload-one-byte", "BODY-07", "a", 1, "c", b"x"),
        ok("payload-datagram", "BODY-08", "a", 1, "c", b"BCCN1[3]a:1"),
        ok("payload-bang", "BODY-08", "a", 1, "c", b"!x"),
        ok("payload-header", "BODY-08", "a", 1, "c", b"b:2:d|y"),
        bad("src-empty", "SRC-01", b":1:c|x", "1 to 128 characters"),
        ok("src-of-1", "SRC-01", "s", 1, "c", b"x"),
        ok("src-of-127", "SRC-01", "s" * 127, 1, "c", b"x"),
        ok("src-of-128", "SRC-01", "s" * 128, 1, "c", b"x"),
        bad("src-of-129", "SRC-01", b"s" * 129 + b":1:c|x", "1 to 128 characters"),
        bad("src-of-1000", "SRC-01", b"s" * 1000 + b":1:c|x", "1 to 128 characters"),
        bad("chan-empty", "CHN-01", b"a:1:|x", "1 to 1024 characters"),
        ok("chan-of-1", "CHN-01", "a", 1, "c", b"x"),
        ok("chan-of-1023", "CHN-01", "a", 1, "c" * 1023, b"x"),
        ok("chan-of-1024", "CHN-01", "a", 1, "c" * 1024, b"x"),
        bad("chan-of-1025", "CHN-01", b"a:1:" + b"c" * 1025 + b"|x", "1 to 1024 characters"),
        ok("src-unknown", "SRC-07", "?", 1, "c", b"x"),
        ok("src-question-inside", "SRC-08", "a?b", 1, "c", b"x"),
        ok("src-two-questions", "SRC-08", "??", 1, "c", b"x"),
    ]
    rows += [ok(f"src-has-{name}", "SRC-05", f"s{char}s", 1, "c", b"x") for name, char in ODD.items()]
    rows += [ok(f"src-is-{name}", "SRC-05", char, 1, "c", b"x") for name, char in ODD.items() if name != "question"]
    rows += [ok(f"chan-has-{name}", "CHN-05", "a", 1, f"c{char}c", b"x") for name, char in ODD.items()]
    for name, char in WHITE.items():
        judge = doubtful if char in "\v\f" else dropped
        rows.append(judge(f"src-has-{name}", "SRC-03", framed(f"s{char}s:1:c|x".encode()), "no whitespace"))
        rows.append(judge(f"chan-has-{name}", "CHN-03", framed(f"a:1:c{char}c|x".encode()), "no whitespace"))
    for name, char in {"lf": "\n", "blank": " "}.items():
        rows.append(bad(f"src-ends-with-{name}", "SRC-03", f"s{char}:1:c|x".encode(), "no whitespace"))
        rows.append(bad(f"src-begins-with-{name}", "SRC-03", f"{char}s:1:c|x".encode(), "no whitespace"))
        rows.append(bad(f"chan-ends-with-{name}", "CHN-03", f"a:1:c{char}|x".encode(), "no whitespace"))
        rows.append(bad(f"chan-begins-with-{name}", "CHN-03", f"a:1:{char}c|x".encode(), "no whitespace"))
    for name, char in CONTROL.items():
        text = f"s{char}s:1:c|x".encode("latin-1")
        rows.append(
            either(
                f"src-has-{name}",
                "SRC-05" if ord(char) < 128 else "SRC-02",
                framed(text),
                fields(f"s{char}s", 1, "c", b"x"),
                "a cut identity would be another one's",
            )
        )
        text = f"a:1:c{char}c|x".encode("latin-1")
        rows.append(
            either(
                f"chan-has-{name}",
                "CHN-05" if ord(char) < 128 else "CHN-02",
                framed(text),
                fields("a", 1, f"c{char}c", b"x"),
                "a cut channel would be another one",
            )
        )
    return rows + numbers()


ODD = {"hyphen": "-", "underscore": "_", "dot": ".", "at": "@", "hash": "#", "equals": "=", "opening": "[", "closing": "]", "bang": "!", "star": "*", "question": "?", "slash": "/", "capital": "A", "comma": ",", "quote": '"', "backslash": "\\", "percent": "%", "tilde": "~", "digit": "7"}  # fmt: skip
WHITE = {"blank": " ", "tab": "\t", "lf": "\n", "cr": "\r", "vt": "\v", "ff": "\f"}
CONTROL = {
    "nul": "\0",
    "soh": "\x01",
    "esc": "\x1b",
    "del": "\x7f",
    "byte-80": "\x80",
    "latin-e": "\xe9",
    "byte-ff": "\xff",
}


def numbers() -> list[Row]:
    good = {
        "zero": 0,
        "one": 1,
        "top": TOP,
        "over-53-bits": 2**53 + 1,
        "sign-bit": 2**63,
        "over-32-bits": 2**32,
        "sign-bit-less-one": 2**63 - 1,
    }
    rows = [
        taken(f"seq-{name}", "SEQ-02 SEQ-07", framed(f"a:{n}:c|x".encode()), fields("a", n, "c", b"x"))
        for name, n in good.items()
    ]
    bad = {
        "hex": ("SEQ-01", b"0x10"), "hex-digits": ("SEQ-01", b"1f"), "underscore": ("SEQ-01", b"1_0"), "fraction": ("SEQ-01", b"7.0"),
        "exponent": ("SEQ-01", b"7e1"), "full-width": ("SEQ-01", "\uff17".encode()), "arabic-indic": ("SEQ-01", "\u0667".encode()),
        "superscript": ("SEQ-01", b"\xb2"), "word": ("SEQ-01", b"one"), "octal": ("SEQ-01", b"0o7"), "comma": ("SEQ-01", b"1,000"),
        "two-to-the-64": ("SEQ-02", b"18446744073709551616"), "ten-to-the-20-less-one": ("SEQ-02", b"99999999999999999999"),
        "hundred-digits": ("SEQ-02", b"9" * 100), "wraps-to-one": ("SEQ-02", b"18446744073709551617"),
        "minus-one": ("SEQ-03", b"-1"), "minus-seven": ("SEQ-03", b"-7"), "plus-seven": ("SEQ-03", b"+7"), "minus-zero": ("SEQ-03", b"-0"),
        "leading-blank": ("SEQ-03", b" 7"), "trailing-blank": ("SEQ-03", b"7 "), "leading-tab": ("SEQ-03", b"\t7"), "trailing-lf": ("SEQ-03", b"7\n"),
        "trailing-nul": ("SEQ-03", b"7\0"), "nul": ("SEQ-03", b"\0"), "empty": ("SEQ-06", b""),
    }  # fmt: skip
    for name, (clause, text) in bad.items():
        judge = doubtful if text in (b"+7", b" 7", b"\t7") else dropped
        rows.append(judge(f"seq-{name}", clause, framed(b"a:" + text + b":c|x"), "not an unsigned 64-bit decimal"))
    rows.append(
        either(
            "seq-leading-zeros",
            "SEQ-01",
            framed(b"a:007:c|x"),
            fields("a", 7, "c", b"x"),
            "a second spelling of the number",
        )
    )
    return rows


# -- encoding ----------------------------------------------------------------------------------------------------------


def encodings() -> list[Row]:
    def ok(name: str, clauses: str, src: str, seq: int, chan: str, payload: bytes, key: bytes = b"") -> Row:
        body = f"{src}:{seq}:{chan}|".encode() + payload
        return vector(
            name,
            clauses,
            "valid",
            "",
            fields(src, seq, chan, payload) | keyed(key),
            shown("wire", signed(body, key) if key else framed(body)),
        )

    def bad(name: str, clauses: str, src: str, seq: int, chan: str) -> Row:
        if {"\v", "\f"} & set(src + chan):
            comment = f"no whitespace; {LOW}"
            return vector(name, clauses, "acceptable", comment, fields(src, seq, chan, b"x"), {"refused": True})
        return vector(name, clauses, "invalid", "no datagram says this", fields(src, seq, chan, b"x"), {})

    rows = [
        ok("base", "BODY-01 ENV-17 ENV-05 INT-16 ENV-14 ENV-01", "test", 1, "test/chan", b"hello"),
        ok(
            "signed",
            "INT-08 INT-04 INT-07 INT-01 ENV-05 ENV-15 ENV-14 INT-20",
            "test",
            1,
            "test/chan",
            b"hello",
            SECRET,
        ),
        ok("signed-odd-bytes", "INT-03 INT-20", "s", 1, "c", b" a\r\n\0\xff  \r\n", SECRET),
        ok("empty-payload", "BODY-06 ENV-18", "a", 1, "c", b""),
        ok("multibyte-payload", "ENV-10 ENV-18", "a", 1, "c", "\u20ac\U0001f600\u00e9".encode()),
        ok("every-byte", "BODY-05 BODY-07", "a", 1, "c", bytes(range(256))),
        ok("separators-in-payload", "BODY-02 BODY-09", "a", 1, "c", b"|:|:"),
        ok("all-form", "BODY-01", "a", 1, "!", b"x"),
        ok("directed-form", "BODY-01", "a", 1, "!h/n/12/*", b"x"),
        ok("unknown-src", "BODY-01", "?", 1, "c", b"x"),
        ok("opaque-src", "SRC-05", "a-b_c.d@e#f=g[h]!i", 1, "c", b"x"),
        ok("src-of-128", "SRC-01", "s" * 128, 1, "c", b"x"),
        ok("chan-of-1024", "CHN-01", "a", 1, "c" * 1024, b"x"),
        bad("src-of-129", "SRC-01", "s" * 129, 1, "c"),
        bad("chan-of-1025", "CHN-01", "a", 1, "c" * 1025),
        bad("chan-empty", "CHN-01", "a", 1, ""),
        bad("src-colon", "SRC-04", "a:b", 1, "c"),
        bad("src-bar", "SRC-04", "a|b", 1, "c"),
        bad("chan-colon", "CHN-04", "a", 1, "c:d"),
        bad("chan-bar", "CHN-04", "a", 1, "c|d"),
        bad("seq-two-to-the-64", "SEQ-02", "a", 2**64, "c"),
        bad("seq-minus-one", "SEQ-02", "a", -1, "c"),
    ]
    rows += [bad(f"src-{name}", "SRC-03", f"a{char}b", 1, "c") for name, char in WHITE.items()]
    rows += [bad(f"chan-{name}", "CHN-03", "a", 1, f"c{char}d") for name, char in WHITE.items()]
    rows += [ok(f"seq-{n}", "SEQ-07 SEQ-01", "a", n, "c", b"x") for n in (0, 10, 2**32, 2**53 + 1, 2**63, TOP)]
    edges = [
        body - 6 for edge in (10, 100, 1000) for body in (edge - 1, edge, edge + 1)
    ]  # the header `a:1:c|` is 6 bytes
    rows += [ok(f"body-of-{size + 6}", "ENV-18 ENV-10", "a", 1, "c", b"x" * size) for size in (1, *edges)]
    return rows


# -- addressing --------------------------------------------------------------------------------------------------------

NAMES = [
    "h", "h/n", "h/n/12", "h/n/12/3", "h/n/123", "h/n/12/3/4", "h/nX/1", "hX/n/1", "H/n/12", "h/p/w-3", "h/p/w-3/9", "12345", "12345/1",
    "h/n/-1/5", "h/n/1.0/5", "h/n/+1/5", "h/n/0x1/5", "h/n/12a/5", "h/n/12/*", "a/*", "a/*/b", "a/b", "a/b/c", "a/x/b", "a//b", "a//x", "/a/b", "/",
    "host1/p/1", "host*", "host*/p", "!", "!x", "!/x", "x", "*", "*/x", "?", "??", "a?b", "a?b/1", "?abc", "h/n/\u0661", "007", "7",
]  # fmt: skip
TARGETS = [
    "h", "h/*", "h/n", "h/n/*", "h/n/12", "h/n/12/*", "h/n/12/3", "h/n/12/3/*", "h/n/123", "h/p/w-3", "h/p/w-3/*", "12345", "12345/*",
    "h/n/-1", "h/n/1.0", "h/n/+1", "h/n/0x1", "h/n/12a", "h/n/12/*/*", "a", "a/", "a//b", "a//", "/a/b", "/", "/*", "//*", "a/*/*", "a/*/b", "a/*",
    "host", "host*", "host*/*", "*", "*/*", "**", "!", "!x", "!/*", "x", "H", "?", "?/*", "?/x", "??", "a?b", "other/p/1", "007", "7", "07",
]  # fmt: skip


def means(name: str, target: str) -> bool | None:
    """Does the target mean the name? None where the text leaves it open (A10, A11b). By lists of tokens."""
    if name == "?" or target in ("?", "?/*") or target.startswith("?/"):
        return False
    if target.startswith("?"):
        return None if name == target or name.startswith(target + "/") else False
    tokens, own = target.split("/"), name.split("/")
    if len(tokens) > 1 and tokens[-1] == "*":
        return own[: len(tokens) - 1] == tokens[:-1]
    if tokens[-1] == "" and len(own) > len(tokens) and own[: len(tokens)] == tokens:
        return None
    if tokens[-1] and set(tokens[-1]) <= set("0123456789"):
        return own == tokens
    return own[: len(tokens)] == tokens


SHEET = [  # sheet 1.8: clause, name, target without its "!", match
    ("DIR-01", "!", "!", True), ("DIR-01", "x", "!x", False), ("DIR-02", "h/n/12/3", "h/n/12/*", True), ("DIR-03", "a/b/c", "a/*/*", False),
    ("DIR-04", "h/n/12/3", "h/n/12", False), ("DIR-04", "h/p/w-3/9", "h/p/w-3", True), ("DIR-05", "12345/1", "12345", False),
    ("DIR-05", "12345", "12345", True), ("DIR-06", "h/n/-1/5", "h/n/-1", True), ("DIR-06", "h/n/+1/5", "h/n/+1", True),
    ("DIR-06", "h/n/1.0/5", "h/n/1.0", True), ("DIR-06", "h/n/0x1/5", "h/n/0x1", True), ("DIR-06", "h/n/12a/5", "h/n/12a", True),
    ("DIR-07", "h/n/12", "h/n", True), ("DIR-07", "h/n/12", "h", True), ("DIR-08", "h/n/12", "h/n/12", True), ("DIR-08", "h/n/123", "h/n/12", False),
    ("DIR-08", "h/n/12/3", "h/n/12", False), ("DIR-08", "h/n", "h/n/12", False), ("DIR-09", "h/n/12", "h/n/12/*", True), ("DIR-09", "h", "h", True),
    ("DIR-10", "hostX/n/1", "host", False), ("DIR-10", "h/n/123", "h/n/12/*", False), ("DIR-10", "h/nameX/1", "h/name", False),
    ("DIR-11", "host1/p/1", "host*", False), ("DIR-11", "a/x/b", "a/*/b", False), ("DIR-11", "host*", "host*", True), ("DIR-12", "a/b", "a/", False), ("DIR-12", "a/b", "a//b", False),
    ("DIR-12", "a/b", "/a/b", False), ("DIR-13", "me/p/1", "other/p/1", False), ("DIR-14", "?", "?", False), ("DIR-14", "?", "?/*", False),
    ("DIR-14", "?", "x", False), ("DIR-15", "??", "?", False), ("DIR-15", "?/x", "?/x", False), ("DIR-15", "?/x", "?/*", False), ("DIR-15", "x", "?", False), ("DIR-18", "h/n/1", "*", False), ("DIR-18", "h/n/1", "/*", False),
    ("DIR-19", "Host/n/1", "host", False), ("DIR-19", "h/n/1", "H/n/1", False),
]  # fmt: skip


def addressing() -> list[Row]:
    rows = []
    for number, (clause, name, target, match) in enumerate(SHEET, 1):
        assert means(name, target) is match, (name, target)
        comment = f"{name} {'takes' if match else 'leaves'} !{target}"
        rows.append(
            vector(
                f"sheet-{number}",
                clause,
                "valid",
                comment,
                {"target": target, "names": [name]},
                {"matches": [name] if match else [], "open": []},
            )
        )
    for number, target in enumerate(TARGETS, 1):
        names = [n for n in NAMES if n.isascii()]
        verdicts = {name: means(name, target) for name in names}
        wanted = {
            "matches": [n for n, v in verdicts.items() if v],
            "open": [n for n, v in verdicts.items() if v is None],
        }
        rows.append(
            vector(
                f"pool-{number}",
                clause_of(target),
                "valid",
                f"!{target} over the pool of names",
                {"target": target, "names": names},
                wanted,
            )
        )
    return rows


def clause_of(target: str) -> str:
    if target.startswith("?"):
        return "DIR-15 DIR-14"
    if target.endswith("/*"):
        return "DIR-09 DIR-02 DIR-03 DIR-10"
    return "DIR-08 DIR-04 DIR-05 DIR-10" if target.rpartition("/")[2].isdigit() else "DIR-07 DIR-09 DIR-10 DIR-12"


# -- tracker -----------------------------------------------------------------------------------------------------------


def trackers() -> list[Row]:
    def trace(name: str, clauses: str, seqs: list[int], marks: str, sanity: int = 0) -> Row:
        assert len(seqs) == len(marks), name
        given: Row = {"seqs": [str(seq) for seq in seqs]} | ({"sanity": sanity} if sanity else {})
        return vector(
            name, clauses, "valid", "D is delivered, - is dropped", given, {"marks": marks}, "sanity" if sanity else ""
        )

    return [
        trace("sheet-reordered", "DUP-02 DUP-01 DUP-05 DUP-15", [5, 7, 6, 8], "DD-D", 1000),
        trace("sheet-boundary", "DUP-03 DUP-04", [2000, 1001, 1000, 1001, 1000], "D-DD-", 1000),
        trace("sheet-shallow-restart", "DUP-02 DUP-15", [100, 1, 101], "D-D", 1000),
        trace("sheet-epoch-restart", "DUP-10 DUP-04", [1700000000, 1, 2, 1700000000], "DDDD", 1000),
        trace("boundary-sanity-7", "DUP-03 DUP-04", [100, 94, 93, 94], "D-DD", 7),
        trace("boundary-sanity-1", "DUP-03 DUP-04", [10, 10, 9, 9, 8], "D-D-D", 1),
        trace("twice", "DUP-02 DUP-01", [1, 1], "D-"),
        trace("three-times", "DUP-02 DUP-13 DUP-05", [1, 1, 1, 2], "D--D"),
        trace("stale-though-never-seen", "DUP-02", [5, 4], "D-"),
        trace("dropped-changes-nothing", "DUP-15 DUP-02", [10, 5, 6, 10, 11], "D---D"),
        trace("any-gap-upwards", "DUP-05", [1, 999999, TOP], "DDD"),
        trace("downwards-sets-too", "DUP-04 DUP-10", [TOP, 1, 1], "DD-"),
        trace("restart-goes-on", "DUP-10 DUP-04", [TOP, 1, 2, 1], "DDD-"),
        trace("old-high-number-after-restart", "DUP-04 DUP-10", [TOP, 1, TOP], "DDD"),
        trace("first-is-zero", "DUP-09 DUP-02 DUP-05", [0, 0, 1], "D-D"),
        trace("first-is-top", "DUP-09 DUP-02", [TOP, TOP], "D-"),
        trace("first-is-anything", "DUP-09", [12345678901234567890], "D"),
        trace("wrap", "DUP-16", [TOP, 0, 1], "DDD"),
        trace("near-top", "DUP-02 DUP-16 DUP-05", [TOP - 1, TOP, TOP - 1, 0], "DD-D"),
        trace("over-53-bits", "DUP-02 DUP-05", [2**53, 2**53 + 1, 2**53 + 1, 2**53], "DD--"),
        trace("sign-bit", "DUP-05 DUP-02", [2**63 - 1, 2**63, 2**63 + 1, 2**63], "DDD-"),
        trace("restart-over-sign-bit", "DUP-10", [2**63 + 5, 3, 4], "DDD"),
    ]


# -- the specification's own examples ----------------------------------------------------------------------------------

EXAMPLES = [  # line, what it is, declared len, body (the printed line break between header and payload taken out)
    (502, "no HMAC", 98, "relay01/cardsys-relay/12345:84213:cardsys/relay/tx/authorized|txnid=12345|amount=1234|rc=00|ts=..."),
    (516, "unknown sender", 33, "?:1:bootstrap/started|pid=unknown"),
    (521, "forked worker", 103, "relay01/cardsys-relay/12345/4711:17:cardsys/relay/tx/authorized|txnid=12345|amount=1234|rc=00|ts=..."),
    (530, "directed, exact", 68, "mon01/monitor/8821:9:!relay01/cardsys-relay/12345|cmd=reload-config"),
    (535, "directed reply", 58, "relay01/cardsys-relay/12345:10:!mon01/monitor/8821|status=ok|cfg=42"),
    (542, "directed with /*", 64, "mon01/monitor/8821:11:!relay01/cardsys-relay/12345/*|cmd=shutdown"),
    (551, "directed by name", 58, "mon01/monitor/8821:12:!relay01/cardsys-relay|cmd=drain-mode"),
    (558, "directed by host", 44, "mon01/monitor/8821:13:!relay01|cmd=drain-mode"),
    (563, "all-broadcast", 44, "ops01/admin-tool/4711:42:!|emergency-shutdown"),
    (568, "minimal", 24, "sensor7:1:temperature|72.4F"),
    (734, "socat publisher", 21, "test:1:test/chan|hello"),
]  # fmt: skip
DIFFS = {
    502: 0,
    516: 0,
    521: -3,
    530: -1,
    535: 9,
    542: 1,
    551: 1,
    558: 1,
    563: 1,
    568: 3,
    734: 1,
}  # sheet 2a: actual - declared


def examples() -> list[Row]:
    rows = []
    for line, what, declared, text in EXAMPLES:
        body = text.encode()
        assert len(body) - declared == DIFFS[line], line
        lengths: Row = {"line": line, "declared": declared, "actual": len(body)}
        printed = f"BCCN1[{declared}]".encode() + body
        if declared == len(body):
            rows.append(
                vector(
                    f"l{line}",
                    "BODY-01 ENV-16 INT-18",
                    "valid",
                    f"{what}, as printed",
                    shown("wire", printed) | lengths,
                    parsed(body),
                )
            )
        else:
            why = f"{what}, as printed: the specification's own example declares {declared} bytes and has {len(body)}"
            rows.append(vector(f"l{line}-as-printed", "ENV-08", "invalid", why, shown("wire", printed) | lengths, {}))
            corrected = lengths | {"declared": len(body)}
            rows.append(
                vector(
                    f"l{line}-corrected",
                    "BODY-01 ENV-08 INT-18",
                    "valid",
                    f"{what}, with the right len",
                    shown("wire", framed(body)) | corrected,
                    parsed(body),
                )
            )
    body = EXAMPLES[0][3].encode()
    placeholder = framed(body, ":hmac=a1b2c3d4e5f60718")
    why = "with HMAC, as printed: the len is right, the tag a placeholder for which no key is given"
    rows.append(
        vector(
            "l507-without-key",
            "INT-18",
            "acceptable",
            f"{why}; {FREE}, never as authenticated",
            shown("wire", placeholder) | {"line": 507, "declared": 98, "actual": 98},
            parsed(body),
        )
    )
    rows.append(
        vector(
            "l507-with-key",
            "INT-09",
            "invalid",
            why,
            shown("wire", placeholder) | keyed(SECRET) | {"line": 507, "declared": 98, "actual": 98},
            {},
        )
    )
    return rows


# -- files -------------------------------------------------------------------------------------------------------------

DECODE = "Operation decode: wire and key go in; valid comes back as expected, invalid is refused."
EITHER = "acceptable: the text leaves open whether it is refused; if it is taken, it must be with exactly the expected values. With expected `refused` it should be refused, and taking it is a warning."
FILES = {
    "envelopes": (envelopes, "sheet 1.2, readings A1 to A5 and A9", "each row spells its datagram; the base probe is the sheet's", [DECODE, EITHER]),
    "forgeries": (forgeries, "sheet 1.3, readings A6 and A8", "tags by RFC 2104 over SHA-256 in derivations/bccn.py, checked against the sheet's known answers", [DECODE, EITHER]),
    "bodies": (bodies, "sheet 1.4 to 1.7, readings A3 and A13 to A17", "each row spells its body; the frame adds magic and byte count", [DECODE, EITHER]),
    "encodings": (encodings, "sheet 1.2 to 1.7, encoder's side", "the datagram is put together from the row's fields; tags by RFC 2104", ["Operation encode: src, seq, chan, payload and key go in; valid gives exactly the wire, invalid is refused."]),
    "hmac": (hmacs, "sheet 1.3a: Python hmac, Perl Digest::SHA and openssl agreed", "copied from the sheet, computed again by RFC 2104 in derivations/bccn.py", ["Operations encode and decode: the fields give exactly this wire under this key, and the wire these fields."]),
    "addressing": (addressing, "sheet 1.8, readings A10 and A11", "sheet rows by hand; the pool by comparing lists of tokens in derivations/bccn.py", ["Which of the names does `!target` mean? Operation match, or set_name and a directed datagram.", "open: names for which the text allows both answers."]),
    "tracker": (trackers, "sheet 1.9, its reference traces", "marks by hand from the rule: drop iff seq <= last and last - seq < SANITY", ["One sender sends these numbers in this order; marks say what is delivered.", "Without sanity, steps back are at most 5 or more than 2^63, so that every SANITY from 6 to 2^63 gives the same marks."]),
    "examples": (examples, "the specification's examples, by line; sheet 2a", "printed len against the counted bytes of the printed body", [DECODE, EITHER, "declared is the len in the datagram, actual the bytes of its body; nine of the twelve as printed are wrong."]),
}  # fmt: skip


def main() -> None:
    for group, (rows, source, derivation, notes) in FILES.items():
        file = {
            "protocol": "bccn",
            "group": group,
            "provenance": {"source": source, "derivation": derivation},
            "notes": notes,
            "vectors": rows(),
        }
        (VECTORS / f"{group}.json").write_text(json.dumps(file, indent=1) + "\n")


if __name__ == "__main__":
    main()
