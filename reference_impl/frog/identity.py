"""Keys, the names derived from them, and the strings that prove their possession (sections 9 to 12)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from reference_impl.frog.identifiers import (
    ID_LENGTH,
    KEY_SIZE,
    SIGNATURE_SIZE,
    NotCanonical,
    decode,
    encode,
    fingerprint_of,
)


@dataclass(frozen=True, slots=True)
class ClientProof:
    """What a client signs to register (FROG-12.1-01)."""

    nonce: str
    server_uri: str
    peer_key: str
    server_id: str

    def text(self) -> bytes:
        return lines("FROG-AUTH-V1", self.nonce, self.server_uri, self.peer_key, self.server_id)

    @property
    def id(self) -> str:
        """Whose key has to have signed it (FROG-12.1-05)."""
        return fingerprint_of(self.peer_key)


@dataclass(frozen=True, slots=True)
class ServerProof:
    """What a server signs for a sister: `self` signs, `peer` sent the challenge (FROG-12.2-01)."""

    nonce: str
    self_uri: str
    self_id: str
    peer_uri: str
    peer_id: str

    def text(self) -> bytes:
        return lines("FROG-SERVER-AUTH-V1", self.nonce, self.self_uri, self.self_id, self.peer_uri, self.peer_id)

    @property
    def id(self) -> str:
        return self.self_id


Proof = ClientProof | ServerProof


def lines(*fields: str) -> bytes:
    """UTF-8, and no line feed at the end (FROG-12-01)."""
    return "\n".join(fields).encode()


class Identities:
    """Pure Ed25519 (FROG-9.1-01) as one object, so that a target with other rules can be built from it."""

    def id_of(self, public_key: bytes) -> str:
        """The fingerprint or server id of a raw key (FROG-10-01, FROG-11-01)."""
        return encode(hashlib.sha256(public_key).digest())[:ID_LENGTH]

    def public_key(self, seed: bytes) -> bytes:
        return SigningKey(seed).verify_key.encode()

    def sign(self, seed: bytes, proof: Proof) -> tuple[str, str]:
        """Public key and signature, as AUTH and @AUTH carry them."""
        return encode(self.public_key(seed)), encode(self.signature(seed, self.text(proof)))

    def text(self, proof: Proof) -> bytes:
        """What is signed."""
        return proof.text()

    def signature(self, seed: bytes, text: bytes) -> bytes:
        return SigningKey(seed).sign(text).signature

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        """Does this key have the name that is claimed, and did it sign exactly this?"""
        try:
            raw, signed = self.raw(public_key, KEY_SIZE), self.raw(signature, SIGNATURE_SIZE)  # FROG-17-07, FROG-17-08
        except NotCanonical:
            return False
        return self.is_named(raw, proof) and self.holds(raw, self.text(proof), signed)

    def raw(self, text: str, size: int) -> bytes:
        return decode(text, size)

    def is_named(self, public_key: bytes, proof: Proof) -> bool:
        return self.id_of(public_key) == proof.id  # FROG-17-09

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        try:
            VerifyKey(public_key).verify(text, signature)  # RFC 8032: S below the group order (FROG-9.1-05)
        except BadSignatureError:
            return False
        return True
