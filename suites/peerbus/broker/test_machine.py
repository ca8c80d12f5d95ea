"""The broker beside its oracle: peers come, go, send, ack and take over as Hypothesis likes.

There is no expected frame in this file: whatever the broker says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from reference_impl.peerbus.frames import Ack, Binary, Deliver, Envelope, Frame, Peers, Register
from suites.common.names import unique
from suites.peerbus.broker.under_test import TOKENS, PrivateBroker
from suites.peerbus.broker.watch import BrokerWatch
from suites.peerbus.envelopes import codec, message, unique_id
from suites.peerbus.said import Said
from suites.peerbus.strategies import bodies, related

NAMES = st.integers(0, 3)
FIRST_TEXTS = st.sampled_from(
    ["{nope", "", "[]", '{"type":"Register","protocol_version":"v1","token":"token-a","name":"x"}', "null", '{"a":1}x']
)
FIRST_FRAMES: st.SearchStrategy[Frame] = st.sampled_from([Ack("x"), Peers(), Envelope(id="x", to="y", kind="msg")])
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


class Peerbus(LoopMachine):
    """Up to four names on a broker of its own, so that no example sees another's peers."""

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        self.watch: BrokerWatch = BrokerWatch(trial, self.wait(PrivateBroker(trial).start()))
        self.names = related(unique("n"))
        self.keys: list[str] = []

    def pick(self, data: st.DataObject, what: str) -> int:
        return data.draw(st.sampled_from(sorted(self.watch.registered)), label=what)

    @initialize()
    def two_peers(self) -> None:
        self.wait(self._register(0, 0))
        self.wait(self._register(1, 0))

    @rule(name=NAMES, token=st.integers(0, 1))
    def register(self, name: int, token: int) -> None:
        """A free name, a takeover or a claim under another token: the oracle knows which. Whether a name that is offline is
        still tied to its token is unspecified."""
        self.wait(self._register(name, token if self.names[name] in self.watch.registered.values() else 0))

    async def _register(self, name: int, token: int) -> None:
        watch = self.watch
        channel = await watch.connect()
        await watch.say(channel, Register(TOKENS[token], self.names[name]))
        await watch.settle()
        await watch.ask(channel)

    @rule(data=st.data(), how=st.sampled_from(["register", "text", "frame", "binary"]))
    def begin_badly(self, data: st.DataObject, how: str) -> None:
        """One rule for all that is turned away, so that most steps happen where somebody is registered."""
        first: Said
        match how:
            case "register":
                version, token, name = data.draw(BAD_REGISTERS)
                first = Register(token, name and unique("bad"), version)
            case "text":
                first = data.draw(FIRST_TEXTS)
            case "frame":
                first = data.draw(FIRST_FRAMES)
            case _:
                first = Binary(codec.encode(Register(TOKENS[0], unique("bin"))))
        self.wait(self._first(first))

    async def _first(self, first: Said) -> None:
        await self.watch.say(await self.watch.connect(), first)
        await self.watch.settle()

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), to=st.integers(0, 4), body=bodies, again=st.booleans())
    def send(self, data: st.DataObject, to: int, body: bytes, again: bool) -> None:
        """To a live, an offline or an unknown name; sometimes under an id that was used before."""
        channel = self.pick(data, "sender")
        recipient = self.names[to] if to < 4 else "nobody"
        id = data.draw(st.sampled_from(self.keys), label="id") if again and self.keys else unique_id()
        self._remember(id)
        self._say(channel, message(self.watch.registered[channel], recipient, body, id))

    @precondition(lambda self: self.watch.registered)
    @rule(data=st.data(), body=bodies, spoofed=st.booleans(), again=st.booleans())
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
        self.wait(self.watch.hang_up(self.pick(data, "peer"), 1000 if politely else 1006))

    @precondition(lambda self: self.keys)
    @rule(name=NAMES)
    def crash(self, name: int) -> None:
        """SIGKILL, restart on the same store; then somebody registers."""
        self.wait(self.watch.crash())
        self.wait(self._register(name, 0))
        self.wait(self._register((name + 1) % 4, 0))

    async def finish(self) -> None:
        await self.watch.ask_all()
        self.watch.judge_waiting()

    async def free(self) -> None:
        await self.watch.broker.close()

    def _remember(self, key: str) -> None:
        if key not in self.keys:
            self.keys.append(key)

    def _say(self, channel: int, frame: Frame) -> None:
        if channel in self.watch.connections:
            self.wait(self._text(channel, codec.encode(frame).decode()))

    async def _text(self, channel: int, text: str) -> None:
        await self.watch.say(channel, text)
        await self.watch.ask(channel)

    async def _binary(self, channel: int, data: bytes) -> None:
        await self.watch.say(channel, Binary(data))
        await self.watch.ask(channel)


@clauses("PB-5-24", "PB-2.1-27", "PB-3-23", "PB-2.2-04", "PB-2.1-17")
@needs("restart")
async def test_broker_follows_its_machine(trial: Trial) -> None:
    """Whatever the peers do, the broker says what the machine owes, and nothing else."""
    await explore(functools.partial(Peerbus, trial), steps=25, examples=trial.random_runs(15, slow=40))
