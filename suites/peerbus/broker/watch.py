"""A broker beside its oracle: what it says on any connection is judged by the machine alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.touring.tour import likeliest
from harness.touring.world import Crash, Stimulus
from reference_impl.core import Channel, Overdue
from reference_impl.io.carrier import LOST
from reference_impl.peerbus.broker import ANYBODY_ACKS, BrokerMachine
from reference_impl.peerbus.frames import Close, Opened, Peers
from suites.common.guide import Guiding
from suites.peerbus.broker.under_test import ANYBODY_MAY_ACK, BrokerLine, PrivateBroker
from suites.peerbus.said import Said, count, say, understood


class BrokerWatch(Watch[Any]):
    """The broker of one machine run, its connections by number, and the oracle."""

    def __init__(self, trial: Trial, broker: PrivateBroker) -> None:
        super().__init__(trial, BrokerMachine(frozenset(broker.tokens)))
        self.broker = broker
        self.connections: dict[int, BrokerLine] = {}
        self._next = 0

    @property
    def registered(self) -> dict[int, str]:
        """The connections that have a name."""
        held = likeliest(self.oracle).state.connections
        return {line: held[line].name for line in self.connections if held.get(line)}

    def told(self, channel: Channel, event: Any) -> None:
        """Counted by where the connection stands: a run that never gets beyond its beginning shows."""
        count(self.trial, likeliest(self.oracle).state.phase(channel), event)
        super().told(channel, event)

    async def connect(self) -> int:
        self._next += 1
        line = self._next
        self.told(line, Opened())
        self.connections[line] = await self.broker.connect(f"c{line}")
        self.follow(line, self.connections[line].inbox)
        return line

    def heard(self, channel: Channel, frame: Any) -> None:
        if isinstance(channel, int) and isinstance(frame, Close):
            self.connections.pop(channel, None)
        super().heard(channel, frame)

    async def settle(self) -> None:
        await super().settle()
        if all(position.state.choices.get(ANYBODY_ACKS) for position in self.oracle.frontier):
            self.trial.warn("PB-2.2-06", ANYBODY_MAY_ACK)

    async def say(self, line: int, said: Said) -> None:
        """On a connection that was closed meanwhile it goes nowhere: whether that may be is judged when it settles."""
        self.told(line, understood(said))
        if peer := self.connections.get(line):
            await say(peer, said)

    async def ask(self, line: int) -> None:
        """Prove that the broker has read what was said on this connection."""
        if line in self.registered:
            await self.say(line, Peers())
        await self.settle()

    async def ask_all(self) -> None:
        for line in self.registered:
            await self.ask(line)

    async def hang_up(self, line: int, code: int) -> None:
        """Close, or drop the connection: code 1006."""
        await self.ask(line)
        if (peer := self.connections.pop(line, None)) is None:
            return
        self.told(line, Close(code))
        await peer.part(code != LOST, code)
        await self.until_certain()

    async def until_certain(self) -> None:
        """Ask until the broker has shown that it noticed who is gone (PB-2.3-06)."""
        deadline = self.clock.now() + self.trial.patience_s
        while not self.oracle.certain and (asker := next(iter(self.registered), None)):
            await self.ask(asker)
            if self.clock.now() > deadline:
                raise Overdue(self.oracle.overdue())

    async def crash(self) -> None:
        for peer in self.connections.values():
            peer.inbox.shut()
        self.connections.clear()
        await self.broker.restart()
        self.oracle.crash()


class BrokerGuide(Guiding[Any], BrokerWatch):
    """Leads the broker through a walk, with one fence behind each letter."""

    def __init__(self, trial: Trial, broker: PrivateBroker) -> None:
        super().__init__(trial, broker)
        self._spoke: int | None = None  # the connection that the broker has still to be asked on

    async def perform(self, stimulus: Stimulus) -> None:
        if isinstance(stimulus, Crash):
            await self.ask_all()
            return await self.crash()
        line, event = stimulus.channel, stimulus.event
        assert isinstance(line, int), "connections have numbers"
        if isinstance(event, Opened):
            assert await self.connect() == line, "letters number connections in their order"
        elif isinstance(event, Close):
            await self.hang_up(line, event.code)
        else:
            self._spoke = line if line in self.registered else None
            await self.say(line, event)

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        """A first frame is answered, by `peers` or a close; behind all else a question proves that it was read."""
        if self._spoke is not None:
            await self.ask(self._spoke)
            self._spoke = None
        await self.settle()
        return self._taken()
