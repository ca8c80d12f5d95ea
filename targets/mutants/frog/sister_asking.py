"""Servers that ask their sisters wrongly, or answer their own clients wrongly for want of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.choosing import some_of
from reference_impl.frog.frames import (
    Err,
    Find,
    GetServers,
    Lookup,
    SisterChal,
    SisterFind,
    SisterList,
    SisterLookup,
    Try,
)
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed, without


@in_server("FROG-7.10-05")
class NamesFindsByTheirAsker(ServerMachine):
    """Gives all finds of one connection the same FCID."""

    def find_afar(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        return changed(super().find_afar(state, channel, frame), SisterFind, lambda it: replace(it, fcid=f"F{channel}"))


@in_server("FROG-24-09")
class LooksFurtherThanAllowed(ServerMachine):
    """Begins its lookups with a TTL of 8."""

    def look_afar(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        return changed(super().look_afar(state, channel, frame), SisterLookup, lambda it: replace(it, ttl=8))


@in_server("FROG-24-07")
class LooksForEver(ServerMachine):
    """Says nothing to a client whose lookup no sister answers."""

    def answers_due(self, state: State) -> ServerStep:
        return without(super().answers_due(state), Err)


@in_server("FROG-21-04")
class TriesThemAll(ServerMachine):
    """Sends a client all servers that it has verified, whatever the limit."""

    def tried(self, state: State, channel: Channel, frame: GetServers) -> ServerStep:
        every = set(state.verified.values()) - {self.config.uri}
        all_of_them = some_of(every, len(every), len(every))
        return changed(super().tried(state, channel, frame), Try, lambda it: replace(it, uris=all_of_them))


@in_server("FROG-14-03")
class SistersAreClientsToo(ServerMachine):
    """Says nothing to what only clients say, where a sister says it."""

    def sister_refused(self, state: State, channel: Channel, what: object) -> ServerStep:
        return Step(state)


@in_server("FROG-8-23")
class SignsTheUriWithoutItsEnd(ServerMachine):
    """Signs for a sister's URI without the slash with which her @HELLO has it."""

    def prove(self, state: State, channel: Channel, frame: SisterChal) -> ServerStep:
        held = state.connections[channel]
        assert held.link, "a sister's connection"
        nearly: Any = replace(held, link=replace(held.link, uri=held.link.uri.rstrip("/")))
        step = super().prove(state.moved(channel, nearly), channel, frame)
        return replace(step, state=step.state.moved(channel, replace(step.state.connections[channel], link=held.link)))


@in_server("FROG-46-02")
class KnowsNoLists(ServerMachine):
    """Passes over @LIST as if there were no such command."""

    def listed(self, state: State, channel: Channel, frame: SisterList) -> ServerStep:
        return Step(state)
