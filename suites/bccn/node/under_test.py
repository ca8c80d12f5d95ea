"""One port of loopback's broadcast address, held by one case: mouths that say datagrams, an ear that hears every one.

Nothing here ever uses another address. A port is chosen by binding it exclusively and only then shared, so two suites
on one machine never meet. Loopback loses a datagram only when a queue is full, so a case says at most `MOST_UNFENCED`
before it makes sure that they were read.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

from harness.errors import HarnessError, TargetError, TargetRefused, TargetTimeout, TargetUnsupported
from harness.judging.trial import Broken, Trial
from harness.targets import Instance
from suites.bccn.lint import fault
from suites.bccn.reading import Reading, keyed
from suites.bccn.wire import datagram
from suites.common import shim
from suites.common.host import Event, Host
from suites.common.names import is_ours, unique

BROADCAST = "127.255.255.255"
HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"  # two sender addresses of this very host
POLL_S = 0.001

MOST_UNFENCED = 50
"""A default Linux receive queue (212,992 bytes) holds over 150 small datagrams; this leaves a wide margin."""

SENTINELS = 3
"""How often a sentinel is said before a node counts as deaf: one loss, or two, is the kernel's and not the node's."""


def is_sentinel(src: str) -> bool:
    """Every node on a port hears the sentinels of all."""
    return is_ours(src, "sentinel")


class BroadcastPort:
    """A port, and who speaks and listens on it."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._ear.bind((BROADCAST, 0))  # exclusive: whoever holds this port already would make the bind fail
        self._ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._ear.setblocking(False)
        self.number: int = self._ear.getsockname()[1]
        self._mouths: dict[tuple[str, int], socket.socket] = {}
        self._unfenced = 0
        self.nodes: list[NodeUnderTest] = []

    def mouth(self, ip: str = HERE, number: int = 0) -> socket.socket:
        """Each address has as many as a case asks for, each with a port of its own."""
        if (ip, number) not in self._mouths:
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            made.bind((ip, 0))
            made.setblocking(False)
            self._mouths[ip, number] = made
        return self._mouths[ip, number]

    def address(self, ip: str = HERE) -> tuple[str, int]:
        """From where this mouth's datagrams come."""
        host, port = self.mouth(ip).getsockname()
        return host, port

    def say(self, data: bytes, ip: str = HERE, mouth: int = 0) -> None:
        """One datagram to everybody on the port."""
        self._unfenced += 1
        if self._unfenced > MOST_UNFENCED:
            raise HarnessError(f"a case says more than {MOST_UNFENCED} datagrams without a fence")
        self.trial.said("harness", "everybody", "frame", repr(data), data)
        self.mouth(ip, mouth).sendto(data, (BROADCAST, self.number))

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
        heard: list[bytes] = []
        try:
            with self.trial.waiting("datagrams on the port") as waited_s:
                async with asyncio.timeout(waited_s):
                    while len(heard) < count:
                        await asyncio.sleep(POLL_S)  # not a fence: the ear is polled until what must come has come
                        heard += self.captured()
        except TimeoutError:
            nothing = f"{len(heard)} within {waited_s:g} s: {heard}"
            raise Broken(clause or self.trial.own_clause, f"{count} datagrams on the port", nothing) from None
        return heard

    # -- nodes ----------------------------------------------------------------------------------------------------

    async def node(self, key: bytes = b"", name: str = "", *, seq: int | None = None, **config: Any) -> NodeUnderTest:
        """A node under test on this port; its counter is set where a case counts."""
        await self.trial.capabilities()
        own = {"key": key.hex(), "name": name}
        told = {"broadcast": BROADCAST, "port": self.number, **config, **{k: v for k, v in own.items() if v}}
        self.trial.said("host", "node", "request", f"start {told}")
        instance = await (await self.trial.target.session()).start(self.trial.role, told)
        self.nodes.append(NodeUnderTest(self, instance, key, name))
        if seq is not None:
            await self.nodes[-1].set_seq(seq)
        return self.nodes[-1]

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


@contextlib.asynccontextmanager
async def opened_port(trial: Trial) -> AsyncIterator[BroadcastPort]:
    """A port for one block."""
    port = BroadcastPort(trial)
    try:
        yield port
    finally:
        await port.close()


Ports = Callable[[], contextlib.AbstractAsyncContextManager[BroadcastPort]]


def drained(heard: socket.socket) -> list[tuple[bytes, Any]]:
    got = []
    with contextlib.suppress(BlockingIOError):
        while True:
            got.append(heard.recvfrom(65_536))
    return got


class NodeUnderTest(Host):
    """One node under test: its calls, its deliveries, and the sentinels that prove what it did not deliver."""

    def __init__(self, port: BroadcastPort, instance: Instance, key: bytes, name: str = "") -> None:
        super().__init__(port.trial, instance)
        self.port, self.key = port, key
        self._called: list[Reading] = []  # listeners' calls since the last look
        self.reasons: list[str] = []  # why datagrams were dropped, where the target tells
        self._name = name  # as it was set last
        self._own: set[str] = set()  # payloads of its own sends: whether it hears itself is free (A24)
        self._sentinel = unique("sentinel")
        self._count = 0

    # -- calls ----------------------------------------------------------------------------------------------------

    async def do(self, op: str, raw: bytes = b"", shown: object = None, /, **args: Any) -> dict[str, Any]:
        if op.startswith("send") or op == "fork":
            self._own.add(args["payload"])
        answer = await super().do(op, raw, shown, **args)
        if op == "set_name":
            self._name = args["name"] or ""
        return answer

    async def refuses(self, op: str, **args: Any) -> bool:
        return await self.asked(op, **args) is None

    async def send(self, chan: str, payload: bytes, src: str | None = None, key: bytes = b"") -> None:
        await self.sent(src=src, chan=chan, payload=payload.hex(), **keyed(key))

    async def sent(self, src: str | None, **args: Any) -> dict[str, Any]:
        """Under that src. A binding whose calls take none is renamed for as long as it takes: few cases are about src."""
        try:
            return await self.do("send", src=src, **args)
        except TargetUnsupported:
            if not src:
                raise
        before = self._name
        await self.set_name(src)
        try:
            return await self.do("send", src=None, **args)
        finally:
            await self.set_name(before)

    async def refuses_send(
        self, chan: str, payload: bytes = b"refused", src: str | None = None, key: bytes = b""
    ) -> bool:
        try:
            await self.send(chan, payload, src, key)
        except TargetRefused:
            return True
        return False

    async def set_name(self, name: str | None) -> None:
        await self.do("set_name", name=name)

    async def name(self) -> str:
        return shim.member(await self.do("get_name"), "name", shim.text, "get_name")

    async def set_seq(self, seq: int) -> None:
        await self.do("set_seq", seq=str(seq))

    async def seq(self) -> int:
        return shim.member(await self.do("get_seq"), "seq", shim.number, "get_seq")

    # -- what it hears --------------------------------------------------------------------------------------------

    async def fence(self, clause: str = "") -> list[Reading]:
        """All that was said so far has been read: what of it was delivered, in order, without the sentinel."""
        got: list[Reading] = []
        try:
            with self.trial.waiting("a sentinel") as waited_s:
                await self._fenced(got, waited_s / SENTINELS)
        except TimeoutError:
            own = "BCCN-INT-05" if self.key else "BCCN-DLV-07"  # its tag is right: the node computes another
            nothing = f"nothing within {waited_s:g} s"
            raise Broken(clause or own, "the sentinel, a good datagram, to be delivered", nothing) from None
        self.port.fenced()
        return got

    async def _fenced(self, got: list[Reading], each_s: float) -> None:
        for _ in range(SENTINELS):
            self._count += 1
            self.port.say(datagram(self._sentinel, self._count, "sentinel", b"%d" % self._count, self.key))
            if await self._until_sentinel(got, each_s):
                return
        raise TimeoutError

    async def _until_sentinel(self, got: list[Reading], each_s: float) -> bool:
        with contextlib.suppress(TargetTimeout):
            while True:
                kind, data = await self.event(each_s)
                if kind != "delivered":
                    continue
                said = Reading.of(data)
                if said.src == self._sentinel and (said.number == self._count or said.payload == b"%d" % self._count):
                    return True
                if not is_sentinel(said.src) and not self.is_echo(data):
                    got.append(said)
        return False

    def is_echo(self, data: dict[str, Any]) -> bool:
        """Does this event tell of a send of its own?"""
        return data.get("payload") in self._own

    async def event(self, patience_s: float) -> Event:
        kind, data = await super().event(patience_s)
        if kind == "called" and not is_sentinel(str(data.get("src"))):
            self._called.append(Reading.of(data))
        if kind == "dropped":
            self.reasons.append(str(data.get("reason")))
        return kind, data

    async def calls(self, count: int) -> list[Reading]:
        """The callbacks since the last look, in no order; so many are waited for, since one may run in a thread of its own.

        One too many is seen if it comes with the others: see the README for what a shim has to keep in order.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self.trial.patience_s
        with contextlib.suppress(TargetTimeout):
            while not self.instance.events.empty() or (len(self._called) < count and clock() < deadline):
                await self.event(max(0.001, deadline - clock()))
        called, self._called = self._called, []
        return called

    async def received(self, count: int) -> list[Reading]:
        """What `recv` yields: so many messages, each by a call of its own, and whatever one more call yields."""
        got: list[Reading] = []
        for _ in self.trial.patiently():
            got += await self._recv()
            if len(got) >= count:
                break
            await asyncio.sleep(POLL_S)  # not a fence: what must come is asked for until it comes
        return got + await self._recv()

    async def _recv(self) -> list[Reading]:
        message = (await self.do("recv")).get("message")
        return [Reading.of(message)] if message else []

    async def hears(self, *datagrams: bytes, ip: str = HERE, clause: str = "") -> list[Reading]:
        """Say these, and tell which of them it delivered."""
        for data in datagrams:
            if data.partition(b"|")[2].hex() in self._own:
                raise HarnessError(f"{data!r} has the payload of a send of this node: its delivery would be its echo")
            self.port.say(data, ip)
        return await self.fence(clause)

    async def expect_delivered(self, data: bytes, clause: str = "", ip: str = HERE) -> Reading:
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
        got = await self.port.capture(1, clause)
        self.trial.expect(got == [data], repr(data), got, fault(data, got[0]) or clause)

    async def expect_unmoved(self, seq: int, clause: str = "", counted: str = "BCCN-API-13") -> None:
        """Nothing was sent and no number taken: the next datagram is that of a good send, with this number.

        `clause` is of what was sent and should not have been, `counted` of a number that was taken for nothing.
        """
        await self.send("c", b"good", "me")
        wanted, got = datagram("me", seq, "c", b"good", self.key), await self.port.capture(1, clause)
        alone = len(got) == 1 and got[0].endswith(b":c|good")
        self.trial.expect(got == [wanted], repr(wanted), got, fault(wanted, got[0]) or (counted if alone else clause))
