"""Clients that come to be registered in another way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.frames import Chal, Err, GetServers, Join, Joined, Opened, Try, Welcome
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.joining import ClientStep, Phase, State
from targets.mutants.frog.shelf import in_client
from targets.mutants.frog.steps import also, without


@in_client("FROG-16-01")
class JoinsBeforeHello(ClientMachine):
    """Says JOIN, and then HELLO."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Join(self.peer_key), channel), *step.owes))

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        return without(super().welcomed(state, channel, frame), Join)


@in_client("FROG-16-01")
class AsksBeforeHello(ClientMachine):
    """Says GETSERVERS, and then HELLO."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", GetServers("C_1", 7), channel), *step.owes))


@in_client("FROG-16-01")
class WaitsToBeGreeted(ClientMachine):
    """Waits for HELLO before it says its own."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=())

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        step = super().welcomed(state, channel, frame)
        return replace(step, owes=(*super().opened(state, channel, Opened()).owes, *step.owes))


@in_client("FROG-16-04", "FROG-12.1-01")
class RemembersTheFirstServer(ClientMachine):
    """Signs the id of the first server that it ever met."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._first = ""

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        self._first = self._first or frame.server_id
        return super().welcomed(state, channel, replace(frame, server_id=self._first))


@in_client("FROG-16-04", "FROG-12.1-01")
class SignsItselfAsTheServer(ClientMachine):
    """Signs its own fingerprint where the server's id belongs."""

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        return super().welcomed(state, channel, replace(frame, server_id=self.peer_key.partition(":")[2]))


@in_client("FROG-12.1-03", "FROG-12.1-02")
class SignsWhatItWasTold(ClientMachine):
    """Signs the first URI of a TRY that came before the challenge."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        step = super().tried(state, channel, frame)
        told = state.phase is not Phase.REGISTERED and frame.uris
        return replace(step, state=replace(step.state, uri=frame.uris[0])) if told else step


@in_client("FROG-12.1-02")
class SignsTheFirstBootstrapServer(ClientMachine):
    """Signs the first URI of its list, whichever it dialled."""

    def challenged(self, state: State, channel: Channel, frame: Chal) -> ClientStep:
        step = super().challenged(replace(state, uri=self.config.bootstrap[0]), channel, frame)
        return replace(step, state=replace(step.state, uri=state.uri))


@in_client("FROG-12.1-02")
class SignsTheServerBefore(ClientMachine):
    """Signs the URI of the connection before, once there was one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._before = ""

    def challenged(self, state: State, channel: Channel, frame: Chal) -> ClientStep:
        step = super().challenged(replace(state, uri=self._before or state.uri), channel, frame)
        self._before = state.uri
        return replace(step, state=replace(step.state, uri=state.uri))


@in_client("FROG-12.1-01", "FROG-43-03")
class SignsTheFirstChallenge(ClientMachine):
    """Signs the first nonce that it ever got, also on a later connection."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._nonce = ""

    def challenged(self, state: State, channel: Channel, frame: Chal) -> ClientStep:
        self._nonce = self._nonce or frame.nonce
        return super().challenged(state, channel, Chal(self._nonce))


@in_client("FROG-17-14")
class JoinsTwice(ClientMachine):
    """Says JOIN again once it is registered."""

    def joined(self, state: State, channel: Channel, frame: Joined) -> ClientStep:
        return also(super().joined(state, channel, frame), channel, Join(self.peer_key))


@in_client("FROG-17-14")
class JoinsAgainAfterAnError(ClientMachine):
    """Says JOIN again when an error tells it that somebody is gone."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        return also(super().failed(state, channel, frame), channel, Join(self.peer_key))


@in_client("FROG-17-14", "FROG-15-11")
class JoinsAgainAfterTry(ClientMachine):
    """Says JOIN again when a TRY comes that it did not ask for."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        step = super().tried(state, channel, frame)
        again = state.phase is Phase.REGISTERED and frame.cid == DASH
        return also(step, channel, Join(self.peer_key)) if again else step


@in_client("FROG-15-11")
class ObeysTry(ClientMachine):
    """Leaves a server that names others."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        learnt = replace(state, known=state.known.learn(frame.uris))
        if frame.cid == DASH and frame.uris:
            return self.given_up(learnt, channel, frame)
        return super().tried(state, channel, frame)


@in_client("FROG-15-11")
class ObeysTryWhileItJoins(ClientMachine):
    """Leaves a server that names others before it is registered there."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        joining = state.phase is not Phase.REGISTERED and frame.cid == DASH
        return self.given_up(state, channel, frame) if joining else super().tried(state, channel, frame)


@in_client("FROG-15-11")
class AnEmptyTryIsAFarewell(ClientMachine):
    """Leaves a server that says TRY without a URI."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        empty = frame.cid == DASH and not frame.uris
        return self.given_up(state, channel, frame) if empty else super().tried(state, channel, frame)
