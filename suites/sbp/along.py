"""A session that the proxy has seen, read by the oracle of either peer: the first illegal frame names its speaker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.judging.trial import Broken
from harness.matrix.along import Illegal, Said
from reference_impl.core import NotAllowed, Oracle
from reference_impl.sbp import frames
from reference_impl.sbp.frames import Hangup, Opened
from reference_impl.sbp.peer import WIRE, Config
from suites.sbp.line import codec
from suites.sbp.lint import lint
from suites.sbp.peer.watch import HostUnseen

SEATS = {"up": "dialler", "down": "acceptor"}
OTHER = {"up": "down", "down": "up"}


def read_along(said: Iterable[Said]) -> Illegal | None:
    """Of each connection both directions, each by the oracle of who speaks and of who listens."""
    conversation = list(said)
    oracles: dict[tuple[int, str], Oracle[Any]] = {}
    ids: dict[tuple[int, str], set[bytes]] = {}
    over: set[int] = set()
    for one in conversation:
        if one.connection in over:
            continue
        for way in SEATS:
            if (one.connection, way) not in oracles:
                oracles[one.connection, way] = _begun(_greeting(conversation, one.connection, way))
        try:
            frame = _decoded(one, ids.setdefault((one.connection, one.way), set()))
            if isinstance(frame, Hangup | frames.Close):  # its host may end it at any time, and is not seen here
                over.add(one.connection)
                continue
            oracles[one.connection, one.way].observe(WIRE, frame)
        except (Broken, NotAllowed) as illegal:
            return Illegal(SEATS[one.way], illegal.clause, str(illegal)[:300])
        except RuntimeError:  # the frontier grew past its limit
            return None
        oracles[one.connection, OTHER[one.way]].stimulus(WIRE, frame)
    return None


def shown(one: Said) -> str:
    """What a message means."""
    return str(codec.decode(one.message)) if isinstance(one.message, bytes) else one.text


def _greeting(conversation: Iterable[Said], connection: int, way: str) -> Config:
    """What that side of the connection says of itself is for its host to know: taken from its Handshake, if there is one."""
    mine = [one.message for one in conversation if (one.connection, one.way) == (connection, way)]
    first = codec.decode(mine[0]) if mine and isinstance(mine[0], bytes) else None
    if not isinstance(first, frames.Handshake):
        return Config("anybody", receipt=True)
    return Config(first.peer_id, first.caps, first.metadata, receipt=True)


def _begun(config: Config) -> Oracle[Any]:
    oracle = Oracle(HostUnseen(config, chatter=True))
    oracle.stimulus(WIRE, Opened())
    return oracle


def _decoded(one: Said, seen: set[bytes]) -> Any:
    if one.message is None:
        return Hangup(1000)
    list(lint(one.message))
    assert isinstance(one.message, bytes), "`lint` does not let text through"
    frame = codec.decode(one.message)
    if isinstance(frame, frames.BadFlags | frames.Malformed | frames.BadHandshake):
        raise Broken("SBP-CMP-01", "an SBP frame", frame.why)
    if frame.id in seen and not isinstance(frame, frames.Error):
        raise Broken("SBP-FID-09", "a fresh id in each frame", frame.id.hex())
    seen.add(frame.id)
    return frame
