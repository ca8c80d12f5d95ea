"""Whom a directed channel means, asked of the matcher alone (sheet 1.8)."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from hypothesis import given
from hypothesis import strategies as st

from harness.cases import clauses
from harness.targets import Target
from harness.trial import Broken, Trial
from harness.vectors import Vector, load
from suites.bccn.codec.asked import ROLE, Asked
from suites.bccn.wire import like_a_wildcard

TABLE = load("bccn/addressing")
Each = Callable[..., Awaitable[None]]

TOKEN = st.sampled_from(["h", "n", "w-3", "x1", "1x", "host.lan", "N", "-1"])
TAIL = st.lists(TOKEN, min_size=1, max_size=4).map("/".join)
REST = st.lists(st.sampled_from(["h", "n", "12", "3", "*"]), max_size=2)


@clauses(*TABLE.clauses)
async def test_table(codec: Asked, target: Target, each: Each) -> None:
    """Each target means the names that the rules select, and no other."""
    await target.need(ROLE, "match")

    async def try_one(vector: Vector) -> None:
        wanted, free, meant = vector.expected["matches"], vector.expected["open"], vector.input["target"]
        for name in vector.input["names"]:
            matches = await codec.match(name, meant)
            if name in free or (matches is None and like_a_wildcard(name)):  # a name that may be refused
                continue
            if bool(matches) != (name in wanted):
                expected = "a match" if name in wanted else "no match"
                raise Broken(vector.clauses[0], f"{expected} of {name} with !{meant}", str(matches))

    await each(TABLE.vectors, try_one)


@clauses("BCCN-DIR-16")
@given(target_name=TAIL, rest=REST, other=TAIL)
async def test_a_word_and_its_family_are_the_same(
    codec: Asked, target: Target, trial: Trial, target_name: str, rest: list[str], other: str
) -> None:
    """`!host` and `!host/*` select the same names where the last token is not numeric."""
    await target.need(ROLE, "match")
    trial.restart()
    names = (target_name, "/".join([target_name, *rest]), other, f"{target_name}x")
    for name in itertools.filterfalse(like_a_wildcard, names):
        short, long = await codec.match(name, target_name), await codec.match(name, f"{target_name}/*")
        trial.expect(short == long, f"{name} treated alike by !{target_name} and !{target_name}/*", (short, long))


@clauses("BCCN-DIR-16", "BCCN-DIR-04")
@given(stem=TAIL, pid=st.integers(0, 10**20), child=st.integers(0, 9999))
async def test_a_number_and_its_family_are_not(
    codec: Asked, target: Target, trial: Trial, stem: str, pid: int, child: int
) -> None:
    """`!host/name/12` means that process alone, `!host/name/12/*` its children too."""
    await target.need(ROLE, "match")
    trial.restart()
    name, exact, family = f"{stem}/{pid}/{child}", f"{stem}/{pid}", f"{stem}/{pid}/*"
    trial.expect(not await codec.match(name, exact), f"!{exact} not to mean {name}", "a match", "BCCN-DIR-04")
    trial.expect(await codec.match(name, family) is True, f"!{family} to mean {name}", "no match")
    trial.expect(await codec.match(exact, exact) is True, f"!{exact} to mean {exact}", "no match", "BCCN-DIR-04")
