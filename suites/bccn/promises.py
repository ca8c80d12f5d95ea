"""What nodes of BCCN promise one another, as functions of the history.

Exactly the listeners that match hear a message, once, byte for byte, in order, under the sender's name; a signed one is heard by
who has the key. Under datagram faults nothing is heard twice or late, and with a key nothing altered is ever heard.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.matrix.faults import TWICE
from harness.matrix.history import Breach, History, Moment, disordered, lost, repeated, strange
from suites.common import shim

# -- reading the history -------------------------------------------------------------------------------------------------


def said(history: History, who: str, chan: str = "") -> list[str]:
    return [q.data["payload"] for _, q, _, _ in history.answers(who, "send") if not chan or q.data["chan"] == chan]


def heard(history: History, who: str) -> list[str]:
    """What was delivered to that host, its own echoes left out."""
    own = f"/{who}"
    return [
        shim.member(m.data, "payload", shim.raw, "delivered").hex()
        for m in history.told(who, "delivered")
        if not shim.member(m.data, "src", shim.text, "delivered").endswith(own)
    ]


def names_of(history: History) -> dict[str, str]:
    """The name that each end was started with; who has none says "?"."""
    return {m.who: m.data.get("name") or "?" for m in history.moments if m.kind == "asked" and m.what == "start"}


def under_its_name(history: History, profile: str) -> Iterator[Breach]:
    """A host is told who said a thing on which channel, in the form that the channel has."""
    names = names_of(history)
    for speaker in [who for who in names if who.startswith("speaker")]:
        sent = {q.data["payload"]: q.data["chan"] for _, q, _, _ in history.answers(speaker, "send")}
        for listener in [who for who in names if not who.startswith("speaker")]:
            for moment in [*history.told(listener, "delivered"), *history.told(listener, "called")]:
                payload = shim.member(moment.data, "payload", shim.raw, "delivered").hex()
                if payload in sent:
                    yield from as_it_was(moment, names[speaker], sent[payload])


def as_it_was(moment: Moment, src: str, chan: str) -> Iterator[Breach]:
    told = moment.data
    if told.get("src") != src:
        yield Breach("BCCN-DLV-04", f"a message of {src}", str(told.get("src")))
    if str(told.get("chan")).lstrip("!") != chan.lstrip("!"):
        yield Breach("BCCN-API-14", f"the channel {chan}", str(told.get("chan")))
    mode = "plain" if not chan.startswith("!") else "all" if chan == "!" else "directed"
    if told.get("mode", mode) != mode:
        yield Breach("BCCN-DLV-05", f"a message that is {mode}", str(told["mode"]))


def counted(history: History, profile: str) -> Iterator[Breach]:
    """Where numbers are told they grow by one, from the one that was set."""
    first = next(int(m.data["seq"]) for m in history.moments if m.kind == "asked" and m.what == "set_seq")
    for listener in ("listener", "bystander"):
        told = [int(str(m.data["seq"])) for m in history.told(listener, "delivered") if m.data.get("seq") is not None]
        if told and told != list(range(first, first + len(told))):
            yield Breach("BCCN-SEQ-04", f"numbers from {first} on, each one more", str(told)[:160])


def disturbed(history: History, *whats: str) -> list[str]:
    """The datagrams to which that was done, in hex."""
    return [str(m.data["data"]) for _, m in history.faults(*whats)]


def messages(history: History, who: str) -> list[str]:
    """What that host heard of this matrix, without what nobody asked a node to say: a heartbeat of its own."""
    return [payload for payload in heard(history, who) if not is_fence(payload)]


def is_fence(payload: str) -> bool:
    return bytes.fromhex(payload).startswith(b"fence ")


# -- promises ------------------------------------------------------------------------------------------------------------


def carried(history: History, sent: list[str]) -> list[str]:
    """Of what was said, what the air neither lost nor altered nor made late."""
    gone = disturbed(history, "lose", "flip", "swap")
    return [payload for payload in sent if not any(payload in datagram for datagram in gone)]


def everybody(history: History, profile: str) -> Iterator[Breach]:
    for who in ("listener", "bystander"):
        yield from as_said(history, profile, who, said(history, "speaker"))


def as_said(history: History, profile: str, who: str, sent: list[str]) -> Iterator[Breach]:
    """Once, byte for byte, in order; under faults what the air carried."""
    sent = [payload for payload in sent if not is_fence(payload)]
    got = messages(history, who)
    yield from lost("BCCN-DLV-01", carried(history, sent), got)
    yield from strange("BCCN-DLV-01", sent, got)
    yield from repeated("BCCN-DUP-13" if profile == TWICE else "BCCN-DUP-02", got)
    yield from disordered("BCCN-DUP-02", sent, got)


def only_who_is_meant(history: History, profile: str) -> Iterator[Breach]:
    names = {m.who: m.data["name"] for m in history.moments if m.kind == "asked" and m.what == "start"}
    for who, other in (("listener", "bystander"), ("bystander", "listener")):
        mine = said(history, "speaker", f"!{names[who]}")
        yield from lost("BCCN-DLV-06", carried(history, mine), messages(history, who))
        if foreign := set(said(history, "speaker", f"!{names[other]}")) & set(messages(history, who)):
            yield Breach("BCCN-DLV-06", f"nothing for {names[other]} at {who}", next(iter(foreign))[:80])
        yield from repeated("BCCN-DUP-02", messages(history, who))
        yield from strange("BCCN-DLV-06", said(history, "speaker"), messages(history, who))


def kin_are_apart(history: History, profile: str) -> Iterator[Breach]:
    """Names that are nearly alike are different senders, each with numbers of its own."""
    speakers = [who for who in history.seats if who.startswith("speaker")]
    for who in ("listener", "bystander"):
        sent = [payload for speaker in speakers for payload in said(history, speaker) if not is_fence(payload)]
        yield from lost("BCCN-DUP-06", sent, messages(history, who))
        yield from repeated("BCCN-DUP-02", messages(history, who))


def heartbeats_are_heard(history: History, profile: str) -> Iterator[Breach]:
    """At least three, on the channel of who beats."""
    name = names_of(history)["speaker"]
    beats = [m for m in beats_of(history, "bystander")]
    if len(beats) < 3:
        yield Breach("BCCN-CNV-09", "heartbeats, one in each interval", f"{len(beats)} of them")
    if foreign := [m for m in beats if name not in str(m.data.get("chan"))]:
        yield Breach("BCCN-CNV-08", f"a channel with {name} in it", str(foreign[0].data.get("chan")))


def beats_of(history: History, who: str) -> list[Moment]:
    """What was heard of the speaker that its host did not say."""
    sent, name = set(said(history, "speaker")), names_of(history)["speaker"]
    told = [m for m in history.told(who, "delivered") if m.data.get("src") == name]
    return [m for m in told if shim.member(m.data, "payload", shim.raw, "delivered").hex() not in sent]


def as_listened(history: History, profile: str) -> Iterator[Breach]:
    """Each listener is called once for what its pattern matches and for what goes to all, and for nothing else.

    Which channels a pattern matches is a convention, and at most warned of; that an exact one is heard as it was said is none.
    """
    patterns = [q.data["pattern"] for _, q, _, _ in history.answers("listener", "listen")]
    exact = [pattern for pattern in patterns if not set(pattern) & set("*>")]
    channels = {q.data["payload"]: q.data["chan"] for _, q, _, _ in history.answers("speaker", "send")}
    told = [
        (str(m.data.get("pattern")), shim.member(m.data, "payload", shim.raw, "called").hex())
        for m in history.told("listener", "called")
    ]
    owed = [(p, payload) for payload, chan in channels.items() for p in patterns if chan == "!" or is_for(p, chan)]
    called = [" ".join(one) for one in told]
    yield from lost(
        "BCCN-DLV-01", [" ".join(one) for one in owed if one[0] in exact or channels[one[1]] == "!"], called
    )
    yield from strange("BCCN-DLV-01", channels, [payload for _, payload in told])
    yield from repeated("BCCN-DUP-02", called)
    if others := [
        payload for _, payload in told if len(channel := channels.get(payload, "")) > 1 and channel[0] == "!"
    ]:
        yield Breach("BCCN-DLV-06", "nothing that is directed at somebody else", others[0][:120])
    yield from lost("BCCN-CNV-03", [" ".join(one) for one in owed], called)
    yield from strange("BCCN-CNV-02", [" ".join(one) for one in owed], called)


def is_for(pattern: str, chan: str) -> bool:
    """Token by token: a star is one of them, a last `>` the rest (BCCN-CNV-02..04)."""
    wanted, given = pattern.split("/"), chan.split("/")
    if wanted[-1] == ">":
        wanted, given = wanted[:-1], given[: len(wanted) - 1] if len(given) >= len(wanted) else []
    return len(wanted) == len(given) and all(one in ("*", two) for one, two in zip(wanted, given, strict=True))


def only_who_has_the_key(history: History, profile: str) -> Iterator[Breach]:
    yield from as_said(history, profile, "listener", said(history, "speaker"))
    for who in ("listener", "stranger"):
        if forged := set(said(history, "forger" if who == "listener" else "speaker")) & set(heard(history, who)):
            yield Breach("BCCN-INT-09", "nothing under another key is heard", next(iter(forged))[:80])


def heard_again(history: History, profile: str) -> Iterator[Breach]:
    sent = said(history, "speaker") + said(history, "speaker again")
    for who in ("listener", "bystander"):
        got = heard(history, who)
        yield from lost("BCCN-DUP-10", sent, got)
        yield from repeated("BCCN-DUP-02", got)


def by_its_new_name(history: History, profile: str) -> Iterator[Breach]:
    """The new name, the family and all are heard; the old name and another family are not."""
    by_first = {
        what: text for text in said(history, "speaker") for what in [bytes.fromhex(text).split(b" 0 ")[0].strip()]
    }
    got = messages(history, "listener")
    yield from lost("BCCN-DIR-17", [by_first[what] for what in (b"new", b"family", b"all")], got)
    for what, clause in ((b"old", "BCCN-DIR-17"), (b"no family", "BCCN-DIR-10"), (b"nobody", "BCCN-API-09")):
        if by_first[what] in got:
            yield Breach(clause, f"nothing that is directed at {what.decode()}", "it was heard")


def undisturbed(history: History, profile: str) -> Iterator[Breach]:
    """Heartbeats are heard or not: what is said beside them is."""
    sent = [payload for payload in said(history, "speaker") if not is_fence(payload)]
    for who in ("listener", "bystander"):
        got = [payload for payload in messages(history, who) if payload in sent]
        yield from lost("BCCN-DLV-01", sent, got)
        yield from repeated("BCCN-DUP-02", got)
