"""How two servers become sisters: each proves its key to the other, then each asks its own policy (sections 28 and 29)."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level, Step, one_of
from reference_impl.frog.choosing import an_id, signed_by
from reference_impl.frog.frames import (
    Code,
    Hangup,
    Malformed,
    Sister,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterHello,
    SisterOk,
)
from reference_impl.frog.host import Dialled
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.identity import ServerProof
from reference_impl.frog.limits import over
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.registration import OVERLOAD, Registration, ServerStep, ids_of
from reference_impl.frog.sisters import Link

NEXT = {  # what an accepted, then a dialled connection waits for (FROG-29-03)
    Phase.TO_PROVE: Phase.TO_CHALLENGE,
    Phase.TO_CHALLENGE: Phase.TO_ACKNOWLEDGE,
    Phase.GREETING: Phase.GREETED,
    Phase.GREETED: Phase.PROVING,
    Phase.PROVING: Phase.CHALLENGING,
}


class Handshake(Registration):
    """Sister authentication, from either end."""

    # -- greetings ------------------------------------------------------------------------------------------------------

    def sister_hello(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        """Who dialled is greeted and challenged at once (FROG-29-01, FROG-29-03)."""
        if frame.server_id == self.config.server_id:
            return self.broken_off(state, channel, "FROG-29-05", (Code.BAD_REQUEST, Code.AUTH_FAILED, Code.BAD_STATE))
        if (most := self.config.bounds.sisters) and over(most, self.sisters(state)):
            return self.broken_off(state, channel, "FROG-40-02", OVERLOAD[::-1])
        state = self.shaking(state, channel, Phase.TO_PROVE, Link(frame.server_id, frame.uri))
        return Step(state, (self.greeting(channel), self.challenge(state, channel)))

    def dialled(self, state: State, channel: Channel, event: Dialled) -> ServerStep:
        """Who dials speaks first (FROG-29-03)."""
        state = replace(state, connections=state.connections.set(channel, Connection()))
        state = self.sweeping(self.shaking(state, channel, Phase.GREETING, Link(dialled=event.uri)))
        return Step(state, (self.greeting(channel),))

    def hello_back(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        held = state.connections[channel]
        assert held.link, "a sister's connection"
        wanted = (
            state.overlay.targets[held.link.dialled].server_id if held.link.dialled in state.overlay.targets else ""
        )
        if frame.server_id == self.config.server_id or wanted not in ("", frame.server_id):
            return self.broken_off(state, channel, "FROG-29-05", (Code.AUTH_FAILED, Code.BAD_REQUEST, Code.BAD_STATE))
        link = Link(frame.server_id, frame.uri, held.link.dialled)
        return Step(state.moved(channel, replace(held, phase=NEXT[held.phase], link=link)))

    def sisters(self, state: State) -> int:
        return sum(held.link is not None for held in state.connections.values())

    def shaking(self, state: State, channel: Channel, phase: Phase, link: Link) -> State:
        """From now on it has the time of a challenge for all of it (FROG-29-10)."""
        until = state.now + self.config.timers.challenge_s
        state = state.moved(channel, Connection(phase, expires_at=until, link=link))
        return replace(state, overlay=state.overlay.shaking(channel, until))

    def greeting(self, channel: Channel) -> Expectation:
        hello = SisterHello(self.config.server_id, self.config.uri)
        return Expectation("FROG-29-01", hello, channel, lane="session")

    # -- challenges and proofs ------------------------------------------------------------------------------------------

    def challenge(self, state: State, channel: Channel) -> Expectation:
        nonce = an_id("a fresh nonce", state.nonces)
        return Expectation("FROG-29-03", SisterChal(nonce), channel, lane="session")

    def prove(self, state: State, channel: Channel, frame: SisterChal) -> ServerStep:
        """Our proof: we are `self`, and who challenged is `peer` (FROG-12.2-01)."""
        held = state.connections[channel]
        assert held.link, "a sister's connection"
        proof = ServerProof(frame.nonce, self.config.uri, self.config.server_id, held.link.uri, held.link.server_id)
        mine = self.identities.sign(self.config.key, proof) if self.config.key else ("", "")
        key, signature = signed_by(
            f"the proof {proof.text().decode()!r}", lambda key, got: self.identities.verify(key, got, proof), *mine
        )
        owed = Expectation("FROG-12.2-01", SisterAuth(key, signature), channel, lane="session")
        return Step(state.moved(channel, replace(held, phase=NEXT[held.phase])), (owed,))

    def proof_of_dialler(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep:
        """Who dialled has proven its key, and is told so (FROG-29-03)."""
        if fault := self.unproven(state, channel, frame):
            return fault
        held = state.connections[channel]
        state = state.moved(channel, replace(held, phase=NEXT[held.phase]))
        return Step(state, (Expectation("FROG-29-03", SisterOk(), channel, lane="session"),))

    def proof_of_dialled(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep:
        """Both are proven: the record is verified, and the last word is ours (FROG-29-13, FROG-30-01)."""
        if fault := self.unproven(state, channel, frame):
            return fault
        step = self.welcomed(self.verified(state, channel), channel)
        return replace(step, owes=(Expectation("FROG-29-03", SisterOk(), channel, lane="session"), *step.owes))

    def acknowledged(self, state: State, channel: Channel, _: SisterOk) -> ServerStep:
        """Who we dialled has taken our proof: now it is challenged (FROG-29-03)."""
        held = state.connections[channel]
        state = state.moved(channel, replace(held, phase=NEXT[held.phase]))
        return Step(state, (self.challenge(state, channel),))

    def completed(self, state: State, channel: Channel, _: SisterOk) -> ServerStep:
        """Who dialled has taken our proof too."""
        return self.welcomed(state, channel)

    def unproven(self, state: State, channel: Channel, frame: SisterAuth) -> ServerStep | None:
        """Every check of section 29 that the codec has not made already; None where it is proven."""
        held = state.connections[channel]
        if self.expired(state, held):
            return self.broken_off(state, channel, "FROG-29-11", (Code.AUTH_FAILED, Code.BAD_STATE))
        if not self.proven_sister(held, frame):
            return self.broken_off(state, channel, "FROG-29-09", (Code.AUTH_FAILED,))
        return None

    def proven_sister(self, held: Connection, frame: SisterAuth) -> bool:
        """She is `self`, with what her @HELLO said; we are `peer` (FROG-12.2-02, FROG-12.2-03)."""
        assert held.link, "a sister's connection"
        own = self.config.uri, self.config.server_id
        proof = ServerProof(held.nonce, held.link.uri, held.link.server_id, *own)
        return bool(held.nonce) and self.identities.verify(frame.public_key, frame.signature, proof)

    # -- authorisation --------------------------------------------------------------------------------------------------

    def authorised(self, state: State, link: Link) -> bool:
        """Local policy (FROG-3.10-01): a key that is proven is not enough (FROG-27-02)."""
        mesh, target = self.config.mesh, state.overlay.targets.get(link.dialled)
        configured = state.overlay.configured.union(seed.server_id for seed in mesh.seeds)
        if link.server_id in mesh.allowed or link.server_id in configured:
            return True
        if target and (target.seed or mesh.discover):
            return True
        return mesh.discover and link.server_id in state.verified

    def welcomed(self, state: State, channel: Channel) -> ServerStep:
        """Authenticated both ways, and a sister if policy says so (FROG-28-06)."""
        held = state.connections[channel]
        assert held.link, "a sister's connection"
        state = replace(state, overlay=state.overlay.shaken(channel))
        if not self.authorised(state, held.link):
            state = state.moved(channel, Connection(Phase.UNAUTHORISED, link=held.link))
            return self.turned_away(state, channel, held.link)
        step = Step(state)
        for line in (*self.waiting(state, held.link.server_id), channel):
            link = state.connections[line].link
            assert link, "a sister's connection"
            met = self.one_of_two(step.state.moved(line, Connection(Phase.SISTER, link=link)), line, link)
            step = replace(met, owes=step.owes + met.owes, lapses=step.lapses | met.lapses)
        return step

    def waiting(self, state: State, server_id: str) -> list[Channel]:
        """Connections with her that were not authorised, until she was verified on another one."""
        held = ((channel, it.link) for channel, it in state.connections.items() if it.phase is Phase.UNAUTHORISED)
        return [channel for channel, link in held if link and link.server_id == server_id]

    def turned_away(self, state: State, channel: Channel, link: Link) -> ServerStep:
        """It may stay and is not heard (AMB-01, AMB-38)."""
        return Step(state)

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        """One connection with each sister, that which the smaller id began; of two alike the newer (section 31)."""
        before = state.overlay.live.get(link.server_id)
        ours = self.config.server_id < link.server_id  # as ASCII
        preferred = bool(link.dialled) == ours
        if before is None or preferred or not self.preferred(state, before, ours):
            kept, ended = channel, before
        else:
            kept, ended = before, channel
        live = state.overlay.live.set(link.server_id, kept)
        step = (
            self.met(replace(state, overlay=replace(state.overlay, live=live)), kept)
            if kept == channel
            else Step(state)
        )
        if ended is None:
            return step
        closing = self.retired(step.state, ended, "FROG-31-04")
        return replace(closing, owes=(*step.owes, *closing.owes))

    def preferred(self, state: State, channel: Channel, ours: bool) -> bool:
        link = state.connections[channel].link
        return link is not None and bool(link.dialled) == ours

    # -- what is refused ------------------------------------------------------------------------------------------------

    def sister_error(
        self, state: State, channel: Channel, clause: str, ids: tuple[str, ...], codes: tuple[Code, ...], lane: str = ""
    ) -> ServerStep:
        """In the sisters' family (FROG-38-01); nothing else changes."""
        err = SisterErr(one_of(*ids), one_of(*codes))
        return Step(state, (Expectation(clause, err, channel, lane=lane or f"id {ids[0]}"),))

    def not_now(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        """Well-formed, and not in this state (FROG-28-02); the id is echoed where there is one (FROG-38-03)."""
        codes: tuple[Code, ...] = (Code.BAD_STATE,)
        if state.phase(channel) is Phase.UNAUTHORISED:
            codes = (Code.BAD_STATE, Code.AUTH_REQUIRED, Code.AUTH_FAILED)  # AMB-01
        clause = "FROG-28-07" if isinstance(frame, SisterHello) else "FROG-28-02"
        return self.sister_error(state, channel, clause, (*ids_of(frame), DASH), codes, "session")

    def misread(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        """Rejected, and nothing changed (FROG-5-24)."""
        codes = event.codes
        if state.phase(channel) not in (Phase.TO_PROVE, Phase.CHALLENGING):
            codes = tuple(code for code in codes if code is not Code.AUTH_FAILED)
        if state.phase(channel) is not Phase.SISTER or event.frame in (SisterHello, SisterChal, SisterAuth, SisterOk):
            codes += (Code.BAD_STATE,)  # AMB-02
        return self.sister_error(state, channel, "FROG-5-13", (event.id, *event.other_ids), codes, "session")

    def broken_off(self, state: State, channel: Channel, clause: str, codes: tuple[Code, ...]) -> ServerStep:
        """The handshake failed: an error, and then the end (FROG-38-07)."""
        step = self.sister_error(state, channel, clause, (DASH,), codes, "session")
        closing = self.retired(state, channel, clause)
        return replace(closing, owes=step.owes + closing.owes)

    def told_off(self, state: State, channel: Channel, _: SisterErr) -> ServerStep:
        """An error is not answered with one (AMB-33): who was refused ends the handshake."""
        return self.retired(state, channel, "FROG-29-10")

    def retired(self, state: State, channel: Channel, clause: str) -> ServerStep:
        """It should be closed; until it is, nothing that it says counts."""
        state = state.parted(channel).moved(channel, Connection(Phase.OVER))
        closing = Expectation(clause, Hangup(), channel, Level.SHOULD)
        return Step(state, (closing,), lapses=frozenset([channel]))

    def handshakes_due(self, state: State) -> ServerStep:
        """Whoever is not done in time is closed (FROG-29-10)."""
        late = [channel for channel, at in state.overlay.handshakes.items() if at <= state.now]
        owes: tuple[Expectation, ...] = ()
        for channel in late:
            step = self.retired(state, channel, "FROG-29-10")
            state, owes = step.state, owes + step.owes
        return Step(state, owes, lapses=frozenset(late))

    # -- said further below ---------------------------------------------------------------------------------------------

    def verified(self, state: State, channel: Channel) -> State:
        raise TypeError(f"{type(self).__name__} does not say what is verified")

    def met(self, state: State, channel: Channel) -> ServerStep:
        raise TypeError(f"{type(self).__name__} does not say what sisters do first")
