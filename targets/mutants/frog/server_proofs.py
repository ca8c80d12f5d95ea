"""Servers that take a proof for another URI or nonce, or send a nonce that can be guessed or used again."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation
from reference_impl.frog.frames import Auth, Chal, Join
from reference_impl.frog.identifiers import encode
from reference_impl.frog.identity import ClientProof
from reference_impl.frog.presence import Connection, State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.server_io import Server
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


def tries(machine: ServerMachine, held: Connection, frame: Auth, *uris: str) -> bool:
    """Does the proof hold with one of these URIs?"""
    proofs = (ClientProof(held.nonce, uri, held.peer_key, machine.config.server_id) for uri in uris)
    return any(machine.identities.verify(frame.public_key, frame.signature, proof) for proof in proofs)


@in_server("FROG-12.1-04", "FROG-17-10")
class LocalhostIsMe(ServerMachine):
    """Takes a proof for localhost where its URI has the address."""

    def proven(self, held: Connection, frame: Auth) -> bool:
        uri = self.config.uri
        return super().proven(held, frame) or tries(self, held, frame, uri.replace("127.0.0.1", "localhost"))


@in_server("FROG-12.1-04", "FROG-17-10")
class TheAddressIsMe(Server):
    """Takes its address for its URI, whatever public one was configured."""

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        self.machine.config = replace(self.machine.config, uri="")
        return await super().start(host, port)


@in_server("FROG-8-22", "FROG-12.1-04")
class NormalisesUris(ServerMachine):
    """Takes a proof for another spelling of its URI."""

    def proven(self, held: Connection, frame: Auth) -> bool:
        uri = self.config.uri
        scheme, _, rest = uri.partition("://")
        others = (uri.rstrip("/"), f"{scheme.upper()}://{rest}", uri.upper(), f"{uri}.", f"{scheme}://{rest.upper()}")
        return super().proven(held, frame) or tries(self, held, frame, *others)


class ManyNonces(ServerMachine):
    """Takes a proof for one of several nonces."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._nonces: dict[Channel, list[str]] = {}

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        if isinstance(frame, Chal):
            self._nonces.setdefault(expectation.channel, []).append(frame.nonce)
        return super().spoke(state, expectation, frame)

    def proven(self, held: Connection, frame: Auth) -> bool:
        return any(super(ManyNonces, self).proven(replace(held, nonce=n), frame) for n in self.nonces(held))

    def nonces(self, held: Connection) -> list[str]:
        return [held.nonce]


@in_server("FROG-17-10", "FROG-17-03")
class AnyNonceWillDo(ManyNonces):
    """Takes a proof for any challenge that it ever sent, to whomever."""

    def nonces(self, held: Connection) -> list[str]:
        return list(itertools.chain(*self._nonces.values()))


@in_server("FROG-17-10", "FROG-17-03")
class TheFirstNonceStaysGood(ManyNonces):
    """Takes a proof for an earlier challenge of the same connection."""

    def nonces(self, held: Connection) -> list[str]:
        return next((sent for sent in self._nonces.values() if held.nonce in sent), [])


@in_server("FROG-17-10", "FROG-17-03", "FROG-7.8-02")
class OneNoncePerKey(ServerMachine):
    """Sends the same challenge whenever the same key is claimed."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        nonce = encode(hashlib.sha256(frame.peer_key.encode()).digest())[:26]
        return changed(super().join(state, channel, frame), Chal, lambda _: Chal(nonce))


@in_server("FROG-17-03", "FROG-7.8-02")
class OneNoncePerConnection(ManyNonces):
    """Sends the same challenge for a second JOIN of a connection, so that a nonce is used twice."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        step, sent = super().join(state, channel, frame), self._nonces.get(channel)
        return changed(step, Chal, lambda _: Chal(sent[0])) if sent else step


@in_server("FROG-7.8-02", "FROG-17-03")
class CountsNonces(Server):
    """Counts its challenges and routes in place of drawing them."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._count = itertools.count(1)

    def entropy(self, size: int) -> bytes:
        return (next(self._count) << 6).to_bytes(size, "big") if size == 17 else super().entropy(size)


@in_server("FROG-7.7-02", "FROG-7.8-02")
class FewRandomBits(Server):
    """Draws 32 random bits for a nonce or a route id; the others are zero."""

    def entropy(self, size: int) -> bytes:
        return super().entropy(4).ljust(size, b"\0")


@in_server("FROG-7.7-02", "FROG-7.8-02")
class DrawsHexDigits(Server):
    """Draws the characters of nonces and route ids from half of the alphabet: 104 bits."""

    def entropy(self, size: int) -> bytes:
        if size != 17:
            return super().entropy(size)
        number = 0
        for _ in range(26):
            number = number << 5 | secrets.randbelow(16)
        return (number << 6).to_bytes(size, "big")


@in_server("FROG-17-11", "FROG-17-10")
class RegistersTheFirstClaim(ServerMachine):
    """Registers the key that a connection claimed first, whichever it proved."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._first: dict[Channel, str] = {}

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        self._first.setdefault(channel, frame.peer_key)
        return super().join(state, channel, frame)

    def registered(self, state: State, channel: Channel) -> ServerStep:
        first = replace(state.connections[channel], peer_key=self._first[channel])
        return super().registered(state.moved(channel, first), channel)
