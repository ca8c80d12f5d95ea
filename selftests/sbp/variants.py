"""Peers that conform and yet take every freedom: the suites must not fail them. `python:selftests.sbp.variants:Terse`."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from dataclasses import replace
from typing import Any

from harness.shim import Emit
from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Level, Player
from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Frame, Handshake, Kind, Malformed, Message, Opened
from reference_impl.sbp.peer import WIRE, Config, PeerMachine, PeerStep, State
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
    """Takes the last alternative wherever there is one."""

    def __init__(self, config: Config, **_: Any) -> None:
        super().__init__(config)

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        choices = self.alternatives(state, channel, event)
        return choices[-1] if choices else super().receive(state, channel, event)


class Stamping(Codec):
    """Puts a timestamp on every frame that has none."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame if frame.ts is not None else replace(frame, ts=1_700_000_000_123))


class LazyQueue(asyncio.Queue[Any]):
    """Lets Acks wait; those that come behind the end are lost."""

    def put_nowait(self, item: Any) -> None:
        put = super().put_nowait
        if isinstance(item, bytes) and item[0] == Kind.ACK:
            asyncio.get_running_loop().call_later(0.01, put, item)
        else:
            put(item)


class LazySession(Session):
    """Acknowledges when it has time, and stamps its Messages itself."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._outgoing = LazyQueue()

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        return super().send(subject, data, int(time.time() * 1000))


class OtherCodes(PeerMachine):
    """Says the last of the codes that are allowed; a frame before the Handshake SHOULD get the first (SBP-SES-04)."""

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


class TersePeer(PeerRole):
    machine, session = WaitingMachine, TerseSession


class EagerPeer(PeerRole):
    machine, session, codec = OtherChoices, EagerSession, Stamping


class OddPeer(PeerRole):
    """Numbers its sessions, says null where nothing is, closes with a reason of its own and does not tell of the end."""

    machine, session, codec = OtherCodes, LazySession, OddCodec

    def __init__(self) -> None:
        super().__init__()
        self._names: Any = itertools.count(1)

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def tell(event: str, data: dict[str, Any]) -> None:
            if event != "closed":
                emit(event, {name: value if value not in ("", [], {}) else None for name, value in data.items()})

        return await super().start(config, tell)

    async def do_close(self, session: str, reason: str | None = None) -> dict[str, Any]:
        return await super().do_close(session, reason or "done")


class OddCodecRole(CodecRole):
    codec = OddCodec


class Odd(RoleShim):
    """What the first implementation that was not ours did otherwise."""

    def __init__(self) -> None:
        super().__init__("odd", "0", {"sbp/peer": OddPeer, "sbp/codec": OddCodecRole})


class Terse(RoleShim):
    def __init__(self) -> None:
        super().__init__("terse", "0", {"sbp/peer": TersePeer})


class Eager(RoleShim):
    def __init__(self) -> None:
        super().__init__("eager", "0", {"sbp/peer": EagerPeer})


class CodecOnly(RoleShim):
    """An encoder and a decoder, and no session."""

    def __init__(self) -> None:
        super().__init__("codec-only", "0", {"sbp/codec": CodecRole})
