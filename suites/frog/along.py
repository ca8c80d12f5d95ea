"""What the proxy has seen of clients and their server, before the lint of either."""

from __future__ import annotations

from collections.abc import Iterable

from harness.judging.trial import Broken
from harness.matrix.along import Illegal, Said
from suites.frog.lint import lint


def shown(one: Said) -> str:
    """The header says it."""
    return one.message.partition(b"\n")[0].decode("latin-1") if isinstance(one.message, bytes) else one.text


def read_along(said: Iterable[Said]) -> Illegal | None:
    """All clients share the line of their server: which of them spoke is told by the connection."""
    for one in said:
        if one.message is not None:
            try:
                lint(one.message, "client" if one.way == "up" else "server")
            except Broken as illegal:
                speaker = "server" if one.way == "down" else "caller"
                return Illegal(speaker, illegal.clause, f"connection {one.connection}: {illegal}"[:300])
    return None
