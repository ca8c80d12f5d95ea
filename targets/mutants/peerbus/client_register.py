"""Clients that register wrongly, or take the wrong thing for the broker's consent."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.client import ClientMachine, ClientStep, Config, Phase, State
from reference_impl.peerbus.frames import Ack, Close, Deliver, Input, Opened, Peers, Register
from reference_impl.peerbus.host import HOST, SendRequest, Status
from targets.mutants.peerbus.shelf import shelf
from targets.mutants.peerbus.steps import also


@shelf.breaks("PB-2.1-01", "PB-7-01", role="client")
class AsksFirst(ClientMachine):
    """Asks for peers before it registers."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Peers(), channel), *step.owes))


@shelf.breaks("PB-2.1-01", role="client")
class AcksBeforeItRegisters(ClientMachine):
    """Begins a new connection with the acks that the old one did not carry."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        keys = [key for keys in state.seen.keys.values() for key in keys]
        return replace(step, owes=(*(Expectation("", Ack(key), channel) for key in keys), *step.owes))


@shelf.breaks("PB-2.1-03", "PB-6-06", role="client")
class RegistersWithoutToken(ClientMachine):
    """Leaves the token of its register empty."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Register("", self.config.name), channel),))


@shelf.breaks("PB-2.1-03", role="client")
class FoldsItsName(ClientMachine):
    """Registers under its name without the characters that are not ASCII."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        name = self.config.name.encode("ascii", "ignore").decode()
        return replace(step, owes=(Expectation("", Register(self.config.token, name), channel),))


@shelf.breaks("PB-2.1-04", "PB-6-10", role="client")
class TellsItsSecret(ClientMachine):
    """Signs its messages with the secret in plain sight."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        step = super().send(state, channel, request)
        [owed] = step.owes
        told = replace(owed.template, source=self.config.secret.hex())
        return replace(step, owes=(replace(owed, template=told),))


@dataclass(frozen=True, slots=True)
class Careless(Config):
    """Takes whatever it is given."""

    def __post_init__(self) -> None:
        pass


@shelf.breaks("PB-2.1-06", role="client")
class HasNoName(ClientMachine):
    """Registers under an empty name."""

    config_type = Careless


@shelf.breaks("PB-2.1-15", role="client")
class TrustsTheBroker(ClientMachine):
    """Takes itself for connected as soon as the register is sent."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        up = Expectation("", Status(True), HOST)
        return also(replace(step, state=replace(step.state, phase=Phase.ONLINE)), up)


@shelf.breaks("PB-2.1-15", role="client")
class TakesGoodbyeForYes(ClientMachine):
    """Reports a connection when the broker closes the handshake with 1000."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        clean = state.phase is Phase.REGISTERING and isinstance(event, Close) and event.code == 1000
        return also(step, Expectation("", Status(True), HOST)) if clean else step


@shelf.breaks("PB-2.1-29", role="client")
class LooksForItself(ClientMachine):
    """Takes a peers frame that does not list its own name for a rejection."""

    def accepted(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        if self.config.name not in frame.names:
            return self.give_up(state, channel, frame)
        return super().accepted(state, channel, frame)


@shelf.breaks("PB-2.1-30", "PB-7-01", role="client")
class TakesAnyAnswer(ClientMachine):
    """Takes whatever comes first for the broker's consent."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        return self.accepted(state, channel, Peers())


@shelf.breaks("PB-2.1-30", role="client")
class WaitsForPeers(ClientMachine):
    """Skips what comes before the peers frame instead of giving up."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        return Step(state)


@shelf.breaks("PB-2.1-30", role="client")
class SurfacesTooEarly(ClientMachine):
    """Gives up on a delivery that comes first, but surfaces it all the same."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().give_up(state, channel, event)
        if not isinstance(event, Deliver):
            return step
        return also(step, Expectation("", self.surfaced(event.envelope), HOST))


@shelf.breaks("PB-2.1-31", role="client")
class DislikesNews(ClientMachine):
    """Hangs up when peers come that nobody asked for."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        return super().listed(state, channel, frame) if state.asked else self.give_up(state, channel, frame)


@shelf.breaks("PB-2.1-33", role="client")
class RegistersAgain(ClientMachine):
    """Registers once more on the same connection when unasked peers do not list it."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        step = super().listed(state, channel, frame)
        again = Expectation("", Register(self.config.token, self.config.name), channel)
        return step if state.asked or self.config.name in frame.names else also(step, again)


@shelf.breaks("PB-6-05", role="client")
class Negotiates(ClientMachine):
    """Tries another version when it is turned away."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        version = "v1" if state.attempt < 1 else "v0"
        register = Register(self.config.token, self.config.name, version)
        return replace(step, owes=(Expectation("", register, channel),))
