"""Clients whose Noise sessions go wrong: whom they trust, what they reveal, how they count."""

from __future__ import annotations

import secrets

from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.noise import Noise, Pattern, Secured, WrongKey, public_key
from reference_impl.trueseal.noise_io import Sealed
from targets.mutants.trueseal import noises
from targets.mutants.trueseal.shelf import broken_client as broken


class OtherNoise(Client):
    """Uses other Noise or another stream for one kind of session, or for both."""

    noise: type[Noise] = Noise
    stream: type[Secured] = Secured
    only: Pattern | None = None

    def secured(self, pattern: Pattern) -> Secured:
        if self.only not in (None, pattern):
            return super().secured(pattern)
        pushing = pattern is Pattern.NK
        keys = {"remote_static": self.relay_key} if pushing else {"static": self.config.private_key}
        noise = self.noise(pattern, initiator=True, entropy=self.ephemeral, **keys)
        return self.stream(noise, trusted=None if pushing else self.trusted)

    @property
    def relay_key(self) -> bytes:
        return self.config.relay_key

    @property
    def trusted(self) -> bytes | None:
        return self.config.relay_key

    def ephemeral(self, size: int) -> bytes:
        return self.entropy(size)


@broken("TS-SES-01", "TS-SES-03")
class PushesUnderItsName(OtherNoise):
    """Pushes in XX, under its own key."""

    only = Pattern.NK

    def secured(self, pattern: Pattern) -> Secured:
        return super().secured(Pattern.XX)


@broken("TS-SES-01", "TS-SES-06")
class DialsInSha256(OtherNoise):
    """Uses SHA-256 instead of BLAKE2s in both handshakes."""

    noise = noises.HashesWithSha256


@broken("TS-SES-02")
class PushesToAnybody(OtherNoise):
    """Does not check the tags of NK, and pushes to whoever answers."""

    noise, only = noises.SkipsHandshakeTags, Pattern.NK


@broken("TS-SES-02", "TS-SES-06")
class TrustsWhomItMeets(OtherNoise):
    """Takes the key that it sees in XX for the relay's, and pushes to that one."""

    met: bytes | None = None

    @property
    def relay_key(self) -> bytes:
        return self.met or self.config.relay_key

    @property
    def trusted(self) -> bytes | None:
        return None

    async def _open(self, pattern: Pattern, port: int) -> Sealed | None:
        sealed = await super()._open(pattern, port)
        if sealed and pattern is Pattern.XX:
            self.met = sealed.remote_static
        return sealed


@broken("TS-SES-03")
class TheSameEphemeralKey(OtherNoise):
    """Has one ephemeral key for all its Push Sessions."""

    only = Pattern.NK
    once: bytes = b""

    def ephemeral(self, size: int) -> bytes:
        self.once = self.once or super().ephemeral(size)
        return self.once


@broken("TS-SES-03")
class ItsOwnKeyIsEphemeral(OtherNoise):
    """Pushes with its device key where an ephemeral one belongs."""

    only = Pattern.NK

    def ephemeral(self, size: int) -> bytes:
        return self.config.private_key


@broken("TS-SES-03")
class ANameInTheHandshake(OtherNoise):
    """Puts its own public key into the first message of a Push Session."""

    only = Pattern.NK

    class stream(Secured):
        name = b""

        def opening(self) -> bytes:
            return self.seal(self.name)

    def secured(self, pattern: Pattern) -> Secured:
        secured = super().secured(pattern)
        if isinstance(secured, self.stream):
            secured.name = public_key(self.config.private_key)
        return secured


@broken("TS-SES-06")
class TrustsAnybody(OtherNoise):
    """Receives from a relay with any key."""

    only = Pattern.XX

    @property
    def trusted(self) -> bytes | None:
        return None


@broken("TS-SES-06")
class LooksTooLate(OtherNoise):
    """Looks at the relay's key only when it has shown its own."""

    only = Pattern.XX

    class stream(Secured):
        def _shake(self, message: bytes) -> bytes:
            trusted, self.trusted = self.trusted, None
            try:
                return super()._shake(message)
            finally:
                self.trusted = trusted

        def read(self) -> tuple[bytes, bytes | None] | None:
            if self.noise.finished and self.noise.remote_static != self.trusted:
                raise WrongKey("another relay")
            return super().read()


@broken("TS-SES-06")
class LooksAtOneByte(OtherNoise):
    """Compares the first byte of the relay's key."""

    only = Pattern.XX

    class stream(Secured):
        def _shake(self, message: bytes) -> bytes:
            trusted, self.trusted = self.trusted, None
            honest = self.noise.read

            def read(message: bytes) -> bytes:
                payload = honest(message)
                shown = self.noise.remote_static
                if shown and trusted and shown[0] != trusted[0]:
                    raise WrongKey("another relay")
                return payload

            self.noise.read = read  # type: ignore[method-assign]  # for this one message
            try:
                return super()._shake(message)
            finally:
                self.noise.read = honest  # type: ignore[method-assign]
                self.trusted = trusted


@broken("TS-SES-06")
class AnotherDeviceEachTime(OtherNoise):
    """Receives under a key of its own making, another one in each session."""

    only = Pattern.XX

    def secured(self, pattern: Pattern) -> Secured:
        if pattern is Pattern.NK:
            return super().secured(pattern)
        noise = Noise(pattern, initiator=True, entropy=self.entropy, static=secrets.token_bytes(32))
        return Secured(noise, trusted=self.trusted)


@broken("TS-SES-06")
class TakesForgedDeliveries(OtherNoise):
    """Does not check the tags of transport messages, and surfaces what was tampered with."""

    noise = noises.SkipsTags


@broken("TS-SES-01", "TS-SES-06")
class ReusesItsNonces(OtherNoise):
    """Uses nonce 0 for every transport message."""

    noise = noises.NonceStaysZero


@broken("TS-SES-06")
class ItsNonceIsAByte(OtherNoise):
    """Begins with nonce 0 again behind 256 messages."""

    noise = noises.NonceOfOneByte


@broken("TS-SES-01", "TS-SES-06")
class ItsKeysAreSwapped(OtherNoise):
    """Encrypts with the key of the other direction."""

    noise = noises.SwapsDirections


@broken("TS-SES-06")
class CountsBothWays(OtherNoise):
    """Counts the messages of both directions together, which is right as long as both are as talkative."""

    noise = noises.OneCounterForBoth


@broken("TS-SES-06", "TS-SES-01")
class SurfacesPayloads(OtherNoise):
    """Takes what a handshake message of the relay carries for the first frame."""

    stream = noises.TakesPayloads


@broken("TS-DLV-04", "TS-SES-06")
class NegativeNoiseLengths(OtherNoise):
    """Reads the length of a Noise message as signed, and ends the session for one of 32,768 bytes."""

    stream = noises.SignedLengths


@broken("TS-SES-06", "TS-SES-01")
class EachReadIsAMessage(OtherNoise):
    """Takes each read of the stream for whole messages, and loses what comes in pieces."""

    stream = noises.OneReadIsOneMessage
