"""The broker beside its oracle: peers come, go, send, ack and take over as Hypothesis likes.

There is no expected frame in this file: whatever the broker says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from harness.cases import clauses
from harness.targets import Target
from harness.trial import Trial
from harness.watch import LoopMachine, Watch, explore
from reference_impl.core import Overdue
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.frames import Ack, Binary, Close, Deliver, Envelope, Frame, Opened, Peers, Register
from suites.peerbus.bus import TOKENS, Peer, PrivateBus, codec, message, unique, unique_id

NAMES = st.integers(0, 3)
BODIES = st.sampled_from([b'{"z":1,"a":2}', b'"text"', b"[1.0,1e5,-0]", b"null", b'{"a":1,"a":2}', b'""'])
FIRST_TEXTS = st.sampled_from(
    ["{nope", "", "[]", '{"type":"Register","protocol_version":"v1","token":"token-a","name":"x"}', "null", '{"a":1}x']
)
NOISE = st.sampled_from(
    [
        "{nope",
        "[]",
        "17",
        '{"type":"ack"}',
        '{"id":"","to":"x","kind":"msg"}',
        '{"protocol_version":"v1","type":"peers","names":["zzz"]}',
        '{"type":"peers"}',  # without a version: answered or not, the machine allows both
    ]
)
BAD_REGISTERS = st.sampled_from(
    [
        ("v2", "token-a", "x"),
        ("", "token-a", "x"),
        ("v1", "wrong", "x"),
        ("v1", "", "x"),
        ("v1", "token-a", ""),
        ("v1", "token-a ", "x"),
    ]
)


class BrokerWatch(Watch[Any]):
    """The broker of one machine run, its connections by number, and the oracle."""

    def __init__(self, trial: Trial, bus: PrivateBus) -> None:
        super().__init__(trial, BrokerMachine(frozenset(TOKENS)))
        self.bus = bus
        self.connections: dict[int, Peer] = {}
        self.registered: dict[int, str] = {}
        self._next = 0

    async def connect(self) -> int:
        self._next += 1
        channel = self._next
        self.told(channel, Opened())
        peer = self.connections[channel] = await self.bus.connect(f"c{channel}")
        waiting = [peer.inbox.get_nowait() for _ in range(peer.inbox.qsize())]
        peer.on_frame = lambda frame: self.arrived(channel, frame)
        for frame in waiting:
            self.arrived(channel, frame)
        return channel

    def arrived(self, channel: int, frame: Any) -> None:
        if isinstance(frame, Close):
            self.connections.pop(channel, None)
            self.registered.pop(channel, None)
        self.heard(channel, frame)

    async def say(self, channel: int, frame: Frame) -> None:
        await self.say_text(channel, codec.encode(frame).decode())

    async def say_text(self, channel: int, text: str) -> None:
        self.told(channel, codec.decode(text.encode()))
        await self.connections[channel].text(text)

    async def say_binary(self, channel: int, data: bytes) -> None:
        self.told(channel, Binary(data))
        await self.connections[channel].binary(data)

    async def fence(self, channel: int) -> None:
        """Prove that the broker has read what was said on this connection."""
        if channel in self.registered and channel in self.connections:
            await self.say(channel, Peers())
        await self.settle()

    async def hang_up(self, channel: int, politely: bool) -> None:
        peer = self.connections.pop(channel)
        self.registered.pop(channel, None)
        peer.on_frame = lambda _: None
        self.told(channel, Close(1000 if politely else 1006))
        await (peer.close() if politely else asyncio.to_thread(peer.cut))
        await self.until_certain()

    async def until_certain(self) -> None:
        """Ask until the broker has shown that it noticed who is gone (PB-2.3-06)."""
        deadline = self.loop_time() + self.trial.patience_s
        while self.registered and not self.oracle.certain:
            await self.fence(next(iter(self.registered)))
            if self.loop_time() > deadline:
                raise Overdue(self.oracle.overdue())

    def loop_time(self) -> float:
        return asyncio.get_running_loop().time()

    async def crash(self) -> None:
        for peer in self.connections.values():
            peer.on_frame = lambda _: None
        self.connections.clear()
        self.registered.clear()
        await self.bus.restart()
        self.oracle.crash()


class Peerbus(LoopMachine):
    """Up to four names on a broker of its own, so that no example sees another's peers."""

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        trial.restart()
        self.watch = BrokerWatch(trial, self.wait(PrivateBus(trial).start()))
        self.names = [unique("n") for _ in range(4)]
        self.keys: list[str] = []

    def pick(self, data: st.DataObject, what: str) -> int:
        return data.draw(st.sampled_from(sorted(self.watch.registered)), label=what)

    @initialize()
    def two_peers(self) -> None:
        self.wait(self._register(0, 0))
        self.wait(self._register(1, 0))

    @rule(name=NAMES, token=st.integers(0, 1))
    def register(self, name: int, token: int) -> None:
        """A free name, a takeover or a claim under another token: the oracle knows which."""
        self.wait(self._register(name, token))

    async def _register(self, name: int, token: int) -> None:
        watch = self.watch
        channel = await watch.connect()
        watch.registered[channel] = self.names[name]
        await watch.say(channel, Register(TOKENS[token], self.names[name]))
        await watch.settle()
        await watch.fence(channel)

    @rule(bad=BAD_REGISTERS)
    def register_badly(self, bad: tuple[str, str, str]) -> None:
        version, token, name = bad
        self.wait(self._first(lambda c: self.watch.say(c, Register(token, name and unique("bad"), version))))

    @rule(text=FIRST_TEXTS)
    def begin_with_no_register(self, text: str) -> None:
        self.wait(self._first(lambda c: self.watch.say_text(c, text)))

    @rule(frame=st.sampled_from([Ack("x"), Peers(), Envelope(id="x", to="y", kind="msg")]))
    def begin_with_another_frame(self, frame: Frame) -> None:
        self.wait(self._first(lambda c: self.watch.say(c, frame)))

    @rule()
    def begin_with_binary(self) -> None:
        data = codec.encode(Register(TOKENS[0], unique("bin")))
        self.wait(self._first(lambda c: self.watch.say_binary(c, data)))

    async def _first(self, speak: Callable[[int], Any]) -> None:
        await speak(await self.watch.connect())
        await self.watch.settle()

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), to=st.integers(0, 4), body=BODIES, again=st.booleans())
    def send(self, data: st.DataObject, to: int, body: bytes, again: bool) -> None:
        """To a live, an offline or an unknown name; sometimes under an id that was used before."""
        channel = self.pick(data, "sender")
        recipient = self.names[to] if to < 4 else "nobody"
        id = data.draw(st.sampled_from(self.keys), label="id") if again and self.keys else unique_id()
        self._remember(id)
        self._say(channel, message(self.watch.registered[channel], recipient, body, id))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), body=BODIES, spoofed=st.booleans(), again=st.booleans())
    def broadcast(self, data: st.DataObject, body: bytes, spoofed: bool, again: bool) -> None:
        channel = self.pick(data, "sender")
        sender = self.names[3] if spoofed else self.watch.registered[channel]
        id = data.draw(st.sampled_from(self.keys), label="id") if again and self.keys else unique_id()
        id = id.split("|")[0]
        for name in self.names:
            self._remember(f"{id}|{name}")
        self._say(channel, message(sender, "*", body, id))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), field=st.sampled_from(["id", "to", "kind", "type"]))
    def send_something_odd(self, data: st.DataObject, field: str) -> None:
        """Without id or `to`, a kind that contradicts `to`, or with an unknown `type`: dropped or routed as the rules say."""
        channel = self.pick(data, "sender")
        envelope = message(self.watch.registered[channel], self.names[0])
        text = codec.encode(envelope).decode()
        odd = {
            "id": text.replace(f'"id":"{envelope.id}"', '"id":""'),
            "to": text.replace(f'"to":"{self.names[0]}"', '"to":""'),
            "kind": text.replace('"kind":"msg"', '"kind":"broadcast"'),
            "type": text[:-1] + ',"type":"chat"}',
        }[field]
        self.wait(self._text(channel, odd))

    @precondition(lambda self: self.watch.registered and self.keys)
    @rule(data=st.data())
    def ack(self, data: st.DataObject) -> None:
        """Own keys, foreign keys, keys acked before."""
        channel = self.pick(data, "acker")
        self._say(channel, Ack(data.draw(st.sampled_from(self.keys), label="key")))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), key=st.sampled_from(["", "never-seen"]))
    def ack_nothing(self, data: st.DataObject, key: str) -> None:
        self._say(self.pick(data, "acker"), Ack(key))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), noise=NOISE)
    def say_noise(self, data: st.DataObject, noise: str) -> None:
        self.wait(self._text(self.pick(data, "peer"), noise))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data())
    def say_what_only_others_say(self, data: st.DataObject) -> None:
        """A second register and a deliver are ignored."""
        channel = self.pick(data, "peer")
        self._say(channel, Register("wrong", unique("again")))
        self._say(channel, Deliver("k", message("x", self.names[0])))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data())
    def say_binary(self, data: st.DataObject) -> None:
        channel = self.pick(data, "peer")
        self.wait(self._binary(channel, codec.encode(message(self.watch.registered[channel], self.names[0]))))

    @precondition(lambda self: len(self.watch.registered) > 1)
    @rule(data=st.data(), politely=st.booleans())
    def hang_up(self, data: st.DataObject, politely: bool) -> None:
        self.wait(self.watch.hang_up(self.pick(data, "peer"), politely))

    @precondition(lambda self: self.keys)
    @rule(name=NAMES)
    def crash(self, name: int) -> None:
        """SIGKILL, restart on the same store; then somebody registers."""
        self.wait(self.watch.crash())
        self.wait(self._register(name, 0))
        self.wait(self._register((name + 1) % 4, 0))

    @invariant()
    def nothing_is_out_of_line(self) -> None:
        self.watch.judge_waiting()

    def teardown(self) -> None:
        self.wait(self._end())

    async def _end(self) -> None:
        try:
            if not self.failed:
                for channel in list(self.watch.registered):
                    await self.watch.fence(channel)
                self.watch.judge_waiting()
        finally:
            await self.watch.bus.close()

    def _remember(self, key: str) -> None:
        if key not in self.keys:
            self.keys.append(key)

    def _say(self, channel: int, frame: Frame) -> None:
        if channel in self.watch.connections:
            self.wait(self._text(channel, codec.encode(frame).decode()))

    async def _text(self, channel: int, text: str) -> None:
        await self.watch.say_text(channel, text)
        await self.watch.fence(channel)

    async def _binary(self, channel: int, data: bytes) -> None:
        await self.watch.say_binary(channel, data)
        await self.watch.fence(channel)


@clauses("PB-5-24", "PB-2.1-27", "PB-3-23", "PB-2.2-04", "PB-2.1-17")
async def test_broker_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever the peers do, the broker says what the machine owes, and nothing else."""
    await target.need("peerbus/broker", "restart")
    loop = asyncio.get_running_loop()
    await explore(functools.partial(Peerbus, trial, loop), steps=25, examples=40 if trial.slow else 15)
