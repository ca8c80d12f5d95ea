"""Servers that let a second request under a known name do harm, or take it for the first one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.frog.frames import Code, SisterErr, SisterFind, SisterLookup
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent, Flood, Request, key_of
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed, without


class Blind(ServerMachine):
    """Compares fewer of the fields of two requests with one name."""

    unseen: int

    kind: type = SisterLookup

    def conflicts(self, state: State, frame: Request) -> bool:
        known = self.remembered(state, frame)
        if known is None or not isinstance(frame, self.kind):
            return super().conflicts(state, frame)
        pairs = zip(known.fields, Flood(frame, None, 0, 0).fields, strict=True)
        return any(one != other for n, (one, other) in enumerate(pairs) if n != self.unseen)


@in_server("FROG-34-08", "FROG-36-03")
class OriginsMayDiffer(Blind):
    """Takes an @LOOKUP of another origin for the same one."""

    unseen = 0


@in_server("FROG-34-08", "FROG-36-03")
class SourcesMayDiffer(Blind):
    """Takes an @LOOKUP of another source for the same one."""

    unseen = 1


@in_server("FROG-34-08", "FROG-36-03")
class TargetsMayDiffer(Blind):
    """Takes an @LOOKUP of another target for the same one."""

    unseen = 2


@in_server("FROG-34-08")
class AskersMayDiffer(Blind):
    """Takes an @FIND of another peer for the same one."""

    unseen, kind = 1, SisterFind


@in_server("FROG-34-08")
class LimitsMayDiffer(Blind):
    """Takes an @FIND with another limit for the same one."""

    unseen, kind = 2, SisterFind


class InConflict(ServerMachine):
    """Does something else where a request conflicts."""

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        step = super().flooded(state, channel, frame, act)
        return self.refused(step, state, channel, frame) if self.conflicts(state, frame) else step

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        raise TypeError(f"{type(self).__name__} does not say what it does")


@in_server("FROG-34-08")
class ConflictsAreSilence(InConflict):
    """Drops a request that conflicts without a word."""

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        return without(step, SisterErr)


@in_server("FROG-34-08", "FROG-36-03")
class ConflictsAreBadRequests(InConflict):
    """Says BAD_REQUEST of a request that conflicts."""

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        return changed(step, SisterErr, lambda err: SisterErr(err.id, Code.BAD_REQUEST))


@in_server("FROG-34-08")
class ConflictsReplace(InConflict):
    """Refuses a request that conflicts, and from then on takes it for the first."""

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        key, flood = key_of(frame), self.remembered(state, frame)
        if flood is None or flood.cid:
            return step
        return replace(step, state=replace(state, overlay=state.overlay.kept(key, replace(flood, request=frame))))


@in_server("FROG-34-08")
class ConflictsEndTheFirst(InConflict):
    """Refuses a request that conflicts, and takes no more answers to the first."""

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        ticket, flood = state.overlay.flood(key_of(frame))
        if flood is None:
            return step
        return replace(step, state=replace(state, overlay=state.overlay.ended(ticket)))


@in_server("FROG-34-14", "FROG-34-08")
class ConflictsEndTheRoute(InConflict):
    """Refuses a request that conflicts, and forgets the route of that name."""

    def refused(self, step: ServerStep, state: State, channel: Channel, frame: Request) -> ServerStep:
        if not isinstance(frame, SisterLookup) or frame.route_id not in state.routes:
            return step
        return replace(step, state=replace(state, routes=state.routes.without(iter([frame.route_id]))))


@in_server("FROG-34-14")
class ForgetsWhileRouted(ServerMachine):
    """Takes the name of a living route for a new one once the lookup's time is over."""

    def conflicts(self, state: State, frame: Request) -> bool:
        return self.remembered(state, frame) is not None and super().conflicts(state, frame)

    def remembered(self, state: State, frame: Request) -> Flood | None:
        flood = super().remembered(state, frame)
        return flood if flood and state.now < flood.forget_at else None


@in_server("FROG-34-14")
class LocalRoutesMayBeTaken(ServerMachine):
    """Takes an @LOOKUP under the name of a route between two of its own clients."""

    def conflicts(self, state: State, frame: Request) -> bool:
        return self.remembered(state, frame) is not None and super().conflicts(state, frame)


@in_server("FROG-34-06", "FROG-36-03")
class CopiesMoveTheRoute(ServerMachine):
    """Leads a route to whichever sister sent the last copy of its @LOOKUP."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().lookup_of_sister(state, channel, frame)
        route = state.routes.get(frame.route_id)
        if route is None or step.owes or not isinstance(route.side_a, Adjacent):
            return step
        moved = step.state.routes.add(frame.route_id, replace(route, side_a=Adjacent(state.sister(channel))))
        return replace(step, state=replace(step.state, routes=moved))


@in_server("FROG-34-06", "FROG-36-08")
class CopiesMoveTheAnswer(ServerMachine):
    """Answers whichever sister sent the last copy of a request."""

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        ticket, flood = state.overlay.flood(key_of(frame))
        step = super().flooded(state, channel, frame, act)
        if flood is None or flood.cid or step.owes:
            return step
        moved = replace(flood, side=Adjacent(state.sister(channel)))
        return replace(step, state=replace(step.state, overlay=step.state.overlay.kept(ticket, moved)))


@in_server("FROG-35-02")
class AnswersItsOwnFinds(ServerMachine):
    """Answers an @FIND that names itself as the origin."""

    def find_of_sister(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        if frame.server_id == self.config.server_id and self.remembered(state, frame) is None:
            return self.answer_find(state, channel, frame)
        return super().find_of_sister(state, channel, frame)


@in_server("FROG-36-02")
class AnswersItsOwnLookups(ServerMachine):
    """Answers an @LOOKUP that names itself as the origin."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        if frame.server_id == self.config.server_id and self.remembered(state, frame) is None:
            return self.answer_lookup(state, channel, frame)
        return super().lookup_of_sister(state, channel, frame)


@in_server("FROG-36-02")
class RefusesItsOwnLookups(ServerMachine):
    """Says BAD_REQUEST of an @LOOKUP that came round a loop."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().lookup_of_sister(state, channel, frame)
        if frame.server_id != self.config.server_id or step.owes:
            return step
        return self.sister_error(step.state, channel, "", (frame.route_id,), (Code.BAD_REQUEST,))
