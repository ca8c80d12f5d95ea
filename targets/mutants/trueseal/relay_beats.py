"""Relays that get Heartbeats wrong."""

from __future__ import annotations

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import HEADER, Reader
from reference_impl.trueseal.frames import BadHeartbeat, Error, Heartbeat, Tag
from reference_impl.trueseal.relay import Phase, RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also, twice

Beat = Heartbeat | BadHeartbeat


@broken("TS-HB-01")
class NoBeatsWhilePushing(RelayMachine):
    """Takes a Heartbeat on a Push Session for malformed."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        if state.phase(channel) is Phase.PUSH:
            return self.malformed(state, channel, event)
        return super().beat(state, channel, event)


@broken("TS-HB-01")
class NoBeatsBeforeTheFirstPush(RelayMachine):
    """Takes a Heartbeat for malformed as long as nothing was ever pushed."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        if state.durable.next == 1:
            return self.malformed(state, channel, event)
        return super().beat(state, channel, event)


@broken("TS-HB-02")
class DeafWhilePushing(RelayMachine):
    """Does not answer a Heartbeat on a Push Session."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        return Step(state) if state.phase(channel) is Phase.PUSH else super().beat(state, channel, event)


@broken("TS-HB-02")
class DeafWhileReceiving(RelayMachine):
    """Does not answer a Heartbeat on a Receive Session."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        return Step(state) if state.phase(channel) is Phase.RECEIVE else super().beat(state, channel, event)


@broken("TS-HB-02")
class WaitsForTheAck(RelayMachine):
    """Answers no Heartbeat of a device that still has something to ack."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        device = state.sessions[channel]
        owing = device is not None and state.durable.inbox(device).delivered
        return Step(state) if owing else super().beat(state, channel, event)


@broken("TS-HB-02")
class BeatsInTheNewestSession(RelayMachine):
    """Answers every Heartbeat in the session that was opened last."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        return super().beat(state, max(other for other in state.sessions if isinstance(other, int)), event)


@broken("TS-HB-02", "TS-HB-05")
class AnswersOneBeatOfABatch(Relay):
    """Answers Heartbeats that come at once with one."""

    def flush(self) -> None:
        if self._batch:
            beats: set[Channel] = set()
            kept = []
            for channel, frame in self._batch.frames:
                if frame != Heartbeat() or channel not in beats:
                    kept.append((channel, frame))
                if frame == Heartbeat():
                    beats.add(channel)
            self._batch.frames = kept
        super().flush()


@broken("TS-HB-05")
class BeatsTwice(RelayMachine):
    """Answers a Heartbeat with two."""

    def beat(self, state: State, channel: Channel, event: Beat) -> RelayStep:
        return twice(super().beat(state, channel, event), Heartbeat)


@broken("TS-HB-04", "TS-HB-03")
class EchoesBodies(Relay):
    """Sends a Heartbeat back as it came, body and all."""

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        if not reader.inside and message[:1] == bytes([Tag.HEARTBEAT]) and len(message) > HEADER.size:
            self._lines[channel].say(message)
            return
        super().heard(channel, reader, message)


@broken("TS-HB-04")
class RejectsBeatsWithABody(RelayMachine):
    """Answers a Heartbeat with a body with an Error, as if it had been a Push."""

    def malformed(self, state: State, channel: Channel, event: object) -> RelayStep:
        if isinstance(event, BadHeartbeat):
            return also(Step(state), channel, Error())
        return super().malformed(state, channel, event)
