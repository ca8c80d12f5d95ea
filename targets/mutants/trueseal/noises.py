"""Noise sessions with one fault that more than one role can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from cryptography.exceptions import InvalidTag

from reference_impl.trueseal.noise import LENGTH, Noise, NoiseFailed, Pattern, Secured

TAG_SIZE = 16


def unchecked(cipher: Any) -> Callable[..., bytes]:
    """Decrypts what does not authenticate as well: a stream cipher does not mind."""
    honest = cipher.decrypt

    def decrypt(k: bytes, n: int, ad: bytes, ciphertext: bytes) -> bytes:
        try:
            return bytes(honest(k, n, ad, ciphertext))
        except InvalidTag:
            return bytes(cipher.encrypt(k, n, ad, ciphertext[:-TAG_SIZE])[:-TAG_SIZE])

    return decrypt


class SkipsHandshakeTags(Noise):
    """Does not check the tags of handshake messages."""

    def __init__(self, *given: Any, **told: Any) -> None:
        super().__init__(*given, **told)
        cipher = self._handshake.symmetric_state.cipher_state.cipher
        cipher.decrypt = unchecked(cipher)


class Meddled(Noise):
    """Its subclass spoils the transport once the handshake is done."""

    _spoilt = False

    def write(self, payload: bytes = b"") -> bytes:
        message = super().write(payload)
        self._look()
        return message

    def read(self, message: bytes) -> bytes:
        payload = super().read(message)
        self._look()
        return payload

    def _look(self) -> None:
        if self.finished and not self._spoilt:
            self._spoilt = True
            self.spoil(self._noise.noise_protocol)

    def spoil(self, transport: Any) -> None:
        raise TypeError(f"{type(self).__name__} does not say what it spoils")


class SkipsTags(Meddled):
    """Does not check the tags of transport messages."""

    def spoil(self, transport: Any) -> None:
        cipher = transport.cipher_state_decrypt.cipher
        cipher.decrypt = unchecked(cipher)


class SwapsDirections(Meddled):
    """Encrypts with the key of the other direction."""

    def spoil(self, transport: Any) -> None:
        one, other = transport.cipher_state_encrypt, transport.cipher_state_decrypt
        transport.cipher_state_encrypt, transport.cipher_state_decrypt = other, one


class Nonces(Meddled):
    """Writes nonces in another way."""

    def spoil(self, transport: Any) -> None:
        for state in (transport.cipher_state_encrypt, transport.cipher_state_decrypt):
            state.cipher.format_nonce = self.nonce

    def nonce(self, n: int) -> bytes:
        return bytes(4) + n.to_bytes(8, "little")


class NonceStaysZero(Nonces):
    def nonce(self, n: int) -> bytes:
        return bytes(12)


class NonceOfOneByte(Nonces):
    def nonce(self, n: int) -> bytes:
        return super().nonce(n % 256)


class NonceBigEndian(Nonces):
    def nonce(self, n: int) -> bytes:
        return bytes(4) + n.to_bytes(8, "big")


class OneCounterForBoth(Noise):
    """Counts the messages of both directions together."""

    def write(self, payload: bytes = b"") -> bytes:
        transport = self._noise.noise_protocol
        if self.finished:
            transport.cipher_state_encrypt.n = max(transport.cipher_state_encrypt.n, transport.cipher_state_decrypt.n)
        return super().write(payload)


class HashesWithSha256(Noise):
    """Another hash function, and so another protocol name."""

    def __init__(self, pattern: Pattern, **told: Any) -> None:
        super().__init__(cast(Pattern, pattern.replace("BLAKE2s", "SHA256")), **told)


# -- on the byte stream ------------------------------------------------------------------------------------------------


class SignedLengths(Secured):
    """Reads the length of a Noise message as a signed number."""

    def _next(self) -> bytes | None:
        if len(self._buffer) >= LENGTH.size and self._buffer[0] >= 0x80:
            raise NoiseFailed("a length under nothing")
        return super()._next()


class OneReadIsOneMessage(Secured):
    """Takes each read of the stream for one whole message."""

    def feed(self, data: bytes) -> None:
        self._buffer[:] = data


class TakesPayloads(Secured):
    """Takes what a handshake message carries for the first transport message."""

    _early: bytes = b""

    def _shake(self, message: bytes) -> bytes:
        honest = self.noise.read

        def read(message: bytes) -> bytes:
            self._early = honest(message)
            return self._early

        self.noise.read = read  # type: ignore[method-assign]  # for this one message
        try:
            return super()._shake(message)
        finally:
            self.noise.read = honest  # type: ignore[method-assign]

    def read(self) -> tuple[bytes, bytes | None] | None:
        if self.noise.finished and self._early:
            early, self._early = self._early, b""
            return b"", early
        return super().read()
