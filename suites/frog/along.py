"""What the proxy has seen of clients and their server, before the lint of either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from harness.judging.trial import Broken
from harness.matrix.along import Illegal, Said
from suites.frog.lint import lint

CHAIN = ("near", "middle", "far")
"""Servers of a federation, as one dials the next."""


def shown(one: Said) -> str:
    """The header says it."""
    return one.message.partition(b"\n")[0].decode("latin-1") if isinstance(one.message, bytes) else one.text


def read_along(said: Iterable[Said]) -> Illegal | None:
    """All clients share the line of their server: which of them spoke is told by the connection."""
    return _read(said, lambda one: "server" if one.way == "down" else "caller", frozenset())


def read_federation(said: Iterable[Said]) -> Illegal | None:
    """A line is named for the server that is dialled on it, by clients and by the server before it in the chain.

    A connection whose first word is a sister's is one of sisters.
    """
    conversation = list(said)
    first = {(one.line, one.connection): shown(one) for one in reversed(conversation) if one.message is not None}
    sisters = frozenset(where for where, word in first.items() if word.startswith("@"))
    lines = [line for line in CHAIN if any(one.line == line for one in conversation)]
    before = dict(zip(lines[1:], lines, strict=False))

    def speaker(one: Said) -> str:
        if one.way == "down":
            return one.line
        is_sister = (one.line, one.connection) in sisters
        return before[one.line] if is_sister else {lines[0]: "caller"}.get(one.line, "callee")

    return _read(conversation, speaker, sisters)


def _read(said: Iterable[Said], speaker: Callable[[Said], str], sisters: Set[tuple[str, int]]) -> Illegal | None:
    for one in said:
        if one.message is None:
            continue
        is_sister = (one.line, one.connection) in sisters
        try:
            lint(one.message, "sister" if is_sister else "client" if one.way == "up" else "server")
        except Broken as illegal:
            return Illegal(speaker(one), illegal.clause, f"connection {one.connection}: {illegal}"[:300])
    return None
