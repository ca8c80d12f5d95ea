"""Peers that conform and yet take every freedom: the suites must not fail them. `python:selftests.sbp.variants:Terse`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Level, Player
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Frame, Handshake, Opened
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


class TersePeer(PeerRole):
    machine, session = WaitingMachine, TerseSession


class EagerPeer(PeerRole):
    machine, session, codec = OtherChoices, EagerSession, Stamping


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
