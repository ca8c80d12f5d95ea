"""A relay beside its oracle: what it says in any session is judged by the machine alone."""

from __future__ import annotations

from typing import Any

from harness.judging.trial import Trial
from harness.judging.watch import Watch
from reference_impl.core import Channel
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import Deliver, Frame, Hangup, Heartbeat, PushOpened, ReceiveOpened
from reference_impl.trueseal.relay import RelayMachine
from suites.trueseal.line import TruesealLine, meaning
from suites.trueseal.relay.under_test import Device, PrivateRelay, PushLine


class RelayWatch(Watch[Any]):
    """The relay of one machine run, its sessions by number, and the oracle."""

    telling = (Deliver,)  # are all sessions of a device served, or the newest alone?

    def __init__(self, trial: Trial, relay: PrivateRelay, large_frames: bool) -> None:
        super().__init__(trial, RelayMachine(relay.limit))
        self.relay, self.codec = relay, Codec(large_frames)
        self.sessions: dict[int, TruesealLine] = {}
        self.devices: dict[int, Device] = {}  # of the Receive Sessions among them
        self.ids: dict[bytes, list[int]] = {}  # that each device was shown, by its key
        self._readers: dict[int, Reader] = {}
        self._next = 0
        self._witness: PushLine | None = None

    # -- sessions -------------------------------------------------------------------------------------------------

    async def pusher(self) -> int:
        channel = await self.open_push()
        await self.rest()
        return channel

    async def receiver(self, device: Device) -> int:
        channel = await self.open_receive(device)
        await self.asked(channel)
        return channel

    async def open_push(self) -> int:
        channel = self._number(PushOpened())
        self._follow(channel, await self.relay.pusher())
        return channel

    async def open_receive(self, device: Device) -> int:
        channel = self._number(ReceiveOpened(device.public))
        self.devices[channel] = device
        self._follow(channel, await self.relay.device(device))
        return channel

    def _number(self, opened: PushOpened | ReceiveOpened) -> int:
        self._next += 1
        self.told(self._next, opened)
        return self._next

    def _follow(self, channel: int, line: TruesealLine) -> None:
        self.sessions[channel], self._readers[channel] = line, self.codec.reader()
        self.follow(channel, line.inbox)

    def _judge(self, channel: Channel, frame: Any) -> None:
        """Rules are chosen by what was judged so far, never by what happens to have arrived."""
        super()._judge(channel, frame)
        assert isinstance(channel, int), "a session has a number"
        match frame:
            case Hangup():
                self._forget(channel)
                self.oracle.forget(channel)  # it reads and says nothing there any more
            case Deliver(blob_id, _) if channel in self.devices:
                self.ids.setdefault(self.devices[channel].public, []).append(blob_id)

    def _forget(self, channel: int) -> None:
        self.sessions.pop(channel, None)
        self.devices.pop(channel, None)

    async def hang_up(self, channel: int, politely: bool, *behind: bytes) -> None:
        """Behind these words, without a look at what they bring; what was said before was read."""
        await self.witnessed()
        if channel in self.sessions:
            await self.plain(channel, *behind)
            await self.leave(channel, politely)
            await self.rest()

    async def leave(self, channel: int, politely: bool) -> None:
        line = self.sessions[channel]
        self._forget(channel)
        self.told(channel, Hangup())
        await line.part(politely)

    async def crash(self) -> None:
        await self.witnessed()
        self._witness = None
        for line in self.sessions.values():
            line.inbox.shut()
        self.sessions.clear()
        self.devices.clear()
        await self.relay.restart()
        self.oracle.crash()

    # -- saying ---------------------------------------------------------------------------------------------------

    async def say(self, channel: int, *frames: Frame) -> None:
        for frame in frames:
            await self.plain(channel, *self.codec.encode(frame))

    async def plain(self, channel: int, *messages: bytes) -> None:
        """Whatever it is, the oracle is told what it means."""
        for message in messages:
            if (event := meaning(self._readers[channel], message)) is not None:
                self.told(channel, event)
            await self.sessions[channel].plain(message)

    async def witnessed(self) -> None:
        """What was said was read by now, and the relay's end of a session has come.

        A Heartbeat proves nothing of who beats unasked as well; that another session behind it was served does.
        """
        if not self._witness:
            self._witness = await self.relay.pusher()
        await self._witness.fence("TS-HB-02")
        await self.rest()

    async def asked(self, channel: int) -> None:
        """The relay has read what was said in this session, or has ended it."""
        if channel in self.sessions:
            await self.say(channel, Heartbeat())
        await self.rest()
