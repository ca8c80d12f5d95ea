"""How a walk through the relay is led."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.judging.trial import Trial
from harness.touring.world import Crash, Stimulus
from reference_impl.core import Channel
from reference_impl.trueseal.frames import Hangup, PushOpened, ReceiveOpened
from suites.common.guide import Guiding
from suites.trueseal.relay.inputs import DEVICES
from suites.trueseal.relay.under_test import PrivateRelay
from suites.trueseal.relay.watch import RelayWatch


class RelayGuide(Guiding[Any], RelayWatch):
    """Leads the relay through a walk, with one fence behind each letter."""

    def __init__(self, trial: Trial, relay: PrivateRelay, large_frames: bool) -> None:
        super().__init__(trial, relay, large_frames)
        self._spoke: int | None = None  # the session in which the relay has still to be asked

    async def perform(self, stimulus: Stimulus) -> None:
        if isinstance(stimulus, Crash):
            return await self.crash()
        channel, event = stimulus.channel, stimulus.event
        assert isinstance(channel, int), "a session has a number"
        match event:
            case PushOpened():
                assert await self.open_push() == channel, "letters number sessions in their order"
            case ReceiveOpened(device):
                assert await self.open_receive(DEVICES[device]) == channel, "letters number sessions in their order"
                self._spoke = channel
            case _ if channel not in self.sessions:
                pass  # the relay has ended it meanwhile
            case Hangup():
                await self.witnessed()
                await self.depart(channel)
            case message:
                self._spoke = channel if channel in self.devices else None
                await self.plain(channel, message)

    async def depart(self, channel: int) -> None:
        """Politely and not, by turns; it may have ended by now."""
        if channel in self.sessions:
            await self.leave(channel, politely=channel % 2 == 0)

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        """What is pushed is answered; behind what a device said a Heartbeat proves that it was read."""
        await self.asked(self._spoke or 0)
        self._spoke = None
        return self._taken()
