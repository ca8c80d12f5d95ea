"""Which servers are dialled, which of them are verified by that, and what sisters tell one another of the rest (30 to 33)."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level, Step
from reference_impl.frog.choosing import an_fcid, jitter, some_of
from reference_impl.frog.frames import MOST_LISTED, SisterList, SisterServers
from reference_impl.frog.handshake import Handshake
from reference_impl.frog.host import NETWORK, Dial, DialFailed
from reference_impl.frog.presence import State
from reference_impl.frog.registration import OVERLOAD, ServerStep
from reference_impl.frog.sisters import NEVER, Link, Target


class Gossip(Handshake):
    """Verified is only what this server has dialled itself; everything else is a candidate."""

    # -- dialling -------------------------------------------------------------------------------------------------------

    def dials(self, state: State) -> ServerStep:
        """Whoever is to be dialled by now, but for a sister that is there already."""
        overlay, owes = state.overlay, list[Expectation]()
        for uri, target in overlay.targets.items():
            if target.due is None or target.due > state.now:
                continue
            if (target.met or target.server_id) in overlay.live:
                overlay = overlay.aimed(uri, replace(target, due=state.now + self.config.mesh.redial.most_s))
            else:
                overlay = overlay.aimed(uri, replace(target, due=None))
                dial = Dial(uri, jitter())
                owes.append(Expectation("FROG-33-08", dial, NETWORK, Level.SHOULD, lane=f"dial {uri}"))
        return Step(replace(state, overlay=overlay), tuple(owes))

    def dialling(self, state: State, frame: Dial) -> State:
        """The wait before the next dial is drawn with this one, so that seeds are not dialled in step."""
        target = state.overlay.targets.get(frame.uri)
        if target is None:
            return state
        wait = self.config.mesh.redial.wait(target.failures + 1, frame.jitter)
        return replace(state, overlay=state.overlay.aimed(frame.uri, replace(target, wait_s=wait)))

    def dial_failed(self, state: State, channel: Channel, event: DialFailed) -> ServerStep:
        return Step(replace(state, overlay=state.overlay.missed(event.uri, state.now)))

    def verified(self, state: State, channel: Channel) -> State:
        """By this server's own dial to exactly that URI, which is also the one that was claimed (FROG-30-01, AMB-37)."""
        link = state.connections[channel].link
        assert link, "a sister's connection"
        target = state.overlay.targets.get(link.dialled)
        overlay = state.overlay
        if target:
            overlay = overlay.aimed(link.dialled, replace(target, met=link.server_id, failures=0))
            if target.seed:
                overlay = replace(overlay, configured=overlay.configured | {link.server_id})
        state = replace(state, overlay=overlay)
        if link.uri != link.dialled:
            return state
        return replace(state, verified=state.verified.set(link.server_id, link.uri))  # the latest counts (FROG-30-06)

    # -- gossip ---------------------------------------------------------------------------------------------------------

    def met(self, state: State, channel: Channel) -> ServerStep:
        """A sister is live: who wants to know more servers asks."""
        mesh = self.config.mesh
        if not mesh.discover:
            return Step(state)
        overlay = replace(state.overlay, gossip_at=min(state.overlay.gossip_at, state.now + mesh.gossip_s))
        state = replace(state, overlay=overlay.waking(overlay.gossip_at))
        return Step(self.candidate(state, state.connections[channel].link), (self.question(channel),))

    def turned_away(self, state: State, channel: Channel, link: Link) -> ServerStep:
        """Whoever is unknown may be verified yet, by a dial to where she says she is (FROG-27-03)."""
        return Step(self.candidate(state, link))

    def question(self, channel: Channel) -> Expectation:
        asking = SisterList(an_fcid(), MOST_LISTED)
        return Expectation("FROG-33-08", asking, channel, Level.SHOULD, lane="gossip")

    def questions(self, state: State) -> ServerStep:
        """From time to time again."""
        if state.overlay.gossip_at > state.now:
            return Step(state)
        again = state.now + self.config.mesh.gossip_s if state.overlay.live else NEVER
        state = replace(state, overlay=replace(state.overlay, gossip_at=again))
        return Step(state, tuple(self.question(channel) for channel in state.overlay.live.values()))

    def questioned(self, state: State, channel: Channel, frame: SisterList) -> State:
        if channel not in state.connections:
            return state
        return replace(state, overlay=replace(state.overlay, lists=state.overlay.lists.set(channel, frame.fcid)))

    def listed(self, state: State, channel: Channel, frame: SisterList) -> ServerStep:
        """Verified records alone, neither ourselves nor who asks (FROG-33-04 to FROG-33-07)."""
        asker = state.sister(channel)
        meter, allowed = state.meter.spend(asker, "lists", state.now)
        if not allowed:
            return self.sister_error(state, channel, "FROG-40-04", (frame.fcid,), OVERLOAD)
        known = {pair for pair in state.verified.items() if pair[0] not in (asker, self.config.server_id)}
        answer = SisterServers(frame.fcid, some_of(known, min(frame.limit, MOST_LISTED)))
        owed = Expectation("FROG-33-01", answer, channel, lane=f"id {frame.fcid}")
        return Step(replace(state, meter=meter), (owed,))

    def servers(self, state: State, channel: Channel, frame: SisterServers) -> ServerStep:
        """Candidates, and only if they were asked for: none is verified by being named (FROG-30-04, AMB-41)."""
        if state.overlay.lists.get(channel) != frame.fcid:
            return Step(state)
        state = replace(state, overlay=replace(state.overlay, lists=state.overlay.lists.delete(channel)))
        for server_id, uri in frame.servers:
            state = self.candidate(state, Link(server_id, uri))
        return Step(state)

    def candidate(self, state: State, link: Link | None) -> State:
        """A server to be verified by dialling it, where there is room for that (FROG-33-08, FROG-40-02)."""
        mesh, overlay = self.config.mesh, state.overlay
        if link is None or not mesh.discover or link.uri == self.config.uri or link.uri in overlay.targets:
            return state
        if link.server_id == self.config.server_id or state.verified.get(link.server_id) == link.uri:
            return state
        if sum(not target.seed for target in overlay.targets.values()) >= mesh.most_dials:
            return state
        target = Target(seed=False, server_id=link.server_id, due=state.now)
        return replace(state, overlay=overlay.aimed(link.uri, target))
