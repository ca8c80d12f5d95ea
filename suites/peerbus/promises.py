"""What clients and broker of peerbus promise together, as functions of the history.

A message that was on the wire before a fenced moment, to a name that was known, surfaces exactly once, with the value that its
sender gave it, in its sender's order. The fence is a `peers` that was answered on the same connection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.matrix.faults import KILL_CLIENT, KILL_SERVER, WHOLE
from harness.matrix.history import Breach, History, disordered, lost, repeated, strange
from suites.common import shim

SAYING = ("send", "broadcast")


# -- reading the history -------------------------------------------------------------------------------------------------


def value(body: str) -> str:
    """One spelling for each JSON value: members in their order, numbers as they stand, text however it was escaped."""
    try:
        return json.dumps(json.loads(body, parse_int=str, parse_float=str), ensure_ascii=False)
    except ValueError:
        return f"no JSON: {body}"


def surfaced(history: History, *who: str) -> list[str]:
    """The bodies that the hosts of these ends were told, in order."""
    return [
        value(shim.member(m.data, "body", shim.text, "message"))
        for m in history.moments
        if m.who in who and m.kind == "told" and m.what == "message"
    ]


def said(history: History, who: str, *ops: str) -> list[tuple[int, str, str]]:
    """What that end's host asked for and got an id for, in order: place, recipient, body."""
    answered = [(place, q) for op in ops or ("send",) for place, q, _, _ in history.answers(who, op)]
    return [
        (place, q.data.get("to", "*"), value(q.data["body"])) for place, q in sorted(answered, key=lambda one: one[0])
    ]


def bodies(history: History, who: str, *ops: str) -> list[str]:
    return [body for _, _, body in said(history, who, *ops)]


def fenced(history: History, who: str, *ops: str) -> list[str]:
    """Of it, what stands before a `peers` that was answered on the same connection."""
    breaks = [n for n, m in enumerate(history.moments) if is_interruption(m, who)]
    fences = [(asked, answered) for asked, _, answered, _ in history.answers(who, "peers")]
    return [
        body
        for place, _, body in said(history, who, *ops)
        if any(asked > place and not any(place < n < answered for n in breaks) for asked, answered in fences)
    ]


def is_interruption(moment: Any, who: str) -> bool:
    """Was the connection of that end lost, or its client, or its broker?"""
    if moment.kind == "told":
        return moment.who == who and moment.what == "status" and not moment.data.get("connected")
    return moment.kind == "fault" and (
        moment.what in ("killed", "runs again")
        or (moment.who == who and moment.what in ("cut", "gone", "nobody there"))
    )


# -- promises ------------------------------------------------------------------------------------------------------------


def once_in_order(history: History, profile: str) -> Iterator[Breach]:
    """From the sender to the receiver."""
    sent, heard = bodies(history, "sender", *SAYING), surfaced(history, "receiver", "receiver again")
    owed = fenced(history, "sender", *owed_under(profile))
    yield from lost("PB-3-23" if profile in WHOLE else "PB-5-02", owed, heard)
    yield from strange("PB-3-11", sent, heard)
    if profile != KILL_CLIENT:  # its memory of seen ids may be gone
        yield from repeated("PB-5-07" if profile in WHOLE else "PB-5-10", heard)
        yield from disordered("PB-5-12" if profile in WHOLE else "PB-5-14", sent, heard)


def owed_under(profile: str) -> tuple[str, ...]:
    """A broadcast is for who is connected at the time: where connections are lost, nobody can say who that was."""
    return SAYING if profile in WHOLE else ("send",)


def under_its_name(history: History, profile: str) -> Iterator[Breach]:
    """A host is told who sent a message, and, if at all, to whom and of which kind."""
    names = {
        m.who: m.data["name"] for m in history.moments if m.kind == "asked" and m.what == "start" and "name" in m.data
    }
    everybody = set(bodies(history, "sender", "broadcast"))
    for moment in (m for who in ("receiver", "receiver again") for m in history.told(who, "message")):
        if (who := shim.member(moment.data, "from", shim.text, "message")) != names["sender"]:
            yield Breach("PB-3-21", f"a message from {names['sender']}", f"from {who}")
            return
        is_broadcast = value(str(moment.data["body"])) in everybody
        clause, to, kind = ("PB-3-16", "*", "broadcast") if is_broadcast else ("PB-3-15", names["receiver"], "msg")
        if moment.data.get("kind", kind) != kind:
            yield Breach(clause, f"a message of kind {kind}", f"of kind {moment.data['kind']}")
            return
        if moment.data.get("to", to) != to:
            yield Breach("PB-2.4-17", f"a message to {to}", f"to {moment.data['to']}")
            return


def written_to_itself(history: History, profile: str) -> Iterator[Breach]:
    """What was sent to a name arrives at it, whoever has it."""
    names = {m.who: m.data["name"] for m in history.moments if m.kind == "asked" and m.what == "start"}
    for who in ("sender", "receiver"):
        sent, heard = [body for _, to, body in said(history, "sender") if to == names[who]], surfaced(history, who)
        yield from lost("PB-3-23", sent, heard)
        yield from repeated("PB-5-07", heard)


def flushed_in_order(history: History, profile: str) -> Iterator[Breach]:
    sent, heard = bodies(history, "sender"), surfaced(history, "receiver again")
    yield from lost("PB-3-24" if profile != KILL_SERVER else "PB-5-01", fenced(history, "sender"), heard)
    yield from strange("PB-3-11", sent, heard)
    if profile != KILL_CLIENT:
        yield from repeated("PB-5-07", heard)
        yield from disordered("PB-5-13", sent, heard)


def to_everybody(history: History, profile: str) -> Iterator[Breach]:
    """Each broadcast once at everyone who was there, and at nobody who came later."""
    said = bodies(history, "sender", "broadcast")
    for who in [who for who in history.seats if who in ("receiver", "bystander") or who.startswith("one of many")]:
        heard = [body for body in surfaced(history, who) if body in said]
        yield from lost("PB-3-27", fenced(history, "sender", "broadcast"), heard)
        if profile != KILL_CLIENT:
            yield from repeated("PB-5-07", heard)
    if late := [body for body in surfaced(history, "latecomer") if body in said]:
        yield Breach("PB-3-33", "no broadcast from before its time", f"{len(late)} at the latecomer")
    if own := [body for body in surfaced(history, "sender") if body in said]:
        yield Breach("PB-3-28", "no broadcast at its own sender", own[0][:120])


def comes_again(history: History, profile: str) -> Iterator[Breach]:
    """What a host had not consumed comes to the next client of that name, in order; what it had consumed does not.

    Under a kill, an ack may cross what comes again.
    """
    consumed = {m.data["body"] for m in history.moments if m.kind == "note" and m.what == "consumed"}
    said = fenced(history, "sender", *SAYING)
    again, third = surfaced(history, "receiver again"), surfaced(history, "third life")
    yield from lost("PB-5-24", [body for body in said if body not in consumed], again)
    yield from disordered("PB-5-13", said, again)
    if profile in WHOLE and (back := consumed.intersection(again)):  # its ack is certain
        yield Breach("PB-2.2-04", "nothing that was consumed comes again", next(iter(back))[:120])
    if late := [body for body in third if body in said]:
        yield Breach("PB-2.2-04", "nothing that was consumed comes again", f"{len(late)} of {len(said)} came again")


def held_over_cuts(history: History, profile: str) -> Iterator[Breach]:
    """What a host has in its hands surfaces once, over all its connections, and stays unacked: the next client has it all."""
    sent, first, again = bodies(history, "sender"), surfaced(history, "receiver"), surfaced(history, "receiver again")
    owed = fenced(history, "sender")
    for heard, clause in ((first, "PB-5-02"), (again, "PB-5-24")):
        yield from lost(clause, owed, heard)
        yield from strange("PB-3-11", sent, heard)
        yield from repeated("PB-5-10", heard)
        yield from disordered("PB-5-14", sent, heard)


def only_who_was_there(history: History, profile: str) -> Iterator[Breach]:
    """A broadcast is for who is connected at the time, and a message for a name that is known."""
    alone = next(m.data["until"] for m in history.moments if m.kind == "note" and m.what == "alone")
    missed = [body for place, to, body in said(history, "sender", *SAYING) if to == "*" or place < alone]
    present = [body for place, to, body in said(history, "sender", "broadcast") if place > alone]
    heard = surfaced(history, "bystander")
    yield from lost("PB-3-27", present, heard)
    for who, foreign in (
        ("bystander", [b for b in missed if b not in present]),
        ("receiver again", missed),
        ("latecomer", missed),
    ):
        if late := [body for body in surfaced(history, who) if body in foreign]:
            clause = "PB-3-33" if late[0] in bodies(history, "sender", "broadcast") else "PB-3-25"
            yield Breach(clause, f"nothing at {who} from before its time", late[0][:120])


def each_its_copy(history: History, profile: str) -> Iterator[Breach]:
    owed = fenced(history, "sender", "broadcast")
    yield from lost("PB-5-24", owed, surfaced(history, "receiver again"))
    again = "bystander again" if "bystander again" in history.seats else "bystander"
    yield from lost("PB-3-27" if again == "bystander" else "PB-3-29", owed, surfaced(history, again))
    yield from repeated("PB-5-07", surfaced(history, "bystander"))
    if late := [body for body in surfaced(history, "latecomer") if body in owed]:
        yield Breach("PB-3-33", "no broadcast from before its time", late[0][:120])


def consumed_for_good(history: History, profile: str) -> Iterator[Breach]:
    done = next((m.data["bodies"] for m in history.moments if m.kind == "note" and m.what == "all consumed"), ())
    if back := [body for body in surfaced(history, "receiver again") if body in done]:
        yield Breach("PB-2.2-04", "nothing that was consumed comes again", f"{len(back)} came: {back[0][:120]}")
    yield from lost("PB-5-24", fenced(history, "sender"), surfaced(history, "receiver", "receiver again"))


def nothing_forged(history: History, profile: str) -> Iterator[Breach]:
    forged, heard = bodies(history, "forger", *SAYING), surfaced(history, "receiver")
    if taken := [body for body in heard if body in forged]:
        yield Breach("PB-4-18", "nothing signed with another secret surfaces", taken[0][:120])
    yield from lost("PB-3-23", fenced(history, "sender"), heard)


def taken_over(history: History, profile: str) -> Iterator[Breach]:
    """What is sent once the second client has the name arrives at it."""
    yield from lost("PB-2.1-18", fenced(history, "sender"), surfaced(history, "receiver again"))
    yield from repeated("PB-5-07", surfaced(history, "receiver again"))


def handed_over(history: History, profile: str) -> Iterator[Breach]:
    """What the first client's host had in its hands, and never consumed, comes to the second with all that is sent later."""
    sent, heard = bodies(history, "sender"), surfaced(history, "receiver again")
    yield from lost("PB-2.1-19", fenced(history, "sender"), heard)
    yield from strange("PB-3-11", sent, heard)
    yield from repeated("PB-5-07", heard)
    yield from disordered("PB-5-13", sent, heard)


def the_holder_keeps_it(history: History, profile: str) -> Iterator[Breach]:
    """Who has another token does not get the name, and its holder notices nothing."""
    if any(m.data.get("connected") for m in history.told("intruder", "status")):
        yield Breach("PB-2.1-20", "a client with another token is turned away", "it was told that it is connected")
    if stolen := surfaced(history, "intruder"):
        yield Breach("PB-2.1-21", "nothing of the holder's at an intruder", stolen[0][:120])
    yield from once_in_order(history, profile)


def they_come_back(history: History, profile: str) -> Iterator[Breach]:
    """To a broker that said goodbye and is there again."""
    for who in next(m.data["away"] for m in history.moments if m.what == "another broker"):
        yield Breach("PB-5-21", f"{who} dials the broker that came in place of its own", "it does not")
    yield from once_in_order(history, profile)


def each_sender_in_order(history: History, profile: str) -> Iterator[Breach]:
    """Order is each sender's own; with several of them none loses anything."""
    for who in (who for who in history.seats if "sender" in who):
        sent = bodies(history, who)
        heard = [body for body in surfaced(history, "receiver", "receiver again") if body in sent]
        yield from lost("PB-3-24", fenced(history, who), heard)
        yield from repeated("PB-5-07", heard)
        yield from disordered("PB-5-13", sent, heard)


def lists_are_true(history: History, profile: str) -> Iterator[Breach]:
    for moment in history.moments:
        if moment.kind == "note" and moment.what == "list is wrong":
            yield Breach(str(moment.data["clause"]), str(moment.data["expected"]), str(moment.data["observed"]))
