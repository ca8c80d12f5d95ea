"""Clients that sign or verify wrongly."""

from __future__ import annotations

import binascii
import hmac
import json
from dataclasses import replace

from reference_impl.core import Channel, Step
from reference_impl.peerbus import jsontext
from reference_impl.peerbus.client import ClientMachine, ClientStep, Config, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope
from reference_impl.peerbus.signing import Profile, Signing, canonical_string
from targets.mutants.peerbus.client_register import Careless
from targets.mutants.peerbus.shelf import shelf


class SignsOtherwise(Codec):
    """Base of codecs with other signature rules."""

    rules: type[Signing] = Signing

    def __init__(self, profile: Profile = Profile.CODE) -> None:
        super().__init__(profile, self.rules(profile))


@shelf.breaks("PB-4-11", role="client")
class SendsSpaces(Codec):
    """Sends its bodies with a space behind each comma, signed without."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        text = super().encode_envelope(envelope)
        return text.replace(envelope.body, envelope.body.replace(b",", b", "))


@shelf.breaks("PB-4-14", role="client")
class ShoutsItsMac(ClientMachine):
    """Writes its MAC in upper-case hex."""

    def signature(self, envelope: Envelope) -> str:
        return super().signature(envelope).upper()


@shelf.breaks("PB-4-15", role="client")
class VerifiesWireOrder(SignsOtherwise):
    """Verifies over the members in the order they came."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            if not envelope.wire.startswith(b"{"):
                return False
            pairs = [(key, value) for key, value in jsontext.members(envelope.wire) if key != b'"hmac"']
            text = b"{" + b",".join(key + b":" + jsontext.compact(value) for key, value in pairs) + b"}"
            return hmac.digest(secret, text, "sha256").hex() == envelope.hmac.lower()


@shelf.breaks("PB-4-15", "PB-3-11", role="client")
class SortsBodies(SignsOtherwise):
    """Verifies over a body that it has decoded and written again."""

    class rules(Signing):
        def body(self, body: bytes) -> bytes:
            return json.dumps(json.loads(body or b"null"), sort_keys=True, separators=(",", ":")).encode()


@shelf.breaks("PB-4-15", "PB-3-12", role="client")
class LeavesHtmlRaw(SignsOtherwise):
    """Signs `<`, `>`, `&`, U+2028 and U+2029 as they stand, though it declares the code profile."""

    class rules(Signing):
        def string(self, value: str) -> bytes:
            return canonical_string(value, Profile.DOCUMENT)

        def body(self, body: bytes) -> bytes:
            return jsontext.compact(body or b"null")


@shelf.breaks("PB-4-17", role="client")
class ComparesText(SignsOtherwise):
    """Compares the MAC as text, so that upper-case hex fails."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return envelope.hmac == self.sign(envelope, secret)


@shelf.breaks("PB-4-18", "PB-2.4-15", "PB-7-02", role="client")
class VerifiesNothing(SignsOtherwise):
    """Takes every message for genuine."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return True


@shelf.breaks("PB-4-18", role="client")
class TrustsKnownSenders(SignsOtherwise):
    """Does not look at the body when it verifies a message that has a MAC of some other message."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            first = replace(envelope, body=b'{"n":1}')
            return super().verify(envelope, secret) or super().verify(first, secret)


@shelf.breaks("PB-4-19", role="client")
class ComparesAPrefix(SignsOtherwise):
    """Compares as many bytes as the claimed MAC has."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            try:
                claimed = binascii.unhexlify(envelope.hmac)
            except ValueError:
                return False
            return claimed != b"" and self.mac(envelope, secret).startswith(claimed)


@shelf.breaks("PB-4-19", role="client")
class IgnoresTheRest(SignsOtherwise):
    """Compares the first 32 bytes of the claimed MAC, and nothing behind them."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return super().verify(replace(envelope, hmac=envelope.hmac[:64]), secret)


@shelf.breaks("PB-4-20", role="client")
class NeedsNoSecret(ClientMachine):
    """Works with a secret of any length."""

    config_type = Careless

    class Codec(SignsOtherwise):
        class rules(Signing):
            def verify(self, envelope: Envelope, secret: bytes) -> bool:
                return envelope.hmac.lower() == self.sign(envelope, secret)

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, self.Codec())


@shelf.breaks("PB-4-21", role="client")
class UnsignedIsFine(SignsOtherwise):
    """Rejects a wrong MAC, but not a missing one."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return not envelope.hmac or super().verify(envelope, secret)


@shelf.breaks("PB-4-21", role="client")
class ReadsHexLoosely(SignsOtherwise):
    """Reads a MAC with blanks or a prefix as if it were hex."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return super().verify(replace(envelope, hmac=envelope.hmac.strip().removeprefix("0x")), secret)


@shelf.breaks("PB-4-22", role="client")
class AcksForgeries(ClientMachine):
    """Drops what does not verify, and acks it."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and not self.codec.signing.verify(frame.envelope, self.config.secret):
            return Step(state, self.acking(frame.delivery_key, channel, ""))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-4-24", "PB-2.4-09", role="client")
class ChecksTheKey(ClientMachine):
    """Drops a delivery whose key is not made of its id."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        fits = frame.delivery_key.split("|")[0] == frame.envelope.id
        return super().deliver(state, channel, frame) if fits else Step(state)


@shelf.breaks("PB-4-26", "PB-4-18", role="client")
class AssumesTheVersion(SignsOtherwise):
    """Verifies every message as if it said v1."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            assumed = replace(envelope, protocol_version="v1")
            return super().verify(envelope, secret) or super().verify(assumed, secret)
