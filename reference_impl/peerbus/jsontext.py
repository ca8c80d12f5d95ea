"""JSON as text: checks it, slices an object's members and compacts it without ever decoding a value.

Signed bodies must survive byte for byte (PB-4-06..09), so member order, duplicates, number and escape spelling are kept;
a decoding parser loses all four. The grammar is RFC 8259's:

    value  = object | array | string | number | true | false | null
    object = { [ string : value { , string : value } ] }        array = [ [ value { , value } ] ]
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Possessive quantifiers: a megabyte of string is scanned once, without backtracking.
TOKEN = re.compile(
    rb"""[ \t\r\n]*+(?:
      (?P<punct>[{}\[\],:])
    | (?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
    | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)
    )""",
    re.VERBOSE,
)
BLANK = re.compile(rb"[ \t\r\n]*+")
MAX_DEPTH = 10_000  # the nesting at which the original's JSON reader gives up


class NotJson(ValueError):
    """The text is not one JSON value."""


class Token(NamedTuple):
    kind: str  # the punctuation itself, or `string`, `scalar`
    start: int
    end: int


def tokens(text: bytes) -> list[Token]:
    """The tokens of exactly one JSON value; anything else raises NotJson."""
    found: list[Token] = []
    open_brackets: list[str] = []
    expect = "value"
    position = 0
    while expect != "end":
        match = TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise NotJson(f"no JSON token at byte {position}")
        group, position = match.lastgroup, match.end()
        start = match.start(group)
        kind = chr(text[start]) if group == "punct" else group
        expect = _next(expect, kind, open_brackets, start)
        found.append(Token(kind, start, position))
    if BLANK.fullmatch(text, position) is None:
        raise NotJson(f"more than one JSON value: byte {position}")
    return found


# What may come (row) and what is expected after it; "close" and "after" depend on the enclosing bracket.
GRAMMAR: dict[tuple[str, str], str] = {
    ("value", "{"): "first key",
    ("value", "["): "first value",
    ("value", "string"): "after",
    ("value", "scalar"): "after",
    ("first value", "]"): "close",
    ("first value", "{"): "first key",
    ("first value", "["): "first value",
    ("first value", "string"): "after",
    ("first value", "scalar"): "after",
    ("first key", "}"): "close",
    ("first key", "string"): "colon",
    ("key", "string"): "colon",
    ("colon", ":"): "value",
    ("comma in {", ","): "key",
    ("comma in {", "}"): "close",
    ("comma in [", ","): "value",
    ("comma in [", "]"): "close",
}


def _next(expect: str, kind: str, open_brackets: list[str], start: int) -> str:
    then = GRAMMAR.get((expect, kind))
    if then is None:
        raise NotJson(f"{kind} at byte {start} where {expect} was expected")
    if kind in "{[":
        open_brackets.append(kind)
        if len(open_brackets) > MAX_DEPTH:
            raise NotJson(f"nested deeper than {MAX_DEPTH}")
    if then == "close":
        open_brackets.pop()
    if then in ("close", "after"):
        return f"comma in {open_brackets[-1]}" if open_brackets else "end"
    return then


def members(text: bytes) -> list[tuple[bytes, bytes]]:
    """The members of one JSON object as (key text, value text), in order, duplicates included."""
    found = tokens(text)
    if found[0].kind != "{":
        raise NotJson("not a JSON object")
    pairs: list[tuple[bytes, bytes]] = []
    at = 1
    while found[at].kind == "string":
        key, value, end = found[at], found[at + 2], _value_end(found, at + 2)
        pairs.append((text[key.start : key.end], text[value.start : found[end - 1].end]))
        at = end + 1 if found[end].kind == "," else end
    return pairs


def elements(text: bytes) -> list[bytes]:
    """The elements of one JSON array as texts, in order."""
    found = tokens(text)
    if found[0].kind != "[":
        raise NotJson("not a JSON array")
    values: list[bytes] = []
    at = 1
    while found[at].kind != "]":
        end = _value_end(found, at)
        values.append(text[found[at].start : found[end - 1].end])
        at = end + 1 if found[end].kind == "," else end
    return values


def _value_end(found: list[Token], at: int) -> int:
    """The index behind the value that begins at `at`."""
    depth = 0
    while True:
        depth += (found[at].kind in "{[") - (found[at].kind in "}]")
        at += 1
        if depth == 0:
            return at


def compact(text: bytes) -> bytes:
    """The same value without insignificant whitespace."""
    return b"".join([text[token.start : token.end] for token in tokens(text)])
