"""How a walk through the client is led."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.judging.trial import Trial
from harness.touring.world import Crash, Stimulus
from reference_impl.core import Channel
from reference_impl.trueseal.client import NETWORK
from reference_impl.trueseal.frames import Beat, Dial, Hangup, PushSession, ReceiveOpened, Start, Submit
from suites.common.guide import Guiding
from suites.trueseal.client.under_test import PrivateClient
from suites.trueseal.client.watch import Arrived, ClientWatch


class ClientGuide(Guiding[Any], ClientWatch):
    """Leads the client through a walk. What must show something is waited for; letters put their own fences behind the rest."""

    def __init__(self, trial: Trial, client: PrivateClient, large_frames: bool) -> None:
        super().__init__(trial, client, large_frames)
        client.retry_ms = 1
        self._ends = 0

    def _as_walked(self, channel: Channel, frame: Any) -> tuple[Channel, Any]:
        return channel, Dial() if isinstance(frame, Arrived) else frame

    async def start(self) -> None:
        """As every walk begins."""
        await super().start()
        self._taken()

    async def perform(self, stimulus: Stimulus) -> None:
        if isinstance(stimulus, Crash):
            return await self.crash()
        match stimulus.channel, stimulus.event:
            case _, Start():
                pass  # as it was started again
            case _, Submit(recipient, envelope):
                await self.submit(recipient, envelope)
            case _, Beat():
                await self.beat()
            case _, ReceiveOpened():
                await self.take()
            case PushSession() as session, event:
                await self._perform_in(session, event)
            case channel, event:
                await self._perform_on(channel, event)

    async def _perform_on(self, channel: Channel, event: Any) -> None:
        """On the Receive Session, or on the connection that is to be one."""
        if channel == NETWORK:
            return await self.turn_away()
        if isinstance(event, Hangup):
            await self.rest()
        if self.line and isinstance(event, Hangup):
            await self.leave(self._politely())
        elif self.line:
            await self._say(event)

    async def _perform_in(self, session: PushSession, event: Any) -> None:
        """In a Push Session, which the client may have ended by now."""
        if isinstance(event, Hangup):
            await self.rest()
        if session not in self._lines:
            return
        if isinstance(event, Hangup):
            await self.cut_off(session, self._politely())
            return
        await self.say_in(session, event)

    def _politely(self) -> bool:
        self._ends += 1
        return self._ends % 2 == 0

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        await self.rest()
        return self._taken()
