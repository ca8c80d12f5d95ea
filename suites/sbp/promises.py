"""What two peers of SBP promise one another, as functions of the history of both hosts.

Within a session every Message reaches the other host once, in order, byte for byte, with its timestamp; receipts name the
Messages that were received; a Ping is answered; a reason to close is told. What a host need not be told is asked only of ends
whose hosts are.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.matrix.faults import WHOLE
from harness.matrix.history import Breach, History, Moment, disordered, lost, repeated, strange
from suites.common import shim
from suites.sbp.peer.events import read_event

A_DAY_S = 86_400.0
APPLICATION = 2000  # Errors from here on are the application's (SBP-SES-11)


# -- reading the history -------------------------------------------------------------------------------------------------


def spelled(subject: str, data: str) -> str:
    return f"{subject} {data}"


def said(history: History, who: str, name: Any) -> list[str]:
    """What that host sent in that session, in order."""
    return [
        spelled(question.data["subject"], question.data["data"])
        for _, question, _, _ in history.answers(who, "send")
        if question.data["session"] == name
    ]


def heard(history: History, who: str, name: Any) -> list[str]:
    return [text for text, _ in heard_at(history, who, name)]


def heard_at(history: History, who: str, name: Any) -> list[tuple[str, int | None]]:
    """What that host was told in that session, each with its timestamp."""
    return [
        (spelled(got["subject"], got["data"].hex()), got["ts"])
        for m in history.told(who, "message")
        if m.data.get("session") == name
        for _, got in [read_event("message", dict(m.data))]
    ]


def talks(history: History) -> list[tuple[str, Any, Any, bool]]:
    """Each session that was established at both ends: who dialled, both its names, was it whole?"""
    return [
        (str(m.data["who"]), m.data["here"], m.data["there"], bool(m.data["whole"]))
        for m in history.moments
        if m.kind == "note" and m.what == "talked"
    ]


# -- promises ------------------------------------------------------------------------------------------------------------


def both_ways(history: History, profile: str) -> Iterator[Breach]:
    """Once, in order, byte for byte, and in this session; all of it where the session was whole."""
    for who, here, there, whole in talks(history):
        for speaker, its, listener, theirs in ((who, here, "acceptor", there), ("acceptor", there, who, here)):
            sent, got = said(history, speaker, its), heard(history, listener, theirs)
            if whole:
                yield from lost("SBP-SES-10", sent, got)
            yield from strange("SBP-MSG-04", sent, got)
            yield from repeated("SBP-SES-10", got, sent)
            yield from disordered("SBP-SES-10", sent, got)


def timed(history: History, profile: str) -> Iterator[Breach]:
    """A timestamp that a host sets is told to the other host as it is, all 64 bits of it."""
    for who, here, there, _ in talks(history):
        for speaker, its, listener, theirs in ((who, here, "acceptor", there), ("acceptor", there, who, here)):
            stamps = {
                spelled(question.data["subject"], question.data["data"]): int(question.data["ts"])
                for _, question, _, _ in history.answers(speaker, "send")
                if question.data["session"] == its and "ts" in question.data
            }
            for text, ts in heard_at(history, listener, theirs):
                if ts != stamps.get(text, ts) and not is_its_own(ts):
                    yield Breach("SBP-TS-03", f"the timestamp {stamps[text]}", f"{ts}")
                    return


def is_its_own(ts: int | None) -> bool:
    """A peer may stamp what it sends by its own clock, whatever its host says: the text leaves timestamps to the sender."""
    return ts is not None and abs(ts / 1000 - time.time()) < A_DAY_S


def known_by_their_names(history: History, profile: str) -> Iterator[Breach]:
    """Each host is told the peer id that the other peer announces, and its hints."""
    for who in (who for who in history.seats if who.startswith("dialler")):
        for moment in history.told(who, "established"):
            if moment.data.get("peer_id") != acceptors_id(history):
                yield Breach("SBP-HSP-03", "the acceptor's peer id", str(moment.data.get("peer_id"))[:120])
            yield from announced(history, moment, "acceptor")
        for session in [there for name, _, there, _ in talks(history) if name == who]:
            for moment in (m for m in history.told("acceptor", "established") if m.data.get("session") == session):
                yield from announced(history, moment, who)


def announced(history: History, told: Moment, by: str) -> Iterator[Breach]:
    """The hints that this end was configured with, where it heeds them."""
    config = next((m.data for m in history.moments if m.who == by and m.what == "announces"), {})
    for name, clause in (("caps", "SBP-HSP-05"), ("metadata", "SBP-HSP-06")):
        if name in config and told.data.get(name) is not None and told.data[name] != config[name]:
            yield Breach(clause, f"{name} as {by} announces them", str(told.data[name])[:160])


def acceptors_id(history: History) -> Any:
    return next((m.data["peer_id"] for m in history.moments if m.what == "acceptor is"), None)


def receipts_are_true(history: History, profile: str) -> Iterator[Breach]:
    """Asked-for receipts name the Messages that were received, each once; every Message has an id of its own, in all sessions."""
    used: Counter[tuple[str, str]] = Counter()
    for who, here, there, whole in talks(history):
        for speaker, its, hears_acks in ((who, here, "dialler"), ("acceptor", there, "acceptor")):
            ids = [a.data.get("id") for _, q, _, a in history.answers(speaker, "send") if q.data["session"] == its]
            used.update((speaker.split()[0], str(id)) for id in ids)
            acked = [m.data.get("id") for m in history.told(speaker, "acked") if m.data.get("session") == its]
            if whole and expects(history, hears_acks, "acked") and (missing := [id for id in ids if id not in acked]):
                yield Breach("SBP-ACK-03", "an Ack of every Message", f"none of {missing[0]}")
            yield from repeated("SBP-ACK-03", [str(id) for id in acked])
    if again := [id for (_, id), times in used.items() if times > 1]:
        yield Breach("SBP-FID-09", "a fresh id in each frame", f"{again[0]} in several Messages")


def nobody_acks_unasked(history: History, profile: str) -> Iterator[Breach]:
    """A peer that was not told to acknowledge does not."""
    if unasked := history.told("acceptor", "acked"):
        yield Breach("SBP-SES-08", "no Ack of a peer without receipts", f"one of {unasked[0].data.get('id')}")


def pings_are_answered(history: History, profile: str) -> Iterator[Breach]:
    for who, here, there, whole in talks(history):
        for speaker, its, label in ((who, here, "dialler"), ("acceptor", there, "acceptor")):
            pings = [q for _, q, _, _ in history.answers(speaker, "ping") if q.data["session"] == its]
            pongs = [m for m in history.told(speaker, "pong") if m.data.get("session") == its]
            if whole and expects(history, label, "pong") and len(pongs) < len(pings):  # a peer may ping by itself
                yield Breach("SBP-SES-06", f"{len(pings)} Pongs", str(len(pongs)))


def both_are_told(history: History, profile: str) -> Iterator[Breach]:
    """A session that has ended has ended at both ends."""
    for moment in (m for m in history.moments if m.what == "over"):
        for label in ("dialler", "acceptor"):
            who, name = str(moment.data[f"{label}'s"]), moment.data[label]
            told = [m for m in history.told(who, "closed") if m.data.get("session") == name]
            if expects(history, label, "closed") and not told:
                yield Breach("SBP-SES-09", f"the host of {who} is told of the end", "nothing")
            reasons = {text for m in told for _, got in [read_event("closed", dict(m.data))] if (text := got["reason"])}
            heard_why = told and label != moment.data["by"] and expects(history, label, "reason")
            if heard_why and moment.data["reason"] not in reasons:
                yield Breach("SBP-CLOSE-02", f"the reason {moment.data['reason']!r}", str(sorted(reasons))[:120])


def nothing_is_wrong(history: History, profile: str) -> Iterator[Breach]:
    """Two peers that conform have no Error for one another."""
    for moment in history.moments:
        told = moment.kind == "told" and moment.what == "error" and profile in WHOLE
        if told and shim.member(moment.data, "code", shim.whole, "error") < APPLICATION:
            yield Breach("SBP-SES-10", "no Error between peers that conform", str(dict(moment.data))[:160])


def expects(history: History, label: str, what: str) -> bool:
    """Can the host of that party hear such a thing?"""
    return any(m.what == "hears" and what in m.data.get(label, ()) for m in history.moments)
