"""Codecs that verify what they should not, or do not verify what they should."""

from __future__ import annotations

import binascii
import re
from dataclasses import replace

from reference_impl.peerbus.frames import Envelope
from reference_impl.peerbus.signing import Signing
from targets.mutants.peerbus.codec_canonical import signs_wrongly


@signs_wrongly("PB-4-15")
class VerifiesTheWireText(Signing):
    """Verifies the header as it is spelled on the wire."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        plain = envelope.wire.startswith(self.canonical(envelope)[:-1].split(b',"body":')[0])
        return plain and super().verify(envelope, secret)


@signs_wrongly("PB-4-17")
class ComparesTheText(Signing):
    """Compares hex digits instead of what they decode to."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return envelope.hmac == envelope.hmac.lower() and super().verify(envelope, secret)


@signs_wrongly("PB-4-18")
class AnyMacVerifies(Signing):
    """Does not compare the MAC, only its length."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return len(secret) >= 32 and re.fullmatch("[0-9a-fA-F]{64}", envelope.hmac) is not None


@signs_wrongly("PB-4-18")
class LastByteIsNotCompared(Signing):
    """Compares all but the last byte of the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        if re.fullmatch("[0-9a-fA-F]{64}", envelope.hmac) is None:
            return False
        return super().verify(replace(envelope, hmac=envelope.hmac[:-2] + self.sign(envelope, secret)[-2:]), secret)


@signs_wrongly("PB-4-19")
class PrefixOfTheMacVerifies(Signing):
    """Compares as many bytes of the MAC as there are."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        whole = self.sign(envelope, secret)
        short = bool(envelope.hmac) and len(envelope.hmac) % 2 == 0 and whole.startswith(envelope.hmac)
        return super().verify(replace(envelope, hmac=whole) if short else envelope, secret)


@signs_wrongly("PB-4-19")
class LongMacVerifies(Signing):
    """Compares no more than the first 32 bytes of the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return super().verify(replace(envelope, hmac=envelope.hmac[:64]), secret)


@signs_wrongly("PB-4-20")
class AnySecretWillDo(Signing):
    """Verifies with a short secret."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        try:
            return binascii.unhexlify(envelope.hmac) == self.mac(envelope, secret)
        except ValueError:
            return False


@signs_wrongly("PB-4-21")
class UnsignedVerifies(Signing):
    """Takes an envelope without hmac for one that needs none."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return not envelope.hmac or super().verify(envelope, secret)


@signs_wrongly("PB-4-21")
class HexIsCleanedUp(Signing):
    """Ignores what is no hex digit in the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return super().verify(replace(envelope, hmac=re.sub("[^0-9a-fA-F]", "", envelope.hmac)), secret)


@signs_wrongly("PB-4-26")
class VersionIsNotSigned(Signing):
    """Signs every version as v1."""

    def canonical(self, envelope: Envelope) -> bytes:
        return super().canonical(replace(envelope, protocol_version="v1"))
