"""Clients that get Heartbeats wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.trueseal.client import HOST, ClientMachine, ClientStep, Phase, State
from reference_impl.trueseal.frames import (
    BadHeartbeat,
    Heartbeat,
    PushSession,
    Received,
)
from targets.mutants.trueseal.codec_bodies import Fills
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import also, twice


@broken("TS-HB-03")
class BeatsWithATime(Fills):
    """Sends a Heartbeat with a body."""

    kind, filling = Heartbeat, bytes(4)


@broken("TS-HB-04")
class SurfacesHeartbeats(ClientMachine):
    """Surfaces the body of a Heartbeat as a message."""

    def end(self, state: State, channel: Channel, event: Any, clause: str = "TS-FRM-05") -> ClientStep:
        if isinstance(event, BadHeartbeat):
            return also(Step(state), HOST, Received(event.body))
        return super().end(state, channel, event, clause)


@broken("TS-HB-01")
class EndsForAHeartbeat(ClientMachine):
    """Takes a Heartbeat that it did not ask for as malformed."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        asked = channel == state.listening and state.beats
        return super().answer_beat(state, channel, event) if asked else self.end(state, channel, event)


@broken("TS-HB-02")
class DeafToBeatsWhilePushing(ClientMachine):
    """Does not answer a Heartbeat on a Push Session."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        pushing = state.phase(channel) is Phase.PUSHING
        return Step(state) if pushing else super().answer_beat(state, channel, event)


@broken("TS-HB-02")
class DeafToBeatsWhileListening(ClientMachine):
    """Does not answer a Heartbeat on its Receive Session."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        return Step(state) if channel == state.listening else super().answer_beat(state, channel, event)


@broken("TS-HB-02")
class BeatsElsewhere(ClientMachine):
    """Answers a Heartbeat of a Push Session on its Receive Session."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        step = super().answer_beat(state, channel, event)
        return replace(step, owes=tuple(replace(debt, channel=state.listening or channel) for debt in step.owes))


@broken("TS-HB-02")
class AnsweredElsewhere(ClientMachine):
    """Takes a Heartbeat in a Push Session for the answer to its own on the Receive Session."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        elsewhere = isinstance(channel, PushSession) and state.beats
        return super().answer_beat(state, state.listening if elsewhere else channel, event)


@broken("TS-HB-02")
class AnsweredForEver(ClientMachine):
    """Takes every Heartbeat behind one of its own for an answer."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        step = super().answer_beat(state, channel, event)
        return replace(step, state=state)


@broken("TS-HB-05")
class AnswersBeatsTwice(ClientMachine):
    """Answers a Heartbeat with two."""

    def answer_beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> ClientStep:
        return twice(super().answer_beat(state, channel, event), Heartbeat)
