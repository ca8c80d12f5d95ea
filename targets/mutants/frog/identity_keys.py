"""Whoever signs, verifies or names keys by other rules."""

from __future__ import annotations

import hashlib

from nacl import bindings as ed25519
from nacl.exceptions import BadSignatureError

from reference_impl.frog.identifiers import encode
from reference_impl.frog.identity import ClientProof, Identities, Proof, ServerProof
from targets.mutants.frog.shelf import in_codec, in_server

ORDER = 2**252 + 27742317777372353535851937790883648493
CONTEXTS = (b"", b"FROG", b"FROG/1", b"FROG-AUTH-V1", b"frog", b"frog.v1")


def scalar(number: int) -> bytes:
    return (number % ORDER).to_bytes(32, "little")


def domain(context: bytes) -> bytes:
    """RFC 8032, section 5.1: what Ed25519ctx hashes before everything else."""
    return b"SigEd25519 no Ed25519 collisions\x00" + bytes([len(context)]) + context


def challenge(context: bytes, point: bytes, key: bytes, text: bytes) -> int:
    return int.from_bytes(hashlib.sha512(domain(context) + point + key + text).digest(), "little") % ORDER


@in_codec("FROG-9.1-01")
class SignsADigest(Identities):
    """Signs the SHA-256 of the string, and expects that of others."""

    def text(self, proof: Proof) -> bytes:
        return hashlib.sha256(super().text(proof)).digest()


@in_codec("FROG-9.1-02")
class TakesPrehashedSignatures(Identities):
    """Takes Ed25519ph as well."""

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        if super().holds(public_key, text, signature):
            return True
        state = ed25519.crypto_sign_ed25519ph_state()
        ed25519.crypto_sign_ed25519ph_update(state, text)
        try:
            return bool(ed25519.crypto_sign_ed25519ph_final_verify(state, signature, public_key))
        except BadSignatureError:
            return False


@in_codec("FROG-9.1-02")
class SignsPrehashed(Identities):
    """Signs with Ed25519ph."""

    def signature(self, seed: bytes, text: bytes) -> bytes:
        state = ed25519.crypto_sign_ed25519ph_state()
        ed25519.crypto_sign_ed25519ph_update(state, text)
        signature: bytes = ed25519.crypto_sign_ed25519ph_final_create(state, seed + self.public_key(seed))
        return signature


@in_codec("FROG-9.1-03")
class TakesSignaturesWithAContext(Identities):
    """Takes Ed25519ctx as well, with one of some contexts."""

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        return super().holds(public_key, text, signature) or any(
            self.holds_in(context, public_key, text, signature) for context in CONTEXTS
        )

    def holds_in(self, context: bytes, key: bytes, text: bytes, signature: bytes) -> bool:
        point, s = signature[:32], signature[32:]
        k = challenge(context, point, key, text)
        try:
            left = ed25519.crypto_scalarmult_ed25519_base_noclamp(s)
            right = ed25519.crypto_core_ed25519_add(point, ed25519.crypto_scalarmult_ed25519_noclamp(scalar(k), key))
        except Exception:  # no point of the curve: the library has an error of its own for that
            return False
        return bool(left == right)


@in_codec("FROG-9.1-03")
class SignsWithAContext(Identities):
    """Signs with Ed25519ctx and the protocol's name as context."""

    def signature(self, seed: bytes, text: bytes) -> bytes:
        digest = bytearray(hashlib.sha512(seed).digest())
        digest[0] &= 248
        digest[31] = digest[31] & 127 | 64
        secret, prefix = int.from_bytes(digest[:32], "little"), bytes(digest[32:])
        r = int.from_bytes(hashlib.sha512(domain(b"FROG/1") + prefix + text).digest(), "little") % ORDER
        point = ed25519.crypto_scalarmult_ed25519_base_noclamp(scalar(r))
        k = challenge(b"FROG/1", point, self.public_key(seed), text)
        return bytes(point) + scalar(r + k * secret)


@in_codec("FROG-9.1-05", "FROG-9.1-01")
class TakesTheOtherS(Identities):
    """Takes a signature whose S is not below the order of the group."""

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        s = int.from_bytes(signature[32:], "little")
        return super().holds(public_key, text, signature[:32] + scalar(s) if s >= ORDER else signature)


@in_codec("FROG-10-01", "FROG-7.4-02")
class HashesTheText(Identities):
    """Names a key by the hash of its text."""

    def id_of(self, public_key: bytes) -> str:
        return super().id_of(encode(public_key).encode())


@in_codec("FROG-10-01")
class HashesTo512Bits(Identities):
    """Names a key by its SHA-512."""

    def id_of(self, public_key: bytes) -> str:
        return encode(hashlib.sha512(public_key).digest())[:26]


@in_codec("FROG-10-01", "FROG-7.4-02")
class IdsOf128Bits(Identities):
    """Names a key by 128 bits of its hash, so that the last symbol has only three."""

    def id_of(self, public_key: bytes) -> str:
        return encode(hashlib.sha256(public_key).digest()[:16])


@in_codec("FROG-10-01", "FROG-7.4-02")
class IdsFromTheEnd(Identities):
    """Names a key by the last characters of its hash."""

    def id_of(self, public_key: bytes) -> str:
        return encode(hashlib.sha256(public_key).digest())[-26:]


@in_server("FROG-12.1-05", "FROG-17-09")
class NamesAreNotCompared(Identities):
    """Does not ask whether a client's key has the fingerprint that it claims."""

    def is_named(self, public_key: bytes, proof: Proof) -> bool:
        return isinstance(proof, ClientProof) or super().is_named(public_key, proof)


@in_server("FROG-17-09", "FROG-12.1-05")
class NamesByTheirBeginning(Identities):
    """Compares the first 25 characters of a fingerprint."""

    def is_named(self, public_key: bytes, proof: Proof) -> bool:
        return self.id_of(public_key)[:25] == proof.id[:25]


@in_codec("FROG-12.2-02")
class SisterNamesAreNotCompared(Identities):
    """Does not ask whether a sister's key has the server id that it says."""

    def is_named(self, public_key: bytes, proof: Proof) -> bool:
        return isinstance(proof, ServerProof) or super().is_named(public_key, proof)
