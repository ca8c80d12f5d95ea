"""Pairs of BCCN: one node speaks, one of another make listens, and the reference listens beside it on the same segment.

What is promised: exactly the listeners that match hear a message, once, byte for byte, in order; a signed one is heard by who
has the key. Under datagram faults nothing is heard twice or late, and with a key nothing altered is ever heard.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.errors import TargetRefused, TargetUnsupported
from harness.matrix.datagrams import DatagramProxy, exclusive
from harness.matrix.faults import DATAGRAMS, LOSS, NONE, REORDER, TWICE
from harness.matrix.pairing import CLIENT, SERVER, THIRD, Pairing, Scenario, Seat
from harness.matrix.parties import End
from harness.matrix.play import Bench, Stage
from suites.bccn.promises import (
    as_listened,
    beats_of,
    by_its_new_name,
    counted,
    everybody,
    heard,
    heard_again,
    heartbeats_are_heard,
    kin_are_apart,
    only_who_has_the_key,
    only_who_is_meant,
    under_its_name,
    undisturbed,
)

AIR = "air"
LEAST = 512
"""Bytes of payload that every binding takes."""
SIZES = (512, 900, 1_100, 1, 0, 1_150)
"""Bytes of payloads: with names, channel and tag of ours they stay below the 1,400 of a datagram."""
KEY, OTHER_KEY = b"the key of this matrix", b"a key of somebody else"
COUNT = 8
FENCES = 5
"""How often a fence is said before a node counts as deaf."""

NUMBERS = {"zero": 0, "2^31": 2**31 - 2, "2^32": 2**32 - 2, "2^53": 2**53 - 1, "2^63": 2**63 - 2}
"""Where a counter of too few bits goes wrong."""

HIGH, LOW = 2**63 + 2**62, 5
"""Numbers so far apart that every node takes the second for a restart, whatever its SANITY (BCCN-DUP-10)."""


async def open_air(bench: Bench) -> None:
    air = bench.proxies[AIR] = DatagramProxy(AIR, bench.tell)
    if bench.proxied:
        await air.open()


async def node(stage: Stage, seat: str, key: bytes = b"", who: str = "", **config: Any) -> End:
    """A node on the segment of its side: the speaker's is the near one, where faults are in the way."""
    air = stage.bench.proxies[AIR]
    assert isinstance(air, DatagramProxy)
    segment = air.far if stage.bench.proxied and seat != "speaker" else air.near
    told = {"name": f"{stage.name}/No?de/{who or seat}", **config, **({"key": key.hex()} if key else {})}
    return await stage.end(seat, exclusive(told, segment), who=who)


async def say(stage: Stage, speaker: End, chan: str, what: str, count: int = COUNT) -> None:
    """In no order, with bytes that mean something elsewhere, and blanks at both ends."""
    for n in range(count):
        payload = f" {what} {(5 * n) % 11} {stage.name} \xff|:!\r\n".encode("latin-1")
        await speaker.do("send", chan=chan, payload=payload.hex())


async def fence(stage: Stage, speaker: End, *listeners: End) -> None:
    """One more message to all, undisturbed: what was said before it has come, or will not."""
    air = stage.bench.proxies[AIR]
    assert isinstance(air, DatagramProxy)
    air.quiet = True
    for n in range(FENCES):
        payload = f"fence {n} {stage.name} {speaker.who}".encode().hex()
        air.flush()
        await speaker.do("send", chan="!", payload=payload)
        arrived = lambda payload=payload: all(payload in heard(stage.history, end.who) for end in listeners)  # noqa: E731
        if await stage.history.until(arrived, stage.patience_s / FENCES):
            return


# -- scenarios -----------------------------------------------------------------------------------------------------------


async def three(stage: Stage, key: bytes = b"") -> tuple[End, End, End]:
    return await node(stage, "listener", key), await node(stage, "bystander", key), await node(stage, "speaker", key)


async def plain(stage: Stage) -> None:
    listener, bystander, speaker = await three(stage)
    for n in range(COUNT // 2):  # one sender has one count, whatever the channel
        await say(stage, speaker, "News/Today", f"plain {n}", 1)
        await say(stage, speaker, "weather", f"other {n}", 1)
    await fence(stage, speaker, listener, bystander)


async def to_all(stage: Stage) -> None:
    listener, bystander, speaker = await three(stage)
    await say(stage, speaker, "!", "all")
    await fence(stage, speaker, listener, bystander)


async def long(stage: Stage, key: bytes = b"") -> None:
    """Payloads up to what a datagram of 1,400 bytes holds, and one that has none."""
    listener, bystander, speaker = await three(stage, key)
    for n, size in enumerate(SIZES):
        try:
            await speaker.do("send", chan="C" * 60, payload=(bytes([n, 255 - n]) * size)[:size].hex())
        except TargetRefused:
            if size <= LEAST:
                raise
    await fence(stage, speaker, listener, bystander)


async def long_and_signed(stage: Stage) -> None:
    await long(stage, KEY)


async def numbers(stage: Stage, first: int) -> None:
    """Numbers have 64 bits, and no power of two is special but the last."""
    listener, bystander, speaker = await three(stage)
    await speaker.do("set_seq", seq=str(first))
    await say(stage, speaker, "News/Numbers", f"from {first}", 4)
    await fence(stage, speaker, listener, bystander)


async def renamed(stage: Stage) -> None:
    """What is directed at a name reaches who has it now; a star reaches the whole family."""
    listener, bystander, speaker = await three(stage)
    old, new = listener.config["name"], f"{stage.name}/Family/one"
    await listener.do("set_name", name=new)
    for chan, what in ((f"!{new}", "new"), (f"!{old}", "old"), (f"!{stage.name}/Family/*", "family"), ("!", "all")):
        await say(stage, speaker, chan, what, 1)
    await say(stage, speaker, f"!{stage.name}/Fam/*", "no family", 1)
    await fence(stage, speaker, listener, bystander)
    await listener.do("set_name", name="")
    await say(stage, speaker, f"!{new}", "nobody", 1)
    await fence(stage, speaker, listener, bystander)


async def nameless(stage: Stage) -> None:
    """Who has no name is heard, and hears what goes to all."""
    listener, bystander = await node(stage, "listener", name=""), await node(stage, "bystander")
    speaker = await node(stage, "speaker", name="")
    await say(stage, speaker, "News", "nameless", 1)
    await say(stage, speaker, "!", "nameless to all", 1)
    await fence(stage, speaker, listener, bystander)


async def kin(stage: Stage) -> None:
    """Speakers whose names differ in case, in their last token, or by one that is nearly a pattern."""
    listener, bystander = await node(stage, "listener"), await node(stage, "bystander")
    names = [f"{stage.name}/{last}" for last in ("Kin", "kin", "kin/1", "kin/01", "k?n")]
    speakers = [await node(stage, "speaker", who=f"speaker {n}", name=name) for n, name in enumerate(names)]
    for n, speaker in enumerate(speakers):
        await speaker.do("set_seq", seq=str(1_000 - 7 * n))
        await say(stage, speaker, "News", f"of {n}", 1)
    for n, speaker in enumerate(speakers):
        await say(stage, speaker, "News", f"again of {n}", 1)
    await speakers[0].do("set_seq", seq=str(2**41))  # a gap is no fault
    await say(stage, speakers[0], "News", "far ahead", 1)
    for speaker in speakers:
        await fence(stage, speaker, listener, bystander)


async def listeners(stage: Stage) -> None:
    """Several patterns at one node, two of which match the same channel."""
    listener, bystander, speaker = await three(stage)
    patterns = ["News/Today", "News/Tod", "news/today"]
    patterns += ["News/*", "News/>", "*/Today"] if "patterns" in listener.capabilities else []
    for pattern in patterns:
        await listener.do("listen", pattern=pattern)
    await speaker.do("set_seq", seq=str(2**53 + 1))
    for chan in ("News/Today", "News/Today/Late", "News", "Weather/Today", "!", f"!{bystander.config['name']}"):
        await say(stage, speaker, chan, f"on {chan}", 1)
    await fence(stage, speaker, listener, bystander)
    await stage.until(lambda: not list(as_listened(stage.history, NONE)))


async def directed(stage: Stage) -> None:
    listener, bystander, speaker = await three(stage)
    for end in (listener, bystander):
        await say(stage, speaker, f"!{end.config['name']}", f"for {end.who}", 3)
    await fence(stage, speaker, listener, bystander)


async def signed(stage: Stage) -> None:
    listener, speaker = await node(stage, "listener", KEY), await node(stage, "speaker", KEY)
    await node(stage, "bystander", OTHER_KEY, "stranger")
    forger = await node(stage, "speaker", OTHER_KEY, "forger")
    await say(stage, speaker, "news", "signed")
    await say(stage, forger, "news", "forged", 2)
    await fence(stage, speaker, listener)


async def restart(stage: Stage) -> None:
    """A speaker that comes again under its name with a lower number."""
    listener, bystander, speaker = await three(stage)
    await speaker.do("set_seq", seq=str(HIGH))
    await say(stage, speaker, "news", "before", 3)
    await fence(stage, speaker, listener, bystander)
    await speaker.stop()
    again = await node(stage, "speaker", who="speaker again", name=speaker.config["name"])
    await again.do("set_seq", seq=str(LOW))
    await say(stage, again, "news", "after", 3)
    await fence(stage, again, listener, bystander)


async def heartbeats(stage: Stage, key: bytes = b"") -> None:
    if "heartbeat" not in stage.party("speaker").capabilities:
        raise TargetUnsupported(f"{stage.party('speaker').target.name} has no heartbeats")
    listener, bystander, speaker = await three(stage, key)
    await speaker.do("heartbeat", interval=0.02)
    await say(stage, speaker, "news", "beside heartbeats", 6)
    await stage.until(lambda: len(beats_of(stage.history, "bystander")) >= 3)
    await fence(stage, speaker, listener, bystander)


async def heartbeats_under_a_key(stage: Stage) -> None:
    await heartbeats(stage, KEY)


QUIET = (LOSS, TWICE, REORDER)

PAIRINGS = (
    Pairing(
        "bccn",
        "speaker-listener",
        {
            "speaker": Seat(CLIENT, "bccn/node"),
            "listener": Seat(SERVER, "bccn/node"),
            "bystander": Seat(THIRD, "bccn/node"),
        },
        (
            Scenario(
                "plain",
                plain,
                (everybody, under_its_name),
                ("BCCN-DLV-01", "BCCN-DUP-02", "BCCN-DUP-13"),
                profiles=QUIET,
            ),
            Scenario("all", to_all, (everybody, under_its_name), ("BCCN-DLV-02", "BCCN-DUP-02"), profiles=QUIET),
            *(
                Scenario(
                    "long",
                    play,
                    (everybody, under_its_name),
                    ("BCCN-DLV-01", "BCCN-SIZ-01"),
                    {"key": key},
                    profiles=(NONE,),
                )
                for key, play in (("none", long), ("one", long_and_signed))
            ),
            *(
                Scenario(
                    "numbers",
                    partial(numbers, first=first),
                    (everybody, under_its_name, counted),
                    ("BCCN-SEQ-04", "BCCN-SEQ-02"),
                    {"from": name},
                    profiles=(NONE,),
                )
                for name, first in NUMBERS.items()
            ),
            Scenario(
                "nameless", nameless, (everybody, under_its_name), ("BCCN-SRC-07", "BCCN-DLV-03"), profiles=(NONE,)
            ),
            Scenario("kin", kin, (kin_are_apart, under_its_name), ("BCCN-DUP-06", "BCCN-DLV-04"), profiles=(NONE,)),
            Scenario(
                "listeners",
                listeners,
                (as_listened, under_its_name),
                ("BCCN-CNV-01", "BCCN-CNV-02"),
                needs={"listener": ("conventions",)},
                profiles=(NONE,),
            ),
            Scenario("renamed", renamed, (by_its_new_name,), ("BCCN-DIR-17", "BCCN-DLV-06"), profiles=(NONE,)),
            Scenario(
                "directed",
                directed,
                (only_who_is_meant, under_its_name),
                ("BCCN-DLV-06", "BCCN-CHN-07"),
                profiles=(TWICE,),
            ),
            Scenario("signed", signed, (only_who_has_the_key,), ("BCCN-INT-09",), profiles=DATAGRAMS),
            Scenario("restart", restart, (heard_again,), ("BCCN-DUP-10",), profiles=(TWICE,)),
            *(
                Scenario(
                    "heartbeats",
                    play,
                    (undisturbed, heartbeats_are_heard),
                    ("BCCN-DUP-02", "BCCN-CNV-09"),
                    {"key": key},
                    profiles=(NONE,),
                )
                for key, play in (("none", heartbeats), ("one", heartbeats_under_a_key))
            ),
        ),
        DATAGRAMS,
        open_air,
        (AIR,),
        unread="what a node owes on the wire is told by its host's asking alone",
    ),
)
