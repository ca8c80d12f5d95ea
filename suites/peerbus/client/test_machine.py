"""The client beside its oracle: connections come and go, and broker and host do as Hypothesis likes.

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from harness.cases import clauses
from harness.errors import TargetError
from harness.trial import Trial
from harness.watch import LoopMachine, Watch, explore
from reference_impl.core import Channel
from reference_impl.peerbus.client import ClientMachine, Config
from reference_impl.peerbus.frames import Ack, Binary, Close, Deliver, Envelope, Frame, Opened, Peers, Register
from reference_impl.peerbus.host import (
    HOST,
    NETWORK,
    Consumed,
    Dial,
    PeersListed,
    PeersRequest,
    Refused,
    SendRequest,
    Start,
    Status,
    Surfaced,
)
from suites.peerbus.adapter import Adapter, Link, forged
from suites.peerbus.bus import codec, message, unique

MOST_REJECTIONS = 2
"""In a row: each doubles the wait before the next attempt."""
BODIES = st.sampled_from(
    [b'{"z":1,"a":2}', b'"text"', b"[1.0,1e5,-0]", b"null", b'{"a":1,"a":2}', b'""', rb'{"t":"\/\u0041"}']
)
NAMES = st.lists(st.sampled_from(["alice", "bob", "carol"]), unique=True).map(tuple)
CODES = st.sampled_from([1000, 1001, 1003, 1008, 1011])
TAMPERED: dict[str, Callable[[Envelope], Envelope]] = {
    "id": lambda e: replace(e, id=e.id + "x"),
    "from": lambda e: replace(e, sender="mallory"),
    "to": lambda e: replace(e, to="somebody"),
    "ts": lambda e: replace(e, ts="2030-01-01T00:00:00Z"),
    "source": lambda e: replace(e, source="elsewhere"),
    "kind": lambda e: replace(e, kind="broadcast" if e.kind == "msg" else "msg"),
    "body": lambda e: replace(e, body=b'"other"'),
    "version": lambda e: replace(e, protocol_version="v2"),
    "hmac": forged,
    "short": lambda e: replace(e, hmac=e.hmac[:32]),
    "long": lambda e: replace(e, hmac=e.hmac + "00"),
    "empty": lambda e: replace(e, hmac=""),
    "no-hex": lambda e: replace(e, hmac="zz"),
}
NOISE = st.sampled_from(
    [
        "{nope",
        "",
        "[]",
        "17",
        '{"protocol_version":"v1","type":"gossip"}',
        '{"protocol_version":"v1","type":"deliver","delivery_key":"k"}',
        '{"protocol_version":"v1","type":"deliver","delivery_key":1,"envelope":{}}',
        *(codec.encode(frame).decode() for frame in (Ack("k"), Register("t", "n"), message("alice", "bob"))),
    ]
)


class ClientWatch(Watch[Any]):
    """The client of one machine run: its links by label, what its host holds, and the oracle."""

    def __init__(self, trial: Trial, adapter: Adapter) -> None:
        machine = ClientMachine(Config(adapter.name, adapter.token, adapter.secret))
        super().__init__(trial, machine)
        self.adapter = adapter
        self.link: Link | None = None  # the client's connection, unless the harness has hung up
        self.answered: set[str] = set()
        self.held: list[str] = []  # ids that the host has not consumed
        self.question: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[None]] = set()  # also questions whose connection is gone
        adapter.broker.on_link = self.arrived
        adapter.on_message = lambda message: self.heard(HOST, message)
        adapter.on_status = self.status

    async def start(self) -> None:
        self.told(HOST, Start())
        await self.adapter.start()
        await self.settle()

    # -- what the client says -------------------------------------------------------------------------------------

    def arrived(self, link: Link) -> None:
        link.on_frame = lambda frame: self.heard(link.label, frame)
        self.heard(link, Opened())

    def status(self, connected: bool) -> None:
        if connected:  # to say twice that there is none does no harm
            self.heard(HOST, Status(True))

    def _judge(self, channel: Channel, frame: Any) -> None:
        """Rules are chosen by what was judged so far, never by what happens to have arrived."""
        match frame:
            case TargetError():
                raise frame
            case Opened():  # what was owed to the network, and the next thing that the client reads
                assert isinstance(channel, Link), "see `arrived`"
                self.oracle.observe(NETWORK, Dial(0))
                self.told(channel.label, frame)
                self.link = channel
                return
            case Surfaced(id=id):
                self.held.append(id)
            case PeersListed() | Refused("peers"):
                self.question = None
        super()._judge(channel, frame)

    # -- what it is told ------------------------------------------------------------------------------------------

    @property
    def online(self) -> bool:
        return self.link is not None and self.link.label in self.answered

    @property
    def registering(self) -> bool:
        return self.link is not None and self.link.label not in self.answered

    @property
    def quiet(self) -> bool:
        """Does a client that is busy with one message still listen?"""
        return not self.held or not self.adapter.serial

    async def say(self, text: str) -> None:
        assert self.link, "a rule speaks on a connection"
        self.told(self.link.label, codec.decode(text.encode()))
        await self.link.text(text)
        await self.settle()

    async def say_and_fence(self, text: str | bytes) -> None:
        """For what may change nothing: whatever does come of it has come when another message is through."""
        assert self.link, "a rule speaks on a connection"
        if isinstance(text, str):
            await self.say(text)
        else:
            self.told(self.link.label, Binary(text))
            await self.link.binary(text)
        if self.online and self.quiet:
            await self.fence()

    async def answer(self, names: tuple[str, ...]) -> None:
        assert self.link, "a rule answers a connection"
        self.answered.add(self.link.label)
        await self.say(codec.encode(Peers(names)).decode())

    async def hang_up(self, code: int) -> None:
        """Close, or drop the connection: code 0."""
        link, self.link = self.link, None
        assert link, "a rule hangs up a connection"
        link.on_frame = lambda _: None
        self.question = None
        self.told(link.label, Close(code or 1006))
        await link.close(code) if code else link.cut()
        await self.settle()

    async def consume(self, id: str) -> None:
        self.held.remove(id)
        self.told(HOST, Consumed(id))
        await self.adapter.consume(id)
        await self.settle()

    async def send(self, to: str, body: bytes) -> None:
        self.told(HOST, SendRequest(to, body))
        operation = self.adapter.broadcast(body.decode()) if to == "*" else self.adapter.send(to, body.decode())
        await self._asked(operation, lambda _: None, "send")
        await self.settle()

    async def ask_peers(self) -> None:
        assert self.link, "a rule asks on a connection"
        self.told(HOST, PeersRequest())
        asking = self._asked(self.adapter.peers(self.link), lambda names: PeersListed(tuple(names)), "peers")
        self.question = asyncio.create_task(asking)
        self._asking.add(self.question)
        self.question.add_done_callback(self._asking.discard)
        await self.settle()

    async def _asked(self, operation: Awaitable[Any], answer: Callable[[Any], object], what: str) -> None:
        """What comes of the host's request; of a question whose connection is gone nothing need come."""
        try:
            said = answer(await operation)
        except TargetError:
            said = Refused(what)
        if said is not None and (what == "send" or asyncio.current_task() is self.question):
            self.heard(HOST, said)

    async def fence(self) -> None:
        last = self.adapter.mail()
        await self.say(codec.encode(Deliver(last.id, last)).decode())
        await self.consume(last.id)
        self.judge_waiting()

    async def end(self) -> None:
        if self.registering:
            await self.answer(("last",))
        while self.held:
            await self.consume(self.held[0])
        await self.fence()

    async def close(self) -> None:
        await self.adapter.close()
        for task in self._asking:  # a client that has stopped need not answer
            task.cancel()


class Client(LoopMachine):
    """One client; the broker knows a few messages and delivers, repeats and forges them."""

    def __init__(self, trial: Trial, make: Callable[[], Adapter], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        trial.restart()
        self.watch = self.wait(self._made(trial, make))
        self.mails: list[Envelope] = []
        self.rejections = 0

    async def _made(self, trial: Trial, make: Callable[[], Adapter]) -> ClientWatch:
        return ClientWatch(trial, make())

    @initialize(well=st.integers(0, 3))
    def start(self, well: int) -> None:
        self.wait(self.watch.start())
        if well:
            self.wait(self.watch.answer(("alice",)))

    # -- before the answer ----------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.registering)
    @rule(names=NAMES)
    def answer_well(self, names: tuple[str, ...]) -> None:
        self.rejections = 0
        self.wait(self.watch.answer(names))

    @precondition(lambda self: self.watch.registering and self.rejections < MOST_REJECTIONS)
    @rule(noise=NOISE)
    def answer_badly(self, noise: str) -> None:
        self.rejections += 1
        self.wait(self.watch.say(noise))

    @precondition(lambda self: self.watch.registering and self.rejections < MOST_REJECTIONS)
    @rule()
    def answer_with_a_delivery(self) -> None:
        self.rejections += 1
        mail = self.watch.adapter.mail()
        self._deliver(mail, mail.id)

    # -- deliveries -----------------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(body=BODIES, key=st.sampled_from(["{id}", "{id}|{name}", "other"]), everyone=st.booleans())
    def deliver(self, body: bytes, key: str, everyone: bool) -> None:
        """A good message, under its id, its row or the key of another message."""
        to = "*" if everyone else self.watch.adapter.name
        mail = message("alice", to, body, source="touch stone" if everyone else "")
        self.mails.append(mail)
        self._deliver(mail, key.format(id=mail.id, name=self.watch.adapter.name))

    @precondition(lambda self: self.watch.online and self.watch.quiet and self.mails)
    @rule(data=st.data(), other_key=st.booleans())
    def deliver_again(self, data: st.DataObject, other_key: bool) -> None:
        mail = self._mail(data)
        self._deliver(mail, unique("key") if other_key else mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(data=st.data(), how=st.sampled_from(sorted(TAMPERED)), known=st.booleans())
    def deliver_tampered(self, data: st.DataObject, how: str, known: bool) -> None:
        """Of a message that was delivered before, or of one that is delivered later."""
        mail = self._mail(data) if known and self.mails else self.watch.adapter.mail()
        self.mails.append(mail)
        self._deliver(TAMPERED[how](mail), mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(data=st.data(), known=st.booleans(), absent=st.booleans())
    def deliver_without_a_key(self, data: st.DataObject, known: bool, absent: bool) -> None:
        mail = self._mail(data) if known and self.mails else self.watch.adapter.mail()
        self.mails.append(mail)
        text = codec.encode(Deliver("", mail)).decode()
        self.wait(self.watch.say_and_fence(text.replace('"delivery_key":"",', "") if absent else text))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(upper=st.booleans())
    def deliver_in_another_spelling(self, upper: bool) -> None:
        """The MAC in capitals, or the members the other way round and one more."""
        mail = self.watch.adapter.mail()
        text = codec.encode(Deliver(mail.id, mail)).decode()
        body = f',"body":{mail.body.decode()}'
        turned = text.replace(body, "").replace('"envelope":{', f'"envelope":{{"extra":1{body},')
        self.wait(self.watch.say(text.replace(mail.hmac, mail.hmac.upper()) if upper else turned))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule()
    def deliver_another_version(self) -> None:
        """Surfaced or not: a choice."""
        mail = self.watch.adapter.mail(protocol_version="v2")
        self._deliver(mail, mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(noise=NOISE)
    def say_noise(self, noise: str) -> None:
        self.wait(self.watch.say_and_fence(noise))

    @precondition(lambda self: self.watch.online)
    @rule()
    def say_binary(self) -> None:
        mail = self.watch.adapter.mail()
        self.wait(self.watch.say_and_fence(codec.encode(Deliver(mail.id, mail))))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(names=NAMES)
    def say_peers(self, names: tuple[str, ...]) -> None:
        """The answer to a question, or news that nobody asked for."""
        self.wait(self.watch.say_and_fence(codec.encode(Peers(names)).decode()))

    @precondition(lambda self: self.watch.link and self.watch.quiet and self.rejections < MOST_REJECTIONS)
    @rule(code=CODES | st.just(0))
    def hang_up(self, code: int) -> None:
        self.rejections += self.watch.registering
        self.wait(self.watch.hang_up(code))

    # -- the host -------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.held)
    @rule(data=st.data())
    def consume(self, data: st.DataObject) -> None:
        """Also while there is no connection: then the ack has to wait."""
        self.wait(self.watch.consume(data.draw(st.sampled_from(self.watch.held), label="message")))

    @precondition(lambda self: self.watch.online)
    @rule(to=st.sampled_from(["bob", "*", "bøb"]), body=BODIES)
    def send(self, to: str, body: bytes) -> None:
        self.wait(self.watch.send(to, body))

    @precondition(lambda self: self.watch.online and not self.watch.question)
    @rule()
    def ask_peers(self) -> None:
        self.wait(self.watch.ask_peers())

    @invariant()
    def nothing_is_out_of_line(self) -> None:
        self.wait(self._look())

    async def _look(self) -> None:
        self.watch.judge_waiting()

    def teardown(self) -> None:
        self.wait(self._end())

    async def _end(self) -> None:
        try:
            if self.watch.link and not self.failed:
                await self.watch.end()
        finally:
            await self.watch.close()

    def _mail(self, data: st.DataObject) -> Envelope:
        return data.draw(st.integers(0, len(self.mails) - 1).map(lambda at: self.mails[at]), label="message")

    def _deliver(self, envelope: Envelope, key: str) -> None:
        frame: Frame = Deliver(key, envelope)
        self.wait(self.watch.say_and_fence(codec.encode(frame).decode()))


@clauses(
    "PB-7-02", "PB-2.1-01", "PB-2.1-29", "PB-2.1-30", "PB-2.1-31", "PB-2.2-05", "PB-2.3-01", "PB-2.3-05", "PB-2.4-09",
    "PB-2.4-12", "PB-2.4-14", "PB-2.4-17", "PB-2.4-18", "PB-4-15", "PB-4-18", "PB-4-22", "PB-5-05", "PB-5-07",
    "PB-5-08", "PB-5-09", "PB-5-10", "PB-5-11", "PB-5-21", "PB-5-25", "PB-7-03", "PB-1-11",
)  # fmt: skip
async def test_client_follows_its_machine(adapters: Callable[[], Adapter], trial: Trial) -> None:
    """Whatever broker and host do, the client says what the machine owes, and nothing else."""
    loop = asyncio.get_running_loop()
    trial.patience_s = adapters().redial_s
    await explore(functools.partial(Client, trial, adapters, loop), steps=15, examples=60 if trial.slow else 20)
