"""Signals and errors along a route that crosses servers: each knows only the next one either way (section 37)."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level, Step
from reference_impl.frog.flooding import Flooding
from reference_impl.frog.frames import Code, Err, Signal, SignalFrom, SisterErr, SisterSignal
from reference_impl.frog.presence import State
from reference_impl.frog.registration import OVERLOAD, ServerStep
from reference_impl.frog.routes import Ending, Route
from reference_impl.frog.sisters import Adjacent


class Relaying(Flooding):
    """Hop by hop, and only along what a lookup has made (FROG-2-01)."""

    def sent_afar(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        """A client's signal whose other end is on another server (FROG-26-13, FROG-26-14)."""
        source = state.connections[channel].peer_key
        onward = self.onward(state, route, SisterSignal(frame.route_id, source, frame.kind, frame.payload))
        if onward is None:
            err = Err(frame.route_id, Code.SERVER_UNAVAILABLE)
            lost = Expectation("FROG-26-14", err, channel, Level.SHOULD, lane=f"route {frame.route_id}")
            return Step(state, (lost,))
        return Step(self.used(state, frame.route_id), (onward,))

    def signal_of_sister(self, state: State, channel: Channel, frame: SisterSignal) -> ServerStep:
        """Along a living route, from the side where its source is (FROG-37-02 to FROG-37-04)."""
        meter, allowed = state.meter.spend(state.sister(channel), "relays", state.now)
        state, route = replace(state, meter=meter), state.routes.get(frame.route_id)
        if not allowed:
            return self.unsent(state, channel, frame, "FROG-40-04", OVERLOAD)
        if route is None:
            return self.unsent(state, channel, frame, "FROG-37-02", (Code.ROUTE_NOT_FOUND,))
        if not self.lives(state, route):
            return self.unsent(state, channel, frame, "FROG-37-02", self.why_over(route))
        if route.endpoint(frame.peer_key) != Adjacent(state.sister(channel)):
            stranger = (Code.TARGET_MISMATCH, Code.ROUTE_NOT_FOUND)  # AMB-19
            clause = "FROG-37-03" if route.endpoint(frame.peer_key) is None else "FROG-37-04"
            return self.unsent(state, channel, frame, clause, stranger)
        onward = self.onward(state, route, frame)
        if onward is None:
            step = self.unsent(state, channel, frame, "FROG-37-10", (Code.SERVER_UNAVAILABLE,))
            return replace(step, owes=tuple(replace(debt, level=Level.SHOULD) for debt in step.owes))
        return Step(self.used(state, frame.route_id), (onward,))

    def why_over(self, route: Route) -> tuple[Code, ...]:
        """Its local end is gone, or came back as another connection, or it is too old (FROG-37-09, FROG-25-07, AMB-18)."""
        if route.ended is Ending.CLOSED:
            return Code.PEER_NOT_FOUND, Code.ROUTE_EXPIRED, Code.ROUTE_NOT_FOUND
        known = (Code.ROUTE_EXPIRED, Code.ROUTE_NOT_FOUND)
        return (*known, Code.PEER_NOT_FOUND) if route.ended else known

    def onward(self, state: State, route: Route, frame: SisterSignal) -> Expectation | None:
        """The same bytes to the other side (FROG-37-01, FROG-37-06 to FROG-37-08); None where no way is there."""
        side, lane = route.opposite(frame.peer_key), f"route {frame.route_id} from {frame.peer_key}"
        if not isinstance(side, Adjacent):
            delivery = SignalFrom(frame.route_id, frame.peer_key, frame.kind, frame.payload)
            return Expectation("FROG-37-07", delivery, side, lane=lane)
        line = state.overlay.live.get(side.server_id)
        return None if line is None else Expectation("FROG-37-01", frame, line, lane=lane)

    def used(self, state: State, route_id: str) -> State:
        return replace(state, routes=state.routes.used(route_id, state.now))  # FROG-25-03

    def unsent(
        self, state: State, channel: Channel, frame: SisterSignal, clause: str, codes: tuple[Code, ...]
    ) -> ServerStep:
        return self.sister_error(state, channel, clause, (frame.route_id,), codes, f"route {frame.route_id}")

    def error_of_sister(self, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        """About a route: on to its other side (FROG-37-11), from a side of it alone (FROG-37-12). Whatever else it is
        about is not answered (AMB-33), and a lookup goes on waiting (AMB-34)."""
        route, sender = state.routes.get(frame.id), Adjacent(state.sister(channel))
        if route is None or not self.lives(state, route) or sender not in (route.side_a, route.side_b):
            return Step(state)
        side = route.side_b if sender == route.side_a else route.side_a
        lane = f"route {frame.id}"
        if not isinstance(side, Adjacent):
            told = Err(frame.id, frame.code)
            return Step(state, (Expectation("FROG-37-11", told, side, Level.SHOULD, lane),))
        line = state.overlay.live.get(side.server_id)
        return Step(state, () if line is None else (Expectation("FROG-37-11", frame, line, Level.SHOULD, lane),))
