"""What the proxy has seen of clients and their broker: the broker's frames before its oracle, everybody's before the lint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.judging.trial import Broken
from harness.matrix.along import Illegal, Said
from reference_impl.core import NotAllowed, Oracle
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.frames import Close, Garbage, Opened
from suites.peerbus.envelopes import codec
from suites.peerbus.lint import lint

TOKENS = ("token-of-the-matrix", "another-token-of-it")
"""What a broker is told to take, where it can be told."""


def read_along(said: Iterable[Said]) -> Illegal | None:
    """Lines are named for the client on them; what goes down is the broker's."""
    oracle: Oracle[Any] | None = None
    channels: dict[tuple[str, int], int] = {}
    over: set[tuple[str, int]] = set()  # connections that the client has ended: what crosses its end is nobody's fault
    for one in said:
        if (one.line, one.connection) in over:
            continue
        speaker = one.line if one.way == "up" else "broker"
        try:
            frame = _decoded(one, "client" if one.way == "up" else "broker")
            oracle = oracle or _begun(frame)
            where = (one.line, one.connection)
            if where not in channels:
                channels[where] = len(channels) + 1
                oracle.stimulus(channels[where], Opened())
            (oracle.stimulus if one.way == "up" else oracle.observe)(channels[where], frame)
            if isinstance(frame, Close):
                over.add(where)
        except (Broken, NotAllowed) as illegal:
            return Illegal(speaker, illegal.clause, str(illegal)[:300])
        except RuntimeError:  # the frontier grew past its limit
            return None
    return None


def _begun(first: Any) -> Oracle[Any]:
    """The first word of the first client has a token that the broker takes, if it is not told which and there is one."""
    return Oracle(BrokerMachine(frozenset(filter(None, [getattr(first, "token", ""), *TOKENS]))))


def _decoded(one: Said, sender: str) -> Any:
    if one.message is None:
        return Close(one.code)
    lint(one.message, sender)
    frame = codec.decode(one.message.encode() if isinstance(one.message, str) else one.message)
    if isinstance(frame, Garbage):
        raise Broken("PB-1-03", "a peerbus frame", frame.why)
    return frame
