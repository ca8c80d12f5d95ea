"""Peers that get the order of a greeting wrong, or take or refuse the wrong Handshake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from reference_impl.core import Channel, Expectation, Step
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import BadHandshake, Error, Established, Frame, Handshake, Message, Opened, Ping
from reference_impl.sbp.peer import HOST, WIRE, PeerMachine, PeerStep, Phase, State, fresh_id
from targets.mutants.sbp.codec_handshake import Refuses
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import still_open, without


@shelf.breaks("SBP-HS-02", "SBP-HSP-09", role="peer")
class NeverGreets(PeerMachine):
    """Sends no Handshake."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        return without(super().opened(state, channel, event), Handshake)


@shelf.breaks("SBP-HS-02", role="peer")
class PingsBeforeItGreets(PeerMachine):
    """Sends a Ping first."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Ping(fresh_id(state)), WIRE), *step.owes))


@shelf.breaks("SBP-HSP-09", "SBP-HS-02", role="peer")
class SendsBeforeItGreets(PeerMachine):
    """Sends a Message first."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Message(fresh_id(state), "app/first"), WIRE), *step.owes))


@shelf.breaks("SBP-SES-02", role="peer")
class WaitsForTheOtherHandshake(PeerMachine):
    """Greets only who has greeted."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        return without(super().opened(state, channel, event), Handshake)

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        return replace(step, owes=(Expectation("", self.greeting(state), WIRE), *step.owes))


@shelf.breaks("SBP-HS-03", "SBP-CMP-02", role="peer")
class IgnoresEarlyFrames(PeerMachine):
    """Drops what comes before the Handshake, and stays."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-HS-03", role="peer")
class AnswersEarlyPings(PeerMachine):
    """Answers a Ping before the Handshake."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        if isinstance(frame, Ping):
            return self.pong(state, channel, frame)
        return super().too_early(state, channel, frame)


@shelf.breaks("SBP-SES-04", role="peer")
class NoWordAboutEarlyFrames(PeerMachine):
    """Closes without an Error."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        return without(super().too_early(state, channel, frame), Error)


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesAnyVersion(PeerMachine):
    """Looks at the protocol only."""

    def understands(self, frame: Handshake) -> bool:
        return frame.protocol == "sideband"


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesAnyProtocol(PeerMachine):
    """Looks at the version only."""

    def understands(self, frame: Handshake) -> bool:
        return frame.version == "1"


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesLaterMinorVersions(PeerMachine):
    """Takes 1.0 for 1."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(replace(frame, version=frame.version.split(".")[0]))


@shelf.breaks("SBP-HSP-10", role="peer")
class MismatchIsAnInvalidFrame(PeerMachine):
    """Says InvalidFrame where the version is another."""

    def reject(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...], *more: Any) -> PeerStep:
        return super().reject(state, id, clause, (1002,) if codes == (1001,) else codes, *more)


@shelf.breaks("SBP-HSP-10", role="peer")
class NoWordAboutMismatch(PeerMachine):
    """Closes without an Error where the version is another."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        return without(super().greeted(state, channel, frame), Error)


@shelf.breaks("SBP-HSP-10", "SBP-CMP-02", role="peer")
class StaysAfterMismatch(PeerMachine):
    """Says UnsupportedVersion, and waits for another Handshake."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        return step if self.understands(frame) else still_open(step, state)


@shelf.breaks("SBP-HSP-08", "SBP-HS-01", "SBP-CMP-02", role="peer")
class IgnoresBadHandshake(PeerMachine):
    """Waits for a better one."""

    def bad_handshake(self, state: State, channel: Channel, event: BadHandshake) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-HSP-03", role="peer")
class TakesAnonymousPeers(Codec):
    """Does not miss a peerId."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return {"peerId": "anonymous"} | super().payload(id, data)


@shelf.breaks("SBP-HSP-11", role="peer")
class WantsKnownCaps(Refuses):
    """Turns unknown caps away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("caps"))


@shelf.breaks("SBP-HSP-12", role="peer")
class WantsKnownMetadata(Refuses):
    """Turns unknown metadata away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("metadata"))


@shelf.breaks("SBP-EXT-01", role="peer")
class WantsKnownMembers(Refuses):
    """Turns unknown members away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload) - {"protocol", "version", "peerId", "caps", "metadata"})


@shelf.breaks("SBP-SES-03", role="peer")
class TurnsPipeliningAway(PeerMachine):
    """Wants something else between the Handshake and the first Message."""

    last: type = Opened

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        before, self.last = self.last, type(event)
        if before is Handshake and isinstance(event, Message):
            return self.reject(state, event.id, "", (1000,))
        return super().receive(state, channel, event)


@shelf.breaks("SBP-SES-05", "SBP-CMP-02", role="peer")
class SecondHandshakeIsAnotherPeer(PeerMachine):
    """Lets a session change hands."""

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if state.phase is Phase.OPEN and isinstance(event, Handshake):
            return Step(state, (Expectation("", Established(event.peer_id, None, None), HOST),))
        return super().receive(state, channel, event)


@shelf.breaks("SBP-SES-12", role="peer")
class OneConnectionPerPeerId(PeerMachine):
    """Turns a peer id away that it has seen before."""

    met: ClassVar[set[str]] = set()

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if frame.peer_id in self.met:
            return self.reject(state, frame.id, "", (1000,))
        self.met.add(frame.peer_id)
        return super().greeted(state, channel, frame)
