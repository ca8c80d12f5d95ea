"""Clients that get answers wrong: what is tried again, which answer is for what, when a session ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation
from reference_impl.trueseal.client import ClientMachine, ClientStep, Settled, State
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.frames import (
    Ack,
    Dial,
    Error,
    Hangup,
    InSession,
    Push,
    Pushed,
    PushSession,
    Rejected,
    Submit,
)
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import without


@broken("TS-ACK-07")
class TheEndIsAnAck(ClientMachine):
    """Takes a Push whose session ended without an answer as delivered."""

    def push_lost(self, state: State, channel: Channel, event: Any) -> ClientStep:
        step = super().push_lost(state, channel, event)
        assert isinstance(channel, PushSession)
        blobs = state.pushing[channel]
        durable = replace(
            step.state.durable,
            outbox=Map({b: push for b, push in step.state.durable.outbox.items() if b not in blobs}),
        )
        gone = tuple(Settled(blob) for blob in blobs)
        return replace(without(step, InSession), state=replace(step.state, durable=durable), effects=gone)


@broken("TS-ACK-07")
class TriesAgainAtAStart(ClientMachine):
    """Does not push again what had no answer before it is started again."""

    def push_lost(self, state: State, channel: Channel, event: Any) -> ClientStep:
        return without(super().push_lost(state, channel, event), InSession)


@broken("TS-ACK-07")
class TriesAgainWithTheNext(ClientMachine):
    """Pushes again what had no answer only when there is something else to push."""

    def __init__(self) -> None:
        self.slept: list[int] = []

    def push_lost(self, state: State, channel: Channel, event: Any) -> ClientStep:
        assert isinstance(channel, PushSession)
        self.slept += state.pushing[channel]
        return without(super().push_lost(state, channel, event), InSession)

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        step = super().submit(state, channel, event)
        due, self.slept = self.slept, []
        return replace(step, owes=(*step.owes, *self.pushes(step.state, due)))


@broken("TS-ACK-07")
class GivesUpAfterTwo(ClientMachine):
    """Tries a blob three times, then no more."""

    def __init__(self) -> None:
        self.tries: Counter[int] = Counter()

    def push_lost(self, state: State, channel: Channel, event: Any) -> ClientStep:
        assert isinstance(channel, PushSession)
        self.tries.update(state.pushing[channel])
        step = super().push_lost(state, channel, event)
        tired = {state.durable.outbox[blob] for blob in state.pushing[channel] if self.tries[blob] >= 3}
        owes = tuple(d for d in step.owes if not (isinstance(d.template, InSession) and d.template.push in tired))
        return replace(step, owes=owes)


@broken("TS-ACK-07")
class PushesTheAckedAgain(ClientMachine):
    """Pushes again all that was in a session whose last answer did not come, Acked or not."""

    def __init__(self) -> None:
        self.sent: dict[Channel, list[Push]] = {}

    def flew(self, state: State, session: PushSession, push: Push) -> State:
        self.sent.setdefault(session, []).append(push)
        return super().flew(state, session, push)

    def push_lost(self, state: State, channel: Channel, event: Any) -> ClientStep:
        assert isinstance(channel, PushSession)
        step, sent = super().push_lost(state, channel, event), self.sent.pop(channel, [])
        waiting = [state.durable.outbox[blob] for blob in state.pushing[channel]]
        if not waiting:
            return step
        again = [push for push in sent if push not in waiting]
        more = tuple(Expectation("", InSession(step.state.session, push), "pushes") for push in again)
        return replace(step, owes=(*step.owes, *more))


@broken("TS-ACK-07", "TS-ERR-04")
class SettlesTheNewest(ClientMachine):
    """Takes an answer for one of the Push that was sent last."""

    def answered(self, state: State, channel: Channel, told: type[Pushed] | type[Rejected], clause: str) -> ClientStep:
        assert isinstance(channel, PushSession)
        turned = state.pushing.set(channel, tuple(reversed(state.pushing[channel])))
        step = super().answered(replace(state, pushing=turned), channel, told, clause)
        if channel not in step.state.pushing:
            return step
        left = tuple(reversed(step.state.pushing[channel]))
        return replace(step, state=replace(step.state, pushing=step.state.pushing.set(channel, left)))


@broken("TS-ACK-07")
class OneAckForASession(ClientMachine):
    """Takes the first Ack of a session for one of all its pushes."""

    def acked(self, state: State, channel: Channel, event: Ack) -> ClientStep:
        assert isinstance(channel, PushSession)
        step = super().acked(state, channel, event)
        while step.state.pushing.get(channel):
            after = super().acked(step.state, channel, event)
            step = replace(after, owes=(*step.owes, *after.owes), effects=(*step.effects, *after.effects))
        return step


@broken("TS-ERR-04", "TS-ACK-07")
class AnErrorForASession(ClientMachine):
    """Takes an Error for one of all the pushes of its session."""

    def rejected(self, state: State, channel: Channel, event: Error) -> ClientStep:
        assert isinstance(channel, PushSession)
        step = super().rejected(state, channel, event)
        while step.state.pushing.get(channel):
            after = super().rejected(step.state, channel, event)
            step = replace(after, owes=(*step.owes, *after.owes), effects=(*step.effects, *after.effects))
        return step


@broken("TS-ERR-04", "TS-ERR-05")
class TriesTheRejectedOnceMore(ClientMachine):
    """Pushes a rejected blob one more time."""

    def __init__(self) -> None:
        self.tried: set[int] = set()

    def rejected(self, state: State, channel: Channel, event: Error) -> ClientStep:
        assert isinstance(channel, PushSession)
        blobs = state.pushing[channel]
        if not blobs or blobs[0] in self.tried:
            return super().rejected(state, channel, event)
        self.tried.add(blobs[0])
        return self.end(state, channel, event)


@broken("TS-ERR-04")
class TriesTheRejectedWithTheNext(ClientMachine):
    """Pushes a rejected blob again when something else is submitted."""

    def __init__(self) -> None:
        self.again: list[Push] = []

    def rejected(self, state: State, channel: Channel, event: Error) -> ClientStep:
        assert isinstance(channel, PushSession)
        if blobs := state.pushing[channel]:
            self.again.append(state.durable.outbox[blobs[0]])
        return super().rejected(state, channel, event)

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        step, pushes = super().submit(state, channel, event), self.again
        self.again = []
        more = (Expectation("", InSession(state.session, push), "pushes") for push in pushes)
        return replace(step, owes=(*step.owes, *more))


@broken("TS-ERR-04")
class TellsThatItWasPushed(Client):
    """Tells its host that a rejected blob was pushed."""

    def _perform(self, channel: Channel, frame: object) -> None:
        super()._perform(channel, Pushed(frame.blob) if isinstance(frame, Rejected) else frame)


@broken("TS-ACK-07")
class TellsTooEarly(Client):
    """Tells its host that a blob was pushed when it is sent, and nothing when it is Acked."""

    def push(self, recipient: bytes, envelope: bytes) -> int:
        blob = super().push(recipient, envelope)
        self._on_event(Pushed(blob))
        return blob

    def _perform(self, channel: Channel, frame: object) -> None:
        if not isinstance(frame, Pushed):
            super()._perform(channel, frame)


@broken("TS-SES-05")
class KeepsPushSessions(ClientMachine):
    """Does not close a Push Session when all is answered."""

    def answered(self, state: State, channel: Channel, told: type[Pushed] | type[Rejected], clause: str) -> ClientStep:
        step = super().answered(state, channel, told, clause)
        return without(step, Hangup) if step.effects else step


@broken("TS-SES-05")
class KeepsRejectedSessions(ClientMachine):
    """Does not close a Push Session whose last answer was an Error."""

    def rejected(self, state: State, channel: Channel, event: Error) -> ClientStep:
        step = super().rejected(state, channel, event)
        return without(step, Hangup) if step.effects else step


@broken("TS-SES-06")
class DialsOnce(ClientMachine):
    """Does not dial again when its Receive Session is lost."""

    def receive_lost(self, state: State, channel: Channel, event: Hangup) -> ClientStep:
        return without(super().receive_lost(state, channel, event), Dial)
