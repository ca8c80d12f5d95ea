"""Clients that get a field of an envelope wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.peerbus.client import ClientMachine, ClientStep, State
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope
from reference_impl.peerbus.host import SendRequest, Surfaced
from targets.mutants.peerbus.shelf import shelf


class SendsOtherwise(ClientMachine):
    """Base of machines whose envelopes differ in one field."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        step = super().send(state, channel, request)
        return replace(step, owes=tuple(replace(owed, template=self.other(owed.template)) for owed in step.owes))

    def other(self, envelope: Envelope) -> Envelope:
        raise TypeError(type(self))


@shelf.breaks("PB-3-01", role="client")
class AddsAField(Codec):
    """Sends a tenth field."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return super().encode_envelope(envelope)[:-1] + b',"priority":1}'


@shelf.breaks("PB-3-02", role="client")
class OmitsANullBody(Codec):
    """Leaves out a body that is null."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return super().encode_envelope(envelope).replace(b'"body":null,', b"")


@shelf.breaks("PB-3-03", "PB-6-03", role="client")
class ReadsTheDocument(ClientMachine):
    """Rejects envelopes of another version, though it claims the code's profile."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return super().deliver(state, channel, frame) if frame.envelope.protocol_version == "v1" else Step(state)


@shelf.breaks("PB-3-04", role="client")
class CountsItsMessages(SendsOtherwise):
    """Numbers its messages from 1, as every other client does."""

    sent = 0

    def other(self, envelope: Envelope) -> Envelope:
        self.sent += 1
        return replace(envelope, id=str(self.sent))


@shelf.breaks("PB-3-04", role="client")
class HasFewIds(Client):
    """Draws its ids from two bytes."""

    def __init__(self, *args: Any, **parts: Any) -> None:
        super().__init__(*args, **parts)
        entropy = self.player._entropy
        self.player._entropy = lambda size: entropy(2).ljust(size, b"\0")


@shelf.breaks("PB-3-05", role="client")
class SendsAnonymously(SendsOtherwise):
    """Does not say who sends."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, sender="anonymous")


@shelf.breaks("PB-3-06", "PB-3-16", role="client")
class BroadcastsToAll(SendsOtherwise):
    """Addresses broadcasts to `all`."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to="all") if envelope.to == "*" else envelope


@shelf.breaks("PB-3-07", role="client")
class SendsATimeNumber(Codec):
    """Writes `ts` as a number."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        text = super().encode_envelope(envelope)
        return text.replace(self.signing.string(envelope.ts), b"1779105600")


@shelf.breaks("PB-3-08", role="client")
class TrimsTheSource(ClientMachine):
    """Trims the source that it shows to its host."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, source=envelope.source.strip()))


@shelf.breaks("PB-3-09", "PB-3-16", role="client")
class BroadcastsAsMessages(SendsOtherwise):
    """Calls everything a msg."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, kind="msg")


@shelf.breaks("PB-3-15", "PB-3-09", role="client")
class CallsItDirect(SendsOtherwise):
    """Calls a direct message `direct`."""

    def other(self, envelope: Envelope) -> Envelope:
        return envelope if envelope.to == "*" else replace(envelope, kind="direct")


@shelf.breaks("PB-3-10", role="client")
class KnowsOnlyObjects(ClientMachine):
    """Shows its host every body that is no object as an empty one."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(envelope if envelope.body[:1] == b"{" else replace(envelope, body=b"{}"))


@shelf.breaks("PB-3-11", role="client")
class SortsWhatItSends(SendsOtherwise):
    """Decodes its host's body and writes it again, members sorted."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        body = json.dumps(json.loads(request.body), sort_keys=True, separators=(",", ":"))
        return ClientMachine.send(self, state, channel, replace(request, body=body.encode()))


@shelf.breaks("PB-3-12", "PB-7-03", role="client")
class DoesNotSignTheSource(ClientMachine):
    """Signs its messages as if their source were empty."""

    def signature(self, envelope: Envelope) -> str:
        return super().signature(replace(envelope, source=""))


@shelf.breaks("PB-3-13", role="client")
class TypesItsEnvelopes(Codec):
    """Gives its envelopes a type."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return b'{"type":"envelope",' + super().encode_envelope(envelope)[1:]
