"""Servers that answer in a state what they may not, or refuse it with another error."""

from __future__ import annotations

from immutables import Map

from reference_impl.core import Channel, Row, Step
from reference_impl.frog.frames import (
    Err,
    Find,
    GetServers,
    Hello,
    Join,
    Leave,
    Lookup,
    Malformed,
    Sister,
    SisterErr,
    SisterHello,
    Stray,
    ToServer,
)
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import TABLE, ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed

M = ServerMachine


@in_server("FROG-14-02", "FROG-14-04")
class ClientsMayBecomeSisters(ServerMachine):
    """Lets a client's connection become a sister's by @HELLO."""

    def mixed(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        if isinstance(frame, SisterHello):
            return self.sister_hello(state, channel, frame)
        return super().mixed(state, channel, frame)


@in_server("FROG-14-04", "FROG-14-02", "FROG-38-01")
class AnswersLikeASister(ServerMachine):
    """Answers a sister's command with @ERR, on a client's connection too."""

    def mixed(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        return changed(super().mixed(state, channel, frame), Err, lambda err: SisterErr(err.id, err.code))


@in_server("FROG-14-02", "FROG-5-13")
class SistersWordsAreIgnored(ServerMachine):
    """Ignores a sister's command on a client's connection."""

    def mixed(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        return Step(state)


@in_server("FROG-5-13")
class StraysAreIgnored(ServerMachine):
    """Ignores the words of a server."""

    def stray(self, state: State, channel: Channel, event: Stray) -> ServerStep:
        return Step(state)


@in_server("FROG-5-12", "FROG-15-05")
class UnknownWordsAreIgnored(ServerMachine):
    """Ignores a command that it does not know."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        unknown = event.frame is None and not event.severe
        return Step(state) if unknown else super().malformed(state, channel, event)


@in_server("FROG-15-01", "FROG-15-02")
class HelloAgain(ServerMachine):
    """Answers a second HELLO like the first, and forgets a challenge by it."""

    table = TABLE | {(Phase.HELLO_OK, Hello): Row((), M.hello), (Phase.AUTH_PENDING, Hello): Row((), M.hello)}


@in_server("FROG-15-01", "FROG-15-02")
class HelloIsAlwaysWelcome(ServerMachine):
    """Answers HELLO of a registered peer, and forgets on the way that it is registered."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        if isinstance(frame, Hello) and state.phase(channel) is Phase.REGISTERED:
            return self.hello(state, channel, frame)
        return super().bad_state(state, channel, frame)


@in_server("FROG-15-01", "FROG-15-02")
class LeavesBeforeHello(ServerMachine):
    """Answers LEAVE before HELLO."""

    table = TABLE | {(Phase.NEW, Leave): Row((), M.leave)}


@in_server("FROG-15-01", "FROG-15-03")
class ServersForEverybody(ServerMachine):
    """Answers GETSERVERS before HELLO."""

    table = TABLE | {(Phase.NEW, GetServers): Row((), M.get_servers)}


@in_server("FROG-21-01", "FROG-15-01", "FROG-15-03")
class ServersWhileItWaits(ServerMachine):
    """Answers GETSERVERS while a challenge is pending."""

    table = TABLE | {(Phase.AUTH_PENDING, GetServers): Row((), M.get_servers)}


@in_server("FROG-21-01")
class ServersForTheRegisteredOnly(ServerMachine):
    """Refuses GETSERVERS before registration."""

    table = TABLE | {(Phase.HELLO_OK, GetServers): Row((), M.bad_state)}


@in_server("FROG-15-01", "FROG-17-12")
class FindsBeforeItProves(ServerMachine):
    """Answers FIND as soon as a key is claimed."""

    table = TABLE | {(Phase.AUTH_PENDING, Find): Row((), M.find)}

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(state.networks.get(network_of(asker), Map())) - {asker}


@in_server("FROG-15-01", "FROG-15-02")
class LooksUpBeforeItProves(ServerMachine):
    """Answers LOOKUP as soon as a key is claimed."""

    table = TABLE | {(Phase.AUTH_PENDING, Lookup): Row((), M.lookup)}


@in_server("FROG-17-02", "FROG-15-01", "FROG-15-02")
class AnotherChallenge(ServerMachine):
    """Answers a JOIN while a challenge is pending with another challenge."""

    table = TABLE | {(Phase.AUTH_PENDING, Join): Row((), M.join)}
