"""Servers that read a sister's signal wrongly, or let errors of a route go astray."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Code, Err, SisterErr, SisterPeers, SisterSignal
from reference_impl.frog.grammar import Form
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import also, changed


class Errors(ServerMachine):
    """Does something else with an error of a route that a side of it sent."""

    def error_of_sister(self, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        step = super().error_of_sister(state, channel, frame)
        return self.told(step, state, channel, frame) if step.owes else step

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        raise TypeError(f"{type(self).__name__} does not say what it does")


@in_server("FROG-37-11")
class KeepsErrors(Errors):
    """Tells nobody of a route's error."""

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        return Step(state)


@in_server("FROG-37-11")
class ReturnsErrors(Errors):
    """Sends a route's error back to where it came from."""

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        return Step(state, (Expectation("", frame, channel),))


@in_server("FROG-37-11")
class SpreadsErrors(Errors):
    """Sends a route's error on, and back to where it came from too."""

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        return also(step, channel, frame)


@in_server("FROG-37-11")
class EveryErrorIsInternal(Errors):
    """Passes a route's error on as INTERNAL."""

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        for kind in (Err, SisterErr):
            step = changed(step, kind, lambda err: replace(err, code=Code.INTERNAL))
        return step


@in_server("FROG-37-11", "FROG-13-03")
class SistersHearClientsErrors(Errors):
    """Passes a route's error on to a sister in the clients' family."""

    def told(self, step: ServerStep, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        return changed(step, SisterErr, lambda err: Err(err.id, err.code))


@in_server("FROG-37-11")
class ErrorsEndTheRoute(ServerMachine):
    """Ends a route at its first error, and so keeps the second to itself."""

    def error_of_sister(self, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        step, route = super().error_of_sister(state, channel, frame), state.routes.get(frame.id)
        if route is None or not step.owes:
            return step
        ended = step.state.routes.add(frame.id, replace(route, ended=Ending.CLOSED))
        return replace(step, state=replace(step.state, routes=ended))


@in_server("FROG-37-11")
class ErrorsGoTowardTheAsker(ServerMachine):
    """Sends a route's error to whoever looked up, also where it comes from that side."""

    def error_of_sister(self, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        route, step = state.routes.get(frame.id), super().error_of_sister(state, channel, frame)
        if route is None or not step.owes or route.side_a != Adjacent(state.sister(channel)):
            return step
        return Step(state, (Expectation("", frame, channel),))


@in_server("FROG-37-12")
class StrangersErrorsPass(ServerMachine):
    """Passes an error of a route on from a sister that is no side of it."""

    def error_of_sister(self, state: State, channel: Channel, frame: SisterErr) -> ServerStep:
        route = state.routes.get(frame.id)
        if route is None or Adjacent(state.sister(channel)) in (route.side_a, route.side_b):
            return super().error_of_sister(state, channel, frame)
        if isinstance(route.side_a, Adjacent):
            line = state.overlay.live.get(route.side_a.server_id)
            return Step(state) if line is None else Step(state, (Expectation("", frame, line),))
        return Step(state, (Expectation("", Err(frame.id, frame.code), route.side_a),))


# -- what a sister sent --------------------------------------------------------------------------------------------------


class ReadsSignals(Codec):
    """Reads the fields of @SIGNAL as others."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.frame is SisterSignal and len(texts) == 4:
            texts, payload = self.other(texts, payload)
        return super().fill(form, texts, payload)

    def other(self, texts: list[str], payload: bytes) -> tuple[list[str], bytes]:
        raise TypeError(f"{type(self).__name__} does not say what it reads")


@in_server("FROG-37-05")
class KindsInSmallLetters(ReadsSignals):
    """Takes a kind of @SIGNAL in small letters."""

    def other(self, texts: list[str], payload: bytes) -> tuple[list[str], bytes]:
        return [*texts[:2], texts[2].upper(), texts[3]], payload


@in_server("FROG-37-05")
class UnknownKindsAreIce(ReadsSignals):
    """Takes a kind of @SIGNAL that it does not know for ICE."""

    def other(self, texts: list[str], payload: bytes) -> tuple[list[str], bytes]:
        return [*texts[:2], texts[2] if texts[2] in ("OFFER", "ANSWER", "ICE") else "ICE", texts[3]], payload


@in_server("FROG-37-05")
class LengthsAreNotCompared(ReadsSignals):
    """Takes a payload of @SIGNAL as long as it is, whatever length was declared."""

    def other(self, texts: list[str], payload: bytes) -> tuple[list[str], bytes]:
        return [*texts[:3], str(len(payload))], payload


@in_server("FROG-37-05")
class LongSignalsAreCut(ReadsSignals):
    """Cuts a payload of @SIGNAL that is too long."""

    def other(self, texts: list[str], payload: bytes) -> tuple[list[str], bytes]:
        if len(payload) <= 65_536:
            return texts, payload
        return [*texts[:3], "65536"], payload[:65_536]


@in_server("FROG-37-05")
class TheLongestIsTooLong(ServerMachine):
    """Refuses a sister's signal of 65536 bytes."""

    def signal_of_sister(self, state: State, channel: Channel, frame: SisterSignal) -> ServerStep:
        if len(frame.payload) < 65_536:
            return super().signal_of_sister(state, channel, frame)
        return self.unsent(state, channel, frame, "", (Code.PAYLOAD_TOO_LARGE,))


@in_server("FROG-37-05")
class NothingIsNoSignal(ServerMachine):
    """Drops a sister's signal without a payload."""

    def signal_of_sister(self, state: State, channel: Channel, frame: SisterSignal) -> ServerStep:
        return super().signal_of_sister(state, channel, frame) if frame.payload else Step(state)


@in_server("FROG-35-09")
class CountsPeersItself(Codec):
    """Takes @PEERS with as many keys as there are, whatever the count."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        if form.frame is SisterPeers and rest:
            rest = [str(len(rest) - 1), *rest[1:]]
        return super().counted(form, texts, rest)
