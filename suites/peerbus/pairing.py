"""Pairs of peerbus: a make of client with a make of broker, and clients of two makes on the reference's broker.

What is promised: a message that was on the wire before a fenced moment, to a name that was known, surfaces exactly once, byte for
byte, in its sender's order. The fence is a `peers` that was answered on the same connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from harness.catalogue.addresses import endpoint
from harness.errors import TargetRefused, TargetUnsupported
from harness.matrix.faults import KILL_SERVER, KILLS, NONE, PAUSES, STREAMS, WHOLE
from harness.matrix.history import History
from harness.matrix.pairing import CLIENT, SERVER, THIRD, Pairing, Scenario, Seat
from harness.matrix.parties import End
from harness.matrix.play import Bench, Stage, instead
from harness.matrix.streams import StreamProxy
from suites.common import shim
from suites.peerbus.along import TOKENS, read_along
from suites.peerbus.promises import (
    SAYING,
    comes_again,
    consumed_for_good,
    each_its_copy,
    each_sender_in_order,
    fenced,
    flushed_in_order,
    handed_over,
    held_over_cuts,
    lists_are_true,
    nothing_forged,
    once_in_order,
    only_who_was_there,
    owed_under,
    surfaced,
    taken_over,
    the_holder_keeps_it,
    they_come_back,
    to_everybody,
    under_its_name,
    value,
    written_to_itself,
)

SECRET, OTHERS_SECRET = "a secret of the matrix, long enough to sign", "a secret of somebody else, which is as long"
BACKOFF_MS = 20
SLOWEST_REDIAL_S = 7.5
"""A client whose waits cannot be set may take that long before it dials again."""

AWAY_S = 0.3
"""For so long a client dials in vain while its host consumes."""

ASKED_AGAIN_S = 1.5
"""Under faults a question may be lost with its connection; it is asked again after so long."""

LARGE = 1_000_000
"""Bytes of a body near what every broker and client must still read (PB-1-13, PB-1-14)."""

ODD = ("é", "\u0000", 'a"b\\c', "𝄞" * 9, "x" * 300, "", " e\u0301 ", "<&>\u2028", "null")
VALUES: tuple[Any, ...] = (
    {"z": None, "a": 9_007_199_254_740_993, "m": [False, {}, "<b>"]},
    [0, -1, 12_345_678_901_234_567_890, None],
)
"""Bodies are JSON values of any kind: null members, members in no order, integers that no double holds."""

ESCAPED = "<>&\u2028\u2029"
FALSY = ("false", "0", '""', "[]", "{}")
ODD_NAME = " Na\u00efve e\u0301|_%"
"""What a name may have in it: blanks, capitals, letters composed and not, a bar, a LIKE pattern."""
LONG_NAME = "n" * 250
BACKLOG = 110
CROWD = 17


# -- ends ----------------------------------------------------------------------------------------------------------------


async def open_broker(bench: Bench) -> None:
    folder = str(bench.parties["broker"].target.new_folder("broker"))
    told = await bench.serve("broker", {"tokens": list(TOKENS), "state_dir": folder})
    bench.kept["tokens"] = told.details.get("tokens") or list(TOKENS)


async def client(
    stage: Stage, seat: str, name: str, who: str = "", secret: str = SECRET, eats: bool = True, url: str = ""
) -> End:
    """A client that is connected; its host consumes what it is told, unless it does not eat."""
    url = url or await stage.bench.way(seat, "broker")
    tokens = stage.kept["tokens"]  # those of a seat share one: a name belongs to who has its token
    config = {"url": url, "name": name, "token": tokens[0 if seat == "receiver" else -1], "secret": secret}
    if "backoff_ms" in stage.party(seat).capabilities:
        config["backoff_ms"] = BACKOFF_MS
    end = await stage.end(seat, config, consume if eats else None, who)
    await connected(stage, end)
    return end


async def consume(end: End, what: str, data: dict[str, Any]) -> None:
    if what == "message":
        await end.do("consume", id=shim.member(data, "id", shim.text, "message"))


def is_connected(history: History, who: str) -> bool:
    """By the last word of its client, since it was last started."""
    said = [
        m for m in history.moments if m.who == who and m.what in ("start", "status") and m.kind in ("asked", "told")
    ]
    return bool(said) and said[-1].what == "status" and bool(said[-1].data.get("connected"))


def redial_s(end: End) -> float:
    return 0.0 if "backoff_ms" in end.capabilities else SLOWEST_REDIAL_S


async def connected(stage: Stage, end: End) -> None:
    await stage.until(lambda: is_connected(stage.history, end.who), redial_s(end))


async def asked(stage: Stage, end: End, op: str, **args: Any) -> dict[str, Any]:
    """Under faults a question may be refused or lost with its connection: it is asked until it is answered."""
    for n in range(8):
        try:
            async with asyncio.timeout(None if stage.profile in WHOLE else ASKED_AGAIN_S):
                return await end.do(op, **args)
        except (TargetRefused, TimeoutError) as error:
            if stage.profile in WHOLE:
                raise
            last = error
            await asyncio.sleep(0.02 * 2**n)  # it may refuse before it has told that its connection is gone
            await connected(stage, end)
    raise TargetRefused(f"{end.who}: {op} is not answered, however often it is asked: {last}")


async def sent(stage: Stage, end: End, to: str, bodies: Sequence[str]) -> None:
    """Send them, and ask for the peers behind them: the fence."""
    for body in bodies:
        await asked(stage, end, "send", to=to, body=body)
    await asked(stage, end, "peers")


async def step(stage: Stage, sender: End) -> None:
    """A machine may die. What a sender says into a connection of which it does not know that it is lost, nobody owes."""
    if await stage.step():
        await asked(stage, sender, "peers")


async def sees(stage: Stage, end: End, name: str, there: bool = True) -> bool:
    """Does this client come to see that name among its peers, or no more?"""
    at_once = there and stage.profile in WHOLE  # who is connected has been listed before it was told so (PB-2.1-25)
    for _ in range(1 if at_once else 200):
        answer = await asked(stage, end, "peers")
        if (name in shim.member(answer, "names", shim.several(shim.text), "peers")) == there:
            return True
        await asyncio.sleep(0.01)  # there is no event for it: asked until it is true
    return False


def bodies_of(stage: Stage, count: int, size: int = 0) -> list[str]:
    """Different bodies, in no order of their own."""
    texts = [f" {stage.name}:{(7 * n) % 11}:{ODD[n % len(ODD)]}:{n} " + "x" * size for n in range(count)]
    values = [text if n % 3 or size else [text, VALUES[n % len(VALUES)]] for n, text in enumerate(texts)]
    spelled = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    return spelled if sign_alike(stage) else [body.translate(dict.fromkeys(map(ord, ESCAPED))) for body in spelled]


def sign_alike(stage: Stage) -> bool:
    """The two profiles spell some characters differently, in what is signed and in what is relayed (`README.md`)."""
    return len({"profile:document" in party.capabilities for party in stage.bench.parties.values()}) == 1


def named(stage: Stage, who: str) -> str:
    """A name of this scenario. One is the beginning of the other, and both are odd."""
    return f"*{stage.name}{ODD_NAME}" + {"from": "", "to": "o", "by": "y", "late": "l"}.get(who, who)


# -- scenarios -----------------------------------------------------------------------------------------------------------


async def arrived(stage: Stage, who: str, *more: str, ops: Sequence[str] = ("send",)) -> None:
    """Until all that was fenced has surfaced there, or the patience is over."""
    redials = SLOWEST_REDIAL_S if any(redial_s(end) for end in stage.ends) and stage.profile not in WHOLE else 0.0
    owed = set(fenced(stage.history, "sender", *ops))
    await stage.until(lambda: owed <= set(surfaced(stage.history, who, *more)), redials)


async def fence(stage: Stage, sender: End, to: str, *who: str) -> None:
    """One more message behind all others, which proves that they have come or will not."""
    await sent(stage, sender, to, [json.dumps(f"{stage.name} fence")])
    await arrived(stage, *who)


async def direct(stage: Stage, count: int = 6, size: int = 0) -> None:
    receiver = await client(stage, "receiver", named(stage, "to"))
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, receiver.config["name"])
    said = bodies_of(stage, count, size)
    await sent(stage, sender, receiver.config["name"], said[: count // 2])
    await step(stage, sender)
    if not size:
        await asked(stage, sender, "broadcast", body=json.dumps(f"{stage.name} to all, in its place"))
    await sent(stage, sender, receiver.config["name"], [*said[count // 2 :], *([] if size else FALSY)])
    await stage.step()
    await arrived(stage, "receiver", ops=owed_under(stage.profile))
    await fence(stage, sender, receiver.config["name"], "receiver")


async def large(stage: Stage) -> None:
    await direct(stage, 2, LARGE)


async def to_itself(stage: Stage) -> None:
    """A name may write to itself, and be as long as names are."""
    receiver = await client(stage, "receiver", named(stage, LONG_NAME))
    sender = await client(stage, "sender", receiver.config["name"] + "s")
    await sees(stage, sender, receiver.config["name"])
    for to in (sender, receiver):
        await sent(stage, sender, to.config["name"], bodies_of(stage, 2))
    for who in ("sender", "receiver"):
        await arrived(stage, who)


async def offline(stage: Stage, count: int = 5) -> None:
    """The receiver is known, and away."""
    receiver = await client(stage, "receiver", named(stage, "to"))
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, receiver.config["name"])
    await receiver.stop()
    await sees(stage, sender, receiver.config["name"], there=False)
    await step(stage, sender)  # a name that is known stays known
    said = bodies_of(stage, count)
    await sent(stage, sender, receiver.config["name"], said[: count // 2])
    await step(stage, sender)  # and what waits for it keeps its place
    await sent(stage, sender, receiver.config["name"], said[count // 2 :])
    await client(stage, "receiver", receiver.config["name"], "receiver again")
    await arrived(stage, "receiver again")
    await fence(stage, sender, receiver.config["name"], "receiver again")


async def backlog(stage: Stage) -> None:
    await offline(stage, BACKLOG)


async def crowd(stage: Stage) -> None:
    """More peers than anybody would count by hand: all are listed, and all hear a broadcast."""
    names = [named(stage, f"{n}") for n in range(CROWD)]
    for n, name in enumerate(names):
        await client(stage, "receiver", name, f"one of many {n}")
    sender = await client(stage, "sender", named(stage, "from"))
    listed = shim.member(await asked(stage, sender, "peers"), "names", shim.several(shim.text), "peers")
    if missing := set(names) - set(listed):
        is_wrong(stage, "PB-2.3-02", f"{CROWD} peers that are there", f"{len(missing)} of them are not listed")
    if len(set(listed)) != len(listed):
        is_wrong(stage, "PB-2.3-02", "each name once", str(listed)[:200])
    await asked(stage, sender, "broadcast", body=json.dumps(stage.name))
    await asked(stage, sender, "peers")
    told = [f"one of many {n}" for n in range(CROWD)]
    await stage.until(lambda: all(surfaced(stage.history, who) for who in told))


def is_wrong(stage: Stage, clause: str, expected: str, observed: str) -> None:
    said = {"clause": clause, "expected": expected, "observed": observed}
    stage.history.add("sender", "note", "list is wrong", said)


async def broadcast(stage: Stage) -> None:
    receiver = await client(stage, "receiver", named(stage, "to"))
    bystander = await client(stage, "receiver", named(stage, "by"), "bystander")
    sender = await client(stage, "sender", named(stage, "from"))
    for end in (receiver, bystander):
        await sees(stage, sender, end.config["name"])
    for body in bodies_of(stage, 3):
        await asked(stage, sender, "broadcast", body=body)
    await asked(stage, sender, "peers")
    await stage.step()
    said = set(fenced(stage.history, "sender", "broadcast"))
    await stage.until(lambda: all(said <= set(surfaced(stage.history, who)) for who in ("receiver", "bystander")))
    late = await client(stage, "receiver", named(stage, "late"), "latecomer")
    await sees(stage, sender, late.config["name"])
    await sent(stage, sender, late.config["name"], [json.dumps("you alone")])
    await stage.until(lambda: bool(surfaced(stage.history, "latecomer")))


async def redelivery(stage: Stage) -> None:
    """A host that is gone when it has consumed one of several, and one that consumed all."""
    receiver = await client(stage, "receiver", named(stage, "to"), eats=False)
    name = receiver.config["name"]
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, name)
    for n, body in enumerate(bodies_of(stage, 5)):
        await (
            asked(stage, sender, "broadcast", body=body) if n == 3 else asked(stage, sender, "send", to=name, body=body)
        )
    await asked(stage, sender, "peers")
    if "serial" in receiver.capabilities:
        await stage.until(lambda: bool(surfaced(stage.history, "receiver")))
    else:
        await arrived(stage, "receiver", ops=SAYING)
    await stage.step()
    held = stage.history.told("receiver", "message")
    eaten = held[len(held) // 2]
    await receiver.do("consume", id=shim.member(eaten.data, "id", shim.text, "message"))
    stage.history.add("receiver", "note", "consumed", {"body": value(str(eaten.data["body"]))})
    await asked(stage, receiver, "peers")  # behind the ack, on its connection
    await receiver.stop()
    again = await client(stage, "receiver", name, "receiver again")
    owed = {body for body in fenced(stage.history, "sender", *SAYING) if body != value(str(eaten.data["body"]))}
    await stage.until(lambda: owed <= set(surfaced(stage.history, "receiver again")))
    await again.settled()
    await asked(stage, again, "peers")
    await again.stop()
    third = await client(stage, "receiver", name, "third life")
    await asked(stage, sender, "send", to=name, body=json.dumps("the last"))
    await stage.until(lambda: value(json.dumps("the last")) in surfaced(stage.history, "third life"))
    await asked(stage, third, "peers")


async def held(stage: Stage) -> None:
    """A host that takes its time: nothing surfaces twice, however often the connection is lost meanwhile."""
    if "serial" in stage.party("receiver").capabilities:
        raise TargetUnsupported(f"{stage.party('receiver').target.name} hands over one message at a time")
    receiver = await client(stage, "receiver", named(stage, "to"), eats=False)
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, receiver.config["name"])
    await sent(stage, sender, receiver.config["name"], bodies_of(stage, CROWD))
    await arrived(stage, "receiver")
    await asked(stage, receiver, "peers")
    await connected(stage, receiver)


async def behind_a_line(stage: Stage, count: int) -> tuple[End, End, StreamProxy]:
    """A host that takes its time, behind a line that can be lost by itself; so many messages have come to it."""
    if "serial" in stage.party("receiver").capabilities:
        raise TargetUnsupported(f"{stage.party('receiver').target.name} hands over one message at a time")
    line, address = await stage.bench.line("receiver"), stage.bench.server("broker").address
    line.upstream = endpoint(address)
    name = named(stage, "to")
    receiver = await client(stage, "receiver", name, eats=False, url=instead(address, line.port))
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, name)
    await sent(stage, sender, name, bodies_of(stage, count))
    await arrived(stage, "receiver")
    return sender, receiver, line


async def unsteady(stage: Stage) -> None:
    """The connection of a host that takes its time is lost, and lost again: its client comes back, and acks nothing for it."""
    sender, receiver, line = await behind_a_line(stage, CROWD)
    name = receiver.config["name"]
    for n in range(2):
        dials = line.connections
        line.cut()
        await stage.until(lambda dials=dials: line.connections > dials, redial_s(receiver))  # type: ignore[misc]
        await sent(
            stage, sender, name, [json.dumps(f"{stage.name} behind cut {n}")]
        )  # it comes behind all that comes again
        await arrived(stage, "receiver")
    await asked(stage, receiver, "peers")
    await receiver.stop()
    await client(stage, "receiver", name, "receiver again")
    await arrived(stage, "receiver again")


async def absent(stage: Stage) -> None:
    """Who is known and away hears nothing that was said to all meanwhile; who was never there, not even what was said to it."""
    receiver = await client(stage, "receiver", named(stage, "to"))
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, receiver.config["name"])
    await receiver.stop()
    await sees(stage, sender, receiver.config["name"], there=False)
    late = named(stage, "late")
    await asked(stage, sender, "broadcast", body=json.dumps(f"{stage.name} to nobody"))
    await sent(stage, sender, late, [json.dumps(f"{stage.name} to a stranger")])
    stage.history.add("sender", "note", "alone", {"until": len(stage.history.moments)})
    await client(stage, "receiver", named(stage, "by"), "bystander")
    await asked(stage, sender, "broadcast", body=json.dumps(f"{stage.name} to one"))
    await asked(stage, sender, "peers")
    await stage.until(lambda: bool(surfaced(stage.history, "bystander")))
    for name, who in ((receiver.config["name"], "receiver again"), (late, "latecomer")):
        await client(stage, "receiver", name, who)
        last = json.dumps(f"{stage.name} fence of {who}")
        await sent(stage, sender, name, [last])
        await stage.until(lambda who=who, last=last: value(last) in surfaced(stage.history, who))  # type: ignore[misc]


async def copies(stage: Stage) -> None:
    """Of a broadcast each has a copy of its own: what one consumes comes again to another that has not, and to no newcomer."""
    receiver = await client(stage, "receiver", named(stage, "to"), eats=False)
    bystander = await client(stage, "receiver", named(stage, "by"), "bystander")
    sender = await client(stage, "sender", named(stage, "from"))
    for end in (receiver, bystander):
        await sees(stage, sender, end.config["name"])
    for body in bodies_of(stage, 2):
        await asked(stage, sender, "broadcast", body=body)
    await asked(stage, sender, "peers")
    owed = set(fenced(stage.history, "sender", "broadcast"))
    await stage.until(
        lambda: owed <= set(surfaced(stage.history, "bystander")) and bool(surfaced(stage.history, "receiver"))
    )
    await bystander.settled()
    await asked(stage, bystander, "peers")  # behind its acks
    late = await client(stage, "receiver", named(stage, "late"), "latecomer")
    await sees(stage, sender, late.config["name"])
    await receiver.stop()
    await client(stage, "receiver", receiver.config["name"], "receiver again")
    await arrived(stage, "receiver again", ops=("broadcast",))
    alone = json.dumps(f"{stage.name} to the newcomer")
    await sent(stage, sender, late.config["name"], [alone])
    await stage.until(lambda: value(alone) in surfaced(stage.history, "latecomer"))


async def stored(stage: Stage) -> None:
    """Two that have not consumed a broadcast when their broker dies, or are simply gone: each finds its own copy again."""
    ends = [
        await client(stage, "receiver", named(stage, last), who, eats=False)
        for last, who in (("to", "receiver"), ("by", "bystander"))
    ]
    sender = await client(stage, "sender", named(stage, "from"))
    for end in ends:
        await sees(stage, sender, end.config["name"])
    for body in bodies_of(stage, 2):
        await asked(stage, sender, "broadcast", body=body)
    await asked(stage, sender, "peers")
    await stage.until(lambda: all(surfaced(stage.history, end.who) for end in ends))
    for end in ends:
        await end.stop()
    await step(stage, sender)
    owed = set(fenced(stage.history, "sender", "broadcast"))
    for end in ends:
        again = await client(stage, "receiver", end.config["name"], f"{end.who} again")
        await stage.until(lambda who=again.who: owed <= set(surfaced(stage.history, who)))  # type: ignore[misc]


async def absorbed(stage: Stage) -> None:
    """A host consumes while its connection is away: what comes again with the next one it knows."""
    sender, receiver, line = await behind_a_line(stage, 5)
    since, dials = len(stage.history.moments), line.connections
    line.go_away(AWAY_S)
    line.cut()
    await stage.until(lambda: any(not m.data.get("connected") for m in stage.history.told("receiver", "status", since)))
    for moment in stage.history.told("receiver", "message"):
        await receiver.do("consume", id=shim.member(moment.data, "id", shim.text, "message"))
    await stage.until(lambda: line.connections > dials, redial_s(receiver))
    await connected(stage, receiver)
    await fence(stage, sender, receiver.config["name"], "receiver")
    await asked(stage, receiver, "peers")


async def consumed(stage: Stage) -> None:
    """What a host has consumed does not come to the next client of its name, whatever the broker went through."""
    receiver = await client(stage, "receiver", named(stage, "to"))
    name, sender = receiver.config["name"], await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, name)
    await sent(stage, sender, name, bodies_of(stage, 4))
    await asked(stage, sender, "broadcast", body=json.dumps(f"{stage.name} to all"))
    await asked(stage, sender, "peers")
    await arrived(stage, "receiver", ops=SAYING)
    await receiver.settled()
    await asked(stage, receiver, "peers")  # behind its acks
    await receiver.stop()
    stage.history.add("receiver", "note", "all consumed", {"bodies": surfaced(stage.history, "receiver")})
    await stage.step()
    await client(stage, "receiver", name, "receiver again")
    await fence(stage, sender, name, "receiver", "receiver again")


async def takeover(stage: Stage) -> None:
    """A second client takes the name, and a third; each is stopped by its host once it is displaced."""
    last = await client(stage, "receiver", named(stage, "to"))
    sender = await client(stage, "sender", named(stage, "from"))
    name = last.config["name"]
    await sees(stage, sender, name)
    for who in ("second receiver", "receiver again"):
        displaced, since = last, len(stage.history.moments)
        await displaced.settled()
        last = await client(stage, "receiver", name, who)
        listed = shim.member(await asked(stage, sender, "peers"), "names", shim.several(shim.text), "peers")
        if listed.count(name) > 1:
            is_wrong(stage, "PB-2.1-18", "a name that was taken over once", f"{listed.count(name)} times")
        dropped = lambda: any(not m.data.get("connected") for m in stage.history.told(displaced.who, "status", since))  # noqa: E731, B023
        if not await stage.until(dropped):
            is_wrong(stage, "PB-2.1-17", f"the connection of {displaced.who} is closed", "it stays")
        await displaced.stop()
        await connected(stage, last)
        await sees(stage, sender, name)
    await sent(stage, sender, name, bodies_of(stage, 4))
    await arrived(stage, "receiver again")


async def inherited(stage: Stage) -> None:
    """A second client takes the name while the first one's host has not consumed what it was told."""
    receiver = await client(stage, "receiver", named(stage, "to"), eats=False)
    name, sender = receiver.config["name"], await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, name)
    said = bodies_of(stage, 6)
    await sent(stage, sender, name, said[:3])
    await stage.until(lambda: bool(surfaced(stage.history, "receiver")))
    again = await client(stage, "receiver", name, "receiver again")
    await sent(stage, sender, name, said[3:])
    await receiver.stop()  # one that was displaced may dial again
    await connected(stage, again)
    await sees(stage, sender, name)
    await fence(stage, sender, name, "receiver again")


async def intruded(stage: Stage) -> None:
    """A client under the same name with a token of somebody else."""
    if len(set(stage.kept["tokens"])) < 2:
        raise TargetUnsupported("the broker has one token for all")
    receiver = await client(stage, "receiver", named(stage, "to"))
    name, sender = receiver.config["name"], await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, name)
    await sent(stage, sender, name, bodies_of(stage, 2))
    line, address = await stage.bench.line("intruder"), stage.bench.server("broker").address
    line.upstream = endpoint(address)
    config = {**sender.config, "name": name, "url": instead(address, line.port)}
    intruder = await stage.end("sender", config, consume, "intruder")
    await stage.until(lambda: line.ended > 0 or is_connected(stage.history, "intruder"))
    await sent(stage, sender, name, [json.dumps(f"{stage.name} meanwhile")])
    await asked(stage, receiver, "peers")
    await fence(stage, sender, name, "receiver")
    await intruder.stop()  # before its holder lets the name go


async def maintained(stage: Stage) -> None:
    """A broker whose operator stops it, and starts it again on what it had stored: its clients come back by themselves."""
    folder = stage.folder("broker")
    lines = {seat: await stage.bench.line(seat) for seat in ("receiver", "sender")}

    async def a_broker(who: str) -> End:
        broker = await stage.end("broker", {"tokens": list(TOKENS), "state_dir": folder}, who=who)
        assert broker.instance, "it has been started"
        for line in lines.values():
            line.upstream = endpoint(broker.instance.address)
        return broker

    broker = await a_broker("first broker")
    assert broker.instance, "it has been started"
    urls = {seat: instead(broker.instance.address, line.port) for seat, line in lines.items()}
    receiver = await client(stage, "receiver", named(stage, "to"), url=urls["receiver"])
    sender = await client(stage, "sender", named(stage, "from"), url=urls["sender"])
    name, said, since = receiver.config["name"], bodies_of(stage, 4), 0
    await sees(stage, sender, name)
    await sent(stage, sender, name, said[:2])
    await arrived(stage, "receiver")
    since = len(stage.history.moments)
    stage.history.add("broker", "fault", "stopped")
    await broker.stop()
    await a_broker("second broker")

    def away() -> list[str]:
        told = {end.who: stage.history.told(end.who, "status", since)[-1:] for end in (receiver, sender)}
        return [who for who, last in told.items() if not any(m.data.get("connected") for m in last)]

    await stage.until(lambda: not away(), max(map(redial_s, (receiver, sender))))
    stage.history.add("harness", "note", "another broker", {"away": away()})
    if not away():
        await sees(stage, sender, name)
        await sent(stage, sender, name, said[2:])
        await arrived(stage, "receiver")


async def two_senders(stage: Stage) -> None:
    """Two that write to one by turns, while it is away and when it is back."""
    receiver = await client(stage, "receiver", named(stage, "to"))
    name = receiver.config["name"]
    senders = [await client(stage, "sender", named(stage, f"{n}"), f"{n} sender") for n in range(2)]
    for sender in senders:
        await sees(stage, sender, name)
    await receiver.stop()
    for sender in senders:
        await sees(stage, sender, name, there=False)
    said = [[json.dumps(f"{stage.name} {who} {7 * n % 11}") for n in range(10)] for who in range(2)]
    for n in range(10):
        if n == 6:
            for sender in senders:
                await asked(stage, sender, "peers")
            await client(stage, "receiver", name, "receiver again")
        for sender, bodies in zip(senders, said, strict=True):
            await asked(stage, sender, "send", to=name, body=bodies[n])
    for sender in senders:
        await asked(stage, sender, "peers")
    owed = {value(body) for bodies in said for body in bodies}
    await stage.until(lambda: owed <= set(surfaced(stage.history, "receiver again")))


async def forged(stage: Stage) -> None:
    receiver = await client(stage, "receiver", named(stage, "to"))
    forger = await client(stage, "sender", named(stage, "by"), "forger", OTHERS_SECRET)
    sender = await client(stage, "sender", named(stage, "from"))
    await sees(stage, sender, receiver.config["name"])
    await asked(stage, forger, "send", to=receiver.config["name"], body=json.dumps(f"{stage.name} forged"))
    await asked(stage, forger, "broadcast", body=json.dumps(f"{stage.name} forged for all"))
    await asked(stage, forger, "peers")
    await fence(stage, sender, receiver.config["name"], "receiver")


async def presence(stage: Stage) -> None:
    """Who is there is listed, who is gone is not."""
    receiver = await client(stage, "receiver", named(stage, "to"))
    sender = await client(stage, "sender", named(stage, "from"))
    for end, other in ((sender, receiver), (receiver, sender)):
        if not await sees(stage, end, other.config["name"]):
            is_wrong(stage, "PB-2.3-02", f"{other.who} among the peers", f"{end.who} does not see it")
    for answer in await asyncio.gather(*(asked(stage, sender, "peers") for _ in range(2))):
        if receiver.config["name"] not in shim.member(answer, "names", shim.several(shim.text), "peers"):
            is_wrong(stage, "PB-7-04", "an answer to each of two questions", str(answer)[:120])
    await receiver.stop()
    if not await sees(stage, sender, receiver.config["name"], there=False):
        is_wrong(stage, "PB-2.3-06", "a name that is gone leaves the list", "it stayed")
    one, other = [await client(stage, "receiver", named(stage, who), f"one of many {who}") for who in ("by", "late")]
    await sender.stop()  # its name is how the others begin
    if not await sees(stage, one, sender.config["name"], there=False):
        is_wrong(stage, "PB-2.3-06", "a name that is gone leaves the list", "it stayed")
    if not await sees(stage, one, other.config["name"]):
        is_wrong(stage, "PB-2.3-02", "who is there stays listed when another leaves", f"{other.who} is not")


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("direct", direct, (once_in_order, under_its_name), ("PB-3-23", "PB-5-12"), {"size": "small"}, steps=2),
    Scenario(
        "direct", large, (once_in_order, under_its_name), ("PB-3-23", "PB-1-13"), {"size": "limit"}, profiles=("slow",)
    ),
    Scenario("to-itself", to_itself, (written_to_itself,), ("PB-3-23", "PB-2.1-05"), profiles=("slow",)),
    Scenario(
        "offline", offline, (flushed_in_order, under_its_name), ("PB-3-24", "PB-5-13"), {"size": "small"}, steps=2
    ),
    Scenario("offline", backlog, (flushed_in_order,), ("PB-2.1-27", "PB-5-13"), {"size": "many"}, profiles=(NONE,)),
    Scenario("crowd", crowd, (to_everybody, lists_are_true), ("PB-3-27", "PB-2.3-02"), profiles=(NONE,)),
    Scenario("held", held, (once_in_order,), ("PB-5-07", "PB-5-10"), profiles=("slow", "cut", "away")),
    Scenario("unsteady", unsteady, (held_over_cuts,), ("PB-5-10", "PB-5-24"), profiles=(NONE,), is_led=True),
    Scenario("absent", absent, (only_who_was_there,), ("PB-3-33", "PB-3-25"), profiles=("slow",)),
    Scenario("copies", copies, (each_its_copy,), ("PB-5-24", "PB-3-29"), profiles=("slow",)),
    Scenario("stored", stored, (each_its_copy,), ("PB-3-29", "PB-5-01"), profiles=(KILL_SERVER,)),
    Scenario("absorbed", absorbed, (once_in_order,), ("PB-5-10",), profiles=(NONE,), is_led=True),
    Scenario("consumed", consumed, (consumed_for_good,), ("PB-2.2-04",), profiles=(KILL_SERVER,)),
    Scenario("broadcast", broadcast, (to_everybody,), ("PB-3-27", "PB-3-33"), profiles=("slow", *PAUSES)),
    Scenario(
        "redelivery", redelivery, (comes_again,), ("PB-5-24", "PB-2.2-04"), profiles=("slow", *PAUSES, KILL_SERVER)
    ),
    Scenario("takeover", takeover, (taken_over, lists_are_true), ("PB-2.1-18", "PB-2.1-17"), profiles=("slow",)),
    Scenario("inherited", inherited, (handed_over,), ("PB-2.1-19", "PB-2.1-28"), profiles=("slow",)),
    Scenario("intruded", intruded, (the_holder_keeps_it,), ("PB-2.1-20", "PB-2.1-21"), profiles=(NONE,), is_led=True),
    Scenario(
        "maintained",
        maintained,
        (they_come_back,),
        ("PB-5-21", "PB-2.1-22"),
        needs={"broker": ("restart",)},
        profiles=(NONE,),
        is_led=True,
    ),
    Scenario("two-senders", two_senders, (each_sender_in_order,), ("PB-5-13", "PB-3-24"), profiles=("slow",)),
    Scenario("forged", forged, (nothing_forged,), ("PB-4-18",), profiles=("slow",)),
    Scenario("presence", presence, (lists_are_true,), ("PB-2.3-02", "PB-2.3-06"), profiles=("slow",)),
)

PAIRINGS = (
    Pairing(
        "peerbus",
        "client-broker",
        {
            "broker": Seat(SERVER, "peerbus/broker"),
            "sender": Seat(CLIENT, "peerbus/client"),
            "receiver": Seat(CLIENT, "peerbus/client"),
        },
        SCENARIOS,
        (*STREAMS, *KILLS, *PAUSES),
        open_broker,
        ("sender", "receiver"),
        read_along,
    ),
    Pairing(
        "peerbus",
        "sender-receiver",
        {
            "broker": Seat(THIRD, "peerbus/broker"),
            "sender": Seat(CLIENT, "peerbus/client"),
            "receiver": Seat(SERVER, "peerbus/client"),
        },
        SCENARIOS,
        (*STREAMS, *PAUSES),
        open_broker,
        ("sender", "receiver"),
        read_along,
        alike=False,
    ),
)
