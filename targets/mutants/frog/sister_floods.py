"""Servers that pass a flood on too far, too often, or changed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Code, SisterErr, SisterFind, SisterFound, SisterLookup
from reference_impl.frog.grammar import Form
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent, Flood, Request, key_of
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed

FLOODS = (SisterFind, SisterLookup)


# -- how far -------------------------------------------------------------------------------------------------------------


@in_server("FROG-35-01", "FROG-36-01")
class ClampsTtls(Codec):
    """Takes a TTL beyond 7 for 7."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.frame in FLOODS and len(texts) == 5 and texts[4].isdigit() and int(texts[4]) > 7:
            texts = [*texts[:4], "7"]
        return super().fill(form, texts, payload)


@in_server("FROG-34-02")
class LastHopsAreNotLookedUp(ServerMachine):
    """Drops an @LOOKUP with TTL 0 without a look at its own table."""

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        return Step(state) if frame.ttl == 0 else super().answer_lookup(state, channel, frame)


@in_server("FROG-34-02")
class LastHopsAreNotFound(ServerMachine):
    """Drops an @FIND with TTL 0 without a look at its own table."""

    def answer_find(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        return Step(state) if frame.ttl == 0 else super().answer_find(state, channel, frame)


class PassesOn(ServerMachine):
    """Passes on another TTL, or something else than it was given."""

    kind: tuple[type, ...] = FLOODS

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        step = super().passed_on(state, channel, frame)
        for kind in self.kind:
            step = changed(step, kind, lambda copy: self.copy(state, frame, copy))
        return step

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        return copy


@in_server("FROG-34-03", "FROG-27-01")
class PassesTheLastHopOn(ServerMachine):
    """Passes a request with TTL 0 on with TTL 0."""

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        return super().passed_on(state, channel, replace(frame, ttl=max(1, frame.ttl)))


@in_server("FROG-34-03", "FROG-27-01")
class FindsGoRoundAgain(ServerMachine):
    """Passes an @FIND with TTL 0 on with TTL 7."""

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        wraps = isinstance(frame, SisterFind) and frame.ttl == 0
        return super().passed_on(state, channel, replace(frame, ttl=8) if wraps else frame)


@in_server("FROG-35-08", "FROG-34-04")
class OneHopIsNone(ServerMachine):
    """Does not pass a request with TTL 1 on."""

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        return Step(state) if frame.ttl == 1 else super().passed_on(state, channel, frame)


@in_server("FROG-34-04", "FROG-27-01")
class LookupsLoseNoHop(PassesOn):
    """Passes @LOOKUP on with the TTL that it came with."""

    kind = (SisterLookup,)

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        return replace(copy, ttl=frame.ttl)


@in_server("FROG-34-04", "FROG-27-01")
class FindsLoseNoHop(PassesOn):
    """Passes @FIND on with the TTL that it came with."""

    kind = (SisterFind,)

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        return replace(copy, ttl=frame.ttl)


@in_server("FROG-34-04")
class OwnTtlIsTheMost(PassesOn):
    """Passes on no TTL beyond that which it gives its own requests."""

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        mesh = self.config.mesh
        return replace(copy, ttl=min(copy.ttl, mesh.lookup_ttl if isinstance(copy, SisterLookup) else mesh.find_ttl))


@in_server("FROG-34-04")
class FindsAsManyAsAreLeft(PassesOn):
    """Passes @FIND on with a limit that is lower by what it has found itself."""

    kind = (SisterFind,)

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        assert isinstance(frame, SisterFind), "only a find has a limit"
        return replace(copy, limit=max(1, frame.limit - len(self.candidates(state, frame.peer_key))))


@in_server("FROG-34-04")
class BecomesTheOrigin(PassesOn):
    """Passes a request on with itself as its origin."""

    def copy(self, state: State, frame: Request, copy: Any) -> Any:
        return replace(copy, server_id=self.config.server_id)


class Echoes(ServerMachine):
    """Passes requests of a kind back to their sender as well."""

    kind: type

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        _, flood = state.overlay.flood(key_of(frame))
        back = flood and isinstance(flood.side, Adjacent) and isinstance(frame, self.kind)
        sender = {flood.side.server_id} if flood and isinstance(flood.side, Adjacent) and back else set()
        return super().copies(state, frame, {*others, *sender}, salt)


@in_server("FROG-34-05")
class EchoesFinds(Echoes):
    """Passes @FIND on to its sender too."""

    kind = SisterFind


@in_server("FROG-34-05", "FROG-36-06")
class EchoesLookups(Echoes):
    """Passes @LOOKUP on to its sender too."""

    kind = SisterLookup


@in_server("FROG-36-05", "FROG-34-10")
class AsksTheFirstAlone(ServerMachine):
    """Passes @LOOKUP on to one sister, always the same."""

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        return super().copies(state, frame, sorted(others)[:1], salt)


@in_server("FROG-34-10")
class AsksTheSameSeven(ServerMachine):
    """Draws the same subset of its sisters for each request."""

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        return super().copies(state, frame, others, "")


@in_server("FROG-34-11")
class NoRateForFloods(ServerMachine):
    """Takes as many floods as a sister sends."""

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        return super().flooded(
            replace(state, meter=replace(state.meter, spent=type(state.meter.spent)())), channel, frame, act
        )


# -- how often -----------------------------------------------------------------------------------------------------------


class Recalls(ServerMachine):
    """Remembers fewer of the floods that it has seen."""

    def remembered(self, state: State, frame: Request) -> Flood | None:
        flood = super().remembered(state, frame)
        return flood if flood and self.recalls(state, frame, flood) else None

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        raise TypeError(f"{type(self).__name__} does not say what it remembers")


@in_server("FROG-34-06", "FROG-27-01")
class FindsComeTwice(Recalls):
    """Takes an @FIND that it has seen as a new one."""

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return isinstance(frame, SisterLookup)


@in_server("FROG-34-06", "FROG-27-01", "FROG-36-03")
class LookupsComeTwice(Recalls):
    """Takes an @LOOKUP that it has seen, and has no route of, as a new one."""

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return isinstance(frame, SisterFind) or self.is_routed(state, frame)


@in_server("FROG-34-06", "FROG-27-01")
class KnowsCopiesBySender(Recalls):
    """Takes a request that it has seen as a new one where another sister sends it."""

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        _, flood = state.overlay.flood(key_of(frame))
        agrees = flood is not None and flood.fields == Flood(frame, None, 0, 0).fields
        if flood and agrees and isinstance(flood.side, Adjacent) and flood.side.server_id != state.sister(channel):
            return act(state)
        return super().flooded(state, channel, frame, act)

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return True


@in_server("FROG-34-06", "FROG-34-07")
class KnowsCopiesByTtl(Recalls):
    """Takes a request that it has seen as a new one where its TTL is greater."""

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return frame.ttl <= flood.request.ttl or self.is_routed(state, frame)


@in_server("FROG-34-06")
class KnowsFindsByFcid(ServerMachine):
    """Takes an @FIND for a copy of another origin's with the same FCID."""

    def find_of_sister(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        alike = (flood.request for flood in state.overlay.floods.values() if not flood.cid)
        if any(
            isinstance(it, SisterFind) and it.fcid == frame.fcid and it.server_id != frame.server_id for it in alike
        ):
            return Step(state)
        return super().find_of_sister(state, channel, frame)


@in_server("FROG-34-06", "FROG-34-07", "FROG-36-03")
class FoundAgain(ServerMachine):
    """Answers each copy of an @LOOKUP with @FOUND while its target is here."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step, flood = super().lookup_of_sister(state, channel, frame), self.remembered(state, frame)
        if step.owes or flood is None or frame.target not in state.peers or self.conflicts(state, frame):
            return step
        return Step(step.state, (Expectation("", SisterFound(frame.route_id, frame.target), channel),))


@in_server("FROG-34-07")
class CopiesAreBadState(ServerMachine):
    """Says BAD_STATE of a copy that agrees."""

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        if self.remembered(state, frame) is None:
            return super().flooded(state, channel, frame, act)
        id = frame.route_id if isinstance(frame, SisterLookup) else frame.fcid
        return Step(state, (Expectation("", SisterErr(id, Code.BAD_STATE), channel),))


@in_server("FROG-34-12")
class ForgetsFindsEarly(Recalls):
    """Knows a copy of an @FIND for half its time."""

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return isinstance(frame, SisterLookup) or state.now < flood.expires_at - self.config.timers.find_s / 2


@in_server("FROG-34-13")
class ForgetsLookupsEarly(Recalls):
    """Knows a copy of an @LOOKUP for half its time."""

    def recalls(self, state: State, frame: Request, flood: Flood) -> bool:
        return isinstance(frame, SisterFind) or state.now < flood.expires_at - self.config.timers.lookup_s / 2
