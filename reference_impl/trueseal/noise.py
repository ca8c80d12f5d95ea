"""The two Noise handshakes and their transport, bytes to bytes; what is random comes from outside.

    NK, Push Session      <- s ... -> e, es   <- e, ee
    XX, Receive Session   -> e   <- e, ee, s, es   -> s, se

Each Noise message stands behind its length as u16 big-endian (sheet, section 2.2).
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from noise.backends.default.keypairs import KeyPair25519
from noise.connection import Keypair, NoiseConnection

from reference_impl.core.expectation import Entropy
from reference_impl.trueseal.frames import KEY_SIZE

LENGTH = struct.Struct(">H")


class Pattern(enum.StrEnum):
    """Which handshake (TS-SES-01, TS-SES-06)."""

    NK = "Noise_NK_25519_ChaChaPoly_BLAKE2s"
    XX = "Noise_XX_25519_ChaChaPoly_BLAKE2s"


class NoiseFailed(ValueError):
    """A message that does not authenticate, or no message at all. The session is over."""


class WrongKey(NoiseFailed):
    """The relay is not the one that the client trusts (TS-SES-02, TS-SES-06)."""


def public_key(private_key: bytes) -> bytes:
    """The public half, of 32 bytes."""
    return X25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


class Noise:
    """One side of one session: `write` and `read` in turn until `finished`, then in any order."""

    def __init__(
        self,
        pattern: Pattern,
        *,
        initiator: bool,
        entropy: Entropy,
        static: bytes | None = None,
        remote_static: bytes | None = None,
        prologue: bytes = b"",
    ) -> None:
        self._noise = NoiseConnection.from_name(pattern.encode())
        self._noise.set_prologue(prologue)
        if initiator:
            self._noise.set_as_initiator()
        else:
            self._noise.set_as_responder()
        if static:
            self._noise.set_keypair_from_private_bytes(Keypair.STATIC, static)
        if remote_static:
            self._noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, remote_static)
        self._noise.start_handshake()
        self._handshake = self._noise.noise_protocol.handshake_state  # the library forgets it at the end
        self._handshake.e = KeyPair25519.from_private_bytes(entropy(KEY_SIZE))

    @property
    def finished(self) -> bool:
        return bool(self._noise.handshake_finished)

    @property
    def remote_static(self) -> bytes | None:
        """The other side's static key, once it is known."""
        key: bytes | None = getattr(self._handshake.rs, "public_bytes", None)
        return key

    @property
    def hash(self) -> bytes:
        """Names the session once it is finished."""
        return bytes(self._noise.get_handshake_hash())

    def write(self, payload: bytes = b"") -> bytes:
        if self.finished:
            return bytes(self._noise.encrypt(payload))
        return bytes(self._noise.write_message(payload))

    def read(self, message: bytes) -> bytes:
        """Its payload; raises NoiseFailed for what the other side cannot have written."""
        try:
            return bytes(self._noise.decrypt(message) if self.finished else self._noise.read_message(message))
        except Exception as error:  # the library and what it stands on raise a dozen kinds
            stage = "transport" if self.finished else "handshake"
            raise NoiseFailed(f"a {stage} message of {len(message)} bytes: {type(error).__name__}") from None


@dataclass
class Secured:
    """A Noise session on a byte stream: says what to send, and what was received inside."""

    noise: Noise
    trusted: bytes | None = None  # the only static key that the other side may have
    _buffer: bytearray = field(default_factory=bytearray)

    def seal(self, plaintext: bytes) -> bytes:
        """One Noise message behind its length."""
        message = self.noise.write(plaintext)
        return LENGTH.pack(len(message)) + message

    def opening(self) -> bytes:
        """What the initiator says first."""
        return self.seal(b"")

    def feed(self, data: bytes) -> None:
        """Some bytes of the stream, however they were cut."""
        self._buffer += data

    def read(self) -> tuple[bytes, bytes | None] | None:
        """The next message that is complete: what to answer at once, and the plaintext, None while shaking hands."""
        message = self._next()
        if message is None:
            return None
        return (b"", self.noise.read(message)) if self.noise.finished else (self._shake(message), None)

    def _next(self) -> bytes | None:
        if len(self._buffer) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        message = bytes(self._buffer[LENGTH.size : end])
        del self._buffer[:end]
        return message

    def _shake(self, message: bytes) -> bytes:
        """Read a handshake message, and answer it if one more is due. A payload inside is ignored."""
        self.noise.read(message)
        if self.trusted and self.noise.remote_static not in (None, self.trusted):
            raise WrongKey("the relay shows another static key than the one configured")  # before ours is shown
        return b"" if self.noise.finished else self.seal(b"")
