"""Clients that send something else than their host wanted, where only odd bodies and names show it."""

from __future__ import annotations

import re
import secrets
import unicodedata
from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.peerbus.client import ClientMachine, ClientStep, State
from reference_impl.peerbus.frames import Envelope
from reference_impl.peerbus.host import SendRequest
from targets.mutants.peerbus.client_envelope import SendsOtherwise
from targets.mutants.peerbus.shelf import shelf

BIG = re.compile(rb"-?\d{16,}")


@shelf.breaks("PB-3-11", "PB-3-10", role="client")
class SendsDoubles(ClientMachine):
    """Writes an integer above 2 to the 53rd as the nearest double."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        body = BIG.sub(lambda digits: b"%d" % int(float(digits[0])), request.body)
        return super().send(state, channel, replace(request, body=body))


@shelf.breaks("PB-3-10", "PB-3-11", role="client")
class SendsFalsyAsNull(ClientMachine):
    """Sends null for a body of false, zero or nothing in brackets."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        empty = request.body.strip() in (b"false", b"0", b'""', b"[]", b"{}")
        return super().send(state, channel, replace(request, body=b"null") if empty else request)


@shelf.breaks("PB-3-15", "PB-3-06", role="client")
class SendsToTheComposed(SendsOtherwise):
    """Normalises the name of the recipient."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to=unicodedata.normalize("NFC", envelope.to))


@shelf.breaks("PB-3-15", "PB-3-06", role="client")
class SendsToTheTrimmed(SendsOtherwise):
    """Trims the name of the recipient."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to=envelope.to.strip())


@shelf.breaks("PB-3-16", "PB-3-15", role="client")
class BroadcastsToStarredNames(SendsOtherwise):
    """Takes every name that begins with a star for everybody."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to="*", kind="broadcast") if envelope.to.startswith("*") else envelope


@shelf.breaks("PB-3-04", role="client")
class DrawsAnIdForTwo(SendsOtherwise):
    """Has a new id for every other message only."""

    sent, id = 0, ""

    def other(self, envelope: Envelope) -> Envelope:
        if self.sent % 2 == 0:
            self.id = secrets.token_hex(16)
        self.sent += 1
        return replace(envelope, id=self.id)
