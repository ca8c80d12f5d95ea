"""Clients that say what only servers say, leave in another way, or do not come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.frames import Err, Joined, Welcome
from reference_impl.frog.host import Depart, Dial
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.joining import ClientStep, Phase, State
from targets.mutants.frog.shelf import in_client
from targets.mutants.frog.steps import also, without


@in_client("FROG-13-02")
class SaysOkToo(ClientMachine):
    """Answers OK JOIN with OK JOIN."""

    def joined(self, state: State, channel: Channel, frame: Joined) -> ClientStep:
        return also(super().joined(state, channel, frame), channel, Joined())


@in_client("FROG-13-02")
class AnswersErrorsWithErrors(ClientMachine):
    """Answers a message that it cannot read with ERR."""

    def ignore(self, state: State, channel: Channel, what: object) -> ClientStep:
        step = super().ignore(state, channel, what)
        return also(step, channel, Err(DASH, "BAD_REQUEST")) if state.phase is Phase.REGISTERED else step


@in_client("FROG-46-01")
class LeavesWithoutSayingSo(ClientMachine):
    """Closes where it should say LEAVE."""

    def depart(self, state: State, channel: Channel, event: Depart) -> ClientStep:
        return self.depart_unregistered(state, channel, event)


@in_client("FROG-46-01")
class ComesBackAfterLeaving(ClientMachine):
    """Dials again once it left."""

    def parted(self, state: State, channel: Channel, what: object) -> ClientStep:
        step = super().parted(state, channel, what)
        away = replace(step.state, phase=Phase.AWAY, attempt=1)
        return replace(step, state=away, owes=(*step.owes, self.dialling(away)))


@in_client("FROG-43-03", "FROG-18-06")
class OneConnectionIsEnough(ClientMachine):
    """Does not come back after it was registered."""

    def dropped(self, state: State, channel: Channel, what: object) -> ClientStep:
        step = super().dropped(state, channel, what)
        return without(step, Dial) if state.phase is Phase.REGISTERED else step


@in_client("FROG-43-03", "FROG-18-06")
class ComesBackOnce(ClientMachine):
    """Comes back after the first loss of a connection, and not after the second."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._losses = 0

    def dropped(self, state: State, channel: Channel, what: object) -> ClientStep:
        self._losses += state.phase is Phase.REGISTERED
        step = super().dropped(state, channel, what)
        return without(step, Dial) if self._losses > 1 else step


@in_client("FROG-43-03", "FROG-18-06")
class ComesBackWithoutJoining(ClientMachine):
    """Thinks that it is still registered when it comes back."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._was = False

    def joined(self, state: State, channel: Channel, frame: Joined) -> ClientStep:
        self._was = True
        return super().joined(state, channel, frame)

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        if not self._was:
            return super().welcomed(state, channel, frame)
        return self.joined(state, channel, Joined())


@in_client("FROG-41-05", "FROG-42-01")
class OneRefusalIsEnough(ClientMachine):
    """Does not dial again where a server did not let it in or was not there."""

    def dropped(self, state: State, channel: Channel, what: object) -> ClientStep:
        step = super().dropped(state, channel, what)
        return step if state.phase is Phase.REGISTERED else without(step, Dial)
