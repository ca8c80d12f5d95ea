"""Pairs of SBP: two peers, either of which dials.

What is promised: within a session every Message reaches the other host once, in order, byte for byte; receipts name the Messages
that were received; a Ping is answered. A session that is cut ends at both ends, nothing of it arrives half, twice or in a later
one, and a new dial gives a new session.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import TargetError, TargetRefused
from harness.matrix.faults import PAUSES, STREAMS, WHOLE
from harness.matrix.history import History, Moment
from harness.matrix.pairing import CLIENT, SERVER, Pairing, Scenario, Seat
from harness.matrix.parties import End
from harness.matrix.play import Bench, Stage
from harness.targets import Instance, Session
from suites.sbp.along import read_along, shown
from suites.sbp.promises import (
    both_are_told,
    both_ways,
    heard,
    known_by_their_names,
    nobody_acks_unasked,
    nothing_is_wrong,
    pings_are_answered,
    receipts_are_true,
    timed,
)

LIMIT = 1_048_576
AROUND = 2 + 16 + 8 + 4
"""Bytes of a Message that are neither its subject nor its data: header, id, timestamp, the subject's length."""

SIZES = (1_024, 4_096, 65_535, 65_536, 65_537)
"""Of whole frames with a timestamp: where buffers end."""

STAMPS = (None, 1_700_000_000_123, 0, None, 5, -1, 2**62 + 1, -(2**63))
"""Timestamps in no order, with the epoch among them: they are data, and sort nothing."""
TEXTS = (b" A line\r\nand another\n", b"\t", b"\xc3\xa9e\xcc\x81 ", b"{}\x00tail")
"""Data that is text, with what somebody might tidy up."""
EVERY_BYTE = bytes(range(256)) * 17
MANY = 20
CAPS = [f"x-matrix-{n}" for n in range(20)]
FILLER = "m" * 4_500
"""Hints that fill a Handshake beyond 4 KiB, within the advised 8."""

LONG, LONGEST_SUBJECT = 3, 256
"""Which message has a subject as long as every peer takes it (SBP-LIM-05)."""
TWICE = 4
"""Which message is sent twice."""

MOST_DIALS = 6
REASON = "enough, tsch\u00fc\u00df"
HEARD_S = 2.0
"""Within which a peer tells its host what it can tell at all."""

ODD_NAME = " e\u0301 " + "n" * 70 + " "
"""A peer id is any text: blanks around it, a decomposed letter, longer than names are."""
ACCEPTOR = f"{ODD_NAME}acceptor "

OPTIONAL = ("acked", "pong", "closed", "reason")
"""What a host is told only where it can hear it."""

_hears: dict[tuple[str, str], frozenset[str]] = {}


@dataclass(frozen=True)
class Talk:
    """One session with both of its names."""

    end: End
    here: Any
    there: Any

    @property
    def key(self) -> str:
        return self.end.who


# -- ends ----------------------------------------------------------------------------------------------------------------


async def open_peer(bench: Bench) -> None:
    await bench.serve("acceptor", config_of(bench, "acceptor", "accept", ACCEPTOR))
    bench.kept["hears"] = {label: await hears(bench, label) for label in ("dialler", "acceptor")}


def config_of(bench: Bench, seat: str, side: str, peer_id: str, url: str = "") -> dict[str, Any]:
    able = bench.parties[seat].capabilities
    metadata = {"matrix:seat": {"name": seat, "filler": FILLER}, "matrix:more:colons": [None, 1.5]}
    hints = {"caps": [f"x-{seat}", "é", *CAPS], "metadata": metadata} if "hints" in able else {}
    return {"side": side, "url": url, "peer_id": peer_id, "receipt": "receipt" in able, "limit": LIMIT, **hints}


async def session(stage: Stage, number: int, **settings: Any) -> Talk | None:
    """A new session of both peers; none where a fault was in the way."""
    who, peer_id = f"dialler {number}", f"{ODD_NAME}{stage.name}-{number} "
    url, since = await stage.bench.way("session", "acceptor"), len(stage.history.moments)
    try:
        config = config_of(stage.bench, "dialler", "connect", peer_id, url) | settings
        stage.history.add(who, "note", "announces", config)
        end = await stage.end("dialler", config, who=who)
    except TargetRefused:
        if stage.profile in WHOLE:
            raise
        return None
    known_as = (end.instance.details if end.instance else {}).get("peer_id", peer_id)
    history, found = stage.history, [None, None]

    def both() -> bool:
        found[:] = [session_of(history, who), session_of(history, "acceptor", known_as, since)]
        return None not in found or (stage.profile not in WHOLE and gone(history, number))

    if not await stage.until(both) and stage.profile in WHOLE:
        raise TargetRefused("no session was established at both ends")  # by whom is for the culprit to say
    return Talk(end, *found) if None not in found else None


def session_of(history: History, who: str, peer_id: str = "", since: int = 0) -> Any:
    """The name of the session that was established there since then, with that peer."""
    told = [m for m in history.told(who, "established", since) if not peer_id or m.data.get("peer_id") == peer_id]
    return told[0].data.get("session") if told else None


def gone(history: History, number: int) -> bool:
    return any(m.data.get("connection") == number for _, m in history.faults("gone", "nobody there"))


async def hears(bench: Bench, label: str) -> frozenset[str]:
    """Of what is optional, what the host of that party is told: tried once, with the reference at the other end."""
    party = bench.parties[label]
    known = (party.target.name, label)
    if known not in _hears:
        other = bench.reference.private()
        await other.open()
        try:
            _hears[known] = await _tried(bench, label, other)
        finally:
            await other.close()
    return _hears[known]


async def established(instance: Instance) -> dict[str, Any]:
    """What the reference's host is told of its first session."""
    while (word := await instance.event(HEARD_S))[0] != "established":
        pass
    return word[1]


async def _tried(bench: Bench, label: str, other: Session) -> frozenset[str]:
    history, party = bench.history, bench.parties[label]
    plain = {"peer_id": "reference-of-the-matrix", "receipt": True, "limit": LIMIT}
    if label == "dialler":
        server = await other.start("sbp/peer", {"side": "accept", "url": "", **plain})
        config = config_of(bench, label, "connect", "trial-of-the-matrix", server.address)
        end = await End(label, party, config, history, None).start()
    else:
        end = bench.hosts[label]
        server = await other.start("sbp/peer", {"side": "connect", "url": bench.server(label).address, **plain})
    await history.until(lambda: session_of(history, label) is not None, HEARD_S)
    name = session_of(history, label)
    if name is None:
        return frozenset(OPTIONAL)  # it does not get that far: whatever comes of it is looked at in full
    await end.do("send", session=name, subject="app/trial", data="")
    await end.do("ping", session=name)
    await history.until(lambda: bool(history.told(label, "acked") and history.told(label, "pong")), HEARD_S)
    with contextlib.suppress(TargetError):  # it may have gone by then
        await server.do("close", session=(await established(server))["session"], reason="trial")
    await history.until(lambda: bool(history.told(label, "closed")), HEARD_S)
    await server.stop()
    if label == "dialler":
        await end.stop()
    reasons = [m.data.get("reason") for m in history.told(label, "closed")]
    return frozenset(
        what for what in OPTIONAL if history.told(label, what) or (what == "reason" and "trial" in reasons)
    )


# -- scenarios -----------------------------------------------------------------------------------------------------------


async def talked(stage: Stage, talk: Talk, number: int, count: int, sizes: Sequence[int] = ()) -> bool:
    """Messages both ways, so many or of these sizes; was it whole? A session that goes down under it is not."""
    whole = True
    sides = ((talk.end, talk.here, "up"), (stage.bench.hosts["acceptor"], talk.there, "down"))
    try:
        speaking = (said_by(stage, *side, len(sizes) or count, sizes) for side in sides)
        for error in await asyncio.gather(*speaking, return_exceptions=True):
            if error:
                raise error
        await stage.until(lambda: complete(stage, talk) or gone(stage.history, number))
    except TargetRefused:
        if stage.profile in WHOLE:
            raise
        whole = False
    whole = whole and not gone(stage.history, number)
    note(stage, talk, whole)
    return whole


async def said_by(stage: Stage, end: End, name: Any, way: str, count: int, sizes: Sequence[int]) -> None:
    """What one host says, one message behind the other; the other host speaks meanwhile."""
    for n in range(count):
        subject = f"app/{stage.name}/{way}/{(5 * n) % 7}\u00e9e\u0301É "  # composed, decomposed, a blank at its end
        subject += "s" * (LONGEST_SUBJECT - len(subject.encode())) if n == LONG else ""
        fill = bytes([n]) * (sizes[n] - AROUND - len(subject.encode())) if sizes else payload(n)
        for _ in range(2 if n == TWICE else 1):  # the same again is another Message
            await sent(end, name, subject, fill.hex(), 5 if sizes else STAMPS[n % len(STAMPS)])


async def sent(end: End, name: Any, subject: str, data: str, ts: int | None) -> None:
    """With that timestamp, where the peer can set one."""
    stamp = {} if ts is None else {"ts": str(ts)}
    try:
        await end.do("send", session=name, subject=subject, data=data, **stamp)
    except TargetRefused:
        if not stamp:
            raise
        await end.do("send", session=name, subject=subject, data=data)


def payload(n: int) -> bytes:
    """Nothing behind something, every byte in every order, and text."""
    size = [5, 0, 256, 1, 4096, 13][n % 6]
    return EVERY_BYTE[n * 37 % 256 :][:size] if n % 3 or not n else TEXTS[n // 3 % len(TEXTS)]


def note(stage: Stage, talk: Talk, whole: bool) -> None:
    data = {"who": talk.end.who, "here": talk.here, "there": talk.there, "whole": whole}
    stage.history.add(talk.end.who, "note", "talked", data)


def told_of_hearing(stage: Stage) -> None:
    """What the promises have to know of this bench."""
    acceptor = stage.bench.hosts["acceptor"]
    known_as = stage.bench.server("acceptor").details.get("peer_id") or acceptor.config["peer_id"]
    stage.history.add("acceptor", "note", "acceptor is", {"peer_id": known_as})
    stage.history.add("acceptor", "note", "announces", acceptor.config)
    stage.history.add("harness", "note", "hears", {k: sorted(v) for k, v in stage.kept["hears"].items()})


def complete(stage: Stage, talk: Talk) -> bool:
    """Has everything arrived, with its receipts where they can be heard? A peer may acknowledge more than Messages."""
    history, hears_what = stage.history, stage.kept["hears"]
    for who, its, other, theirs, label in (
        (talk.end.who, talk.here, "acceptor", talk.there, "dialler"),
        ("acceptor", talk.there, talk.end.who, talk.here, "acceptor"),
    ):
        ids = [str(a.data.get("id")) for _, q, _, a in history.answers(who, "send") if q.data["session"] == its]
        arrived = sum(m.data.get("session") == theirs for m in history.told(other, "message"))
        acked = {str(m.data.get("id")) for m in history.told(who, "acked") if m.data.get("session") == its}
        if arrived < len(ids) or ("acked" in hears_what[label] and not acked.issuperset(ids)):
            return False
    return True


async def exchange(stage: Stage, count: int = 8, sizes: Sequence[int] = ()) -> None:
    """Until a session was whole: under faults one may be cut, and the next one owes nothing to it."""
    told_of_hearing(stage)
    for number in range(MOST_DIALS):
        talk = await session(stage, number)
        await stage.step()
        if talk and await talked(stage, talk, number, count, sizes):
            return


async def at_the_limit(stage: Stage) -> None:
    await exchange(stage, sizes=(LIMIT,))


async def at_buffers(stage: Stage) -> None:
    await exchange(stage, sizes=SIZES)


async def many(stage: Stage) -> None:
    await exchange(stage, MANY)


async def without_receipts(stage: Stage) -> None:
    """What the acceptor sends to a peer that was not told to acknowledge; a whole talk behind it is the fence."""
    told_of_hearing(stage)
    talk = await session(stage, 0, receipt=False)
    assert talk, "without faults there is a session"
    host = stage.bench.hosts["acceptor"]
    for n in range(3):
        await sent(host, talk.there, f"app/{stage.name}/{n}", payload(n).hex(), None)
    await stage.until(lambda: len(heard(stage.history, talk.end.who, talk.here)) >= 3)
    await talk.end.do("send", session=talk.here, subject=f"app/{stage.name}/fence", data="")
    await stage.until(lambda: bool(heard(stage.history, "acceptor", talk.there)))


async def pings(stage: Stage) -> None:
    told_of_hearing(stage)
    talk = await whole_session(stage)
    for _ in range(3):
        await talk.end.do("ping", session=talk.here)
        await stage.bench.hosts["acceptor"].do("ping", session=talk.there)
    hears_what = stage.kept["hears"]
    pongs = {
        who: 3 * ("pong" in hears_what[label]) for who, label in ((talk.end.who, "dialler"), ("acceptor", "acceptor"))
    }
    await stage.until(lambda: all(len(told(stage.history, who, "pong", talk)) >= n for who, n in pongs.items()))
    await talked(stage, talk, 0, 1)


def told(history: History, who: str, what: str, talk: Talk) -> list[Moment]:
    name = talk.there if who == "acceptor" else talk.here
    return [m for m in history.told(who, what) if m.data.get("session") == name]


async def whole_session(stage: Stage) -> Talk:
    talk = await session(stage, 0)
    assert talk, "without faults there is a session"
    return talk


async def ending(stage: Stage, closer: str) -> None:
    """One side closes behind its last message, and a new session knows nothing of the old one."""
    told_of_hearing(stage)
    talk = await whole_session(stage)
    await talked(stage, talk, 0, 2)
    end, name = (talk.end, talk.here) if closer == "dialler" else (stage.bench.hosts["acceptor"], talk.there)
    await end.do("send", session=name, subject="app/last", data="ff")
    await end.do("close", session=name, reason=REASON)
    hears_what = stage.kept["hears"]
    owed = [
        who for who, label in ((talk.end.who, "dialler"), ("acceptor", "acceptor")) if "closed" in hears_what[label]
    ]
    await stage.until(lambda: all(told(stage.history, who, "closed", talk) for who in owed))
    names = {"dialler": talk.here, "dialler's": talk.end.who, "acceptor": talk.there, "acceptor's": "acceptor"}
    stage.history.add(talk.end.who, "note", "over", {**names, "by": closer, "reason": REASON})
    again = await session(stage, 1)
    assert again, "without faults there is a session"
    await talked(stage, again, 1, 2)


async def dialler_closes(stage: Stage) -> None:
    await ending(stage, "dialler")


async def acceptor_closes(stage: Stage) -> None:
    await ending(stage, "acceptor")


async def two_at_once(stage: Stage) -> None:
    """Two sessions of the same two peers: what is said in one is heard in it alone."""
    told_of_hearing(stage)
    found = [await session(stage, number) for number in (0, 1)]
    both = [talk for talk in found if talk]
    await asyncio.gather(*(talked(stage, talk, number, 4) for number, talk in enumerate(both)))


PROMISES = (both_ways, timed, receipts_are_true, nothing_is_wrong, known_by_their_names)
PINGED = (pings_are_answered, *PROMISES)
ENDING = (both_are_told, both_ways, nothing_is_wrong)
SILENT = {"dialler": ("receipt",)}
CLAUSES = ("SBP-SES-10", "SBP-MSG-04", "SBP-ACK-03")

PAIRINGS = (
    Pairing(
        "sbp",
        "dialler-acceptor",
        {
            "acceptor": Seat(SERVER, "sbp/peer", ("accept", "host|host-accept")),
            "dialler": Seat(CLIENT, "sbp/peer", ("connect", "host|host-connect")),
        },
        (
            Scenario("exchange", exchange, PROMISES, CLAUSES, {"size": "small"}),
            Scenario("exchange", at_buffers, PROMISES, CLAUSES, {"size": "buffers"}, profiles=("slow",)),
            Scenario("exchange", at_the_limit, PROMISES, CLAUSES, {"size": "limit"}, profiles=("slow",)),
            Scenario("exchange", many, PROMISES, CLAUSES, {"size": "many"}, profiles=("slow",)),
            Scenario(
                "no-receipts",
                without_receipts,
                (nobody_acks_unasked,),
                ("SBP-SES-08",),
                needs=SILENT,
                profiles=("slow",),
            ),
            Scenario("pings", pings, PINGED, (*CLAUSES, "SBP-SES-06"), profiles=("slow",)),
            *(
                Scenario("ending", play, ENDING, (*CLAUSES, "SBP-SES-09"), {"by": by}, profiles=("slow",))
                for by, play in (("dialler", dialler_closes), ("acceptor", acceptor_closes))
            ),
            Scenario("two-at-once", two_at_once, PROMISES, (*CLAUSES, "SBP-SES-12"), profiles=("slow",)),
        ),
        (*STREAMS, *PAUSES),
        open_peer,
        ("session",),
        read_along,
        shown,
    ),
)
