"""Pairs of TrueSeal: a make of client with a make of relay, and clients of two makes on the reference's relay.

What is promised: every blob that a client has taken is delivered to its recipient and to nobody else, byte for byte, and surfaces
once. An unanswered push is pushed again, an Acked one is never lost, and what was received survives its client.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from harness.catalogue.addresses import endpoint
from harness.errors import TargetRefused
from harness.matrix.faults import KILL_CLIENT, KILL_SERVER, KILLS, NONE, PAUSES, STREAMS, WHOLE
from harness.matrix.history import Breach, History, lost, repeated, strange
from harness.matrix.pairing import CLIENT, SERVER, THIRD, Pairing, Scenario, Seat
from harness.matrix.parties import End
from harness.matrix.play import Bench, Stage
from reference_impl.trueseal.noise import public_key
from suites.common import shim
from suites.trueseal import wire

RELAY_KEY = bytes(range(1, 33))
RETRY_MS = 20
SLOWEST_REDIAL_S = 7.5
"""A client whose waits cannot be set may take that long before it dials again."""

EMPTY = 2
"""Which envelope has no bytes. It is one: equal ones may be taken for the same."""

MANY = 55
BURST, BURST_SIZE, LIVES = 40, 5_000, 4
"""More than a client has read of by the time that its host is told of the first, and how often that is tried."""

STAYS_S = (0.0, 0.02, 0.1, 0.3)
VAIN = 4
"""How often a pusher tries in vain while there is no relay."""

STRICT = 2_000
"""What an operator may set as the limit, in bytes."""

MOST_ASKED = 200
LARGEST_FRAME = 65_482
"""Bytes of the largest envelope of a client or relay without large_frames."""


async def open_relay(bench: Bench) -> None:
    folder = str(bench.parties["relay"].target.new_folder("relay"))
    keys = {"private_key": RELAY_KEY.hex(), "public_key": public_key(RELAY_KEY).hex()}
    told = await bench.serve("relay", {**keys, "limit": wire.LIMIT, "state_dir": folder})
    bench.kept["relay_key"] = told.details.get("public_key") or keys["public_key"]


async def client(
    stage: Stage, seat: str, who: str = "", like: Mapping[str, Any] | None = None, beside: bool = False
) -> End:
    """A client with a key and a folder of its own, or with those of another; of the bench's relay, or of one beside it."""
    ports = {f"{port}_port": endpoint(await address(stage, seat, port, beside))[1] for port in ("push", "receive")}
    mine = like or {"private_key": wire.blob(32).hex(), "state_dir": stage.folder(seat)}
    config = {**ports, "relay_key": stage.kept["relay_key"]}
    config |= {key: mine[key] for key in ("private_key", "state_dir")}
    if "retry_ms" in stage.party(seat).capabilities:
        config["retry_ms"] = RETRY_MS
    return await stage.end(seat, config, who=who)


async def address(stage: Stage, seat: str, port: str, beside: bool) -> str:
    if beside:
        return f"127.0.0.1:{(await stage.bench.line(f'beside-{port}')).port}"
    return await stage.bench.way(f"{seat}-{port}", "relay", port)


def key_of(end: End) -> bytes:
    return public_key(bytes.fromhex(end.config["private_key"]))


async def push(
    stage: Stage, pusher: End, to: bytes, count: int = 4, size: int = 0, first: int = 0, own: bytes = b""
) -> None:
    """So many envelopes, each of another kind than the one before; behind the `first` that were pushed before."""
    for n in range(first, first + count):
        envelope = wire.envelope(sequence=n, recipient=to, size=size) if size else own or odd_envelope(n)
        await pusher.do("push", recipient=to.hex(), envelope=envelope.hex())


def odd_envelope(n: int) -> bytes:
    """Bytes that no relay and no client looks into: what they say of recipients and lengths is nothing to them."""
    own, stranger = secrets.token_bytes(8), secrets.token_bytes(32)
    kinds = (
        wire.envelope(sequence=n, recipient=stranger, size=1_024),
        wire.field(6, own) + wire.field(3, stranger) + wire.field(2, bytes(range(32))),
        b"" if n == EMPTY else own,
        own + b" a\r\nb\nc\rd\x1a \xc3\x28",
        bytes(70) + own + bytes(16),
        wire.envelope(sequence=n, recipient=stranger, size=[1_536, 4_096, 5_000, 65_482][n // 6 % 4]),
    )
    return kinds[n % len(kinds)]


async def arrived(stage: Stage, *who: str) -> None:
    owed = pushed(stage.history)
    await stage.until(lambda: set(owed) <= set(received(stage.history, *who)), redial_s(stage))


def redial_s(stage: Stage) -> float:
    return 0.0 if all("retry_ms" in end.capabilities for end in stage.ends) else SLOWEST_REDIAL_S


# -- reading the history -------------------------------------------------------------------------------------------------


def pushed(history: History, who: str = "pusher") -> list[str]:
    """What that client took: it is in its outbox, over restarts too."""
    return [question.data["envelope"] for _, question, _, _ in history.answers(who, "push")]


def pushed_to(history: History, who: str, by: str = "pusher") -> list[str]:
    """Of it, what is for that end."""
    keys = [m.data["private_key"] for m in history.moments if m.who == who and m.what == "start" and m.kind == "asked"]
    mine = {public_key(bytes.fromhex(key)).hex() for key in keys}
    return [q.data["envelope"] for _, q, _, _ in history.answers(by, "push") if q.data["recipient"] in mine]


def received(history: History, *who: str) -> list[str]:
    return [
        shim.member(m.data, "envelope", shim.raw, "received").hex()
        for m in history.moments
        if m.who in who and m.kind == "told" and m.what == "received"
    ]


def kept(history: History, who: str) -> list[str]:
    """What that client says it has received, at its last asking."""
    answers = [answer for _, _, _, answer in history.answers(who, "received")]
    return list(answers[-1].data.get("envelopes", ())) if answers else []


# -- promises ------------------------------------------------------------------------------------------------------------


def arrives_once(history: History, profile: str) -> Iterator[Breach]:
    heard = received(history, "receiver")
    if profile == KILL_CLIENT:  # what was persisted just before the end need not be told again
        yield from lost("TS-DLV-03", pushed(history), [*heard, *kept(history, "receiver")])
    else:
        yield from lost("TS-DLV-08" if profile not in WHOLE else "TS-ACK-01", pushed(history), heard)
        yield from repeated("TS-DLV-09", heard)
    yield from strange("TS-DLV-05", pushed(history), heard)


def nobody_else(history: History, profile: str) -> Iterator[Breach]:
    for who in ("pusher", "bystander", "receiver"):
        mine, heard = pushed_to(history, who), received(history, who)
        if foreign := [envelope for envelope in heard if envelope not in mine]:
            yield Breach("TS-PUSH-02", f"what was pushed to {who}, and nothing else", foreign[0][:120])
        yield from lost("TS-ACK-01", mine, heard)
        yield from repeated("TS-DLV-09", heard)


def told_truly(history: History, profile: str) -> Iterator[Breach]:
    """Nothing within the limits is rejected, and nothing is said of a blob twice."""
    told = [str(m.data.get("blob", m.data)) for m in history.told("pusher", "pushed")]
    if profile in WHOLE:
        yield from repeated("TS-ACK-06", told)
    if rejected := history.told("pusher", "rejected"):
        yield Breach("TS-ACK-01", "an Ack of what can be stored", str(dict(rejected[0].data)))


def known_to_the_next(history: History, profile: str) -> Iterator[Breach]:
    """What surfaced once is kept, and surfaces no more."""
    sent = pushed(history)
    first = [envelope for envelope in sent if envelope in received(history, "receiver")]
    yield from lost("TS-DLV-03", first, kept(history, "receiver again"))
    everything = received(history, "receiver", "receiver again", "third life")
    yield from lost("TS-DLV-08", sent, everything)
    yield from repeated("TS-DACK-04", everything)
    yield from strange("TS-DLV-05", sent, everything)


# -- scenarios -----------------------------------------------------------------------------------------------------------


async def live(stage: Stage, size: int = 0, count: int = 4) -> None:
    receiver = await client(stage, "receiver")
    pusher = await client(stage, "pusher")
    await push(stage, pusher, key_of(receiver), count, size)
    await stage.step()
    await push(stage, pusher, key_of(receiver), 2, first=count)
    await stage.step()
    await arrived(stage, "receiver")
    await receiver.do("received")


async def at_the_limit(stage: Stage) -> None:
    await live(stage, wire.LIMIT, 1)


async def in_one_frame(stage: Stage) -> None:
    await live(stage, LARGEST_FRAME, 2)


async def many(stage: Stage) -> None:
    await offline(stage, MANY)


async def offline(stage: Stage, count: int = 7) -> None:
    """The recipient comes only when all is pushed, and the pusher is gone by then, if it tells what was Acked."""
    absent = wire.blob(32)
    pusher = await client(stage, "pusher")
    await push(stage, pusher, public_key(absent), count)
    told = await stage.history.until(lambda: len(stage.history.told("pusher", "pushed")) >= count, 2.0)
    await stage.step()
    if told and stage.profile in WHOLE:
        await pusher.stop()
    receiver = await client(
        stage, "receiver", like={"private_key": absent.hex(), "state_dir": stage.folder("receiver")}
    )
    await arrived(stage, "receiver")
    await receiver.do("received")


async def elsewhere(stage: Stage) -> None:
    """Three devices, the pusher one of them: what is for one comes to none of the others."""
    devices = (
        await client(stage, "receiver"),
        await client(stage, "receiver", "bystander"),
        await client(stage, "pusher"),
    )
    for n in range(4):
        for device in devices:
            await push(stage, devices[-1], key_of(device), 1, first=n)
    history, everybody = stage.history, [device.who for device in devices]

    def has_all(who: str) -> bool:
        return set(pushed_to(history, who)) <= set(received(history, who))

    await stage.until(lambda: all(map(has_all, everybody)), redial_s(stage))  # to each the same empty envelope


async def to_itself(stage: Stage) -> None:
    """A device alone at its relay, which writes to itself."""
    device = await client(stage, "pusher")
    await is_up(stage, device)
    await push(stage, device, key_of(device), 3)
    await arrived(stage, "pusher")
    await push(stage, device, key_of(device), 2, first=3)
    await arrived(stage, "pusher")


async def redelivery(stage: Stage) -> None:
    """The same client in a second life: it knows what it had, and gets what came meanwhile."""
    receiver = await client(stage, "receiver")
    pusher = await client(stage, "pusher")
    await push(stage, pusher, key_of(receiver), 3)
    await arrived(stage, "receiver")
    await receiver.stop()
    await push(stage, pusher, key_of(receiver), 2, first=3)
    again = await client(stage, "receiver", "receiver again", like=receiver.config)
    await arrived(stage, "receiver", "receiver again")
    await again.do("received")
    await again.stop()
    await push(stage, pusher, key_of(receiver), 1, first=6)
    third = await client(stage, "receiver", "third life", like=receiver.config)
    await arrived(stage, "receiver", "receiver again", "third life")
    await third.do("received")


# -- lives: the same device, again and again -----------------------------------------------------------------------------


async def is_up(stage: Stage, end: End) -> None:
    """Until it has a Receive Session, if it can be asked: a Heartbeat is refused where there is none."""
    for _ in range(MOST_ASKED if "heartbeat" in end.capabilities else 0):
        try:
            await end.do("heartbeat")
            return
        except TargetRefused:
            await asyncio.sleep(0.01)  # there is no event for it: asked until it is true


async def marked(stage: Stage, pusher: End, life: End, count: int = 2) -> list[str]:
    """Marks one after the other, each once the one before has come: what waited had every occasion to come before them."""
    marks = []
    for _ in range(count):
        marks.append(wire.envelope(sequence=99).hex())
        await pusher.do("push", recipient=key_of(life).hex(), envelope=marks[-1])
        await stage.until(lambda: marks[-1] in received(stage.history, life.who))
    return marks


async def gone(stage: Stage) -> None:
    """A device that loses all but its key: what it has acked comes to none of its later lives, what it has not it would hear.

    Nobody tells when an ack was read. So each life stays a little longer than the one before, up to the patience.
    """
    like = {"private_key": wire.blob(32).hex(), "state_dir": stage.folder("receiver")}
    life, pusher = await client(stage, "receiver", "life 0", like=like), await client(stage, "pusher")
    neighbour = wire.blob(32)
    for n in range(4):  # the same to somebody who is away: one device's acks are nothing to another
        for key in (key_of(life), public_key(neighbour)):
            await push(stage, pusher, key, 1, first=n, own=bytes([n]) * 8)
    await stage.until(lambda: len(received(stage.history, "life 0")) >= 4)
    for n, stay in enumerate((*STAYS_S, stage.patience_s), 1):
        await asyncio.sleep(stay)  # see above
        await life.stop()
        life = await client(stage, "receiver", f"life {n}", like=like | {"state_dir": stage.folder("receiver")})
        marks = await marked(stage, pusher, life)
        if set(received(stage.history, life.who)) <= set(marks):
            break
    else:
        await life.stop()
        return
    stage.history.add("receiver", "note", "gone", {"older": [*pushed_to(stage.history, "life 0")[: -len(marks)]]})
    await life.stop()
    await stage.step()
    again = await client(stage, "receiver", "life after", like=like | {"state_dir": stage.folder("receiver")})
    await marked(stage, pusher, again)
    late = {"private_key": neighbour.hex(), "state_dir": stage.folder("receiver")}
    await client(stage, "receiver", "bystander", like=late)
    await stage.until(lambda: len(received(stage.history, "bystander")) >= 4)


def is_gone(history: History, profile: str) -> Iterator[Breach]:
    """In the end a life hears nothing of the lives before it, and from then on no life does, whatever the relay goes through."""
    notes = [m.data for m in history.moments if m.kind == "note" and m.what == "gone"]
    if not notes:
        last = max((who for who in history.seats if who.startswith("life")), key=lambda who: int(who.split()[-1]))
        first = pushed_to(history, "life 0")
        back = [one for one in received(history, last) if one in first]
        yield Breach("TS-DACK-04", "what was acked is gone", f"{len(back)} came again to {last}")
        return
    if back := [one for one in received(history, "life after") if one in notes[0]["older"]]:
        yield Breach("TS-DACK-04", "what was acked is gone", f"{len(back)} came again: {back[0][:120]}")
    yield from lost("TS-DACK-07", pushed_to(history, "bystander"), received(history, "bystander"))
    yield from repeated("TS-DLV-09", received(history, "bystander"))


async def interrupted(stage: Stage) -> None:
    """A host that is gone as soon as it is told of the first message, again and again: the rest comes to the next life."""
    absent = wire.blob(32)
    pusher = await client(stage, "pusher")
    await push(stage, pusher, public_key(absent), BURST, BURST_SIZE)
    await stage.history.until(lambda: len(stage.history.told("pusher", "pushed")) >= BURST, 2.0)
    like = {"private_key": absent.hex(), "state_dir": stage.folder("receiver")}
    for n in range(LIVES):
        await push(stage, pusher, public_key(absent), 1, BURST_SIZE)
        life = await client(stage, "receiver", f"life {n}", like=like)
        await stage.until(lambda who=life.who: bool(received(stage.history, who)))  # type: ignore[misc]
        if "heartbeat" in life.capabilities:  # which acks nothing
            with contextlib.suppress(TargetRefused):
                await life.do("heartbeat")
        await life.stop()
    last = await client(stage, "receiver", "last life", like=like)
    await last.do("received")  # what the lives before it kept
    owed = set(pushed(stage.history)) - set(kept(stage.history, "last life"))
    await stage.until(lambda: owed <= set(received(stage.history, *lives(stage.history))))


def lives(history: History) -> list[str]:
    return [who for who in history.seats if "life" in who]


def nothing_is_cut_short(history: History, profile: str) -> Iterator[Breach]:
    """What a life has persisted the next one knows, even if there was no time to tell of it; all else comes again."""
    heard = received(history, *lives(history))
    known = [one for one in kept(history, "last life") if one not in heard]
    yield from lost("TS-DLV-08", pushed(history), [*heard, *known])
    yield from strange("TS-DLV-05", pushed(history), heard)


async def moved(stage: Stage) -> None:
    """A device that comes again before its old session has ended: what arrives behind that end comes to the new one."""
    receiver, pusher = await client(stage, "receiver"), await client(stage, "pusher")
    await push(stage, pusher, key_of(receiver), 2)
    await stage.until(lambda: len(received(stage.history, "receiver")) >= 2)
    await is_up(stage, receiver)
    again = await client(
        stage, "receiver", "receiver again", like=receiver.config | {"state_dir": stage.folder("receiver")}
    )
    await is_up(stage, again)
    await receiver.stop()
    stage.history.add("receiver", "note", "moved")
    for n in range(2):
        await push(stage, pusher, key_of(receiver), 2, first=3 + 2 * n)
        await stage.until(lambda n=n: len(received(stage.history, "receiver again")) >= 2 + 2 * n)  # type: ignore[misc]


def comes_to_the_new(history: History, profile: str) -> Iterator[Breach]:
    since = next(place for place, m in enumerate(history.moments) if m.what == "moved")
    sent = [q.data["envelope"] for place, q, _, _ in history.answers("pusher", "push") if place > since]
    yield from lost("TS-SES-08", sent, received(history, "receiver again"))
    yield from repeated("TS-DLV-09", received(history, "receiver again"))
    yield from strange("TS-DLV-05", pushed(history), received(history, "receiver", "receiver again"))


# -- a relay beside the bench's, behind lines that stay where they are ---------------------------------------------------


async def relay_beside(stage: Stage, folder: str, limit: int = wire.LIMIT) -> End:
    """One more relay of that make, with a limit of its own. Whoever dialled the one before it finds this one."""
    config = {"private_key": RELAY_KEY.hex(), "public_key": public_key(RELAY_KEY).hex(), "state_dir": folder}
    number = sum(who.startswith("relay beside") for who in stage.history.seats) + 1
    relay = await stage.end("relay", {**config, "limit": limit}, who=f"relay beside {number}")
    assert relay.instance, "it has started"
    for port, at in relay.instance.addresses.items():
        (await stage.bench.line(f"beside-{port}")).upstream = endpoint(at)
    return relay


def tries(history: History) -> int:
    """How often a pusher has found nobody."""
    return sum(moment.who == "beside-push" for _, moment in history.faults("nobody there"))


async def tried_in_vain(stage: Stage, pusher: End) -> None:
    """Until it has tried a few times more; one whose waits cannot be set, once."""
    able, before = "retry_ms" in pusher.capabilities, tries(stage.history)
    await stage.until(lambda: tries(stage.history) >= before + (VAIN if able else 1), 0.0 if able else SLOWEST_REDIAL_S)


async def later(stage: Stage) -> None:
    """A relay that is away for longer than its pusher lives: what a host has handed over waits for it, over several lives."""
    folder, devices = stage.folder("relay"), {"receiver": wire.blob(32), "bystander": wire.blob(32)}
    relay = await relay_beside(stage, folder)
    await relay.stop()
    like: Mapping[str, Any] | None = None
    for n, who in enumerate(PUSHERS):
        pusher = await client(stage, "pusher", who, like, beside=True)
        like = pusher.config
        for device in devices.values():
            await push(stage, pusher, public_key(device), 2, first=4 * n + 1)
        await tried_in_vain(stage, pusher)
        if who != PUSHERS[-1]:
            await pusher.stop()
    await relay_beside(stage, folder)
    for who, key in devices.items():
        like = {"private_key": key.hex(), "state_dir": stage.folder("receiver")}
        await client(stage, "receiver", who, like, beside=True)
    owed = {one for who in PUSHERS for one in pushed(stage.history, who)}
    slow = any("retry_ms" not in end.capabilities for end in stage.ends if end.party.label != "relay")
    await stage.until(lambda: owed <= set(received(stage.history, *devices)), SLOWEST_REDIAL_S if slow else 0.0)


def handed_over_is_pushed(history: History, profile: str) -> Iterator[Breach]:
    """All of it, by whichever life, to its device; a push whose answer was lost with a life may come twice on the wire only."""
    for who in ("receiver", "bystander"):
        mine = [one for by in PUSHERS for one in pushed_to(history, who, by)]
        yield from lost("TS-ACK-07", mine, received(history, who))
        yield from strange("TS-PUSH-09", mine, received(history, who))


async def rejected(stage: Stage) -> None:
    """What the operator's limit forbids is rejected, and never tried again: not even when a later relay would take it."""
    folder, absent = stage.folder("relay"), wire.blob(32)
    relay = await relay_beside(stage, folder, STRICT)
    pusher = await client(stage, "pusher", beside=True)
    sizes = (STRICT, STRICT + 1, 700, 2 * STRICT, STRICT + 1, STRICT - 1)
    for size in sizes:
        await push(stage, pusher, public_key(absent), 1, size)
    tells = await stage.history.until(lambda: len(outcomes(stage.history)) >= len(sizes), stage.patience_s / 2)
    await relay.stop()
    await relay_beside(stage, folder, 4 * STRICT)
    stage.history.add("relay", "note", "takes more", {"was_told": tells})
    await push(stage, pusher, public_key(absent), 1, 600)
    if tells:
        await stage.until(lambda: len(outcomes(stage.history)) > len(sizes))
    await pusher.stop()
    again = await client(stage, "pusher", "pusher again", like=pusher.config, beside=True)
    like = {"private_key": absent.hex(), "state_dir": stage.folder("receiver")}
    await client(stage, "receiver", like=like, beside=True)
    await push(stage, again, public_key(absent), 2, 3 * STRICT)
    owed = set(within(stage.history))
    await stage.until(lambda: owed <= set(received(stage.history, "receiver")))


PUSHERS = ("pusher", "pusher again", "pusher at last")


def takes_more(history: History) -> tuple[int, bool]:
    """Since when the relay takes more, and whether the pusher was told by then what became of all that it had pushed."""
    place = next(place for place, m in enumerate(history.moments) if m.kind == "note" and m.what == "takes more")
    return place, bool(history.moments[place].data["was_told"])


def within(history: History) -> list[str]:
    """What the relay of its time had to take."""
    since, _ = takes_more(history)
    pushes = [(place, q.data["envelope"]) for who in PUSHERS for place, q, _, _ in history.answers(who, "push")]
    return [one for place, one in pushes if len(one) // 2 <= STRICT or place > since]


def outcomes(history: History) -> list[tuple[str, str]]:
    """What the first pusher was told of each of its blobs."""
    return [(what, str(m.data.get("id"))) for what in ("pushed", "rejected") for m in history.told("pusher", what)]


def rejected_for_good(history: History, profile: str) -> Iterator[Breach]:
    allowed, heard, (since, was_told) = within(history), received(history, "receiver"), takes_more(history)
    yield from lost("TS-ACK-01", allowed, heard)
    yield from strange("TS-DLV-05", [one for who in PUSHERS for one in pushed(history, who)], heard)
    yield from repeated("TS-DLV-09", heard)
    told = outcomes(history)
    yield from repeated("TS-ERR-04", [id for _, id in told])
    if was_told and (back := [one for one in heard if one not in allowed]):
        yield Breach(
            "TS-ERR-04", "nothing that was rejected is stored or tried again", f"{len(back[0]) // 2} bytes came"
        )
    for place, question, _, answer in history.answers("pusher", "push"):
        size, id = len(question.data["envelope"]) // 2, str(answer.data.get("id"))
        wrong = "rejected" if size <= STRICT or place > since else "pushed"
        if was_told and (wrong, id) in told:
            yield Breach("TS-ACK-06", f"{size} bytes against a limit of {STRICT}", f"the pusher was told: {wrong}")


async def equal(stage: Stage) -> None:
    """The same bytes several times to a device that is away: each is a blob of its own, though its host may be told of one."""
    absent = wire.blob(32)
    pusher = await client(stage, "pusher")
    alike = wire.envelope()
    for own in (alike, alike, wire.envelope(), alike):
        await push(stage, pusher, public_key(absent), 1, own=own)
    await stage.history.until(lambda: len(stage.history.told("pusher", "pushed")) >= 4, 2.0)
    like = {"private_key": absent.hex(), "state_dir": stage.folder("receiver")}
    await client(stage, "receiver", like=like)
    await arrived(stage, "receiver")


def each_or_once(history: History, profile: str) -> Iterator[Breach]:
    """By which of them a client knows a repeat, id or envelope, is its own choice."""
    sent, heard = pushed(history), received(history, "receiver")
    yield from lost("TS-ACK-01", set(sent), heard)
    yield from strange("TS-DLV-05", sent, heard)
    yield from repeated("TS-DLV-09", heard, sent)


EVERYWHERE = {seat: ("large_frames",) for seat in ("relay", "pusher", "receiver")}
STABLE = ("slow", "cut", "away", *PAUSES, *KILLS)

SCENARIOS = (
    Scenario("live", live, (arrives_once, told_truly), ("TS-ACK-01", "TS-DLV-05"), {"size": "small"}, steps=2),
    Scenario(
        "live", in_one_frame, (arrives_once, told_truly), ("TS-DLV-05",), {"size": "frame"}, profiles=("slow", "cut")
    ),
    Scenario(
        "live", at_the_limit, (arrives_once, told_truly), ("TS-SIZE-01",), {"size": "limit"}, EVERYWHERE, ("slow",)
    ),
    Scenario(
        "offline", offline, (arrives_once, told_truly), ("TS-ACK-03", "TS-ACK-04"), {"size": "small"}, profiles=STABLE
    ),
    Scenario("offline", many, (arrives_once, told_truly), ("TS-SES-09",), {"size": "many"}, profiles=(NONE,)),
    Scenario("to-itself", to_itself, (nobody_else,), ("TS-SES-08", "TS-SES-12"), profiles=("slow",)),
    Scenario("nobody-else", elsewhere, (nobody_else,), ("TS-PUSH-02",), profiles=("slow",)),
    Scenario(
        "redelivery",
        redelivery,
        (known_to_the_next,),
        ("TS-DLV-03", "TS-DACK-04"),
        needs={"receiver": ("restart",)},
        profiles=("slow", "cut", "away"),
    ),
    Scenario(
        "interrupted",
        interrupted,
        (nothing_is_cut_short,),
        ("TS-DLV-08", "TS-DLV-03"),
        needs={"receiver": ("restart",)},
        profiles=("slow",),
    ),
    Scenario("gone", gone, (is_gone,), ("TS-DACK-04", "TS-DACK-07"), profiles=(KILL_SERVER,)),
    Scenario("moved", moved, (comes_to_the_new,), ("TS-SES-08",), profiles=("slow",)),
    Scenario(
        "rejected",
        rejected,
        (rejected_for_good,),
        ("TS-ERR-04", "TS-SIZE-05"),
        needs={"relay": ("limit", "restart"), "pusher": ("restart",)},
        profiles=(NONE,),
        is_led=True,
    ),
    Scenario(
        "later",
        later,
        (handed_over_is_pushed,),
        ("TS-ACK-07", "TS-PUSH-09"),
        needs={"relay": ("restart",), "pusher": ("restart",)},
        profiles=(NONE,),
        is_led=True,
    ),
    Scenario("equal", equal, (each_or_once, told_truly), ("TS-SES-12", "TS-ACK-01"), profiles=("slow",)),
)
LINES = tuple(f"{seat}-{port}" for seat in ("pusher", "receiver") for port in ("push", "receive"))

PAIRINGS = (
    Pairing(
        "trueseal",
        "client-relay",
        {
            "relay": Seat(SERVER, "trueseal/relay"),
            "pusher": Seat(CLIENT, "trueseal/client"),
            "receiver": Seat(CLIENT, "trueseal/client"),
        },
        SCENARIOS,
        (*STREAMS, *KILLS, *PAUSES),
        open_relay,
        LINES,
        unread="the conversation is encrypted between client and relay",
    ),
    Pairing(
        "trueseal",
        "pusher-receiver",
        {
            "relay": Seat(THIRD, "trueseal/relay"),
            "pusher": Seat(CLIENT, "trueseal/client"),
            "receiver": Seat(SERVER, "trueseal/client"),
        },
        SCENARIOS,
        (*STREAMS, *PAUSES),
        open_relay,
        LINES,
        unread="the conversation is encrypted between client and relay",
        alike=False,
    ),
)
