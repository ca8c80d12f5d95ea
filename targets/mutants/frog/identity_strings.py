"""Whoever signs or expects another string than the one of section 12."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.frog.identity import ClientProof, Identities, Proof, ServerProof, lines
from targets.mutants.frog.shelf import in_client, in_codec, in_server


@in_codec("FROG-12-01")
class EndsWithALineFeed(Identities):
    """Ends the string with a line feed."""

    def text(self, proof: Proof) -> bytes:
        return super().text(proof) + b"\n"


@in_codec("FROG-12-01")
class LinesOfAnotherSystem(Identities):
    """Separates the lines by CR LF."""

    def text(self, proof: Proof) -> bytes:
        return super().text(proof).replace(b"\n", b"\r\n")


@in_server("FROG-12-01")
class TakesALastLineFeed(Identities):
    """Takes a signature over the string with or without a line feed at its end."""

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        return any(super(TakesALastLineFeed, self).holds(public_key, t, signature) for t in (text, text + b"\n"))


@in_server("FROG-12-01")
class TakesOtherLineEnds(Identities):
    """Takes a signature over the string with CR LF."""

    def holds(self, public_key: bytes, text: bytes, signature: bytes) -> bool:
        texts = (text, text.replace(b"\n", b"\r\n"))
        return any(super(TakesOtherLineEnds, self).holds(public_key, each, signature) for each in texts)


class ClientStrings(Identities):
    """Has its own string for clients."""

    def text(self, proof: Proof) -> bytes:
        return self.of_client(proof) if isinstance(proof, ClientProof) else super().text(proof)

    def of_client(self, proof: ClientProof) -> bytes:
        return proof.text()


@in_server("FROG-12.1-01")
class OtherPrefix(ClientStrings):
    """Signs with the name of a version to come."""

    def of_client(self, proof: ClientProof) -> bytes:
        return super().of_client(proof).replace(b"FROG-AUTH-V1", b"FROG-AUTH-V2", 1)


@in_server("FROG-12.1-01")
class NoPrefix(ClientStrings):
    """Leaves the first line out."""

    def of_client(self, proof: ClientProof) -> bytes:
        return super().of_client(proof).partition(b"\n")[2]


@in_server("FROG-12.1-01", "FROG-17-10")
class KeyBehindTheServer(ClientStrings):
    """Signs the server's id before the peer key."""

    def of_client(self, proof: ClientProof) -> bytes:
        return lines("FROG-AUTH-V1", proof.nonce, proof.server_uri, proof.server_id, proof.peer_key)


@in_server("FROG-12.1-01", "FROG-17-10")
class NonceAtTheEnd(ClientStrings):
    """Signs the nonce last."""

    def of_client(self, proof: ClientProof) -> bytes:
        return lines("FROG-AUTH-V1", proof.server_uri, proof.peer_key, proof.server_id, proof.nonce)


@in_server("FROG-12.1-01", "FROG-16-04")
class WithoutTheServerId(ClientStrings):
    """Leaves the server's id out."""

    def of_client(self, proof: ClientProof) -> bytes:
        return super().of_client(proof).rpartition(b"\n")[0]


@in_server("FROG-12.1-06", "FROG-12.1-01")
class WithoutTheNetwork(ClientStrings):
    """Signs the fingerprint in place of the peer key, so that the network is not bound."""

    def of_client(self, proof: ClientProof) -> bytes:
        return lines("FROG-AUTH-V1", proof.nonce, proof.server_uri, proof.id, proof.server_id)


@in_server("FROG-12.1-01", "FROG-17-10")
class TakesEitherOrder(ClientStrings):
    """Takes the server's id before or behind the peer key."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        if super().verify(public_key, signature, proof) or not isinstance(proof, ClientProof):
            return super().verify(public_key, signature, proof)
        return KeyBehindTheServer().verify(public_key, signature, proof)


@in_server("FROG-12.1-01", "FROG-17-10")
class ServerIdMayBeMissing(ClientStrings):
    """Takes a string without the server's id too."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        if super().verify(public_key, signature, proof) or not isinstance(proof, ClientProof):
            return super().verify(public_key, signature, proof)
        return WithoutTheServerId().verify(public_key, signature, proof)


@in_client("FROG-12.1-02")
class SignsWithoutTheLastSlash(ClientStrings):
    """Signs the URI that it dialled without the slash at its end."""

    def of_client(self, proof: ClientProof) -> bytes:
        return super().of_client(replace(proof, server_uri=proof.server_uri.rstrip("/")))


@in_client("FROG-12.1-02")
class SignsTheAddress(ClientStrings):
    """Signs the address behind the URI's port in place of the URI."""

    def of_client(self, proof: ClientProof) -> bytes:
        return super().of_client(replace(proof, server_uri=proof.server_uri.replace("127.0.0.1", "localhost")))


class ServerStrings(Identities):
    """Has its own string for servers."""

    def text(self, proof: Proof) -> bytes:
        return self.of_server(proof) if isinstance(proof, ServerProof) else super().text(proof)

    def of_server(self, proof: ServerProof) -> bytes:
        return proof.text()

    def or_else(self, public_key: str, signature: str, proof: Proof, **others: str) -> bool:
        """Also with these values in place of the right ones."""
        if super().verify(public_key, signature, proof):
            return True
        return isinstance(proof, ServerProof) and super().verify(public_key, signature, replace(proof, **others))


@in_codec("FROG-12.2-01")
class IdBeforeUri(ServerStrings):
    """Signs a server's id before its URI."""

    def of_server(self, proof: ServerProof) -> bytes:
        names = (proof.self_id, proof.self_uri, proof.peer_id, proof.peer_uri)
        return lines("FROG-SERVER-AUTH-V1", proof.nonce, *names)


@in_codec("FROG-12.2-01")
class ChallengerFirst(ServerStrings):
    """Signs the challenger's values before its own."""

    def of_server(self, proof: ServerProof) -> bytes:
        names = (proof.peer_uri, proof.peer_id, proof.self_uri, proof.self_id)
        return lines("FROG-SERVER-AUTH-V1", proof.nonce, *names)


@in_codec("FROG-12.2-01")
class PrefixOfClients(ServerStrings):
    """Signs for a sister under the prefix of clients."""

    def of_server(self, proof: ServerProof) -> bytes:
        return super().of_server(proof).replace(b"FROG-SERVER-AUTH-V1", b"FROG-AUTH-V1", 1)


@in_codec("FROG-12.2-02")
class SelfUriIsNotCompared(ServerStrings):
    """Takes a sister that signed the verifier's URI for its own."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        theirs = proof.peer_uri if isinstance(proof, ServerProof) else ""
        return self.or_else(public_key, signature, proof, self_uri=theirs)


@in_codec("FROG-12.2-02", "FROG-12.2-03")
class TakesTheOtherRole(ServerStrings):
    """Takes a signature in which signer and challenger are swapped."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        if super().verify(public_key, signature, proof) or not isinstance(proof, ServerProof):
            return super().verify(public_key, signature, proof)
        return ChallengerFirst().verify(public_key, signature, proof)


@in_codec("FROG-12.2-03")
class PeerIsNotCompared(ServerStrings):
    """Takes a signature for whomever: the signer may name itself as the challenger."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        named = (proof.self_uri, proof.self_id) if isinstance(proof, ServerProof) else ("", "")
        return self.or_else(public_key, signature, proof, peer_uri=named[0], peer_id=named[1])


@in_codec("FROG-12.2-03", "FROG-12.2-01")
class WithoutTheChallenger(ServerStrings):
    """Leaves the challenger's values out of the string."""

    def of_server(self, proof: ServerProof) -> bytes:
        return lines("FROG-SERVER-AUTH-V1", proof.nonce, proof.self_uri, proof.self_id)


@in_codec("FROG-12.2-04")
class LowersUris(ServerStrings):
    """Makes URIs canonical before it signs or verifies."""

    def of_server(self, proof: ServerProof) -> bytes:
        return super().of_server(replace(proof, self_uri=mended(proof.self_uri), peer_uri=mended(proof.peer_uri)))


@in_codec("FROG-12.2-04")
class TakesAMissingSlash(ServerStrings):
    """Takes a signature over the sister's URI without the slash at its end."""

    def verify(self, public_key: str, signature: str, proof: Proof) -> bool:
        uri = proof.self_uri if isinstance(proof, ServerProof) else ""
        return self.or_else(public_key, signature, proof, self_uri=uri.rstrip("/"))


def mended(uri: str) -> str:
    """In lower case, without its default port, with a path."""
    plain = uri.lower().replace(":443/", "/") if uri.lower().startswith("wss") else uri.lower().replace(":80/", "/")
    return plain if plain.count("/") > 2 else f"{plain}/"
