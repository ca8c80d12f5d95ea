"""JSON as text: checks it, slices an object's members and compacts it without ever decoding a value.

Signed bodies must survive byte for byte (PB-4-06..09), so member order, duplicates, number and escape spelling are kept;
a decoding parser loses all four. The grammar is RFC 8259's:

    value  = object | array | string | number | true | false | null
    object = { [ string : value { , string : value } ] }        array = [ [ value { , value } ] ]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def tokens(text: bytes) -> Iterator[Token]:
    """The tokens of exactly one JSON value; anything else raises NotJson. One by one: all at once they would take a hundred
    times as much as the text."""
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
        yield Token(kind, start, position)
    if BLANK.fullmatch(text, position) is None:
        raise NotJson(f"more than one JSON value: byte {position}")


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
    parts = iter(_parts(text, "{"))
    return list(zip(parts, parts, strict=True))


def elements(text: bytes) -> list[bytes]:
    """The elements of one JSON array as texts, in order."""
    return _parts(text, "[")


def _parts(text: bytes, bracket: str) -> list[bytes]:
    """What stands between the outermost brackets: of an object keys and values by turns, of an array its elements."""
    found: list[bytes] = []
    depth = begin = 0
    for kind, start, end in tokens(text):
        if depth == 0 and kind != bracket:
            raise NotJson("not a JSON object" if bracket == "{" else "not a JSON array")
        if kind in "{[":
            depth += 1
            begin = start if depth == 2 else begin
        elif kind in "}]":
            depth -= 1
            start = begin
        if depth == 1 and kind not in "{[,:":
            found.append(text[start:end])
    return found


def compact(text: bytes) -> bytes:
    """The same value without insignificant whitespace."""
    made = bytearray()
    for _, start, end in tokens(text):
        made += text[start:end]
    return bytes(made)
