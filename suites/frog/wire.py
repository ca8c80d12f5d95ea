"""Messages, keys and proofs made by hand: nothing here uses the reference.

A header is text with one space between its fields. Base32 is written over a string of bits; Ed25519 is PyNaCl's.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from suites.common.names import unique

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SUBPROTOCOL = "frog.v1"
MAX_PAYLOAD = 65_536
FIELDS = {  # of the commands that are packed from their members (section 13)
    "JOIN": ("peer_key",),
    "GETSERVERS": ("cid", "limit"),
    "FIND": ("cid", "limit"),
    "LOOKUP": ("cid", "peer_key"),
    "SIGNAL": ("route_id", "kind", "payload"),
    "TRY": ("cid", "uris"),
    "PEERS": ("cid", "peer_keys"),
    "FOUND": ("cid", "peer_key", "route_id"),
    "SIGNAL-FROM": ("route_id", "peer_key", "kind", "payload"),
    "@LIST": ("fcid", "limit"),
    "@SERVERS": ("fcid", "servers"),
    "@FIND": ("fcid", "server_id", "peer_key", "limit", "ttl"),
    "@LOOKUP": ("route_id", "server_id", "source", "target", "ttl"),
}


def base32(raw: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in raw)
    bits += "0" * (-len(bits) % 5)
    return "".join(ALPHABET[int(bits[at : at + 5], 2)] for at in range(0, len(bits), 5))


def unbase32(text: str, size: int) -> bytes:
    bits = "".join(f"{ALPHABET.index(symbol):05b}" for symbol in text)
    return int(bits[: 8 * size], 2).to_bytes(size, "big")


def an_id() -> str:
    """A route id, nonce or fingerprint of nobody."""
    return "".join(secrets.choice(ALPHABET) for _ in range(26))


def cid(prefix: str = "C") -> str:
    """A CID that no other request of the run has, and that is no route id."""
    return unique(prefix).upper().replace("-", "_")


def network() -> str:
    """A network of the case's own."""
    return unique("N").upper().replace("-", "_")[:16]


def message(header: str, payload: bytes = b"") -> bytes:
    return header.encode("latin-1") + b"\n" + payload


def pack(command: dict[str, Any]) -> bytes:
    """A command of the shim's contract as bytes."""
    words, payload = [command["command"]], b""
    for name in FIELDS[command["command"]]:
        value = command[name]
        if name == "payload":
            payload = bytes.fromhex(value)
            words.append(str(len(payload)))
        elif name in ("uris", "peer_keys", "servers"):
            words += [str(len(value)), *(text for entry in value for text in flat(entry))]
        else:
            words.append(str(value))
    return message(" ".join(words), payload)


def flat(entry: str | list[str]) -> list[str]:
    return entry if isinstance(entry, list) else [entry]


@dataclass(frozen=True)
class Peer:
    """A key in a network. Every line of what it signs can be given another value."""

    network: str
    seed: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    @cached_property
    def _signing_key(self) -> SigningKey:
        return SigningKey(self.seed)

    @cached_property
    def raw_key(self) -> bytes:
        return self._signing_key.verify_key.encode()

    @cached_property
    def fingerprint(self) -> str:
        return base32(hashlib.sha256(self.raw_key).digest())[:26]

    @cached_property
    def key(self) -> str:
        return f"{self.network}:{self.fingerprint}"

    @cached_property
    def public_key(self) -> str:
        return base32(self.raw_key)

    def raw_signature(self, text: bytes) -> bytes:
        return self._signing_key.sign(text).signature

    def sign(self, text: bytes) -> str:
        return base32(self.raw_signature(text))

    def elsewhere(self, network: str) -> Peer:
        """The same key in another network."""
        return Peer(network, self.seed)

    @staticmethod
    def signed_by(public_key: str, signature: str, id: str, text: bytes) -> bool:
        """Does this key have that fingerprint, and did it sign that text?"""
        raw = unbase32(public_key, 32)
        try:
            VerifyKey(raw).verify(text, unbase32(signature, 64))
        except BadSignatureError:
            return False
        return base32(hashlib.sha256(raw).digest())[:26] == id


def proof(nonce: str, uri: str, peer_key: str, server_id: str, prefix: str = "FROG-AUTH-V1") -> bytes:
    """What a client signs: five lines, and no line feed at the end (section 12.1)."""
    return "\n".join((prefix, nonce, uri, peer_key, server_id)).encode()


def server_proof(
    nonce: str, self_uri: str, self_id: str, peer_uri: str, peer_id: str, prefix: str = "FROG-SERVER-AUTH-V1"
) -> bytes:
    """What a server signs for a sister: six lines, and no line feed at the end (section 12.2)."""
    return "\n".join((prefix, nonce, self_uri, self_id, peer_uri, peer_id)).encode()
