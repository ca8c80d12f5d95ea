"""A broker under test, seen by its peers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Self

from harness.judging.trial import Broken, Trial
from harness.targets import Instance
from reference_impl.io.websocket import WebSocket
from reference_impl.peerbus.frames import Ack, Close, Deliver, Envelope, Frame, Peers, Register
from reference_impl.peerbus.signing import Profile
from suites.common.connect import dial_websocket
from suites.common.names import unique
from suites.common.private import PrivateTarget
from suites.peerbus.envelopes import message
from suites.peerbus.line import PeerbusLine
from suites.peerbus.lint import CONTROL, ENVELOPE_KEYS, lint
from suites.peerbus.profiles import profile_of

TOKENS = ("token-a", "token-b")
ANYBODY_MAY_ACK = "security: any peer can clear another peer's messages by acking their keys"
"""What a broker that does so is warned of, wherever it shows."""


class BrokerLine(PeerbusLine):
    """A peer's connection to the broker under test."""

    other = "broker"

    def __init__(self, broker: BrokerUnderTest, carrier: WebSocket, label: str) -> None:
        super().__init__(broker.trial, carrier, label)
        self.broker = broker
        self.name = ""

    def lint(self, message: str | bytes) -> None:
        lint(message, self.other, self.broker.extra, verbatim=self.broker.profile is Profile.DOCUMENT)

    async def text(self, text: str | Iterable[str]) -> None:
        text = text if isinstance(text, str) else list(text)
        self.broker.note_extra("".join(text))
        await super().text(text)

    async def expect_delivery(self, envelope: Envelope, key: str | None = None, clause: str = "") -> Deliver:
        """The next frame delivers this envelope under its key, unchanged."""
        got = await self.expect(Deliver, clause)
        wanted = Deliver(envelope.id if key is None else key, envelope)
        self.trial.expect(got == wanted, str(wanted), got, clause)
        return got

    async def expect_copy(self, envelope: Envelope, clause: str = "") -> Deliver:
        """The next frame delivers this peer's copy of a broadcast."""
        return await self.expect_delivery(envelope, f"{envelope.id}|{self.name}", clause)

    async def reaches(self, receiver: BrokerLine, envelope: Envelope | None = None, clause: str = "") -> Envelope:
        """A message of this peer, some or this one, is the next thing that the other gets."""
        envelope = envelope or message(self.name, receiver.name)
        await self.send(envelope)
        await receiver.expect_delivery(envelope, clause=clause)
        return envelope

    async def broadcast(self) -> Envelope:
        """Send a message for everybody."""
        envelope = message(self.name, "*")
        await self.send(envelope)
        return envelope

    async def post(self, *envelopes: Envelope) -> None:
        """Send these, and be sure that the broker has read them."""
        await self.send(*envelopes)
        await self.fence()

    async def stream(self, envelopes: Iterable[Envelope]) -> None:
        """Send one after the other, and let others act in between."""
        for envelope in envelopes:
            await self.send(envelope)
            await asyncio.sleep(0)

    async def fence(self) -> Peers:
        """All that was sent on this connection is processed; deliveries that overtake the reply stay in the inbox."""
        kept: list[Frame] = []
        await self.send(Peers())
        while not isinstance(frame := await self.next("a peers reply", "PB-2.3-02"), Peers):
            if isinstance(frame, Close):
                raise Broken(self.trial.own_clause, "the connection to stay open", str(frame))
            kept.append(frame)
        self.inbox.put_back(kept)
        return frame

    async def expect_silence(self, clause: str = "") -> None:
        """Nothing but the fence's own reply: the connection is open, and nothing was said."""
        await self.fence()
        if waiting := self.inbox.drain():
            raise Broken(clause or self.trial.own_clause, "no frame", str(waiting[0]))

    async def deliveries(self, count: int, clause: str = "") -> list[Deliver]:
        """That many deliveries of different keys; repeats of a key are no fault (PB-5-01) and are left out."""
        got: dict[str, Deliver] = {}
        while len(got) < count:
            delivery = await self.expect(Deliver, clause)
            got.setdefault(delivery.delivery_key, delivery)
        return list(got.values())

    def waiting_deliveries(self) -> list[Deliver]:
        """Those that have come and nobody has looked at."""
        return [frame for frame in self.inbox.drain() if isinstance(frame, Deliver)]

    async def ack(self, *keys: str) -> None:
        await self.send(*(Ack(key) for key in keys))


def tokens_of(instance: Instance) -> tuple[str, ...]:
    """Those that a broker was told to take; one that has its own says which."""
    told = instance.details.get("tokens", TOKENS)
    return tuple(told) if isinstance(told, list | tuple) else (str(told),)


class BrokerUnderTest:
    """The broker of one case: connects peers, and ends them when the case ends."""

    tokens: tuple[str, ...] = TOKENS
    instance: Instance

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.lines: list[BrokerLine] = []
        self.profile = Profile.CODE  # until somebody connects
        self.extra: dict[str, set[str]] = {}  # where envelopes departed from the nine members, by their id

    async def start(self) -> Self:
        """The one that cases share."""
        self.instance = await self.trial.target.instance(self.trial.role, {"tokens": list(TOKENS)})
        self.tokens = tokens_of(self.instance)
        return self

    def note_extra(self, text: str) -> None:
        """A broker that relays the very bytes relays these members too, and leaves out those."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict) or value.get("type") in CONTROL:
            return
        if departed := set(value) ^ ENVELOPE_KEYS:
            self.extra.setdefault(str(value.get("id")), set()).update(departed)

    async def connect(self, label: str = "", headers: dict[str, str] | None = None) -> BrokerLine:
        """A connection that has said nothing yet."""
        self.profile = await profile_of(self.trial)
        carrier = await dial_websocket(self.trial, self.instance.address, headers)
        line = BrokerLine(self, carrier, label or f"peer{len(self.lines) + 1}")
        self.lines.append(line)
        return line

    async def register(self, name: str = "", token: str = "") -> tuple[BrokerLine, Peers]:
        """A registered connection and the broker's ack of it."""
        name = name or unique("peer")
        peer = await self.connect(name)
        await peer.send(Register(token or self.tokens[0], name))
        peer.name = name
        return peer, await peer.expect(Peers, "PB-2.1-24")

    async def peer(self, name: str = "", token: str = "") -> BrokerLine:
        """A registered connection that has settled: nobody's delivery is under way to it."""
        peer, _ = await self.register(name, token)
        await peer.fence()
        return peer

    async def peers(self, count: int = 2) -> list[BrokerLine]:
        """So many of them."""
        return [await self.peer() for _ in range(count)]

    async def until_gone(self, name: str, witness: BrokerLine) -> None:
        """There is no event for "a peer left": ask until the name is off the list (PB-2.3-06)."""
        patience = self.trial.patience_s
        deadline = asyncio.get_running_loop().time() + patience
        while name in (await witness.fence()).names:
            if asyncio.get_running_loop().time() > deadline:
                raise Broken("PB-2.3-06", f"{name} to leave the list", f"still listed after {patience:g} s")

    async def leave(self, peer: BrokerLine, witness: BrokerLine) -> None:
        await peer.close()
        await self.until_gone(peer.name, witness)

    async def absent(self, witness: BrokerLine) -> str:
        """The name of a peer that was here and has left."""
        peer = await self.peer()
        await self.leave(peer, witness)
        return peer.name

    async def back(self, peer: BrokerLine, witness: BrokerLine) -> BrokerLine:
        """The same name on a new connection, after the old one was left."""
        await self.leave(peer, witness)
        return (await self.register(peer.name))[0]

    async def close(self) -> None:
        for line in self.lines:
            await line.leave()


class PrivateBroker(BrokerUnderTest):
    """A broker of the case's own, which it may kill and start again on the same store."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial)
        folder = str(trial.target.new_folder("private"))
        self._own = PrivateTarget(trial, {"tokens": list(TOKENS), "state_dir": folder})

    async def start(self) -> Self:
        self.instance = await self._own.start()
        self.tokens = tokens_of(self.instance)
        return self

    async def kill(self) -> None:
        await self._own.kill()

    async def restart(self) -> None:
        self.instance = await self._own.restart()

    async def expect_known(self, name: str, clause: str) -> None:
        """What is sent to that name, at which nobody is, waits for whoever comes."""
        sender = await self.peer()
        envelope = message(sender.name, name)
        await sender.post(envelope)
        receiver, _ = await self.register(name)
        await receiver.expect_delivery(envelope, clause=clause)

    async def close(self) -> None:
        await super().close()
        await self._own.close()
