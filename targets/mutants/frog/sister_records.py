"""Servers that call a server verified which they never dialled, or tell others the wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.choosing import some_of
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import (
    SisterHello,
    SisterList,
    SisterOk,
    SisterServers,
    Try,
)
from reference_impl.frog.grammar import Form
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Link
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


def recorded(state: State, server_id: str, uri: str) -> State:
    return replace(state, verified=state.verified.set(server_id, uri))


def claims(state: State) -> dict[str, str]:
    """Where live sisters say that they are."""
    links = (held.link for held in state.connections.values() if held.phase is Phase.SISTER)
    return {link.server_id: link.uri for link in links if link}


# -- what is verified ----------------------------------------------------------------------------------------------------


@in_server("FROG-30-02", "FROG-30-04", "FROG-33-05", "FROG-3.9-01")
class InboundIsVerified(ServerMachine):
    """Calls the URI of a sister that dialled in verified."""

    def completed(self, state: State, channel: Channel, frame: SisterOk) -> ServerStep:
        link = state.connections[channel].link
        assert link, "a sister's connection"
        return super().completed(recorded(state, link.server_id, link.uri), channel, frame)


@in_server("FROG-30-05")
class InboundMovesARecord(ServerMachine):
    """Takes another URI for a verified server from her own connection."""

    def completed(self, state: State, channel: Channel, frame: SisterOk) -> ServerStep:
        link = state.connections[channel].link
        if link and link.server_id in state.verified:
            state = recorded(state, link.server_id, link.uri)
        return super().completed(state, channel, frame)


@in_server("FROG-30-01")
class ClaimsAreVerified(ServerMachine):
    """Calls the URI verified that a server claims, though it dialled another one."""

    def verified(self, state: State, channel: Channel) -> State:
        link = state.connections[channel].link
        assert link, "a sister's connection"
        return recorded(super().verified(state, channel), link.server_id, link.uri)


@in_server("FROG-30-01")
class VerifiedByGreeting(ServerMachine):
    """Calls a server verified once it has greeted, before it has proven anything."""

    def hello_back(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        step = super().hello_back(state, channel, frame)
        greeted = step.state.phase(channel) is Phase.GREETED
        return replace(step, state=recorded(step.state, frame.server_id, frame.uri)) if greeted else step


@in_server("FROG-30-01")
class VerifiedAsExpected(ServerMachine):
    """Takes whoever answers where a server was said to be, and lists her under the id that was expected."""

    def hello_back(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        held = state.connections[channel]
        target = state.overlay.targets.get(held.link.dialled) if held.link else None
        if target is None or target.server_id in ("", frame.server_id) or held.link is None:
            return super().hello_back(state, channel, frame)
        overlay = state.overlay.aimed(held.link.dialled, replace(target, server_id=frame.server_id))
        expected = recorded(replace(state, overlay=overlay), target.server_id, held.link.dialled)
        return super().hello_back(expected, channel, frame)


@in_server("FROG-33-08", "FROG-30-04", "FROG-33-05")
class NamedIsVerified(ServerMachine):
    """Calls every server verified that a sister names."""

    def servers(self, state: State, channel: Channel, frame: SisterServers) -> ServerStep:
        step = super().servers(state, channel, frame)
        after = step.state
        for server_id, uri in frame.servers:
            after = recorded(after, server_id, uri)
        return replace(step, state=after)


@in_server("FROG-30-05", "FROG-30-04")
class NamedMovesARecord(ServerMachine):
    """Takes another URI for a verified server from what a sister tells."""

    def servers(self, state: State, channel: Channel, frame: SisterServers) -> ServerStep:
        step = super().servers(state, channel, frame)
        after = step.state
        for server_id, uri in frame.servers:
            after = recorded(after, server_id, uri) if server_id in state.verified else after
        return replace(step, state=after)


@in_server("FROG-30-06")
class TheFirstRecordStays(ServerMachine):
    """Keeps the URI at which it met a server first."""

    def verified(self, state: State, channel: Channel) -> State:
        link, after = state.connections[channel].link, super().verified(state, channel)
        known = state.verified.get(link.server_id) if link else None
        return recorded(after, link.server_id, known) if link and known else after


@in_server("FROG-33-08")
class DialsNoCandidate(ServerMachine):
    """Never dials a server that it hears of."""

    def candidate(self, state: State, link: Link | None) -> State:
        return state


# -- what is told --------------------------------------------------------------------------------------------------------


class Telling(ServerMachine):
    """Answers @LIST with other records."""

    def listed(self, state: State, channel: Channel, frame: SisterList) -> ServerStep:
        known = {id: uri for id, uri in state.verified.items() if id != state.sister(channel)}
        pairs = some_of(set(self.told(state, channel, known).items()), min(7, self.most(frame)))
        return changed(super().listed(state, channel, frame), SisterServers, lambda it: replace(it, servers=pairs))

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return known

    def most(self, frame: SisterList) -> int:
        return frame.limit


@in_server("FROG-33-06")
class ListsItself(Telling):
    """Names itself among the servers that it knows."""

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return known | {self.config.server_id: self.config.uri}


@in_server("FROG-33-06", "FROG-33-05")
class ListsItselfWhenAlone(Telling):
    """Names itself where it knows nobody else."""

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return known or {self.config.server_id: self.config.uri}


@in_server("FROG-33-07")
class ListsTheAsker(Telling):
    """Tells a sister of herself."""

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return dict(state.verified)


@in_server("FROG-33-05", "FROG-30-04")
class ListsWhoeverIsLive(Telling):
    """Names sisters where they say that they are, verified or not."""

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return {id: uri for id, uri in claims(state).items() if id != state.sister(channel)} | known


@in_server("FROG-30-05")
class ListsWhereSheSaysSheIs(Telling):
    """Names a verified sister at the URI of her latest @HELLO."""

    def told(self, state: State, channel: Channel, known: dict[str, str]) -> dict[str, str]:
        return {id: claims(state).get(id, uri) for id, uri in known.items()}


@in_server("FROG-33-04")
class ListsAll(Telling):
    """Lists seven servers whatever the limit."""

    def most(self, frame: SisterList) -> int:
        return 7


@in_server("FROG-33-04")
class ListsOneMore(Telling):
    """Lists one server more than the limit."""

    def most(self, frame: SisterList) -> int:
        return frame.limit + 1


@in_server("FROG-33-01")
class ListsUnderAnotherName(ServerMachine):
    """Answers @LIST with an FCID of its own."""

    def listed(self, state: State, channel: Channel, frame: SisterList) -> ServerStep:
        return changed(super().listed(state, channel, frame), SisterServers, lambda it: replace(it, fcid="G"))


@in_server("FROG-33-01")
class NothingToTell(ServerMachine):
    """Says nothing to @LIST where it knows no server."""

    def listed(self, state: State, channel: Channel, frame: SisterList) -> ServerStep:
        others = set(state.verified) - {state.sister(channel)}
        return super().listed(state, channel, frame) if others else Step(state)


@in_server("FROG-33-02")
class ClampsLists(Codec):
    """Takes @LIST with any limit for the nearest one that is legal."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.frame is SisterList and len(texts) == 2 and texts[1].isdigit():
            texts = [texts[0], str(min(7, max(1, int(texts[1]))))]
        return super().fill(form, texts, payload)


@in_server("FROG-33-03")
class TellsTheNumberOfFields(Codec):
    """Counts fields in @SERVERS, and not pairs."""

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Iterator[str]:
        count, *rest = super().listing(form, entries)
        yield str(len(rest)) if form.frame is SisterServers else count
        yield from rest


@in_server("FROG-30-04")
class TriesWhoeverIsLive(ServerMachine):
    """Sends clients to sisters where they say that they are, verified or not."""

    def trying(self, state: State, cid: str, most: int) -> Try:
        uris = {*state.verified.values(), *claims(state).values()} - {self.config.uri}
        return Try(cid, some_of(uris, min(most, 7)))


@in_server("FROG-30-04")
class TriesSeeds(ServerMachine):
    """Sends clients to its seeds before it has met them."""

    def trying(self, state: State, cid: str, most: int) -> Try:
        uris = {*state.verified.values(), *(seed.uri for seed in self.config.mesh.seeds)}
        return Try(cid, some_of(uris, min(most, 7)))
