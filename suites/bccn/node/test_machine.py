"""A node beside its oracle: datagrams and calls come as Hypothesis likes.

There is no expected delivery in this file: whatever the node delivers, answers or broadcasts is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from harness.cases import clauses
from harness.errors import TargetRefused, TargetTimeout
from harness.targets import Target
from harness.trial import Broken, Trial
from harness.watch import LoopMachine, Watch, explore
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.frames import (
    Called,
    Counted,
    Delivered,
    Done,
    Garbage,
    GetName,
    GetSeq,
    Heard,
    Input,
    Listen,
    Message,
    Mode,
    Named,
    Noise,
    Refused,
    Send,
    Sent,
    SetName,
    SetSeq,
)
from reference_impl.bccn.node import API, HOST, LISTENERS, WIRE, Config, NodeMachine
from reference_impl.bccn.tracker import Tracker
from reference_impl.core import Overdue
from suites.bccn.segment import ELSEWHERE, HERE, ROLE, Node, Segment, unique
from suites.bccn.wire import SECRET, Said, body, datagram, framed, signed

SRCS = st.sampled_from(["a", "A", "a/1", "x?", "?"])  # none of the node's own names: it may hear itself
NEAR = [1, 2, 3, 4, 2**64 - 1]  # every SANITY from 6 to 2^63 gives the same verdicts
KNOWN = [0, 1, 2, 1000, 1001, 1002, 2001, 2**53, 2**53 + 1, 2**64 - 1]  # around a SANITY of 1000
SANITY = 1000
NAMES = st.sampled_from(["h/p/12", "h/p/12/3", "h/q/w-3", "12345", "host*", "me", ""])
PLAIN = ["c", "a/b", "a/x/e", "A/b", "c!", "!"]
EXACT = ["!h/p/12", "!12345", "!other/p/1", "!?", "!!me", "!h/p/12#a"]
WIDE = [
    "!h",
    "!h/p",
    "!h/p/12/*",
    "!h/q/w-3",
    "!h/q/w-3/*",
    "!me",
    "!me/*",
    "!host*",
    "!host",
    "!*",
    "!/*",
    "!H",
    "!h/p/1/*",
]
CHANS = [*PLAIN, *EXACT, *WIDE]
PAYLOAD = b"\0say\xff\x80 "
PATTERNS = ["a/b", "a/*/e", "a/>", "zz"]
EXACT_PATTERNS = ["a/b", "a/x/e", "zz"]  # for bindings whose matching is another (L932)
BAD_NAMES = st.sampled_from(["a b", "a:b", "a|b", "s" * 129, "a\n"])
BAD_CHANS = st.sampled_from(["", "a b", "a:b", "a|b", "c" * 1025])
MALFORMED = st.sampled_from(
    [
        b"",
        b"BCCN1[3]a:1",
        b"BCCN1[99]a:9:c|x",
        b"BCCN1[ 7]a:9:c|x",
        b"BCCN2[7]a:9:c|x",
        b"bccn1[7]a:9:c|x",
        framed(b"a:9:c|x") + b"\n",
        *map(framed, [b"a:9:c:d|x", b"a:-1:c|x", b":9:c|x", b"a:9:|x", b"a:9:c", b"a b:9:c|x"]),
    ]
)
ADDRESSES = st.sampled_from([HERE, ELSEWHERE])


class NodeWatch(Watch[Any]):
    """The node of one run, and the oracle that hears all that it says."""

    def __init__(self, trial: Trial, segment: Segment, node: Node, key: bytes, sanity: int) -> None:
        super().__init__(trial, NodeMachine(Config(key=key), tracker=Tracker(sanity)))
        self.segment, self.node, self.key, self.codec = segment, node, key, Codec()
        self._sentinel, self._count = unique("end"), 0

    def say(self, data: bytes, ip: str) -> None:
        peer = self.segment.address(ip)
        read = self.codec.decode(data, self.key)
        self.told(WIRE, Noise(read, peer, 0.0) if isinstance(read, Garbage) else Heard(read, peer, 0.0))
        self.segment.say(data, ip)

    async def call(self, event: Input, op: str, **args: Any) -> bool:
        """One call of the host; did it succeed?"""
        self.told(API, event)
        try:
            result = await self.node.do(op, **args)
        except TargetRefused as refused:
            self.heard(API, Refused(str(refused)))
            return False
        self.heard(API, answered(event, result))
        return True

    async def fence(self) -> None:
        """Prove that the node has read what was said, and hear everything it said of it."""
        self._count += 1
        self.say(datagram(self._sentinel, self._count, "end", b"", self.key), HERE)
        while not await self._reached():
            pass
        self.segment.fenced()
        await self._hear_the_rest()
        await self.settle()
        self.oracle.quiesce()  # the sentinel has shown that everything was read

    async def _hear_the_rest(self) -> None:
        """What the node broadcast, and callbacks that run late; polled while it owes any."""
        deadline = self.loop_time() + self.trial.patience_s
        while True:
            for data in self.segment.captured():
                self.heard(WIRE, Sent(data))
            while not self.node.instance.events.empty():
                self._hear(*await self.node.instance.event(self.trial.patience_s))
            self.judge_waiting()
            if self.oracle.settled:
                return
            if self.loop_time() > deadline:
                self.trial.lose_patience()
                raise Overdue(self.oracle.overdue())
            await asyncio.sleep(0.001)

    def loop_time(self) -> float:
        return asyncio.get_running_loop().time()

    async def _reached(self) -> bool:
        try:
            kind, data = await self.node.instance.event(self.trial.patience_s)
        except TargetTimeout:
            self.trial.lose_patience()
            await self.settle()  # says what is overdue
            return True
        return self._hear(kind, data)

    def _hear(self, kind: str, data: dict[str, Any]) -> bool:
        """One event; was it the sentinel's delivery?"""
        self.trial.said("node", "host", "event", f"{kind} {data}")
        if kind not in ("delivered", "called") or self.node.is_echo(data):
            return False
        said = Said.of(data)
        message = Message(*said.message, authenticated=bool(self.key))  # whether a target tells is free
        if kind == "called":
            self.heard(LISTENERS, Called(said.pattern, message))
            return False
        if said.mode not in set(Mode):
            raise Broken("BCCN-DLV-05", "plain, all or directed", said.mode)
        self.heard(HOST, Delivered(message, Mode(said.mode), said.peer))
        return said.src == self._sentinel and said.seq == self._count


def answered(event: Input, result: dict[str, Any]) -> Named | Counted | Done:
    if isinstance(event, GetName):
        return Named(str(result["name"]))
    return Counted(int(result["seq"])) if isinstance(event, GetSeq) else Done()


class Bccn(LoopMachine):
    """One node on a port of its own; the harness is everybody else."""

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop, key: bytes, abilities: list[str]) -> None:
        super().__init__()
        self.loop, self.key, self.abilities = loop, key, abilities
        trial.restart()
        self.segment = Segment(trial)
        config = {"sanity": SANITY} if "sanity" in abilities else {}
        node = self.wait(self.segment.start(key=key, **config))
        self.watch = NodeWatch(trial, self.segment, node, key, SANITY)
        self.name, self.sent = "", 0
        self.patterns = list(PATTERNS if "patterns" in abilities else EXACT_PATTERNS)

    def numbers(self) -> list[int]:
        return KNOWN if "sanity" in self.abilities else NEAR

    @initialize(name=NAMES)
    def begin(self, name: str) -> None:
        """Where the counter begins is free, so it is set; a fresh node's name is not."""
        self._call(GetName(), "get_name")
        self._call(SetSeq(2), "set_seq", seq="2")
        if self._call(SetName(name), "set_name", name=name):
            self.name = name

    @rule(data=st.data(), src=SRCS, ips=st.lists(ADDRESSES, min_size=1, max_size=4))
    def say(self, data: st.DataObject, src: str, ips: list[str]) -> None:
        """Some numbers of one sender on some channels, all under way at once."""
        for ip in ips:
            seq, chan = (
                data.draw(st.sampled_from(self.numbers()), label="seq"),
                data.draw(st.sampled_from(CHANS), label="chan"),
            )
            self.watch.say(datagram(src, seq, chan, PAYLOAD, self.key), ip)
        self.wait(self.watch.fence())

    @rule(data=st.data())
    def say_plainly(self, data: st.DataObject) -> None:
        """Numbers of senders whose names are alike."""
        for src in data.draw(st.lists(SRCS, min_size=2, max_size=5), label="srcs"):
            seq = data.draw(st.sampled_from(self.numbers()[:3]), label="seq")
            self.watch.say(datagram(src, seq, "c", PAYLOAD, self.key), HERE)
        self.wait(self.watch.fence())

    @rule()
    def say_on_every_channel(self) -> None:
        """A new sender for each: only the address decides."""
        for chan in CHANS:  # one at a time: an oracle that must think of all that is under way is slow
            self._say(datagram(unique(), 1, chan, PAYLOAD, self.key), HERE)

    @rule(data=st.data(), src=SRCS, chan=st.sampled_from(CHANS))
    def forge(self, data: st.DataObject, src: str, chan: str) -> None:
        """Under another key, not signed at all, with another check; then the genuine one."""
        if not self.key:
            return
        content = body(src, data.draw(st.sampled_from(self.numbers()), label="seq"), chan, PAYLOAD)
        for data_ in (
            signed(content, SECRET + b"!"),
            framed(content),
            framed(content, ":sig=a1b2c3d4e5f60718"),
            signed(content),
        ):
            self._say(data_, HERE)

    @rule(data=MALFORMED)
    def say_noise(self, data: bytes) -> None:
        self._say(data, HERE)

    @rule(name=NAMES)
    def set_name(self, name: str) -> None:
        if self._call(SetName(name), "set_name", name=name):
            self.name = name

    @rule(name=BAD_NAMES)
    def set_bad_name(self, name: str) -> None:
        """Refused at once; a node that waits for the send to refuse is not asked further."""
        if not self.wait(self.watch.node.refuses("set_name", name=name)):
            self._call(SetName(self.name), "set_name", name=self.name)

    @rule()
    def get(self) -> None:
        self._call(GetName(), "get_name")
        self._call(GetSeq(), "get_seq")

    @rule(seq=st.sampled_from([0, 41, 2**53, 2**53 + 1, 2**64 - 1]))
    def set_seq(self, seq: int) -> None:
        self._call(SetSeq(seq), "set_seq", seq=str(seq))

    @rule(chan=st.sampled_from(CHANS), own=st.booleans(), size=st.sampled_from([0, 1, 300]))
    def send(self, chan: str, own: bool, size: int) -> None:
        """Without a name or a src it would come from "?", and its echo be taken for another's."""
        self._send(chan, "" if own and self.name else "me/myself", size)
        self._call(GetSeq(), "get_seq")

    @rule(size=st.sampled_from([1399, 1400, 1401, 1422]), long=st.booleans())
    def send_about_the_limit(self, size: int, long: bool) -> None:
        src, chan = ("s" * 128, "c" * 1024) if long else ("me/myself", "c")
        self._call(SetSeq(12), "set_seq", seq="12")
        empty = len(datagram(src, 12, chan, b"", self.key))
        spare = size - empty - (len(datagram(src, 12, chan, b"x" * (size - empty), self.key)) - size)
        self._send(chan, src, max(0, spare - len(self._next_payload())))

    @rule(chan=BAD_CHANS)
    def send_badly(self, chan: str) -> None:
        self._send(chan, "me/myself", 1)

    @rule(data=st.data())
    def listen(self, data: st.DataObject) -> None:
        if "conventions" in self.abilities and self.patterns:
            pattern = data.draw(st.sampled_from(self.patterns), label="pattern")
            self.patterns.remove(pattern)
            self._call(Listen(pattern), "listen", pattern=pattern)

    @invariant()
    def nothing_is_out_of_line(self) -> None:
        self.watch.judge_waiting()

    def teardown(self) -> None:
        self.wait(self._end())

    async def _end(self) -> None:
        try:
            await self.watch.fence()
        finally:
            await self.segment.close()

    def _say(self, data: bytes, ip: str) -> None:
        self.watch.say(data, ip)
        self.wait(self.watch.fence())

    def _call(self, event: Input, op: str, **args: Any) -> bool:
        done = self.wait(self.watch.call(event, op, **args))
        self.wait(self.watch.fence())
        return done

    def _next_payload(self) -> bytes:
        return b"sent %d" % self.sent  # its own: the node may hear itself

    def _send(self, chan: str, src: str, size: int) -> None:
        payload = self._next_payload() + b"x" * size
        self.sent += 1
        event = Send(chan, payload, src)
        self._call(event, "send", src=src or None, chan=chan, payload=payload.hex())


@clauses(
    "BCCN-DLV-01",
    "BCCN-DUP-02",
    "BCCN-DIR-13",
    "BCCN-TRN-01",
    "BCCN-API-12",
    "BCCN-DUP-04",
    "BCCN-DIR-17",
    "BCCN-DLV-02",
)
async def test_a_node_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever is said to it, a node delivers, answers and broadcasts what the machine owes, and nothing else."""
    loop = asyncio.get_running_loop()
    abilities = await target.capabilities(ROLE)
    make = functools.partial(Bccn, trial, loop, b"", abilities)
    await explore(make, steps=20, examples=60 if trial.slow else 12)


@clauses("BCCN-INT-09", "BCCN-INT-10", "BCCN-INT-13", "BCCN-DLV-01", "BCCN-DUP-02", "BCCN-DIR-13", "BCCN-SIZ-03")
async def test_a_node_with_a_key_follows_its_machine(target: Target, trial: Trial) -> None:
    """The same under a key, with forgeries among the datagrams."""
    loop = asyncio.get_running_loop()
    abilities = await target.capabilities(ROLE)
    make = functools.partial(Bccn, trial, loop, SECRET, abilities)
    await explore(make, steps=20, examples=60 if trial.slow else 10)
