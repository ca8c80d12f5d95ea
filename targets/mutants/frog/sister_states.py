"""Servers that hear sisters too early, too late, or without being allowed to."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import (
    Code,
    Malformed,
    Sister,
    SisterAuth,
    SisterErr,
    SisterHello,
    SisterList,
    SisterOk,
    SisterServers,
)
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Link
from targets.mutants.frog.shelf import in_server

ACCEPTED = (Phase.TO_PROVE, Phase.TO_CHALLENGE, Phase.TO_ACKNOWLEDGE)
GREETED = (Phase.GREETED, Phase.PROVING)
SHAKING_WORDS = (SisterHello, SisterAuth, SisterOk, SisterErr)


class HearsEarly(ServerMachine):
    """Takes what sisters say in phases before they are sisters."""

    early: tuple[Phase, ...] = ()

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if state.phase(channel) not in self.early or (Phase.SISTER, type(frame)) not in self.table:
            return super().not_now(state, channel, frame)
        row = self.table[Phase.SISTER, type(frame)].action.__name__
        return (
            super().not_now(state, channel, frame)
            if row == "not_now"
            else self.obey(Phase.SISTER, state, channel, frame)
        )


@in_server("FROG-29-02", "FROG-28-06", "FROG-28-01")
class HearsWhoeverGreeted(HearsEarly):
    """Obeys a sister from her @HELLO on."""

    early = (Phase.TO_PROVE,)


@in_server("FROG-28-06", "FROG-29-02")
class HearsBeforeItIsTakenItself(HearsEarly):
    """Obeys a sister once she is proven, before she has taken its own proof."""

    early = (Phase.TO_CHALLENGE, Phase.TO_ACKNOWLEDGE)


@in_server("FROG-28-06", "FROG-29-02", "FROG-28-01")
class HearsWhomItDialled(HearsEarly):
    """Obeys whom it dialled once its own proof is taken, before hers."""

    early = (Phase.CHALLENGING,)


@in_server("FROG-27-02", "FROG-28-06")
class HearsTheUnauthorised(HearsEarly):
    """Obeys whoever has proven a key, authorised or not."""

    early = (Phase.UNAUTHORISED,)


@in_server("FROG-28-01", "FROG-28-02")
class ListsForStrangers(ServerMachine):
    """Answers @LIST on a connection that said no @HELLO."""

    def sister_refused(self, state: State, channel: Channel, what: object) -> ServerStep:
        if state.phase(channel) is Phase.NEW and isinstance(what, SisterList):
            return Step(state, (Expectation("", SisterServers(what.fcid), channel),))
        return super().sister_refused(state, channel, what)


@in_server("FROG-29-04", "FROG-28-02")
class AuthFirstIsIgnored(ServerMachine):
    """Says nothing to an @AUTH before any @HELLO."""

    def sister_refused(self, state: State, channel: Channel, what: object) -> ServerStep:
        quiet = state.phase(channel) is Phase.NEW and isinstance(what, SisterAuth)
        return Step(state) if quiet else super().sister_refused(state, channel, what)


@in_server("FROG-28-02")
class SisterlyBadState(ServerMachine):
    """Says BAD_REQUEST of a sister's command in the wrong state."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        return self.sister_error(state, channel, "", (DASH,), (Code.BAD_REQUEST,), "session")


@in_server("FROG-28-02")
class SisterlySilence(ServerMachine):
    """Says nothing to what sisters say in the middle of the handshake."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        quiet = state.phase(channel) in ACCEPTED and not isinstance(frame, SHAKING_WORDS)
        return Step(state) if quiet else super().not_now(state, channel, frame)


@in_server("FROG-28-02")
class WrongStateNamesAnother(ServerMachine):
    """Echoes in BAD_STATE its own id in place of the request's."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SHAKING_WORDS):
            return super().not_now(state, channel, frame)
        return self.sister_error(state, channel, "", (self.config.server_id,), (Code.BAD_STATE,), "session")


@in_server("FROG-28-07")
class HelloBeginsAgain(ServerMachine):
    """Begins the handshake again at another @HELLO in the middle of it."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SisterHello) and state.phase(channel) in ACCEPTED:
            return self.sister_hello(state, channel, frame)
        return super().not_now(state, channel, frame)


@in_server("FROG-28-07")
class SistersMayGreetAgain(ServerMachine):
    """Says nothing to another @HELLO of a sister."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        quiet = isinstance(frame, SisterHello) and state.phase(channel) is Phase.SISTER
        return Step(state) if quiet else super().not_now(state, channel, frame)


@in_server("FROG-28-05", "FROG-28-06")
class OkIsEnough(ServerMachine):
    """Takes @OK AUTH before it has proven anything for the end of the handshake."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SisterOk) and state.phase(channel) in (Phase.TO_PROVE, Phase.TO_CHALLENGE):
            return self.welcomed(state, channel)
        return super().not_now(state, channel, frame)


@in_server("FROG-28-05")
class OkBeforeTheProof(ServerMachine):
    """Takes @OK AUTH of whom it dialled before it has sent @AUTH."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SisterOk) and state.phase(channel) is Phase.GREETED:
            return self.acknowledged(
                state.moved(channel, replace(state.connections[channel], phase=Phase.PROVING)), channel, frame
            )
        return super().not_now(state, channel, frame)


@in_server("FROG-28-04")
class AuthUnasked(ServerMachine):
    """Takes @AUTH of whom it dialled before it has challenged her."""

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SisterAuth) and state.phase(channel) in GREETED:
            step = self.welcomed(self.verified(state, channel), channel)
            return replace(step, owes=(Expectation("", SisterOk(), channel, lane="session"), *step.owes))
        return super().not_now(state, channel, frame)


@in_server("FROG-28-04", "FROG-29-11", "FROG-39-05")
class SistersHaveTime(ServerMachine):
    """Lets a sister's challenge live for ever."""

    def expired(self, state: State, held: Connection) -> bool:
        return held.link is None and super().expired(state, held)

    def handshakes_due(self, state: State) -> ServerStep:
        return Step(replace(state, overlay=replace(state.overlay, handshakes=type(state.overlay.handshakes)())))


@in_server("FROG-29-10")
class HandshakesStall(ServerMachine):
    """Leaves a handshake that stalls open."""

    def handshakes_due(self, state: State) -> ServerStep:
        return Step(replace(state, overlay=replace(state.overlay, handshakes=type(state.overlay.handshakes)())))


@in_server("FROG-29-10")
class TheProvenMayStall(ServerMachine):
    """Leaves a handshake open that stalls behind the dialler's proof."""

    def proof_of_dialler(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep:
        step = super().proof_of_dialler(state, channel, frame)
        if step.state.phase(channel) is not Phase.TO_CHALLENGE:
            return step
        return replace(step, state=replace(step.state, overlay=step.state.overlay.shaken(channel)))


# -- authorisation -------------------------------------------------------------------------------------------------------


@in_server("FROG-27-02", "FROG-28-06")
class AnyoneMayFederate(ServerMachine):
    """Asks no policy."""

    def authorised(self, state: State, link: Link) -> bool:
        return True


@in_server("FROG-27-02")
class AuthorisedByUri(ServerMachine):
    """Lets whoever claims the URI of a configured seed federate."""

    def authorised(self, state: State, link: Link) -> bool:
        return link.uri in (seed.uri for seed in self.config.mesh.seeds) or super().authorised(state, link)


@in_server("FROG-27-02")
class AuthorisedOnceMet(ServerMachine):
    """Lets whoever is turned away in by her second connection."""

    def authorised(self, state: State, link: Link) -> bool:
        return bool(self.waiting(state, link.server_id)) or super().authorised(state, link)


@in_server("FROG-27-02")
class AsksTheUnauthorised(ServerMachine):
    """Floods to whoever has proven a key, authorised or not."""

    def turned_away(self, state: State, channel: Channel, link: Link) -> ServerStep:
        step = super().turned_away(state, channel, link)
        live = step.state.overlay.live.set(link.server_id, channel)
        return replace(step, state=replace(step.state, overlay=replace(step.state.overlay, live=live)))


@in_server("FROG-32-01")
class KnowsPing(ServerMachine):
    """Takes @PING in silence."""

    def misread(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        return Step(state) if "@PING" in event.why else super().misread(state, channel, event)
