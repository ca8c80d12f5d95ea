"""Clients that are wrong where two blobs, two sessions or two restarts meet, or tell their host what is not so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Step
from reference_impl.trueseal.client import ClientMachine, ClientStep, Durable, Effect, Settled, State
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.frames import (
    Ack,
    Deliver,
    Error,
    Frame,
    Hangup,
    Push,
    Pushed,
    PushSession,
    ReceiveOpened,
    Rejected,
    Submit,
)
from reference_impl.trueseal.store import ClientStore
from targets.mutants.trueseal.client_messages import Tells
from targets.mutants.trueseal.client_stores import OtherStore
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import without

# -- the durable half --------------------------------------------------------------------------------------------------


class Settles(ClientStore):
    """Takes out of its outbox by another condition than the number; which one is its subclass's fault."""

    condition = "blob = ?"

    def write(self, effect: Effect) -> None:
        if isinstance(effect, Settled):
            self._db.execute(f"DELETE FROM outbox WHERE {self.condition}", (effect.blob,))
        else:
            super().write(effect)


@broken("TS-ACK-07")
class SettlesEqualsOnDisk(OtherStore):
    """Takes every blob with the envelope of the answered one out of its file: after a restart they are gone."""

    class kind(Settles):
        condition = "envelope = (SELECT envelope FROM outbox WHERE blob = ?)"


@broken("TS-ACK-07")
class SettlesTheRecipientOnDisk(OtherStore):
    """Takes all that goes to the recipient of the answered blob out of its file."""

    class kind(Settles):
        condition = "recipient = (SELECT recipient FROM outbox WHERE blob = ?)"


@broken("TS-ACK-07")
class SettlesByDigits(OtherStore):
    """Takes every blob out of its file whose number begins with the digits of the answered one."""

    class kind(Settles):
        condition = "blob LIKE ? || '%'"


@broken("TS-ACK-07")
class ReadsTheOutboxOnce(OtherStore):
    """Empties its outbox on disk when it has read it: a second restart finds nothing to push."""

    class kind(ClientStore):
        def load(self) -> Durable:
            found = super().load()
            self._db.execute("DELETE FROM outbox")
            return found


@broken("TS-DLV-09")
class KnowsOneRestart(OtherStore):
    """Knows after a restart what it has received, and after another one no more."""

    class kind(ClientStore):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self._db.execute("CREATE TABLE IF NOT EXISTS old (n INTEGER)")

        def load(self) -> Durable:
            found = super().load()
            old = {n for (n,) in self._db.execute("SELECT n FROM old")}
            rows = self._db.execute("SELECT n, envelope FROM received").fetchall()
            self._db.execute("INSERT INTO old SELECT n FROM received")
            known = {envelope: None for n, envelope in rows if n not in old}
            return replace(found, envelopes=Map(known), ids=found.ids if known else Map())


@broken("TS-DLV-09")
class LoadsTheLastSixteen(OtherStore):
    """Knows after a restart the last sixteen messages that it has received."""

    class kind(ClientStore):
        def load(self) -> Durable:
            found = super().load()
            rows = self._db.execute("SELECT envelope FROM received ORDER BY n DESC LIMIT 16").fetchall()
            return replace(found, envelopes=Map({envelope: None for (envelope,) in rows}), ids=Map())


@broken("TS-DLV-09")
class KnowsTheLastSixteen(ClientMachine):
    """Knows the last sixteen messages that it has received."""

    def __init__(self) -> None:
        self.last: list[bytes] = []

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.envelope in state.durable.envelopes and frame.envelope not in self.last:
            return self.fresh(state, channel, frame)
        if frame.envelope not in self.last:
            self.last = [*self.last, frame.envelope][-16:]
        return super().deliver(state, channel, frame)


@broken("TS-ACK-07", "TS-ERR-04")
class SpendsAnswersTooMany(ClientMachine):
    """Keeps its Push Session, and takes an answer too many for one to the next blob."""

    def __init__(self) -> None:
        self.spare = 0

    def answered(self, state: State, channel: Channel, told: type[Pushed | Rejected], clause: str) -> ClientStep:
        if isinstance(channel, PushSession) and not state.pushing[channel]:
            self.spare += 1
            return Step(state)
        return without(super().answered(state, channel, told, clause), Hangup)

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        step = super().submit(state, channel, event)
        if not self.spare:
            return step
        self.spare -= 1
        return replace(step, state=replace(step.state, durable=replace(step.state.durable, outbox=Map())), effects=())


# -- sessions ----------------------------------------------------------------------------------------------------------


@broken("TS-DACK-03", "TS-DLV-09")
class AcksTheFirstId(ClientMachine):
    """Acks a repeat under the id that the message came under first."""

    def __init__(self) -> None:
        self.first: dict[bytes, int] = {}

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        first = self.first.setdefault(frame.envelope, frame.blob_id)
        step = super().duplicate(state, channel, frame)
        return replace(step, owes=self.acking(channel, replace(frame, blob_id=first)))


@broken("TS-ACK-06", "TS-ERR-04")
class AnErrorIsForTheLast(ClientMachine):
    """Takes an Error for one of the Push that was sent last, and an Ack for one of the first."""

    def rejected(self, state: State, channel: Channel, frame: Error) -> ClientStep:
        assert isinstance(channel, PushSession), "a Push Session has a channel of its own kind"
        *rest, last = state.pushing[channel] or (0,)
        turned = replace(state, pushing=state.pushing.set(channel, (last, *rest)))
        return super().rejected(turned if last else state, channel, frame)


@broken("TS-ACK-06", "TS-ACK-07")
class NoAckBehindAnError(ClientMachine):
    """Passes over the Acks of a session that has brought an Error, and pushes again what they were for."""

    def __init__(self) -> None:
        self.failed: set[Channel] = set()

    def rejected(self, state: State, channel: Channel, frame: Error) -> ClientStep:
        self.failed.add(channel)
        return super().rejected(state, channel, frame)

    def acked(self, state: State, channel: Channel, frame: Ack) -> ClientStep:
        return self.end(state, channel, frame) if channel in self.failed else super().acked(state, channel, frame)


@broken("TS-HB-02")
class BeatsCarryOver(ClientMachine):
    """Still waits for the answer to a Heartbeat of a lost session, and takes the next one for it."""

    def receive_lost(self, state: State, channel: Channel, event: Hangup) -> ClientStep:
        step = super().receive_lost(state, channel, event)
        return replace(step, state=replace(step.state, beats=state.beats))

    def listen(self, state: State, channel: Channel, event: ReceiveOpened) -> ClientStep:
        step = super().listen(state, channel, event)
        return replace(step, state=replace(step.state, beats=state.beats))


@broken("TS-HB-02")
class SixteenAnswers(ClientMachine):
    """Answers sixteen Heartbeats of a session."""

    def __init__(self) -> None:
        self.beats: dict[Channel, int] = {}

    def answer_beat(self, state: State, channel: Channel, frame: Any) -> ClientStep:
        self.beats[channel] = self.beats.get(channel, 0) + 1
        return super().answer_beat(state, channel, frame) if self.beats[channel] <= 16 else Step(state)


@broken("TS-PUSH-09", "TS-PUSH-01")
class EarlyPushesShareAKey(Client):
    """Sends what was submitted while a session was being opened to the recipient of the last."""

    def _push(self, session: PushSession, push: Frame) -> None:
        early = self._early.get(session)
        if early and isinstance(push, Push):
            early[:] = [replace(old, recipient=push.recipient) for old in early if isinstance(old, Push)]
        super()._push(session, push)


@broken("TS-PUSH-01", "TS-ACK-07")
class LosesTheFirstEarly(Client):
    """Keeps one Push for a session that is being opened: the last."""

    def _push(self, session: PushSession, push: Frame) -> None:
        if session in self._early:
            self._early[session].clear()
        super()._push(session, push)


# -- the host ----------------------------------------------------------------------------------------------------------


@broken("TS-DLV-04")
class TellsWithoutZeros(Tells):
    """Surfaces a message without the zeros at its end."""

    def told(self, envelope: bytes) -> bytes:
        return envelope.rstrip(b"\0")


@broken("TS-DLV-04")
class TellsTheLastForTheEmpty(Tells):
    """Surfaces the message before once more where one is empty."""

    last = b""

    def told(self, envelope: bytes) -> bytes:
        self.last = envelope or self.last
        return self.last


@broken("TS-ACK-07")
class TellsTheNewestBlob(Client):
    """Tells its host of an Ack under the number of the blob that was submitted last."""

    def _perform(self, channel: Channel, frame: object) -> None:
        newest = self.player.state.durable.next - 1
        super()._perform(channel, Pushed(newest) if isinstance(frame, Pushed) else frame)
