"""Servers that greet, challenge or register wrongly."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import Auth, Code, Err, Hello, Join, Joined, ToServer, Try, Welcome
from reference_impl.frog.identifiers import DASH, encode
from reference_impl.frog.identity import Identities
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import Config, ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import also, changed, without


@in_server("FROG-11-01")
class IdOfItsId(ServerMachine):
    """Has the hash of its id for an id."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        again = encode(hashlib.sha256(config.server_id.encode()).digest())[:26]
        super().__init__(replace(config, server_id=again), identities)


@in_server("FROG-11-02", "FROG-43-02")
class NewKeyAtEachStart(Identities):
    """Has another key after each start."""

    def public_key(self, seed: bytes) -> bytes:
        return super().public_key(secrets.token_bytes(32))


@in_server("FROG-16-02", "FROG-15-09")
class TryBeforeHello(ServerMachine):
    """Says TRY before it says HELLO."""

    def hello(self, state: State, channel: Channel, frame: Hello) -> ServerStep:
        step = super().hello(state, channel, frame)
        return replace(step, owes=(Expectation("", Try(DASH), channel), *step.owes))


@in_server("FROG-16-02")
class GreetsTwice(ServerMachine):
    """Says HELLO twice."""

    def hello(self, state: State, channel: Channel, frame: Hello) -> ServerStep:
        return also(super().hello(state, channel, frame), channel, Welcome(self.config.server_id))


@in_server("FROG-17-01")
class ChallengesTwice(ServerMachine):
    """Sends each challenge twice."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        step = super().join(state, channel, frame)
        return replace(step, owes=step.owes * 2)


@in_server("FROG-17-01", "FROG-17-11")
class JoinsWithoutProof(ServerMachine):
    """Registers at once whoever claims a key that nobody has."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        if frame.peer_key in state.peers:
            return super().join(state, channel, frame)
        return Step(state.registered(channel, frame.peer_key), (Expectation("", Joined(), channel),))


@in_server("FROG-17-05", "FROG-15-02", "FROG-38-06")
class AuthWithoutJoinFails(ServerMachine):
    """Says AUTH_FAILED where no challenge is pending."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        step = super().bad_state(state, channel, frame)
        return changed(step, Err, lambda e: replace(e, code=Code.AUTH_FAILED)) if isinstance(frame, Auth) else step


@in_server("FROG-17-11")
class NoWordOfSuccess(ServerMachine):
    """Registers without saying OK JOIN."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        return without(super().registered(state, channel), Joined)


@in_server("FROG-17-11", "FROG-39-03")
class FoundOnlyAfterItSpoke(ServerMachine):
    """Lists a peer from its first request on, not from OK JOIN."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        step = super().registered(state, channel)
        key = state.connections[channel].peer_key
        return step if key in state.peers else replace(step, state=replace(step.state, peers=state.peers))

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        held = state.connections.get(channel)
        if held and held.phase is Phase.REGISTERED and held.peer_key not in state.peers:
            state = state.registered(channel, held.peer_key)
        return super().receive(state, channel, event)


@in_server("FROG-17-11", "FROG-15-05", "FROG-38-06")
class BadProofIsABadRequest(ServerMachine):
    """Says BAD_REQUEST for a well-formed proof that does not hold."""

    def auth_failed(self, state: State, channel: Channel, *given: Any) -> ServerStep:
        step = super().auth_failed(state, channel, *given)
        return changed(step, Err, lambda err: replace(err, code=Code.BAD_REQUEST))


@in_server("FROG-17-12", "FROG-17-10")
class FailsAndRegisters(ServerMachine):
    """Says AUTH_FAILED, and lists the peer all the same."""

    def auth_failed(self, state: State, channel: Channel, *given: Any) -> ServerStep:
        key = state.connections[channel].peer_key
        step = super().auth_failed(state, channel, *given)
        return step if key in state.peers else replace(step, state=step.state.registered(channel, key))


@in_server("FROG-17-06", "FROG-39-04")
class ChallengesForEver(ServerMachine):
    """Lets no challenge expire."""

    def expired(self, state: State, held: Connection) -> bool:
        return False


@in_server("FROG-17-06", "FROG-39-01", "FROG-39-04")
class ChallengesForAMinute(ServerMachine):
    """Lets a challenge live twice its time."""

    def expired(self, state: State, held: Connection) -> bool:
        return state.now >= held.expires_at + self.config.timers.challenge_s


@in_server("FROG-17-15", "FROG-39-01")
class ChallengesForHalfTheTime(ServerMachine):
    """Lets a challenge live half its time."""

    def expired(self, state: State, held: Connection) -> bool:
        return state.now >= held.expires_at - self.config.timers.challenge_s / 2


@in_server("FROG-17-15", "FROG-39-01")
class TheFirstJoinSetsTheTime(ServerMachine):
    """Counts a challenge's time from the first JOIN of its connection."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._first: dict[Channel, float] = {}

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        step = super().join(state, channel, frame)
        held = step.state.connections[channel]
        first = self._first.setdefault(channel, held.expires_at)
        return replace(step, state=step.state.moved(channel, replace(held, expires_at=min(first, held.expires_at))))


@in_server("FROG-39-04", "FROG-17-06")
class TalkKeepsAChallengeAlive(ServerMachine):
    """Moves the end of a challenge whenever something comes on its connection."""

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        step, held = super().receive(state, channel, event), state.connections.get(channel)
        kept = step.state.connections.get(channel)
        if not held or not kept or kept.phase is not Phase.AUTH_PENDING or held.phase is not Phase.AUTH_PENDING:
            return step
        later = replace(kept, expires_at=step.state.now + self.config.timers.challenge_s)
        return replace(step, state=step.state.moved(channel, later))


@in_server("FROG-17-13")
class JoinsAgain(ServerMachine):
    """Challenges a registered peer for another key, and keeps the first registration beside it."""

    def joined_already(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        return self.join(state, channel, frame)


@in_server("FROG-17-13", "FROG-15-14")
class AnotherJoinEndsTheFirst(ServerMachine):
    """Refuses a second JOIN, and forgets the first."""

    def joined_already(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        step = super().joined_already(state, channel, frame)
        back = step.state.unregistered(channel, Ending.CLOSED).moved(channel, Connection(Phase.HELLO_OK))
        return replace(step, state=back)


@in_server("FROG-17-13")
class TheSameJoinIsFine(ServerMachine):
    """Says OK JOIN to a registered peer that joins with its own key again."""

    def joined_already(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        if frame.peer_key == state.connections[channel].peer_key:
            return Step(state, (Expectation("", Joined(), channel),))
        return super().joined_already(state, channel, frame)
