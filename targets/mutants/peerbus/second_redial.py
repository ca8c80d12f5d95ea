"""Clients that mix up two connections, two questions, or a message of either."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.client import ClientMachine, ClientStep, Config, Phase, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Input, Opened, Peers, Register
from reference_impl.peerbus.host import HOST, PeersListed, PeersRequest
from targets.mutants.peerbus.shelf import shelf


@shelf.breaks("PB-7-04", role="client")
class AsksOneAtATime(ClientMachine):
    """Loses a question for peers that its host asks while another is under way."""

    def ask_peers(self, state: State, channel: Channel, event: PeersRequest) -> ClientStep:
        return Step(state) if state.asked else super().ask_peers(state, channel, event)


@shelf.breaks("PB-2.3-05", "PB-7-04", role="client")
class AnswersFromOldNews(ClientMachine):
    """Keeps peers that nobody asked for, and answers its host's next question with them."""

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, codec)
        self.news: list[Peers] = []

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        if not state.asked:
            self.news.append(frame)
            return Step(state)
        return super().listed(state, channel, self.news.pop(0) if self.news else frame)


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class ComesBackOnce(ClientMachine):
    """Redials after the first drop, and not after the second."""

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, codec)
        self.drops = 0

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        self.drops += state.phase is Phase.ONLINE
        return step if self.drops < 2 else replace(step, state=replace(step.state, phase=Phase.STOPPED))


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class GivesUpAfterEightDials(ClientMachine):
    """Dials no more when eight dials in a row have failed."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        return step if step.state.attempt < 9 else replace(step, state=replace(step.state, phase=Phase.STOPPED))


@shelf.breaks("PB-5-21", "PB-2.1-03", role="client")
class ComesBackWithoutToken(ClientMachine):
    """Leaves the token of its register empty when it comes back."""

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, codec)
        self.known = False

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        back = self.known
        self.known = True
        return replace(step, owes=(Expectation("", Register("", self.config.name), channel),)) if back else step


@shelf.breaks("PB-5-07", "PB-5-10", role="client")
class SurfacesTheUnconsumedAgain(ClientMachine):
    """Surfaces again after a redial what its host has, and has not consumed."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().repeated(state, channel, frame)
        if all(copy.connection == channel for copy in state.waiting[frame.envelope.id]):
            return step
        return replace(step, owes=(Expectation("", self.surfaced(frame.envelope), HOST),))


@shelf.breaks("PB-2.4-17", "PB-2.3-05", role="client")
class HoldsSixteen(ClientMachine):
    """Loses what comes while its host has sixteen messages to consume."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        full = len(state.waiting) >= 16 and frame.envelope.id not in state.waiting
        return Step(state) if full else super().deliver(state, channel, frame)


@shelf.breaks("PB-7-04", role="client")
class AnswersWithTheRegister(ClientMachine):
    """Answers its host's first question with the names that the register was answered with."""

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, codec)
        self.first: tuple[str, ...] | None = None

    def accepted(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        self.first = frame.names
        return super().accepted(state, channel, frame)

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        step = super().listed(state, channel, frame)
        if not step.owes or self.first is None:
            return step
        stale, self.first = PeersListed(self.first), None
        return replace(step, owes=(replace(step.owes[0], template=stale),))
