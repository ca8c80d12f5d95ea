"""Noise sessions that go wrong with fixed keys, as the operation `noise` shows."""

from __future__ import annotations

from typing import Any

from reference_impl.trueseal.noise import Noise, NoiseFailed, Pattern
from targets.mutants.trueseal import noises
from targets.mutants.trueseal.shelf import broken_codec as broken


@broken("TS-SES-01", "TS-SES-06")
class HashesWithSha256(noises.HashesWithSha256):
    """Uses SHA-256 instead of BLAKE2s."""


@broken("TS-SES-01", "TS-SES-06")
class ForgetsThePrologue(Noise):
    """Does not mix the prologue into the handshake."""

    def __init__(self, pattern: Pattern, *, prologue: bytes = b"", **told: Any) -> None:
        super().__init__(pattern, **told)


@broken("TS-SES-01", "TS-SES-02")
class SkipsTheTagsOfNk(noises.SkipsHandshakeTags):
    """Does not check the tags of the NK handshake: anybody can answer for the relay."""

    def __init__(self, pattern: Pattern, **told: Any) -> None:
        super().__init__(pattern, **told)
        if pattern is Pattern.XX:
            Noise.__init__(self, pattern, **told)


@broken("TS-SES-06")
class SkipsTheTagsOfXx(noises.SkipsHandshakeTags):
    """Does not check the tags of the XX handshake: anybody can be any device."""

    def __init__(self, pattern: Pattern, **told: Any) -> None:
        super().__init__(pattern, **told)
        if pattern is Pattern.NK:
            Noise.__init__(self, pattern, **told)


@broken("TS-SES-01", "TS-SES-06")
class SkipsTransportTags(noises.SkipsTags):
    """Does not check the tags of transport messages."""


@broken("TS-SES-06")
class ShowsItsEphemeralKey(Noise):
    """Shows its ephemeral key in XX where its static one belongs."""

    def __init__(self, pattern: Pattern, **told: Any) -> None:
        super().__init__(pattern, **told)
        if pattern is Pattern.XX:
            self._handshake.s = self._handshake.e


@broken("TS-SES-01", "TS-SES-06")
class NonceStaysZero(noises.NonceStaysZero):
    """Uses nonce 0 for every transport message."""


@broken("TS-SES-01", "TS-SES-06")
class NonceBigEndian(noises.NonceBigEndian):
    """Writes the nonce big-endian, as the other cipher of Noise has it."""


@broken("TS-SES-01", "TS-SES-06")
class OneCounterForBoth(noises.OneCounterForBoth):
    """Counts the transport messages of both directions together."""


@broken("TS-SES-01", "TS-SES-06")
class SwapsDirections(noises.SwapsDirections):
    """Encrypts with the key of the other direction."""


@broken("TS-SES-01", "TS-SES-06")
class LosesPayloads(Noise):
    """Reads a handshake payload as nothing."""

    def read(self, message: bytes) -> bytes:
        shaking = not self.finished
        payload = super().read(message)
        return b"" if shaking else payload


@broken("TS-SES-01", "TS-SES-06")
class RefusesPayloads(Noise):
    """Takes a handshake message that carries a payload for a forgery."""

    def read(self, message: bytes) -> bytes:
        shaking = not self.finished
        payload = super().read(message)
        if shaking and payload:
            raise NoiseFailed("a payload in a handshake message")
        return payload


@broken("TS-SES-02")
class DoesWithoutTheRelaysKey(Noise):
    """Shakes hands in NK with another key than the relay's."""

    def __init__(self, pattern: Pattern, *, remote_static: bytes | None = None, **told: Any) -> None:
        other = bytes([9, *bytes(31)]) if remote_static else None
        super().__init__(pattern, remote_static=other, **told)
