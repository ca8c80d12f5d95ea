"""The client beside its oracle: connections come and go, and broker and host do as Hypothesis likes.

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from harness.catalogue.cases import clauses
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from reference_impl.peerbus.frames import Ack, Binary, Deliver, Envelope, Frame, Peers, Register
from suites.common.names import unique
from suites.peerbus.client.under_test import ClientUnderTest
from suites.peerbus.client.watch import ClientWatch
from suites.peerbus.envelopes import codec, forged, message
from suites.peerbus.strategies import bodies

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
        *(codec.encode(frame).decode() for frame in (Ack("k"), Register("t", "n"), message("alice", "bob"))),
    ]
)


class Client(LoopMachine):
    """One client; the broker knows a few messages and delivers, repeats and forges them."""

    def __init__(self, trial: Trial, make: Callable[[], ClientUnderTest], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        self.watch: ClientWatch = ClientWatch(trial, make())
        self.mails: list[Envelope] = []
        self.rejections = 0

    @initialize(badly=st.sampled_from([False] * 7 + [True]))
    def start(self, badly: bool) -> None:
        """Nearly always online: what is worth exploring lies behind that."""
        self.wait(self.watch.start())
        if not badly:
            self.wait(self.watch.answer(("alice",)))

    # -- before the answer ----------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.registering)
    @rule(names=NAMES)
    def answer_well(self, names: tuple[str, ...]) -> None:
        self.rejections = 0
        self.wait(self.watch.answer(names))

    @precondition(lambda self: self.watch.registering and self.rejections < MOST_REJECTIONS)
    @rule(answer=NOISE | st.none())
    def answer_badly(self, answer: str | None) -> None:
        """With noise, or with a delivery."""
        self.rejections += 1
        mail = self.watch.client.mail()
        self.wait(self.watch.say(Deliver(mail.id, mail) if answer is None else answer))

    # -- deliveries -----------------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(body=bodies, key=st.sampled_from(["{id}", "{id}|{name}", "other"]), everyone=st.booleans())
    def deliver(self, body: bytes, key: str, everyone: bool) -> None:
        """A good message, under its id, its row or the key of another message."""
        to = "*" if everyone else self.watch.client.name
        mail = message("alice", to, body, source="touch stone" if everyone else "")
        self.mails.append(mail)
        self._deliver(mail, key.format(id=mail.id, name=self.watch.client.name))

    @precondition(lambda self: self.watch.online and self.watch.quiet and self.mails)
    @rule(data=st.data(), other_key=st.booleans())
    def deliver_again(self, data: st.DataObject, other_key: bool) -> None:
        mail = self._mail(data)
        self._deliver(mail, unique("key") if other_key else mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(data=st.data(), how=st.sampled_from(sorted(TAMPERED)), known=st.booleans())
    def deliver_tampered(self, data: st.DataObject, how: str, known: bool) -> None:
        """Of a message that was delivered before, or of one that is delivered later."""
        mail = self._mail(data) if known and self.mails else self.watch.client.mail()
        self.mails.append(mail)
        self._deliver(TAMPERED[how](mail), mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(data=st.data(), known=st.booleans(), absent=st.booleans())
    def deliver_without_a_key(self, data: st.DataObject, known: bool, absent: bool) -> None:
        mail = self._mail(data) if known and self.mails else self.watch.client.mail()
        self.mails.append(mail)
        text = codec.encode(Deliver("", mail)).decode()
        self.wait(self.watch.say_and_fence(text.replace('"delivery_key":"",', "") if absent else text))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(upper=st.booleans())
    def deliver_in_another_spelling(self, upper: bool) -> None:
        """The MAC in capitals, or the members the other way round and one more."""
        mail = self.watch.client.mail()
        text = codec.encode(Deliver(mail.id, mail)).decode()
        body = f',"body":{mail.body.decode()}'
        turned = text.replace(body, "").replace('"envelope":{', f'"envelope":{{"extra":1{body},')
        self.wait(self.watch.say(text.replace(mail.hmac, mail.hmac.upper()) if upper else turned))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule()
    def deliver_another_version(self) -> None:
        """Surfaced or not: a choice."""
        mail = self.watch.client.mail(protocol_version="v2")
        self._deliver(mail, mail.id)

    @precondition(lambda self: self.watch.online)
    @rule(noise=NOISE)
    def say_noise(self, noise: str) -> None:
        self.wait(self.watch.say_and_fence(noise))

    @precondition(lambda self: self.watch.online)
    @rule()
    def say_binary(self) -> None:
        mail = self.watch.client.mail()
        self.wait(self.watch.say_and_fence(Binary(codec.encode(Deliver(mail.id, mail)))))

    @precondition(lambda self: self.watch.online and self.watch.quiet)
    @rule(names=NAMES)
    def say_peers(self, names: tuple[str, ...]) -> None:
        """The answer to a question, or news that nobody asked for."""
        self.wait(self.watch.say_and_fence(codec.encode(Peers(names)).decode()))

    @precondition(lambda self: self.watch.line and self.watch.quiet and self.rejections < MOST_REJECTIONS)
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

    async def finish(self) -> None:
        if self.watch.line:
            await self.watch.end()

    async def free(self) -> None:
        await self.watch.close()

    def _mail(self, data: st.DataObject) -> Envelope:
        return data.draw(st.integers(0, len(self.mails) - 1).map(lambda at: self.mails[at]), label="message")

    def _deliver(self, envelope: Envelope, key: str) -> None:
        frame: Frame = Deliver(key, envelope)
        self.wait(self.watch.say_and_fence(codec.encode(frame).decode()))


@clauses("PB-7-02", "PB-2.1-01", "PB-2.1-29", "PB-2.1-30", "PB-2.1-31", "PB-2.2-05", "PB-2.3-01", "PB-2.3-05")
@clauses("PB-2.4-09", "PB-2.4-12", "PB-2.4-14", "PB-2.4-17", "PB-2.4-18", "PB-4-15", "PB-4-18", "PB-4-22", "PB-5-05")
@clauses("PB-5-07", "PB-5-08", "PB-5-09", "PB-5-10", "PB-5-11", "PB-5-21", "PB-5-25", "PB-7-03", "PB-1-11")
async def test_client_follows_its_machine(clients: Callable[[], ClientUnderTest], trial: Trial) -> None:
    """Whatever broker and host do, the client says what the machine owes, and nothing else."""
    trial.patience_s = clients().redial_s
    await explore(functools.partial(Client, trial, clients), steps=15, examples=trial.random_runs(20, slow=60))
