"""Servers that refuse with another code or id than they should, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import (
    Auth,
    Code,
    Err,
    Find,
    Hello,
    Join,
    Leave,
    Lookup,
    Malformed,
    Signal,
    ToServer,
)
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed

M = ServerMachine


@in_server("FROG-15-14", "FROG-15-02")
class ConfusionEndsTheChallenge(ServerMachine):
    """Forgets a pending challenge when a command comes that is not for now."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        step = super().bad_state(state, channel, frame)
        held = replace(step.state.connections[channel], nonce="")
        return replace(step, state=step.state.moved(channel, held))


@in_server("FROG-15-02", "FROG-38-06")
class AsksForAuthentication(ServerMachine):
    """Says AUTH_REQUIRED where a command needs registration."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        step = super().bad_state(state, channel, frame)
        needs = isinstance(frame, Find | Lookup | Signal)
        return changed(step, Err, lambda err: replace(err, code=Code.AUTH_REQUIRED)) if needs else step


@in_server("FROG-15-02", "FROG-38-06")
class WrongStateIsABadRequest(ServerMachine):
    """Says BAD_REQUEST for a well-formed command that is not for now."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        return changed(super().bad_state(state, channel, frame), Err, lambda err: replace(err, code=Code.BAD_REQUEST))


@in_server("FROG-15-02", "FROG-5-24")
class WrongStateIsIgnored(ServerMachine):
    """Ignores a second HELLO."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        return Step(state) if isinstance(frame, Hello) else super().bad_state(state, channel, frame)


@in_server("FROG-15-03", "FROG-20-01")
class WrongStateHasNoId(ServerMachine):
    """Does not echo the CID of a command that is not for now."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        return changed(super().bad_state(state, channel, frame), Err, lambda err: replace(err, id=DASH))


@in_server("FROG-15-04", "FROG-38-02", "FROG-38-04")
class EchoesTheCommand(ServerMachine):
    """Echoes the command's word where a command has no id."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        step = super().bad_state(state, channel, frame)
        plain = isinstance(frame, Hello | Join | Auth | Leave)
        word = type(frame).__name__.upper()
        return changed(step, Err, lambda err: replace(err, id=word)) if plain else step


@in_server("FROG-15-04", "FROG-38-04", "FROG-38-02")
class EchoesTheLastCid(ServerMachine):
    """Echoes the CID of the request before, where a command has no id of its own."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._last: dict[Channel, str] = {}

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        step, last = super().receive(state, channel, event), self._last.get(channel, DASH)
        asked = getattr(getattr(event, "what", None), "cid", None)
        self._last |= {channel: asked} if asked else {}
        return step if asked else changed(step, Err, lambda err: replace(err, id=last) if dashed(err) else err)


def dashed(err: Err) -> bool:
    hole: Any = err.id
    return bool(hole.fill(bytes, err) == DASH)


@in_server("FROG-15-05", "FROG-38-06")
class MalformedIsInternal(ServerMachine):
    """Says INTERNAL for a command that it cannot read."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        return super().malformed(state, channel, replace(event, codes=(Code.INTERNAL,)))


@in_server("FROG-15-05", "FROG-38-06")
class MalformedIsBadState(ServerMachine):
    """Says BAD_STATE for a command that it cannot read."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        return super().malformed(state, channel, replace(event, codes=(Code.BAD_STATE,)))


@in_server("FROG-5-24", "FROG-15-14")
class MalformedEndsRegistration(ServerMachine):
    """Forgets the registration of a peer that says what cannot be read, and goes on."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        step = super().malformed(state, channel, event)
        if state.phase(channel) is not Phase.REGISTERED:
            return step
        back = step.state.unregistered(channel, Ending.CLOSED).moved(channel, Connection(Phase.HELLO_OK))
        return replace(step, state=back)
