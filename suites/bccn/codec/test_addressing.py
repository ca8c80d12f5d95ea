"""Whom a directed channel means, asked of the matcher alone (sheet 1.8)."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue.cases import axis, clauses, needs
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each
from suites.bccn.codec.under_test import CodecUnderTest
from suites.bccn.odd_names import ODD
from suites.bccn.wire import like_a_wildcard, mistaken

TABLE = load("bccn/addressing")
TOKEN = st.sampled_from(["h", "n", "w-3", "x1", "1x", "host.lan", "N", "-1"])
TAIL = st.lists(TOKEN, min_size=1, max_size=4).map("/".join)
REST = st.lists(st.sampled_from(["h", "n", "12", "3", "*"]), max_size=2)


@clauses(*TABLE.clauses)
@needs("match")
async def test_table(codec: CodecUnderTest, each: Each) -> None:
    """Each target means the names that the rules select, and no other."""

    async def try_one(vector: Vector) -> None:
        wanted, free, meant = vector.expected["matches"], vector.expected["open"], vector.input["target"]
        for name in vector.input["names"]:
            matches = await codec.match(name, meant)
            if name in free or (matches is None and like_a_wildcard(name)):  # a name that may be refused
                continue
            if bool(matches) != (name in wanted):
                expected = "a match" if name in wanted else "no match"
                raise Broken.of(vector, f"{expected} of {name} with !{meant}", str(matches), mistaken(name, meant))

    await each(TABLE, try_one)


@clauses(*dict.fromkeys(clause for clause, *_ in ODD.values()))
@needs("match")
@axis("row", ODD)
async def test_odd_names(codec: CodecUnderTest, row: tuple[str, str, str, bool]) -> None:
    """Tokens are bytes: no number has a value, no character a meaning but `/` and a last `/*`."""
    clause, name, meant, wanted = row
    matches = await codec.match(name, meant)
    codec.trial.expect(bool(matches) is wanted, f"!{meant} {'' if wanted else 'not '}to mean {name}", matches, clause)


@clauses("BCCN-DIR-16")
@needs("match")
@given(word=TAIL, rest=REST, other=TAIL)
async def test_a_word_and_its_family_are_the_same(
    codec: CodecUnderTest, word: str, rest: list[str], other: str
) -> None:
    """`!host` and `!host/*` select the same names where the last token is not numeric."""
    codec.trial.restart()
    for name in itertools.filterfalse(like_a_wildcard, (word, "/".join([word, *rest]), other, f"{word}x")):
        short, long = await codec.match(name, word), await codec.match(name, f"{word}/*")
        codec.trial.expect(short == long, f"{name} treated alike by !{word} and !{word}/*", (short, long))


@clauses("BCCN-DIR-16", "BCCN-DIR-04")
@needs("match")
@given(stem=TAIL, pid=st.integers(0, 10**20), child=st.integers(0, 9999))
async def test_a_number_and_its_family_are_not(codec: CodecUnderTest, stem: str, pid: int, child: int) -> None:
    """`!host/name/12` means that process alone, `!host/name/12/*` its children too."""
    codec.trial.restart()
    name, exact, family = f"{stem}/{pid}/{child}", f"{stem}/{pid}", f"{stem}/{pid}/*"
    meant = {(name, exact): False, (name, family): True, (exact, exact): True}
    for (own, aim), wanted in meant.items():
        clause = "BCCN-DIR-16" if aim == family else "BCCN-DIR-04"
        matches = await codec.match(own, aim)
        codec.trial.expect(bool(matches) is wanted, f"!{aim} {'' if wanted else 'not '}to mean {own}", matches, clause)
