"""Envelopes as JSON text, built from generated parts. What is expected of them is joined by hand from the same parts.

A value is a list of tokens: joined without spaces it is the text that is signed, joined with spaces a text that means
the same. Only normal form is made: none of the five characters on which the two profiles differ, no lone surrogates in
header strings.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from suites.peerbus.envelopes import SECRET

NAMES = ("protocol_version", "id", "from", "to", "ts", "source", "kind")
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
SPACE = st.sampled_from(["", " ", "\n", "\t ", "\r\n"])

# -- header strings: a value, and the many ways to spell it ------------------------------------------------------------

ALPHABET = (
    'aZ09 -|*/\\"'
    "\x00\x01\b\t\n\v\f\r\x1b\x1f\x7f\x80"
    "\u00e9\u20ac\u2027\u202a\ud7ff\ue000\ufeff\ufffd\uffff\U0001f600\U0010ffff"
)
"""Every class of character that is spelled its own way, and the neighbours of those that are contested."""
fields = st.text(ALPHABET, max_size=12)


def signed_string(value: str) -> str:
    """How a header string is signed: the short escapes, lower-case \\u00xx for other controls, all else raw."""
    return '"' + "".join(SHORT.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


@st.composite
def spelled(draw: st.DrawFn, value: str) -> str:
    """Some JSON spelling of that string."""
    return '"' + "".join(draw(st.sampled_from(_spellings(c))) for c in value) + '"'


def _spellings(c: str) -> list[str]:
    units = c.encode("utf-16-be")
    long = "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    ways = [SHORT[c]] if c in SHORT else [c] if c >= " " else []
    return [*ways, long, long.upper().replace("\\U", "\\u"), *(["\\/"] if c == "/" else [])]


# -- bodies: tokens whose spelling must survive ------------------------------------------------------------------------

digits = st.text("0123456789", min_size=1, max_size=25)
whole = st.one_of(st.just("0"), st.builds(str.__add__, st.sampled_from("123456789"), digits))
fraction = st.one_of(st.just(""), digits.map(".{}".format))
exponent = st.one_of(
    st.just(""), st.builds("{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), digits)
)
numbers = st.builds("{}{}{}{}".format, st.sampled_from(["", "-"]), whole, fraction, exponent)

pieces = st.one_of(
    st.sampled_from(
        ["\\/", "/", "\\u0041", "A", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\ud800", "\\n", "\\u000A", "\\u000a"]
    ),
    st.sampled_from(
        ["\\\\", '\\"', " ", "  ", "{", "]", ",", ":", "\\u003c", "\\u003C", "\x7f", "\u00e9", "\U0001f600"]
    ),
    st.sampled_from(sorted(c for c in ALPHABET if c >= " " and c not in SHORT)),
)
strings = st.lists(pieces, max_size=8).map(lambda parts: f'"{"".join(parts)}"')
escaped = st.lists(pieces, min_size=1, max_size=8).map(lambda parts: f'"{"".join(parts)}"').filter(lambda s: "\\" in s)
respelled = numbers.filter(lambda text: json.dumps(json.loads(text)) != text)
names = st.one_of(st.sampled_from(['"z"', '"a"', '"\\u0061"', '"10"', '"9"']), strings)  # few, so that some repeat

Tokens = list[str]
scalars = st.one_of(numbers, strings, st.sampled_from(["true", "false", "null"])).map(lambda text: [text])


def arrays(values: st.SearchStrategy[Tokens], least: int = 0) -> st.SearchStrategy[Tokens]:
    return st.lists(values, min_size=least, max_size=4).map(lambda items: ["[", *_joined(items), "]"])


def objects(
    values: st.SearchStrategy[Tokens], keys: st.SearchStrategy[str] = names, least: int = 0
) -> st.SearchStrategy[Tokens]:
    members = st.builds(lambda key, value: [key, ":", *value], keys, values)
    return st.lists(members, min_size=least, max_size=4).map(lambda items: ["{", *_joined(items), "}"])


@st.composite
def unsorted_objects(draw: st.DrawFn, values: st.SearchStrategy[Tokens]) -> Tokens:
    """Objects whose members are not in the order of their names."""
    some = st.lists(st.sampled_from(['"z"', '"y"', '"10"', '"a"', '"9"']), min_size=2, max_size=4, unique=True)
    keys = draw(some.filter(lambda keys: keys != sorted(keys)))
    return ["{", *_joined([[key, ":", *draw(values)] for key in keys]), "}"]


def _joined(items: list[Tokens]) -> Tokens:
    return [token for i, item in enumerate(items) for token in ([","] if i else []) + item]


bodies = st.recursive(scalars, lambda inner: arrays(inner) | objects(inner), max_leaves=6)
BODIES = {
    "member-order": unsorted_objects(scalars),
    "numbers": arrays(respelled.map(lambda text: [text]), least=1),
    "duplicates": objects(scalars, st.just('"a"'), least=2),
    "escapes": escaped.map(lambda text: [text]),
    "anything": bodies,
}
"""Each body has what its name says, so that the smallest one on which a target fails is about that."""


# -- envelopes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """What an envelope says: the values of its header strings and the tokens of its body."""

    header: tuple[str, ...]
    body: tuple[str, ...]

    def signed(self) -> bytes:
        """The canonical form, by hand: eight members in their order, compact."""
        members = [f'"{name}":{signed_string(value)}' for name, value in zip(NAMES, self.header, strict=True)]
        return ("{" + ",".join([*members, '"body":' + "".join(self.body)]) + "}").encode()

    def mac(self, secret: bytes = SECRET) -> str:
        return hmac.new(secret, self.signed(), hashlib.sha256).hexdigest()

    def wire(self, hmac: str = "") -> bytes:
        """The plainest wire text."""
        return self.signed()[:-1] + f',"hmac":"{hmac}"}}'.encode()

    def with_field(self, name: str, value: str) -> Parts:
        at = NAMES.index(name)
        return replace(self, header=(*self.header[:at], value, *self.header[at + 1 :]))


#: Version and kind are the specified ones: another version is contested.
headers = st.builds(lambda *middle: ("v1", *middle, "msg"), fields, fields, fields, fields, fields)


def parts(body: st.SearchStrategy[Tokens] = bodies) -> st.SearchStrategy[Parts]:
    return st.builds(Parts, headers, body.map(tuple))


@st.composite
def wires(draw: st.DrawFn, said: Parts, spaced_body: bool = False) -> bytes:
    """Some wire text of that envelope: members in any order, spelled and spaced in any way."""
    members = [[signed_string(name), draw(spelled(value))] for name, value in zip(NAMES, said.header, strict=True)]
    gap = draw(SPACE) if spaced_body else ""
    members += [['"body"', gap.join(said.body)], ['"hmac"', '""']]
    before, between, after = draw(SPACE), draw(SPACE), draw(SPACE)
    texts = [f"{name}{between}:{after}{value}" for name, value in draw(st.permutations(members))]
    return (before + "{" + between + f"{after},{between}".join(texts) + after + "}" + before).encode()
