"""Servers that take a sister's proof too lightly, or make too little of their own part of the handshake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import (
    SisterAuth,
    SisterChal,
    SisterHello,
    SisterOk,
)
from reference_impl.frog.grammar import Field, Form
from reference_impl.frog.identifiers import KEY_SIZE, SIGNATURE_SIZE
from reference_impl.frog.identity import Identities, Proof, ServerProof
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Link
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import without

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


# -- who it may be -------------------------------------------------------------------------------------------------------


@in_server("FROG-29-05")
class GreetsItself(ServerMachine):
    """Shakes hands with whoever dials in under its own id."""

    def sister_hello(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        state = self.shaking(state, channel, Phase.TO_PROVE, Link(frame.server_id, frame.uri))
        return Step(state, (self.greeting(channel), self.challenge(state, channel)))


@in_server("FROG-29-05")
class DialsItself(ServerMachine):
    """Goes on with a server that it dialled and that has its own id."""

    def hello_back(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        if frame.server_id != self.config.server_id:
            return super().hello_back(state, channel, frame)
        held = state.connections[channel]
        link = Link(frame.server_id, frame.uri, held.link.dialled if held.link else "")
        return Step(state.moved(channel, replace(held, phase=Phase.GREETED, link=link)))


@in_server("FROG-29-06")
class AnyUriWillDo(Codec):
    """Takes an @HELLO with a URI that is not canonical."""

    def legal(self, field: Field, text: str) -> bool:
        return field.name == "uri" or super().legal(field, text)


class Mending(Codec):
    """Makes what it can of a sister's @AUTH."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        mended = [self.mended(text) for text in texts] if form.frame is SisterAuth else texts
        return super().fill(form, mended, payload)

    def mended(self, text: str) -> str:
        return text


@in_server("FROG-29-07")
class ReadsSmallLetters(Mending):
    """Takes a sister's key and signature in small letters."""

    def mended(self, text: str) -> str:
        return text.upper()


@in_server("FROG-29-07")
class ReadsAlikeLetters(Mending):
    """Reads O as 0 and L as 1 in a sister's key and signature, as Crockford's own rules have it."""

    def mended(self, text: str) -> str:
        return text.replace("O", "0").replace("I", "1").replace("L", "1")


@in_server("FROG-29-07")
class DropsSpareBits(Mending):
    """Ignores the bits of the last character that no byte needs."""

    def mended(self, text: str) -> str:
        spare = {52: 4, 103: 3}.get(len(text), 0)
        if text[-1] not in DIGITS:
            return text
        return text[:-1] + DIGITS[DIGITS.index(text[-1]) >> spare << spare]


@in_server("FROG-29-07")
class CutsLongProofs(Mending):
    """Reads as much of a sister's signature as it needs."""

    def mended(self, text: str) -> str:
        return text[:103]


@in_server("FROG-29-08")
class SistersNeedNoName(Identities):
    """Does not ask whether a sister's key hashes to the id that she claims."""

    def is_named(self, public_key: bytes, proof: Proof) -> bool:
        return isinstance(proof, ServerProof) or super().is_named(public_key, proof)


# -- what she signed -----------------------------------------------------------------------------------------------------


class AlsoTakes(ServerMachine):
    """Is content with another text than that which she has to sign."""

    def proven_sister(self, held: Connection, frame: SisterAuth) -> bool:
        assert held.link, "a sister's connection"
        proof = ServerProof(held.nonce, held.link.uri, held.link.server_id, self.config.uri, self.config.server_id)
        key, signed = (
            self.identities.raw(frame.public_key, KEY_SIZE),
            self.identities.raw(frame.signature, SIGNATURE_SIZE),
        )
        also = self.identities.is_named(key, proof) and self.identities.holds(key, self.other(proof), signed)
        return also or super().proven_sister(held, frame)

    def other(self, proof: ServerProof) -> bytes:
        raise TypeError(f"{type(self).__name__} does not say what else it takes")


@in_server("FROG-29-09")
class TakesALineFeedMore(AlsoTakes):
    """Takes a sister's signature over the string with a line feed behind it."""

    def other(self, proof: ServerProof) -> bytes:
        return proof.text() + b"\n"


@in_server("FROG-29-09")
class TakesAClientsPrefix(AlsoTakes):
    """Takes a sister's signature over a string that begins as a client's."""

    def other(self, proof: ServerProof) -> bytes:
        return proof.text().replace(b"FROG-SERVER-AUTH-V1", b"FROG-AUTH-V1")


@in_server("FROG-29-09")
class TakesSelfForPeer(AlsoTakes):
    """Takes a sister's signature with the two servers the other way round."""

    def other(self, proof: ServerProof) -> bytes:
        return ServerProof(proof.nonce, proof.peer_uri, proof.peer_id, proof.self_uri, proof.self_id).text()


@in_server("FROG-29-09")
class TakesAnAliasOfItself(AlsoTakes):
    """Takes a sister's signature for this id at a URI that only begins as its own."""

    def other(self, proof: ServerProof) -> bytes:
        return replace(proof, peer_uri=f"{proof.peer_uri}other").text()


@in_server("FROG-29-09", "FROG-28-04")
class AnyPendingNonceWillDo(ServerMachine):
    """Takes a sister's proof of the challenge that it sent on another connection."""

    def unproven(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep | None:
        held = state.connections[channel]
        nonces = [other.nonce for other in state.connections.values() if other.nonce]
        if any(self.proven_sister(replace(held, nonce=nonce), frame) for nonce in nonces):
            return None
        return super().unproven(state, channel, frame)


@in_server("FROG-29-13", "FROG-29-02", "FROG-28-06")
class TrustsWhomItDials(ServerMachine):
    """Takes any proof of a server that it dialled."""

    def proof_of_dialled(self, state: State, channel: Channel, _: SisterAuth) -> ServerStep:
        step = self.welcomed(self.verified(state, channel), channel)
        return replace(step, owes=(Expectation("", SisterOk(), channel, lane="session"), *step.owes))


@in_server("FROG-29-02", "FROG-28-06", "FROG-29-09")
class TrustsTheConfigured(ServerMachine):
    """Takes any proof of a server whose id it was told to federate with."""

    def unproven(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep | None:
        link = state.connections[channel].link
        known = link is not None and link.server_id in self.config.mesh.allowed
        return None if known else super().unproven(state, channel, frame)


# -- its own part --------------------------------------------------------------------------------------------------------


@in_server("FROG-29-01")
class GreetsAsTheOther(ServerMachine):
    """Answers @HELLO with the sister's URI in place of its own."""

    def sister_hello(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        step = super().sister_hello(state, channel, frame)
        hello = SisterHello(self.config.server_id, frame.uri)
        owes = (replace(debt, template=hello) if isinstance(debt.template, SisterHello) else debt for debt in step.owes)
        return replace(step, owes=tuple(owes))


@in_server("FROG-29-03")
class ChallengesBeforeItGreets(ServerMachine):
    """Sends @CHAL ahead of its @HELLO."""

    def sister_hello(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        step = super().sister_hello(state, channel, frame)
        return replace(step, owes=step.owes[::-1]) if len(step.owes) == 2 else step


@in_server("FROG-29-03")
class DiallerChallengesEarly(ServerMachine):
    """Challenges whom it dialled as soon as she greets, and not after her @OK AUTH."""

    def hello_back(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        step = super().hello_back(state, channel, frame)
        if step.state.phase(channel) is not Phase.GREETED:
            return step
        return replace(step, owes=(*step.owes, self.challenge(step.state, channel)))

    def acknowledged(self, state: State, channel: Channel, frame: SisterOk) -> ServerStep:
        return without(super().acknowledged(state, channel, frame), SisterChal)


@in_server("FROG-29-03")
class NeverSaysOk(ServerMachine):
    """Takes a dialler's proof without an @OK AUTH."""

    def proof_of_dialler(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep:
        return without(super().proof_of_dialler(state, channel, frame), SisterOk)


@in_server("FROG-29-03")
class NeverSaysTheLastWord(ServerMachine):
    """Takes the proof of whom it dialled without an @OK AUTH."""

    def proof_of_dialled(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep:
        return without(super().proof_of_dialled(state, channel, frame), SisterOk)


@in_server("FROG-29-12")
class OneNonceForAll(ServerMachine):
    """Sends every sister the same challenge."""

    def challenge(self, state: State, channel: Channel) -> Expectation:
        return Expectation("", SisterChal(self.config.server_id), channel, lane="session")
