"""Clients that measure wrongly, and that cut what is large in the wrong way."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.trueseal.client import HOST, ClientMachine, ClientStep, State
from reference_impl.trueseal.client_io import CannotPush, Client, Line
from reference_impl.trueseal.frames import (
    KEY_SIZE,
    MAX_ENVELOPE,
    Frame,
    Hangup,
    Push,
    Queued,
    Refused,
    Rejected,
    Submit,
)
from reference_impl.trueseal.noise import Pattern
from targets.mutants.trueseal import wire
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import also


class Refuses(ClientMachine):
    """Refuses other sizes than it should."""

    most = MAX_ENVELOPE

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        if len(event.envelope) > self.most:
            return Step(state, (Expectation("", Refused("push"), HOST, lane="submits"),))
        return super().submit(state, channel, event)


@broken("TS-SIZE-01")
class RefusesTheLimit(Refuses):
    """Refuses an envelope of exactly the limit."""

    most = MAX_ENVELOPE - 1


@broken("TS-SIZE-01")
class RefusesOver65482(Refuses):
    """Refuses what does not fit into one Noise message."""

    most = 65_482


@broken("TS-SIZE-02", "TS-SIZE-01")
class CountsTheKey(Refuses):
    """Counts the recipient's key as well."""

    most = MAX_ENVELOPE - KEY_SIZE


@broken("TS-SIZE-02", "TS-SIZE-03")
class CountsWithoutTheKey(ClientMachine):
    """Takes an envelope of up to 32 bytes over the limit, since it measures what is behind them, and loses it."""

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        if not MAX_ENVELOPE < len(event.envelope) <= MAX_ENVELOPE + KEY_SIZE:
            return super().submit(state, channel, event)
        blob = state.durable.next
        after = replace(state, durable=replace(state.durable, next=blob + 1))
        return Step(after, (Expectation("", Queued(blob), HOST, lane="submits"),))


@broken("TS-SIZE-03")
class RejectsLater(ClientMachine):
    """Takes an envelope over the limit, and tells later that it was rejected."""

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        if len(event.envelope) <= MAX_ENVELOPE:
            return super().submit(state, channel, event)
        blob = state.durable.next
        after = replace(state, durable=replace(state.durable, next=blob + 1))
        return also(Step(after), HOST, Queued(blob), Rejected(blob))


@broken("TS-SIZE-04", "TS-SIZE-03")
class DialsBeforeItMeasures(Client):
    """Opens a Push Session, measures the envelope and closes it again."""

    def push(self, recipient: bytes, envelope: bytes) -> int:
        try:
            return super().push(recipient, envelope)
        except CannotPush:
            self._run(self.dial_for_nothing())
            raise

    async def dial_for_nothing(self) -> None:
        if sealed := await self._open(Pattern.NK, self.config.push_port):
            await sealed.close()


@broken("TS-FRM-01")
class BeatsBetweenPieces(Client):
    """Lets other frames go out between the messages of a large Push."""

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if not isinstance(frame, Push):
            super().put(line, frame)
            return
        first, *rest = self.codec.encode(frame)
        line.say(first)
        for n, message in enumerate(rest, 1):
            asyncio.get_running_loop().call_later(0.02 * n, line.say, message)


@broken("TS-FRM-01")
class PushesIn1500(wire.CutsAt):
    """Cuts what it sends at 1,500 bytes, though a larger frame fits into one Noise message."""

    at = 1_500


@broken("TS-FRM-01")
class PushesIn65518(wire.CutsAt):
    """Sends a frame of exactly 65,519 bytes in two Noise messages."""

    at = 65_518


@broken("TS-FRM-01")
class PushesAnEmptyMessage(wire.EndsWithAnEmptyMessage):
    """Sends an empty message behind a Push that fills its last one."""


@broken("TS-FRM-01", "TS-SIZE-01")
class PushesWithHeaders(wire.RepeatsTheHeader):
    """Sends the header again with each message of a large Push."""
