"""A broker under test, seen by its peers."""

from __future__ import annotations

import asyncio
import itertools
import json
import zlib
from collections.abc import Iterable
from dataclasses import replace

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidMessage

from harness.errors import TargetCrashed
from harness.targets import Instance, Session
from harness.trial import Broken, Trial
from reference_impl.peerbus.frames import Ack, Close, Deliver, Envelope, Frame, Peers, Register
from reference_impl.peerbus.signing import Profile
from suites.peerbus.line import Heard, Line, codec
from suites.peerbus.lint import ENVELOPE_KEYS, lint
from suites.peerbus.profiles import profile_of

ROLE = "peerbus/broker"
TOKENS = ("token-a", "token-b")
SECRET = b"0123456789abcdef0123456789abcdef"
_serial = itertools.count(1)


def unique(prefix: str) -> str:
    """A name, id or key that no other case uses; without `|`, which separates the parts of a row key."""
    return f"{prefix}-{next(_serial)}-{id(_serial) & 0xFFFF:x}"


def unique_id() -> str:
    """A message's id, whose place in the alphabet says nothing about when it was sent."""
    serial = unique("m")
    return f"{zlib.crc32(serial.encode()):08x}-{serial}"


def message(sender: str, to: str, body: bytes = b'{"n":1}', id: str = "", /, **fields: str) -> Envelope:
    """A signed envelope in normal form."""
    kind = "broadcast" if to == "*" else "msg"
    envelope = Envelope(id or unique_id(), sender, to, "2026-05-18T12:00:00Z", "peer-bus", kind, body)
    return signed(replace(envelope, **fields)) if fields else signed(envelope)  # type: ignore[arg-type]


def signed(envelope: Envelope) -> Envelope:
    return replace(envelope, hmac=codec.signing.sign(envelope, SECRET))


class Peer(Line):
    """A peer's connection to the broker under test."""

    other = "broker"

    def __init__(self, bus: Bus, websocket: ClientConnection, label: str) -> None:
        super().__init__(bus.trial, websocket, label)
        self.bus = bus
        self.name = ""
        self.closed: Close | None = None
        self._reader = asyncio.create_task(self.read())

    def lint(self, message: str | bytes, raw: bytes) -> None:
        lint(message, self.other, self.bus.extra, verbatim=self.bus.profile is Profile.DOCUMENT)

    async def text(self, text: str | Iterable[str]) -> None:
        text = text if isinstance(text, str) else list(text)
        self.bus.note_extra("".join(text))
        await super().text(text)

    async def heard(self, frame: Heard) -> None:
        if isinstance(frame, Close):
            self.closed = frame
        await super().heard(frame)

    def stop_reading(self) -> None:
        self._reader.cancel()

    async def expect_delivery(self, envelope: Envelope, key: str | None = None, clause: str = "") -> Deliver:
        """The next frame delivers this envelope under its key, unchanged."""
        got = await self.expect(Deliver, clause)
        wanted = Deliver(envelope.id if key is None else key, envelope)
        self.trial.expect(got == wanted, str(wanted), got, clause)
        return got

    async def fence(self) -> Peers:
        """All that was sent on this connection is processed; deliveries that overtake the reply stay in the inbox."""
        kept: list[Frame] = []
        await self.send(Peers())
        while not isinstance(frame := await self.next("a peers reply", "PB-2.3-02"), Peers):
            if isinstance(frame, Close):
                raise Broken(self.trial.own_clause, "the connection to stay open", str(frame))
            kept.append(frame)
        self._put_back(kept)
        return frame

    def drained(self) -> list[Frame | Close | Broken]:
        """What waits in the inbox, taken out."""
        return [self.inbox.get_nowait() for _ in range(self.inbox.qsize())]

    def _put_back(self, frames: list[Frame]) -> None:
        for frame in (*frames, *self.drained()):
            self.inbox.put_nowait(frame)

    async def expect_silence(self, clause: str = "") -> None:
        """Nothing but the fence's own reply: the connection is open, and nothing was said."""
        await self.fence()
        if self.inbox.qsize():
            raise Broken(clause or self.trial.own_clause, "no frame", str(self.inbox.get_nowait()))

    async def deliveries(self, count: int, clause: str = "") -> list[Deliver]:
        """That many deliveries of different keys; repeats of a key are no fault (PB-5-01) and are left out."""
        got: dict[str, Deliver] = {}
        while len(got) < count:
            delivery = await self.expect(Deliver, clause)
            got.setdefault(delivery.delivery_key, delivery)
        return list(got.values())

    async def ack(self, *keys: str) -> None:
        await self.send(*(Ack(key) for key in keys))


class Bus:
    """The broker of one case: connects peers, and ends them when the case ends."""

    def __init__(self, trial: Trial, instance: Instance, tokens: tuple[str, ...] = TOKENS) -> None:
        self.instance = instance
        self._begin(trial)
        told = instance.details.get("tokens", tokens)
        self.tokens: tuple[str, ...] = tuple(told) if isinstance(told, list | tuple) else (str(told),)

    def _begin(self, trial: Trial) -> None:
        self.trial = trial
        self.peers: list[Peer] = []
        self.profile = Profile.CODE  # until somebody connects
        self.extra: dict[str, set[str]] = {}  # members beyond the nine that peers sent, by the envelope's id

    def note_extra(self, text: str) -> None:
        """A broker that relays the very bytes relays these members too."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and set(value) - ENVELOPE_KEYS:
            self.extra.setdefault(str(value.get("id")), set()).update(set(value) - ENVELOPE_KEYS)

    async def connect(self, label: str = "", headers: dict[str, str] | None = None) -> Peer:
        """A connection that has said nothing yet."""
        self.profile = await profile_of(self.trial.target, ROLE)
        try:
            websocket = await connect(
                self.instance.address,
                additional_headers=headers,
                compression=None,
                ping_interval=None,
                max_size=None,
                close_timeout=1,
            )
        except (OSError, InvalidHandshake, InvalidMessage, TimeoutError) as error:
            raise TargetCrashed(f"no WebSocket connection to {self.instance.address}: {error}") from None
        peer = Peer(self, websocket, label or f"peer{len(self.peers) + 1}")
        self.peers.append(peer)
        return peer

    async def register(self, name: str = "", token: str = "") -> tuple[Peer, Peers]:
        """A registered connection and the broker's ack of it."""
        name = name or unique("peer")
        peer = await self.connect(name)
        await peer.send(Register(token or self.tokens[0], name))
        peer.name = name
        return peer, await peer.expect(Peers, "PB-2.1-24")

    async def peer(self, name: str = "", token: str = "") -> Peer:
        """A registered connection that has settled: nobody's delivery is under way to it."""
        peer, _ = await self.register(name, token)
        await peer.fence()
        return peer

    async def until_gone(self, name: str, witness: Peer) -> None:
        """There is no event for "a peer left": ask until the name is off the list (PB-2.3-06)."""
        patience = self.trial.patience_s
        deadline = asyncio.get_running_loop().time() + patience
        while name in (await witness.fence()).names:
            if asyncio.get_running_loop().time() > deadline:
                raise Broken("PB-2.3-06", f"{name} to leave the list", f"still listed after {patience:g} s")

    async def leave(self, peer: Peer, witness: Peer) -> None:
        await peer.close()
        await self.until_gone(peer.name, witness)

    async def close(self) -> None:
        for peer in self.peers:
            peer.on_frame = lambda _: None
            await peer.websocket.close()
            peer.stop_reading()


class PrivateBus(Bus):
    """A broker of the case's own, which it may kill and start again on the same store."""

    def __init__(self, trial: Trial) -> None:
        self.session: Session | None = None
        self._config = {"tokens": list(TOKENS), "state_dir": str(trial.target.new_folder("private"))}
        self.tokens = TOKENS
        self._begin(trial)

    async def start(self) -> PrivateBus:
        self.session = self.trial.target.private()
        await self.session.open()
        self.instance = await self.session.start(ROLE, dict(self._config))
        self.trial.said("harness", "broker", "note", "start")
        return self

    async def kill(self) -> None:
        """SIGKILL: only what is stored is left."""
        assert self.session, "started before it is killed"
        self.trial.said("harness", "broker", "note", "SIGKILL")
        await self.session.kill()

    async def restart(self) -> None:
        await self.kill()
        assert self.session, "started before it is restarted"
        await self.session.close()
        await self.start()

    async def close(self) -> None:
        await super().close()
        if self.session:
            await self.session.close()
