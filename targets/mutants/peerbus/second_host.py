"""Clients whose wire is right and whose host is told otherwise, in either direction."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace

from immutables import Map

from reference_impl.core import Channel, Step
from reference_impl.peerbus.client import SOURCE, ClientMachine, ClientStep, Config, Copy, Phase, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope
from reference_impl.peerbus.host import Consumed, Surfaced
from targets.mutants.peerbus.shelf import shelf
from targets.mutants.peerbus.steps import also


class ShowsOtherwise(ClientMachine):
    """Base of machines that show their host another body than came."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        try:
            return super().surfaced(replace(envelope, body=self.shown(envelope.body)))
        except (RecursionError, OverflowError, ValueError):  # what json cannot read is shown as it came
            return super().surfaced(envelope)

    def shown(self, body: bytes) -> bytes:
        raise TypeError(type(self))


@shelf.breaks("PB-2.4-17", role="client")
class ShowsDoubles(ShowsOtherwise):
    """Reads numbers as doubles: an integer above 2 to the 53rd is another one for its host."""

    def shown(self, body: bytes) -> bytes:
        return json.dumps(json.loads(body, parse_int=lambda digits: int(float(digits)))).encode()


@shelf.breaks("PB-2.4-17", role="client")
class ShowsComposedText(ShowsOtherwise):
    """Normalises a body's text before its host sees it."""

    def shown(self, body: bytes) -> bytes:
        return json.dumps(json.loads(unicodedata.normalize("NFC", body.decode()))).encode()


@shelf.breaks("PB-2.4-17", role="client")
class SanitisesBodies(ShowsOtherwise):
    """Writes `<` as an entity in what its host sees."""

    def shown(self, body: bytes) -> bytes:
        return body.replace(b"<", b"&lt;").replace(b"\\u003c", b"&lt;")


@shelf.breaks("PB-2.4-17", role="client")
class TrimsTextBodies(ShowsOtherwise):
    """Trims a body that is one string."""

    def shown(self, body: bytes) -> bytes:
        value = json.loads(body)
        return json.dumps(value.strip()).encode() if isinstance(value, str) else body


@shelf.breaks("PB-2.4-17", role="client")
class ShowsTheBasicPlane(ShowsOtherwise):
    """Shows its host a question mark for each character outside the basic plane."""

    def shown(self, body: bytes) -> bytes:
        return json.dumps(json.loads(re.sub(r"[\U00010000-\U0010ffff]", "?", body.decode()))).encode()


@shelf.breaks("PB-2.4-17", role="client")
class DropsNullMembers(ShowsOtherwise):
    """Leaves members that are null out of an object that its host sees."""

    def shown(self, body: bytes) -> bytes:
        value = json.loads(body)
        kept = {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value
        return json.dumps(kept).encode()


@shelf.breaks("PB-3-08", "PB-2.4-17", role="client")
class FillsInTheSource(ClientMachine):
    """Shows its host a source of its own where a message has an empty one."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, source=envelope.source or SOURCE))


@shelf.breaks("PB-2.4-17", role="client")
class ShowsComposedNames(ClientMachine):
    """Normalises the sender's name before its host sees it."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, sender=unicodedata.normalize("NFC", envelope.sender)))


@shelf.breaks("PB-2.4-17", role="client")
class SkipsItsOwn(ClientMachine):
    """Does not show its host what it sent to itself."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        own = frame.envelope.sender == self.config.name
        return Step(state) if own else super().deliver(state, channel, frame)


# -- who is believed ---------------------------------------------------------------------------------------------------


@shelf.breaks("PB-4-18", "PB-2.4-15", role="client")
class TrustsBroadcasts(ClientMachine):
    """Verifies direct messages only."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.envelope.to == "*":
            signed = self.codec.signing.sign(frame.envelope, self.config.secret)
            frame = replace(frame, envelope=replace(frame.envelope, hmac=signed))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-4-18", "PB-2.4-15", role="client")
class TrustsItself(ClientMachine):
    """Does not verify what says that it comes from this very client."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.envelope.sender == self.config.name:
            signed = self.codec.signing.sign(frame.envelope, self.config.secret)
            frame = replace(frame, envelope=replace(frame.envelope, hmac=signed))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-2.4-15", "PB-4-22", role="client")
class DedupesBeforeItVerifies(ClientMachine):
    """Acks a forged copy of a message that its host has consumed."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and frame.envelope.id in state.seen.keys and frame.envelope.id not in state.waiting:
            return self.duplicate(state, channel, frame)
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-4-22", "PB-2.4-15", role="client")
class AcksAForgedCopy(ClientMachine):
    """Takes the key of a forged copy of what its host has not consumed yet, and acks it along."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and frame.envelope.id in state.waiting:
            return self.repeated(state, channel, frame)
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-5-05", role="client")
class TellsIdsApartBySender(ClientMachine):
    """Remembers an id together with its sender, so that another sender's is new."""

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, codec)
        self.senders: dict[str, set[str]] = {}

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        id, sender = frame.envelope.id, frame.envelope.sender
        verified = frame.delivery_key and self.codec.signing.verify(frame.envelope, self.config.secret)
        if verified and id in self.senders and sender not in self.senders[id]:
            keys = Map({seen: under for seen, under in state.seen.keys.items() if seen != id})
            waiting = Map({held: copies for held, copies in state.waiting.items() if held != id})
            state = replace(state, seen=replace(state.seen, keys=keys), waiting=waiting)
        if verified:
            self.senders.setdefault(id, set()).add(sender)
        return super().deliver(state, channel, frame)


# -- what the host has consumed ----------------------------------------------------------------------------------------


@shelf.breaks("PB-2.2-05", "PB-5-17", role="client")
class AcksUpTo(ClientMachine):
    """Acks with a message all that came before it, consumed or not."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        step = super().consumed(state, channel, event)
        if event.id not in state.waiting or state.phase is not Phase.ONLINE:
            return step
        order = {id: at for at, id in state.seen.order.items()}
        older = [id for id in state.waiting if order.get(id, 0) < order.get(event.id, 0)]
        return also(step, *(debt for id in older for debt in self.acks(state, state.waiting[id])))


@shelf.breaks("PB-2.2-05", "PB-2.4-18", role="client")
class AcksTheOldestFirst(ClientMachine):
    """Acks the oldest message that waits, whichever its host has consumed."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        order = {id: at for at, id in state.seen.order.items()}
        oldest = min(state.waiting, key=lambda id: order.get(id, 0)) if event.id in state.waiting else event.id
        return super().consumed(state, channel, Consumed(oldest))


@shelf.breaks("PB-2.4-18", role="client")
class AcksTheLastKey(ClientMachine):
    """Acks the key that a message came under last, and not the one it came under first."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        waiting = state.waiting.set(frame.envelope.id, (Copy(frame.delivery_key, channel),))
        return Step(replace(state, waiting=waiting))


@shelf.breaks("PB-5-07", "PB-5-10", role="client")
class ForgetsWhatIsConsumedOffline(ClientMachine):
    """Surfaces again what its host has consumed while there was no connection."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        step = super().consumed(state, channel, event)
        if state.phase is Phase.ONLINE or event.id not in state.waiting:
            return step
        keys = step.state.seen.keys
        seen = replace(step.state.seen, keys=keys.delete(event.id) if event.id in keys else keys)
        return replace(step, state=replace(step.state, seen=seen))


@shelf.breaks("PB-2.2-05", "PB-5-17", role="client")
class AcksOnTheNextConnection(ClientMachine):
    """Acks what its host has not consumed when it comes again on a new connection."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().repeated(state, channel, frame)
        old = any(copy.connection != channel for copy in state.waiting[frame.envelope.id])
        return also(step, *self.acking(frame.delivery_key, channel, "")) if old else step
