"""Peers that conform and yet take every freedom: the suites must not fail them. `python:selftests.sbp.variants:Terse`."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import random
import time
from dataclasses import replace
from typing import Any

from harness.shim import Emit
from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Level, Player
from reference_impl.sbp.codec import Codec, Rejected, Unencodable
from reference_impl.sbp.frames import Ack, Error, Frame, Handshake, Hangup, Malformed, Message, Opened, Ping, Pong, Text
from reference_impl.sbp.peer import VIOLATION, WIRE, Config, PeerMachine, PeerStep, State, fresh_id
from reference_impl.sbp.peer_io import Session
from targets.reference.sbp import CodecRole, PeerRole


class TerseSession(Session):
    """Says what it must, and nothing else."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.player = Player(self.player.machine, entropy=self.entropy, volunteers=self.wants)

    def wants(self, debt: Expectation) -> bool:
        return debt.level is Level.MUST


class EagerSession(TerseSession):
    """Says whatever it may."""

    def wants(self, debt: Expectation) -> bool:
        return True


class WaitingMachine(PeerMachine):
    """Greets only who has greeted."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=())

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        if not self.understands(frame):
            return step
        return replace(step, owes=(Expectation("", self.greeting(state), WIRE), *step.owes))


class OtherChoices(PeerMachine):
    """Takes the last alternative wherever there is one, and says the second of the codes that are allowed."""

    def __init__(self, config: Config, **_: Any) -> None:
        super().__init__(config)

    def complaint(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> Expectation:
        turned = codes if clause == "SBP-HS-03" else (*codes[1:], *codes[:1])
        return super().complaint(state, id, clause, turned)

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        choices = self.alternatives(state, channel, event)
        return choices[-1] if choices else super().receive(state, channel, event)


class Talkative(PeerMachine):
    """Has a host that sends a Message as soon as its own Handshake is out (SBP-HSP-09), and pings who sends it one."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        mine = Expectation("SBP-HSP-09", Message(fresh_id(state), "app/mine", b"\x01"), WIRE)
        return replace(step, owes=(*step.owes, mine))

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        step = super().deliver(state, channel, frame)
        return replace(step, owes=(Expectation("", Ping(fresh_id(state)), WIRE), *step.owes))


class ReadsOn(PeerMachine):
    """Ends the transport for a text message and, until it is down, handles what comes behind: a text is no frame (SBP-SES-01)."""

    def text(self, state: State, channel: Channel, text: Text) -> PeerStep:
        step = super().text(state, channel, text)
        return replace(step, state=state, owes=tuple(debt for debt in step.owes if debt.channel == WIRE))


class OneAtATime(PeerMachine):
    """Takes a peerId for one peer's: while somebody is connected under it, nobody else is let in (SBP-HSP-04)."""

    def __init__(self, present: set[str], config: Config, **more: Any) -> None:
        super().__init__(config, **more)
        self.present, self.admitted = present, ""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if not self.understands(frame):
            return super().greeted(state, channel, frame)
        if frame.peer_id in self.present:
            return self.reject(state, frame.id, "SBP-SES-12", VIOLATION)
        self.admitted = frame.peer_id
        self.present.add(self.admitted)
        return super().greeted(state, channel, frame)

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> PeerStep:
        self.present.discard(self.admitted)
        return super().hung_up(state, channel, event)


class Stamping(Codec):
    """Puts a timestamp on every frame that has none."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame if frame.ts is not None else replace(frame, ts=1_700_000_000_123))


LATE_S = 0.01


class LazySession(Session):
    """Answers when it has time, and stamps its Messages itself; Acks and Pongs that come behind the end are lost."""

    def put(self, frame: Frame | Hangup) -> None:
        if isinstance(frame, Ack | Pong):
            asyncio.get_running_loop().call_later(LATE_S, super().put, frame)
        else:
            super().put(frame)

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        return super().send(subject, data, int(time.time() * 1000))


class Chiding(PeerMachine):
    """Answers what nobody has to take with an Error, and goes on; an application's Error ends nothing (SBP-SES-11).

    Says the last of the codes that are allowed; a frame before the Handshake SHOULD get the first (SBP-SES-04).
    """

    def __init__(self, config: Config, **_: Any) -> None:
        super().__init__(config)

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        choices = () if isinstance(event, Error) else self.alternatives(state, channel, event)
        return choices[0] if choices else super().receive(state, channel, event)

    def complaint(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> Expectation:
        return super().complaint(state, id, clause, codes if clause == "SBP-HS-03" else codes[::-1])


class OddCodec(Codec):
    """Writes the members of a Handshake in another order each time, and takes no NUL in a subject."""

    def encode_handshake(self, frame: Handshake) -> bytes:
        members = list(json.loads(super().encode_handshake(frame)).items())
        random.shuffle(members)
        return json.dumps(dict(members), indent=1).encode()

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        if "\0" in (got := super().message(id, ts, body)).subject:
            raise Rejected(Malformed("a NUL in the subject", id))
        return got


class Namespaced(Codec):
    """Takes and writes the subjects of one namespace only, which a profile may ask for (SBP-SES-14)."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        if not (got := super().message(id, ts, body)).subject.startswith("app/"):
            raise Rejected(Malformed("a subject outside app/", id, fatal=False))
        return got

    def encode_subject(self, subject: str) -> bytes:
        if not subject.startswith("app/"):
            raise Unencodable("a subject outside app/")
        return super().encode_subject(subject)


class TersePeer(PeerRole):
    machine, session = WaitingMachine, TerseSession


class EagerPeer(PeerRole):
    machine, session, codec = OtherChoices, EagerSession, Stamping


class TalkativePeer(PeerRole):
    """Shows nothing of its host, which says what it likes."""

    machine = Talkative
    capabilities = ("accept", "connect", "receipt", "limit", "hints")

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        return await super().start(config, lambda event, data: None)


class HeedingPeer(PeerRole):
    machine = ReadsOn


class GuardedPeer(PeerRole):
    def __init__(self) -> None:
        super().__init__()
        self.machine = functools.partial(OneAtATime, set())  # type: ignore[assignment]


class ReplacingPeer(PeerRole):
    """Takes a peer that greets once more for one that has come again, and ends the session that it had."""

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        newest: dict[str, str] = {}  # session of each peerId

        def tell(event: str, data: dict[str, Any]) -> None:
            emit(event, data)
            if event == "established":
                older = self._sessions.get(newest.get(data["peer_id"], ""))
                newest[data["peer_id"]] = data["session"]
                if older:
                    older.close("replaced")

        return await super().start(config, tell)


class OddPeer(PeerRole):
    """Numbers its sessions, says null where nothing is, closes with a reason of its own and does not tell of the end.

    What is no Message it tells of when it has time.
    """

    machine, session, codec = Chiding, LazySession, OddCodec

    def __init__(self) -> None:
        super().__init__()
        self._names: Any = itertools.count(1)

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def tell(event: str, data: dict[str, Any]) -> None:
            told = {name: value if value not in ("", [], {}) else None for name, value in data.items()}
            if event in ("pong", "acked", "error"):
                asyncio.get_running_loop().call_later(LATE_S, emit, event, told)
            elif event != "closed":
                emit(event, told)

        return await super().start(config, tell)

    async def do_close(self, session: str, reason: str | None = None) -> dict[str, Any]:
        return await super().do_close(session, reason or "done")


class NamespacedPeer(PeerRole):
    """Shows its host on one side only, and has a name that nobody gave it."""

    codec = Namespaced
    capabilities = ("accept", "connect", "host-connect", "receipt", "limit", "hints")

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        accepts = config["side"] == "accept"
        named = config | ({"peer_id": "a-name-of-my-own"} if config["peer_id"] else {})
        said = await super().start(named, (lambda event, data: None) if accepts else emit)
        return said | ({"peer_id": named["peer_id"]} if config["peer_id"] else {})


class NamespacedCodecRole(CodecRole):
    codec = Namespaced


class OddCodecRole(CodecRole):
    codec = OddCodec


class Odd(RoleShim):
    """What the first implementation that was not ours did otherwise."""

    def __init__(self) -> None:
        super().__init__("odd", "0", {"sbp/peer": OddPeer, "sbp/codec": OddCodecRole})


class Strict(RoleShim):
    """Keeps to namespaces, and tells little of itself."""

    def __init__(self) -> None:
        super().__init__("strict", "0", {"sbp/peer": NamespacedPeer, "sbp/codec": NamespacedCodecRole})


class Terse(RoleShim):
    def __init__(self) -> None:
        super().__init__("terse", "0", {"sbp/peer": TersePeer})


class Eager(RoleShim):
    def __init__(self) -> None:
        super().__init__("eager", "0", {"sbp/peer": EagerPeer})


class Unseen(RoleShim):
    """A server that runs already, with an application of its own behind it."""

    def __init__(self) -> None:
        super().__init__("unseen", "0", {"sbp/peer": TalkativePeer})


class Heeding(RoleShim):
    """Reads on behind a text message."""

    def __init__(self) -> None:
        super().__init__("heeding", "0", {"sbp/peer": HeedingPeer})


class Guarded(RoleShim):
    """Lets in one connection at a time under a peerId, which the suites warn about and no more."""

    def __init__(self) -> None:
        super().__init__("guarded", "0", {"sbp/peer": GuardedPeer})


class Replacing(RoleShim):
    """Keeps the newest connection under a peerId, which the suites warn about and no more."""

    def __init__(self) -> None:
        super().__init__("replacing", "0", {"sbp/peer": ReplacingPeer})


class CodecOnly(RoleShim):
    """An encoder and a decoder, and no session."""

    def __init__(self) -> None:
        super().__init__("codec-only", "0", {"sbp/codec": CodecRole})
