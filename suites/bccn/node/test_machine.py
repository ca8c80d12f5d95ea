"""A node beside its oracle: datagrams and calls come as Hypothesis likes.

There is no expected delivery in this file: whatever the node delivers, answers or broadcasts is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from harness.catalogue.cases import clauses
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from reference_impl.bccn.frames import (
    GetName,
    GetSeq,
    Input,
    Listen,
    Send,
    SetName,
    SetSeq,
)
from suites.bccn.node.under_test import ELSEWHERE, HERE, BroadcastPort
from suites.bccn.node.watch import NodeWatch
from suites.bccn.node.world import PatientTracker
from suites.bccn.wire import SECRET, body, datagram, framed, signed
from suites.common.names import unique

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


class Bccn(LoopMachine):
    """One node on a port of its own; the harness is everybody else."""

    def __init__(self, trial: Trial, key: bytes, abilities: list[str], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        self.key, self.abilities = key, abilities
        self.port = BroadcastPort(trial)
        config: dict[str, Any] = {"sanity": SANITY} if "sanity" in abilities else {}
        node = self.wait(self.port.node(key=key, **config))
        self.watch: NodeWatch = NodeWatch(trial, self.port, node, key, PatientTracker(SANITY))
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

    async def finish(self) -> None:
        await self.watch.fence()

    async def free(self) -> None:
        await self.port.close()

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


@clauses("BCCN-DLV-01", "BCCN-DUP-02", "BCCN-DIR-13", "BCCN-TRN-01", "BCCN-API-12", "BCCN-DUP-04", "BCCN-DIR-17")
@clauses("BCCN-DLV-02")
async def test_a_node_follows_its_machine(trial: Trial) -> None:
    """Whatever is said to it, a node delivers, answers and broadcasts what the machine owes, and nothing else."""
    abilities = await trial.capabilities()
    make = functools.partial(Bccn, trial, b"", abilities)
    await explore(make, steps=20, examples=trial.random_runs(12, slow=60))


@clauses("BCCN-INT-09", "BCCN-INT-10", "BCCN-INT-13", "BCCN-DLV-01", "BCCN-DUP-02", "BCCN-DIR-13", "BCCN-SIZ-03")
async def test_a_node_with_a_key_follows_its_machine(trial: Trial) -> None:
    """The same under a key, with forgeries among the datagrams."""
    abilities = await trial.capabilities()
    make = functools.partial(Bccn, trial, SECRET, abilities)
    await explore(make, steps=20, examples=trial.random_runs(10, slow=60))
