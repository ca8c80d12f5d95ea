"""One port of loopback's broadcast address, held by one case: mouths that say datagrams, an ear that hears every one.

Nothing here ever uses another address. A port is chosen by binding it exclusively and only then shared, so two suites
on one machine never meet. Loopback loses a datagram only when a queue is full, so a case says at most `MOST_UNFENCED`
before it makes sure that they were read.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import socket
from typing import Any

from harness.errors import HarnessError, TargetError, TargetRefused, TargetTimeout
from harness.targets import Session
from harness.trial import Broken, Trial
from suites.bccn.wire import Said, datagram, fault

BROADCAST = "127.255.255.255"
HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"  # two sender addresses of this very host
ROLE = "bccn/node"

MOST_UNFENCED = 50
"""A default Linux receive queue (212,992 bytes) holds over 150 small datagrams; this leaves a wide margin."""

SENTINELS = 3
"""How often a sentinel is said before a node counts as deaf: one loss, or two, is the kernel's and not the node's."""

_run = secrets.token_hex(4)
_serial = itertools.count(1)


def unique(prefix: str = "s") -> str:
    """A name that no other case, and no other run, uses."""
    return f"{prefix}/{_run}/{next(_serial)}"


def is_sentinel(src: str) -> bool:
    """Every node on a port hears the sentinels of all."""
    return src.startswith(f"sentinel/{_run}/")


class Segment:
    """A port, and who speaks and listens on it."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._ear.bind((BROADCAST, 0))  # exclusive: whoever holds this port already would make the bind fail
        self._ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._ear.setblocking(False)
        self.port: int = self._ear.getsockname()[1]
        self._mouths: dict[str, socket.socket] = {}
        self._unfenced = 0
        self.nodes: list[Node] = []

    def mouth(self, ip: str = HERE) -> socket.socket:
        if ip not in self._mouths:
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            made.bind((ip, 0))
            made.setblocking(False)
            self._mouths[ip] = made
        return self._mouths[ip]

    def address(self, ip: str = HERE) -> tuple[str, int]:
        """From where this mouth's datagrams come."""
        host, port = self.mouth(ip).getsockname()
        return host, port

    def say(self, data: bytes, ip: str = HERE) -> None:
        """One datagram to everybody on the port."""
        self._unfenced += 1
        if self._unfenced > MOST_UNFENCED:
            raise HarnessError(f"a case says more than {MOST_UNFENCED} datagrams without a fence")
        self.trial.said("harness", "everybody", "frame", repr(data), data)
        self.mouth(ip).sendto(data, (BROADCAST, self.port))

    def replies(self) -> list[bytes]:
        """What came back to the mouths; nothing ever should (BCCN-TRN-05)."""
        return [data for mouth in self._mouths.values() for data, _ in drained(mouth)]

    def captured(self) -> list[bytes]:
        """What others than the harness have broadcast since the last look."""
        own = {mouth.getsockname() for mouth in self._mouths.values()}
        heard = [data for data, peer in drained(self._ear) if peer not in own]
        for data in heard:
            self.trial.said("node", "everybody", "frame", repr(data), data)
        return heard

    async def capture(self, count: int, clause: str = "") -> list[bytes]:
        """That many datagrams of the nodes, waiting for them as long as the trial is patient."""
        heard = self.captured()
        deadline = asyncio.get_running_loop().time() + self.trial.patience_s
        while len(heard) < count:
            if asyncio.get_running_loop().time() > deadline:
                nothing = f"{len(heard)} within {self.trial.patience_s:g} s: {heard}"
                raise Broken(clause or self.trial.own_clause, f"{count} datagrams on the port", nothing)
            await asyncio.sleep(0.001)  # not a fence: the ear is polled until what must come has come
            heard += self.captured()
        return heard

    # -- nodes ----------------------------------------------------------------------------------------------------

    async def start(self, key: bytes = b"", **config: Any) -> Node:
        """A node under test on this port."""
        target = self.trial.target
        await target.capabilities(ROLE)
        told = {"broadcast": BROADCAST, "port": self.port, **config} | ({"key": key.hex()} if key else {})
        self.trial.said("harness", "node", "request", f"start {told}")
        session: Session = await target.session()
        node = Node(self, await session.start(ROLE, told), key)
        self.nodes.append(node)
        return node

    def fenced(self) -> None:
        self._unfenced = 0

    def release(self) -> None:
        """Let go of the port."""
        self._ear.close()

    async def close(self) -> None:
        for node in self.nodes:
            with contextlib.suppress(TargetError):  # a node that died has had its verdict
                await node.instance.stop()
        for mouth in self._mouths.values():
            mouth.close()
        self._ear.close()


def drained(heard: socket.socket) -> list[tuple[bytes, Any]]:
    got = []
    with contextlib.suppress(BlockingIOError):
        while True:
            got.append(heard.recvfrom(65_536))
    return got


class Node:
    """One node under test: its calls, its deliveries, and the sentinels that prove what it did not deliver."""

    def __init__(self, segment: Segment, instance: Any, key: bytes) -> None:
        self.segment, self.trial, self.instance, self.key = segment, segment.trial, instance, key
        self._called: list[Said] = []  # listeners' calls since the last look
        self.reasons: list[str] = []  # why datagrams were dropped, where the target tells
        self._own: set[str] = set()  # payloads of its own sends: whether it hears itself is free (A24)
        self._sentinel = unique("sentinel")
        self._count = 0

    # -- calls ----------------------------------------------------------------------------------------------------

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        self.trial.said("harness", "node", "request", f"{op} {args}")
        if op.startswith("send") or op == "fork":
            self._own.add(args["payload"])
        result: dict[str, Any] = await self.instance.do(op, **args)
        self.trial.said("node", "harness", "answer", str(result))
        return result

    async def refuses(self, op: str, **args: Any) -> bool:
        try:
            await self.do(op, **args)
        except TargetRefused as refused:
            self.trial.said("node", "harness", "answer", f"refused: {refused}")
            return True
        return False

    async def send(self, chan: str, payload: bytes, src: str | None = None, key: bytes = b"") -> None:
        extra = {"key": key.hex()} if key else {}
        await self.do("send", src=src, chan=chan, payload=payload.hex(), **extra)

    async def refuses_send(
        self, chan: str, payload: bytes = b"refused", src: str | None = None, key: bytes = b""
    ) -> bool:
        extra = {"key": key.hex()} if key else {}
        return await self.refuses("send", src=src, chan=chan, payload=payload.hex(), **extra)

    async def set_name(self, name: str | None) -> None:
        await self.do("set_name", name=name)

    async def name(self) -> str:
        return str((await self.do("get_name"))["name"])

    async def set_seq(self, seq: int) -> None:
        await self.do("set_seq", seq=str(seq))

    async def seq(self) -> int:
        return int((await self.do("get_seq"))["seq"])

    # -- what it hears --------------------------------------------------------------------------------------------

    async def fence(self, clause: str = "") -> list[Said]:
        """All that was said so far has been read: what of it was delivered, in order, without the sentinel."""
        got: list[Said] = []
        for _ in range(SENTINELS):
            self._count += 1
            self.segment.say(datagram(self._sentinel, self._count, "sentinel", b"", self.key))
            if await self._until_sentinel(got):
                self.segment.fenced()
                return got
        own = "BCCN-INT-05" if self.key else "BCCN-DLV-07"  # its tag is right: the node computes another
        nothing = f"nothing within {self.trial.patience_s:g} s"
        raise Broken(clause or own, "the sentinel, a good datagram, to be delivered", nothing)

    async def _until_sentinel(self, got: list[Said]) -> bool:
        try:
            while True:
                data = await self._delivery(self.trial.patience_s / SENTINELS)
                said = Said.of(data)
                if said.src == self._sentinel and said.seq == self._count:
                    return True
                if not is_sentinel(said.src) and not self.is_echo(data):
                    got.append(said)
        except TargetTimeout:
            return False

    def is_echo(self, data: dict[str, Any]) -> bool:
        """Does this event tell of a send of its own?"""
        return data.get("payload") in self._own

    async def _delivery(self, patience_s: float) -> dict[str, Any]:
        while True:
            kind, data = await self._event(patience_s)
            if kind == "delivered":
                return data

    async def _event(self, patience_s: float) -> tuple[str, dict[str, Any]]:
        kind, data = await self.instance.event(patience_s)
        self.trial.said("node", "host", "event", f"{kind} {data}")
        if kind == "called" and not is_sentinel(str(data.get("src"))):
            self._called.append(Said.of(data))
        if kind == "dropped":
            self.reasons.append(str(data.get("reason")))
        return kind, data

    async def calls(self, count: int) -> list[Said]:
        """The callbacks since the last look, in no order; so many are waited for, since one may run in a thread of its own.

        One too many is seen if it comes with the others: see the README for what a shim has to keep in order.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self.trial.patience_s
        with contextlib.suppress(TargetTimeout):
            while not self.instance.events.empty() or (len(self._called) < count and clock() < deadline):
                await self._event(max(0.001, deadline - clock()))
        called, self._called = self._called, []
        return called

    async def received(self, count: int) -> list[Said]:
        """What `recv` yields: so many messages, each by a call of its own, and whatever one more call yields."""
        got: list[Said] = []
        deadline = asyncio.get_running_loop().time() + self.trial.patience_s
        while len(got) < count and asyncio.get_running_loop().time() < deadline:
            if message := (await self.do("recv"))["message"]:
                got.append(Said.of(message))
            else:
                await asyncio.sleep(0.001)  # not a fence: what must come is asked for until it comes
        last = (await self.do("recv"))["message"]
        return [*got, Said.of(last)] if last else got

    async def hears(self, *datagrams: bytes, ip: str = HERE, clause: str = "") -> list[Said]:
        """Say these, and tell which of them it delivered."""
        for data in datagrams:
            if data.partition(b"|")[2].hex() in self._own:
                raise HarnessError(f"{data!r} has the payload of a send of this node: its delivery would be its echo")
            self.segment.say(data, ip)
        return await self.fence(clause)

    async def expect_delivered(self, data: bytes, clause: str = "", ip: str = HERE) -> Said:
        """Say this: it is delivered, once."""
        got = await self.hears(data, ip=ip)
        self.trial.expect(len(got) == 1, f"one delivery of {data[:120]!r}", got, clause)
        return got[0]

    async def expect_dropped(self, data: bytes, clause: str = "", ip: str = HERE) -> None:
        """Say this: it is not delivered."""
        got = await self.hears(data, ip=ip)
        self.trial.expect(not got, f"no delivery of {data[:120]!r}", got, clause)

    async def expect_sent(self, data: bytes, clause: str = "") -> None:
        """The next and only datagram it broadcast."""
        got = await self.segment.capture(1, clause)
        self.trial.expect(got == [data], repr(data), got, fault(data, got[0]) or clause)
