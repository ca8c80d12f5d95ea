"""Writes the peerbus vector files. Stand-alone on purpose: standard library only, nothing of ours is imported.

Nothing here computes a canonical form. Each row spells both sides by hand, from section 4 of the specification and its sheet:
the texts of an envelope's members as they stand on the wire, and as they stand in the signed bytes. The script only joins
members with commas and takes the HMAC-SHA256 of the joined text. Rows marked `sheet` stand in the sheet; what its golden
vectors say beyond that is the original's behaviour, and a contested row says so.
"""
# ruff: noqa: E501  a row of a table stays on its line

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "peerbus"
SECRET = b"0123456789abcdef0123456789abcdef"
BASE = {
    "protocol_version": '"v1"',
    "id": '"m1"',
    "from": '"alice"',
    "to": '"bob"',
    "ts": '"2026-05-18T12:00:00Z"',
    "source": '"peer-bus"',
    "kind": '"msg"',
    "body": '{"text":"hello"}',
}
EMPTY = {key: '""' for key in BASE} | {"body": "null"}
CODE, DOCUMENT = ["profile:code"], ["profile:document"]
GO = "the original's reader does this; the document does not say it"
COMPACT = "the original compacts before it signs, the document only permits it"
FIVE = "the original escapes this character in signed text, the document leaves it raw"


def obj(members: dict[str, str]) -> str:
    return "{" + ",".join(f'"{key}":{text}' for key, text in members.items()) + "}"


def raw(text: str) -> bytes:
    """Surrogate escapes in a row stand for single bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def shown(name: str, data: bytes) -> dict[str, Any]:
    """Bytes as hex and, where they are text, as text."""
    try:
        return {f"{name}_hex": data.hex(), f"{name}_text": data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_hex": data.hex()}


def mac(text: str, secret: bytes = SECRET) -> str:
    return hmac.new(secret, raw(text), hashlib.sha256).hexdigest()


def vector(
    name: str, clauses: str, result: str, comment: str, needs: list[str], given: dict[str, Any], wanted: dict[str, Any]
) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "clauses": [f"PB-{c}" for c in clauses.split()], "result": result}
    row |= {key: value for key, value in (("comment", comment), ("needs", needs)) if value}
    return row | {"input": given} | ({"expected": wanted} if wanted else {})


# -- canonical: wire -> signed bytes -> MAC ----------------------------------------------------------------------------


def takes(
    name: str,
    clauses: str,
    wire: str,
    signed: str,
    why: str = "",
    needs: list[str] | None = None,
    contested: bool = False,
) -> dict[str, Any]:
    """`wire` is read, its signed bytes are `signed`."""
    expected = shown("canonical", raw(signed)) | {"hmac": mac(signed)}
    result = "acceptable" if contested else "valid"
    return vector(name, clauses, result, why, needs or [], shown("wire", raw(wire)), expected)


def refuses(name: str, wire: str, why: str, clauses: str = "1-03", contested: bool = False) -> dict[str, Any]:
    if contested:
        return vector(name, clauses, "acceptable", why, CODE, shown("wire", raw(wire)), {"refused": True})
    return vector(name, clauses, "invalid", why, [], shown("wire", raw(wire)), {})


def body(name: str, clauses: str, text: str, why: str = "", signed: str | None = None, **more: Any) -> dict[str, Any]:
    """The base envelope with this body text; `signed` where the signed text differs."""
    canonical = obj(BASE | {"body": text if signed is None else signed})
    return takes(name, clauses, obj(BASE | {"body": text, "hmac": '""'}), canonical, why, **more)


def sender(name: str, clauses: str, text: str, signed: str, why: str = "", **more: Any) -> dict[str, Any]:
    """The base envelope with this `from`."""
    wire = obj(BASE | {"from": text, "hmac": '""'})
    return takes(name, clauses, wire, obj(BASE | {"from": signed}), why, **more)


PLAIN = obj(BASE)
WIRE = obj(BASE | {"hmac": '""'})
NO_BODY = {key: text for key, text in BASE.items() if key != "body"}
REVERSED = obj(dict(reversed((BASE | {"hmac": '""'}).items())))
SPACED = "{ " + " ,\r\n\t".join(f'"{key}" : {text}' for key, text in (BASE | {"hmac": '""'}).items()) + "\n}"
NO_TS = {key: text for key, text in BASE.items() if key not in ("ts", "source")}

CANONICAL = [
    takes("plain", "4-01 4-02 4-03 4-04 4-05 4-13 4-14", WIRE, PLAIN, "sheet: the base envelope"),
    takes("reordered", "4-02", REVERSED, PLAIN, "sheet: wire order is not signed order"),
    takes("extra-members", "4-01 4-03", WIRE[:-1] + ',"extra":{"a":1},"type":"zzz"}', PLAIN, "sheet: others are not signed"),
    takes("trailing-whitespace", "4-04", WIRE + " \r\n\t", PLAIN, "sheet: whitespace around the object"),
    takes("leading-whitespace", "4-04", "\t\n\r " + WIRE, PLAIN),
    takes("spaced-header", "4-04", SPACED, PLAIN, "whitespace between members is not signed"),
    takes("spaced-throughout", "4-04 4-10", SPACED.replace('{"text":', '{ "text" : '), PLAIN, COMPACT, CODE, True),
    takes("given-hmac-is-not-signed", "4-01", obj(BASE | {"hmac": '"' + "ab" * 32 + '"'}), PLAIN),
    takes("no-hmac", "4-01", PLAIN, PLAIN, "the signed bytes of an envelope that is not signed yet", CODE, contested=True),
    takes("escaped-member-name", "4-03", WIRE.replace('"id"', '"\\u0069d"'), PLAIN, "the same name, spelled otherwise"),
    takes(
        "broadcast",
        "4-01",
        obj(BASE | {"to": '"*"', "kind": '"broadcast"', "hmac": '""'}),
        obj(BASE | {"to": '"*"', "kind": '"broadcast"'}),
    ),
    takes("empty-strings", "4-05", obj(BASE | {"ts": '""', "source": '""', "hmac": '""'}), obj(BASE | {"ts": '""', "source": '""'})),
    takes("all-empty", "4-05 4-12", obj(EMPTY | {"hmac": '""'}), obj(EMPTY)),
    takes("absent-members", "4-05", obj(NO_TS | {"hmac": '""'}), obj(BASE | {"ts": '""', "source": '""'}), GO, CODE, True),
    takes("empty-object", "4-05", "{}", obj(EMPTY), GO, CODE, True),
    takes("null-text", "4-05", "null", obj(EMPTY), GO, CODE, True),
    takes("version-v2", "4-01", WIRE.replace('"v1"', '"v2"'), PLAIN.replace('"v1"', '"v2"'),
          "sheet: the document rejects another version, the original signs and verifies it", CODE, True),
    takes("names-in-other-case", "4-03",
          '{"PROTOCOL_VERSION":"v1","Id":"m1","FROM":"alice","To":"bob","Ts":"t","SOURCE":"s","KIND":"msg","BODY":1,"HMAC":""}',
          obj(BASE | {"ts": '"t"', "source": '"s"', "body": "1"}), GO, CODE, True),
    takes("names-in-two-cases", "4-03", '{"id":"low","ID":"UP"}', obj(EMPTY | {"id": '"UP"'}), GO, CODE, True),
    takes("name-with-long-s", "4-03", '{"\u017fource":"src","id":"x"}', obj(EMPTY | {"id": '"x"', "source": '"src"'}),
          GO, CODE, True),
    takes("repeated-member", "4-03", WIRE.replace('"id":"m1"', '"id":"m0","id":"m1"'), PLAIN,
          "the last value counts; JSON itself leaves it open", CODE, True),
    # the body, verbatim
    takes("body-absent", "4-12", obj(NO_BODY | {"hmac": '""'}), obj(BASE | {"body": "null"}), "sheet: absent is null"),
    body("body-null", "4-12", "null", "sheet"),
    body("body-empty-string", "4-12", '""', "sheet: an empty string is not an empty body"),
    body("body-empty-object", "4-12", "{}"),
    body("body-empty-array", "4-12", "[]"),
    body("body-false", "4-12", "false", "falsy, not absent"),
    body("body-zero", "4-12", "0", "falsy, not absent"),
    body("body-true", "4-06", "true"),
    body("body-member-order", "4-06", '{"z":1,"a":2}', "never sorted"),
    body("body-nested-order", "4-06", '{"b":{"y":[{"d":1,"c":2}],"x":{}},"a":[]}'),
    body("body-integer-like-members", "4-06", '{"10":1,"9":2,"1":3}', "maps of some languages move these to the front"),
    body("body-numbers", "4-07", "[1.0,1e5,1E+5,-0,0.10,12345678901234567890,1e400]", "sheet"),
    body("body-small-numbers", "4-07", "[-0.0,1E-7,1e-400,0e0,0.1e+01]"),
    body("body-bare-number", "4-07", "1.50"),
    body("body-duplicates", "4-08", '{"a":1,"a":2}', "sheet"),
    body("body-nested-duplicates", "4-08", '[{"k":{"a":1,"a":1}}]'),
    body("body-escapes", "4-09", '{"t":"\\/\\u0041\\ud83d\\ude00\\ud800"}', "sheet: kept as written, the lone surrogate too"),
    body("body-escaped-name", "4-09", '{"\\u0061\\/":1}'),
    body("body-short-and-long-escapes", "4-09", '"\\n\\u000a\\t\\u0009\\"\\u0022\\\\"'),
    body("body-escapes-upper-case", "4-09", '{"t":"\\u003Ca\\u003E"}', "sheet: hex digits keep their case"),
    body("body-escapes-lower-case", "4-09", '{"t":"\\u003ca\\u003e\\u0026b"}', "sheet: already escaped"),
    body("body-raw-unicode", "4-09", '{"t":"\u00e9\U0001f600\ufffd\x7f/"}', "raw characters stay raw"),
    body("body-spaces-in-strings", "4-04", '{" a ":"  b , c : [ ] "}', "whitespace inside a string is the string's"),
    body("body-brackets-in-strings", "4-04", '{"t":"}\\",{[\\\\"}', "punctuation inside a string is the string's"),
    body("body-spaced", "4-04 4-10", '{ "z" : 1 ,\n\t"a" : [ 1 , 2 ] }',
         f"sheet: {COMPACT}", '{"z":1,"a":[1,2]}', needs=CODE, contested=True),
    body("body-spaced-string", "4-04 4-10", ' [ " a " , true ] ',
         COMPACT, '[" a ",true]', needs=CODE, contested=True),
    body("body-html", "4-27", '{"t":"<a>&b"}', f"sheet: {FIVE}", '{"t":"\\u003ca\\u003e\\u0026b"}', needs=CODE, contested=True),
    body("body-html.document", "4-27", '{"t":"<a>&b"}', FIVE, needs=DOCUMENT, contested=True),
    body("body-line-separators", "4-27", '{"t":"\u2028\u2029"}', f"sheet: {FIVE}", '{"t":"\\u2028\\u2029"}', needs=CODE, contested=True),
    body("body-line-separators.document", "4-27", '{"t":"\u2028\u2029"}', FIVE, needs=DOCUMENT, contested=True),
    body("body-html-name", "4-27", '{"<&>":1}', FIVE, '{"\\u003c\\u0026\\u003e":1}', needs=CODE, contested=True),
    body("body-not-utf8", "4-09", '"\udcff"', "JSON text is UTF-8; the original keeps other bytes of a body", needs=CODE, contested=True),
    # header strings, decoded and written anew
    sender("field-html", "4-27", '"<a&b>"', '"\\u003ca\\u0026b\\u003e"', f"sheet: {FIVE}", needs=CODE, contested=True),
    sender("field-html.document", "4-27", '"<a&b>"', '"<a&b>"', FIVE, needs=DOCUMENT, contested=True),
    sender("field-html-escaped", "4-27", '"\\u003C\\u003e"', '"\\u003c\\u003e"', FIVE, needs=CODE, contested=True),
    sender("field-html-escaped.document", "4-27", '"\\u003C\\u003e"', '"<>"', FIVE, needs=DOCUMENT, contested=True),
    sender("field-line-separators", "4-27", '"\u2028\u2029"', '"\\u2028\\u2029"', FIVE, needs=CODE, contested=True),
    sender("field-controls", "4-27", '"\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\\""', '"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\\""', "sheet"),
    sender("field-controls-spelled-long", "4-27", '"\\u0008\\u000C\\u000a\\u000D\\u0009\\u001F\\u0022\\u005C"', '"\\b\\f\\n\\r\\t\\u001f\\"\\\\"'),
    sender("field-every-other-control", "4-27",
           '"\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\u000b\\u000e\\u000f\\u0010\\u001A\\u001b"',
           '"\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\u000b\\u000e\\u000f\\u0010\\u001a\\u001b"'),
    sender("field-escapes", "4-27", '"\\/\\u0041\\ud83d\\ude00\\ud800x"', '"/A\U0001f600\ufffdx"',
           "sheet: a lone surrogate reads as U+FFFD; JSON leaves it open", needs=CODE, contested=True),
    sender("field-paired-escapes", "4-27", '"\\/\\u0041\\ud83d\\uDE00"', '"/A\U0001f600"', "a solidus and what is not ASCII are raw"),
    sender("field-unicode", "4-27", '"\u00e9\U0001f600\ufffd"', '"\u00e9\U0001f600\ufffd"', "sheet"),
    sender("field-raw-del", "4-27", '"a\x7f"', '"a\x7f"', "sheet"),
    sender("field-backslash-and-quote", "4-27", '"a\\\\b\\"c"', '"a\\\\b\\"c"'),
    sender("field-not-utf8", "4-27", '"a\udcff\udcc3b"', '"a\ufffd\ufffdb"',
           "JSON text is UTF-8; the original reads each other byte as U+FFFD", needs=CODE, contested=True),
    sender("field-null", "4-05", "null", '""', f"sheet: {GO}", needs=CODE, contested=True),
    # what is no envelope
    refuses("array", "[]", "sheet: no object"),
    refuses("string", '"v1"', "no object"),
    refuses("number", "1", "no object"),
    refuses("number-id", WIRE.replace('"m1"', "5"), "sheet: a member of the wrong type"),
    refuses("boolean-to", WIRE.replace('"bob"', "true"), "a member of the wrong type"),
    refuses("array-from", WIRE.replace('"alice"', '["alice"]'), "a member of the wrong type"),
    refuses("object-kind", WIRE.replace('"msg"', "{}"), "a member of the wrong type"),
    refuses("number-hmac", obj(BASE | {"hmac": "0"}), "a member of the wrong type"),
    refuses("number-version", WIRE.replace('"v1"', "1"), "a member of the wrong type"),
    refuses("trailing-object", WIRE + " {}", "sheet: more than one object", "1-03 1-06"),
    refuses("two-objects", WIRE + WIRE, "more than one object", "1-03 1-06"),
    refuses("trailing-text", WIRE + "x", "more than the object", "1-03 1-06"),
    refuses("control-in-string", WIRE.replace("alice", "a\x01"), "sheet: a control character stands raw in a string"),
    refuses("line-feed-in-string", WIRE.replace("hello", "hel\nlo"), "a control character stands raw in a string"),
    refuses("empty", "", "no JSON"),
    refuses("blank", " \n", "no JSON"),
    refuses("truncated", WIRE[:-1], "no JSON"),
    refuses("truncated-string", WIRE[: WIRE.index("hello") + 3], "no JSON"),
    refuses("trailing-comma", WIRE[:-1] + ",}", "no JSON"),
    refuses("missing-comma", WIRE.replace('"m1","', '"m1" "'), "no JSON"),
    refuses("single-quotes", WIRE.replace('"', "'"), "no JSON"),
    refuses("bare-name", WIRE.replace('"id"', "id"), "no JSON"),
    refuses("comment", "/* x */" + WIRE, "no JSON"),
    refuses("byte-order-mark", "\ufeff" + WIRE, "a reader may skip a byte order mark; the original does not", contested=True),
    *(
        refuses(f"body-{name}", obj(BASE | {"body": text, "hmac": '""'}), "the body is no JSON")
        for name, text in {
            "not-a-number": "[NaN]",
            "infinity": "-Infinity",
            "leading-zero": "01",
            "plus-sign": "+1",
            "bare-fraction": ".5",
            "bare-point": "1.",
            "bare-exponent": "1e",
            "bad-escape": '"\\x41"',
            "short-escape": '"\\u12"',
            "capital-true": "True",
            "cut-literal": "nul",
            "trailing-comma": "[1,]",
            "lone-comma": "[,]",
            "wrong-bracket": "[1}",
            "name-without-value": '{"a"}',
            "number-as-name": "{1:2}",
            "missing": "",
        }.items()
    ),
]  # fmt: skip

# -- verify: a signed envelope -> does it verify? ----------------------------------------------------------------------


def checks(
    name: str, clauses: str, right: bool, *, members: dict[str, str] | None = None, hmac_text: str | None = None,
    signed: str | None = None, secret: bytes = SECRET, why: str = "", needs: list[str] | None = None, contested: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """An envelope of these members (the base's) whose hmac is that of `signed`, or `hmac_text` itself."""
    wire = members or BASE
    claimed = f'"{mac(signed or obj(wire), secret)}"' if hmac_text is None else hmac_text
    text = obj(wire | {"hmac": claimed} if claimed else wire)
    result = "acceptable" if contested else "valid" if right else "invalid"
    given = shown("wire", raw(text)) | {"secret_hex": secret.hex()}
    why = why or ("" if right else "the signature does not verify")
    return vector(name, clauses, result, why, needs or [], given, {"valid": right})


def quoted(text: str) -> str:
    return f'"{text}"'


MAC = mac(PLAIN)
CHANGED = {
    "protocol_version": '"v2"',
    "id": '"m2"',
    "from": '"alicf"',
    "to": '"Bob"',
    "ts": '"2026-05-18T12:00:01Z"',
    "source": '"peer_bus"',
    "kind": '"broadcast"',
    "body": '{"text":"hellp"}',
}
EMPTY_TS = BASE | {"ts": '""'}
WITHOUT_TS = {key: text for key, text in BASE.items() if key != "ts"}
NULL_BODY = BASE | {"body": "null"}
Z_A = BASE | {"body": '{"z":1,"a":2}'}
NUMBERS = BASE | {"body": "[1.0,1e5]"}
TWICE = BASE | {"body": '{"a":1,"a":2}'}
ESCAPED = BASE | {"body": '"\\u0041\\/"'}
SPACED_BODY = BASE | {"body": "[ 1 , 2 ]"}
LONG = b"a secret that is longer than one block of SHA-256, so that HMAC hashes it before it uses it"
SHORT = SECRET[:31]

VERIFY = [
    checks("right", "4-13 4-18", True),
    checks("right-shuffled", "4-02 4-15", True, members=dict(reversed(BASE.items())), signed=PLAIN),
    checks("right-other-spelling", "4-15", True, members=BASE | {"to": '"\\u0062ob"'}, signed=PLAIN, why="a header field escaped otherwise"),
    checks("right-body-absent", "4-12", True, members=NO_BODY, signed=obj(NULL_BODY)),
    checks("right-body-null", "4-12", True, members=NULL_BODY),
    checks("right-empty-ts", "4-05", True, members=EMPTY_TS),
    checks("right-member-order", "4-06", True, members=Z_A),
    checks("right-numbers", "4-07", True, members=NUMBERS),
    checks("right-duplicates", "4-08", True, members=TWICE),
    checks("right-escapes", "4-09", True, members=ESCAPED),
    checks("right-long-secret", "4-13", True, secret=LONG),
    checks("right-unicode-secret", "4-13", True, secret="\u00e9\u20ac".encode() * 10, why="the secret is the raw bytes of the configured string"),
    checks("upper-case-hex", "4-17", True, hmac_text=quoted(MAC.upper())),
    checks("mixed-case-hex", "4-17", True, hmac_text=quoted(MAC[:32].upper() + MAC[32:])),
    *(
        checks(f"changed-{key.replace('_', '-')}", "4-26 4-18" if key == "protocol_version" else "4-18", False,
               members=BASE | {key: text}, signed=PLAIN, why="a signed field was changed after signing")
        for key, text in CHANGED.items()
    ),
    checks("swapped-from-and-to", "4-18", False, members=BASE | {"from": '"bob"', "to": '"alice"'}, signed=PLAIN),
    checks("moved-field-boundary", "4-18", False, members=BASE | {"id": '"m"', "from": '"1alice"'}, signed=PLAIN,
           why="the same characters, divided otherwise"),
    checks("wrong-first-digit", "4-18", False, hmac_text=quoted(("0" if MAC[0] != "0" else "1") + MAC[1:])),
    checks("wrong-last-digit", "4-18", False, hmac_text=quoted(MAC[:-1] + ("0" if MAC[-1] != "0" else "1"))),
    checks("another-secret", "4-13 4-18", False, hmac_text=quoted(mac(PLAIN, SECRET[::-1]))),
    checks("short-by-a-byte", "4-19", False, hmac_text=quoted(MAC[:-2]), why="a truncated MAC is no MAC"),
    checks("half", "4-19", False, hmac_text=quoted(MAC[:32]), why="a truncated MAC is no MAC"),
    checks("one-byte", "4-19", False, hmac_text=quoted(MAC[:2]), why="a truncated MAC is no MAC"),
    checks("long-by-a-byte", "4-19", False, hmac_text=quoted(MAC + "00"), why="more than a MAC is no MAC"),
    checks("twice", "4-19", False, hmac_text=quoted(MAC + MAC), why="more than a MAC is no MAC"),
    checks("empty-hmac", "4-21 4-19", False, hmac_text='""', why="there is no MAC"),
    checks("absent-hmac", "4-21 4-19", False, hmac_text="", why="there is no MAC"),
    checks("null-hmac", "4-21 4-19", False, hmac_text="null", why="there is no MAC"),
    checks("not-hex", "4-21", False, hmac_text=quoted("zz" * 32), why="no hex"),
    checks("one-digit-not-hex", "4-21", False, hmac_text=quoted(MAC[:-1] + "g"), why="no hex"),
    checks("odd-length", "4-21", False, hmac_text=quoted(MAC[:-1]), why="no hex: half a byte"),
    checks("prefixed", "4-21", False, hmac_text=quoted("0x" + MAC), why="no hex"),
    checks("leading-space", "4-21", False, hmac_text=quoted(" " + MAC), why="no hex"),
    checks("trailing-line-feed", "4-21", False, hmac_text=quoted(MAC + "\\n"), why="no hex"),
    checks("colons", "4-21", False, hmac_text=quoted(":".join(MAC[i : i + 2] for i in range(0, 64, 2))), why="no hex"),
    checks("unicode-digits", "4-21", False, hmac_text=quoted("\uff11" * 64), why="no hex: full-width digits"),
    checks("short-secret", "4-20", False, secret=SHORT, why="a secret of less than 32 bytes verifies nothing"),
    checks("empty-secret", "4-20", False, secret=b"", why="a missing secret verifies nothing"),
    # signed over something else than the canonical form
    checks("signed-in-wire-order", "4-02", False, members=dict(reversed(BASE.items()))),
    checks("signed-sorted", "4-02", False, signed=obj(dict(sorted(BASE.items())))),
    checks("signed-with-hmac-member", "4-01", False, signed=obj(BASE | {"hmac": '""'})),
    checks("signed-under-other-names", "4-03", False, signed=PLAIN.replace('"from"', '"sender"')),
    checks("signed-with-spaces", "4-04", False, signed=PLAIN.replace('":', '": ').replace(',"', ', "')),
    checks("signed-with-line-feed", "4-04", False, signed=PLAIN + "\n"),
    checks("signed-without-empty-field", "4-05", False, members=EMPTY_TS, signed=obj(WITHOUT_TS)),
    checks("signed-with-null-for-empty", "4-05", False, members=EMPTY_TS, signed=obj(BASE | {"ts": "null"})),
    checks("signed-with-body-sorted", "4-06", False, members=Z_A, signed=obj(BASE | {"body": '{"a":2,"z":1}'})),
    checks("signed-with-numbers-respelled", "4-07", False, members=NUMBERS, signed=obj(BASE | {"body": "[1,100000]"})),
    checks("signed-with-duplicates-merged", "4-08", False, members=TWICE, signed=obj(BASE | {"body": '{"a":2}'})),
    checks("signed-with-escapes-decoded", "4-09", False, members=ESCAPED, signed=obj(BASE | {"body": '"A/"'})),
    checks("signed-without-body", "4-12", False, members=NO_BODY, signed=obj(NO_BODY)),
    checks("signed-with-empty-body", "4-12", False, members=NO_BODY, signed=obj(BASE | {"body": '""'})),
    checks("plain-digest", "4-13", False, hmac_text=quoted(hashlib.sha256(SECRET + raw(PLAIN)).hexdigest()), why="a hash, no HMAC"),
    checks("sha512-cut", "4-13", False, hmac_text=quoted(hmac.new(SECRET, raw(PLAIN), hashlib.sha512).hexdigest()[:64]), why="not SHA-256"),
    checks("secret-as-hex", "4-13", False, hmac_text=quoted(mac(PLAIN, bytes.fromhex(SECRET.decode()))), why="the secret is text, not hex"),
    # where the authorities differ
    checks("spaced-body-signed-compact", "4-04 4-10", True, members=SPACED_BODY, signed=obj(BASE | {"body": "[1,2]"}),
           why="the original compacts before it verifies, the document only permits it", needs=CODE, contested=True),
    checks("spaced-body-signed-spaced", "4-04 4-10", False, members=SPACED_BODY,
           why="the original compacts before it verifies, the document only permits it", needs=CODE, contested=True),
    checks("html-signed-escaped", "4-27", True, members=BASE | {"from": '"<"'}, signed=obj(BASE | {"from": '"\\u003c"'}),
           why=FIVE, needs=CODE, contested=True),
    checks("html-signed-raw", "4-27", False, members=BASE | {"from": '"<"'}, why=FIVE, needs=CODE, contested=True),
    checks("html-signed-escaped.document", "4-27", False, members=BASE | {"from": '"<"'}, signed=obj(BASE | {"from": '"\\u003c"'}),
           why=FIVE, needs=DOCUMENT, contested=True),
    checks("html-signed-raw.document", "4-27", True, members=BASE | {"from": '"<"'}, why=FIVE, needs=DOCUMENT, contested=True),
]  # fmt: skip

# -- framing: a byte stream -> its objects -----------------------------------------------------------------------------

ACK = '{"protocol_version":"v1","type":"ack","id":"k|bob"}'
REGISTER = '{"protocol_version":"v1","type":"register","token":"t","name":"bob"}'
PEERS = '{"protocol_version":"v1","type":"peers","names":["alice","bob"]}'
DELIVER = '{"protocol_version":"v1","type":"deliver","delivery_key":"m1","envelope":' + WIRE + "}"
ESCAPED_LF = obj(BASE | {"body": '{"t":"a\\nb\\u000a"}', "hmac": '""'})
FIELD_LF = obj(BASE | {"source": '"a\\nb"', "hmac": '""'})


def stream(
    name: str, clauses: str, chunks: list[str], objects: list[str | None], why: str = "", contested: bool = False
) -> dict[str, Any]:
    """The objects of the stream's complete lines, in order; None is a line that is an error."""
    result = "acceptable" if contested else "invalid" if None in objects else "valid"
    given = {"chunks_hex": [raw(chunk).hex() for chunk in chunks], "chunks_text": "".join(chunks)}
    return vector(name, clauses, result, why, [], given, {"objects": objects})


def bad(name: str, line: str, why: str, clauses: str = "1-06") -> dict[str, Any]:
    """A bad line between two good ones."""
    return stream(name, clauses, [ACK + "\n" + line + "\n" + WIRE + "\n"], [ACK, None, WIRE], why)


FRAMING = [
    stream("one-line", "1-05 1-06 1-09", [WIRE + "\n"], [WIRE]),
    stream("two-lines", "1-06", [ACK + "\n" + WIRE + "\n"], [ACK, WIRE]),
    stream("every-frame", "1-06 1-09", [f"{line}\n" for line in (REGISTER, PEERS, ACK, WIRE, DELIVER)], [REGISTER, PEERS, ACK, WIRE, DELIVER]),
    stream("cut-in-a-name", "1-06", [WIRE[:8], WIRE[8:] + "\n"], [WIRE]),
    stream("cut-before-line-feed", "1-06", [WIRE, "\n" + ACK, "\n"], [WIRE, ACK]),
    stream("cut-in-three", "1-06", [ACK + "\n" + WIRE[:40], WIRE[40:90], WIRE[90:] + "\n"], [ACK, WIRE]),
    stream("empty-chunks", "1-06", ["", ACK, "", "\n", ""], [ACK]),
    stream("nothing", "1-06", [""], []),
    stream("same-line-twice", "1-06", [ACK + "\n" + ACK + "\n"], [ACK, ACK]),
    stream("spaces-around", "1-06", [" " + WIRE + "\t \n"], [WIRE], "whitespace around the object is JSON's"),
    stream("carriage-return", "1-06", [WIRE + "\r\n"], [WIRE], "a CR before the LF is whitespace around the object"),
    stream("spaces-inside", "1-06", [ACK.replace(",", " , ") + "\n"], [ACK]),
    stream("escaped-line-feeds", "1-08", [ESCAPED_LF + "\n" + FIELD_LF + "\n"], [ESCAPED_LF, FIELD_LF], "escaped, so no line ends"),
    bad("two-objects", ACK + ACK, "two objects on one line"),
    bad("two-objects-spaced", ACK + " " + WIRE, "two objects on one line"),
    bad("two-objects-comma", ACK + "," + ACK, "two objects on one line"),
    bad("array-of-objects", f"[{ACK}]", "no object"),
    bad("number", "12", "no object"),
    bad("string", '"v1"', "no object"),
    bad("truncated", WIRE[:-1], "half an object"),
    bad("rest", WIRE[30:], "half an object"),
    bad("garbage", "nope", "no JSON"),
    bad("trailing-garbage", ACK + "x", "more than the object"),
    bad("control-in-string", ACK.replace("bob", "b\x1f"), "no JSON"),
    stream("pretty-printed", "1-06", ['{\n"protocol_version":"v1",\n"type":"ack",\n"id":"x"\n}\n'], [None] * 5, "an object over five lines"),
    stream("line-feed-in-string", "1-06 1-08", [WIRE.replace("hello", "hel\nlo") + "\n"], [None, None], "a raw line feed ends a line"),
]  # fmt: skip

# -- files -------------------------------------------------------------------------------------------------------------

SHEET = "peerbus v1 section 4; the sheet's golden vectors (marked `sheet` where its text has them too)"
BY_HAND = (
    "written by hand in derivations/peerbus.py, which joins hand-written member texts, takes their HMAC with the standard library, and shares "
    "no code with reference_impl"
)
FILES = {
    "canonical": (
        f"{SHEET}, and its readings of canonical strings and bodies",
        ["Operations canonical and sign of peerbus/codec: `wire` is an envelope's JSON text; `canonical` its signed bytes, `hmac` their MAC.",
         f"The secret is the ASCII text {SECRET.decode()}.",
         "An invalid vector's wire must be refused; so must one that expects `refused`."],
        CANONICAL,
    ),
    "verify": (
        "peerbus v1 section 4, rules for the recipient",
        ["Operation verify of peerbus/codec: does the envelope `wire` verify under `secret`?",
         "To refuse the input is to reject the signature too."],
        VERIFY,
    ),
    "framing": (
        "peerbus v1 section 1, newline-delimited framing",
        ["Operation decode_lines of peerbus/codec: the chunks are pieces of one stream that stays open.",
         "Objects are compared as JSON values; null is a line that is an error. A decoder may give up at an error: what follows it is then missing, or the whole stream is refused."],
        FRAMING,
    ),
}  # fmt: skip


def text_of(group: str) -> str:
    source, notes, vectors = FILES[group]
    provenance = {"source": source, "derivation": BY_HAND}
    file = {"protocol": "peerbus", "group": group, "provenance": provenance, "notes": notes, "vectors": vectors}
    return json.dumps(file, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    for name in FILES:
        (VECTORS / f"{name}.json").write_text(text_of(name))
        print(f"{name}: {len(FILES[name][2])} vectors", file=sys.stderr)
