"""The relay beside its oracle: pushes, devices that come and go, acks right and wrong, crashes, as Hypothesis likes.

There is no expected frame in this file: whatever the relay says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from harness.targets import Target
from reference_impl.trueseal.frames import DeliverAck, Push
from suites.trueseal import wire
from suites.trueseal.relay.inputs import ANN, BOB, MISSHAPEN, NEIGHBOURS, NO_FRAME, ODD, pushes
from suites.trueseal.relay.under_test import LOWERED, ROLE, Device, PrivateRelay
from suites.trueseal.relay.watch import RelayWatch

DEVICES = st.integers(0, 2)
SPELLINGS = st.one_of(
    st.sampled_from([*wire.ODD_ENVELOPES.values(), b"", wire.field(3, BOB.public)]),
    st.sampled_from([47, 300, LOWERED - 10, LOWERED - 11]).map(bytes),
)
"""What an envelope ends with; it begins in its own way, since equal blobs are told apart by their ids only (`push_again`)."""


class Relay(LoopMachine):
    """Three devices on a relay of its own, two with keys that are much alike, each connected twice at most."""

    def __init__(self, trial: Trial, limit: int, large_frames: bool, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        relay = self.wait(PrivateRelay(trial, limit).start())
        self.watch: RelayWatch = RelayWatch(trial, relay, large_frames)
        self.known = [ANN, BOB, Device()]
        self.pushed = 0
        self.last: Push | None = None

    def pushers(self) -> list[int]:
        return sorted(set(self.watch.sessions) - set(self.watch.devices))

    def pick(self, data: st.DataObject, among: list[int], what: str) -> int:
        return data.draw(st.sampled_from(among), label=what)

    @initialize()
    def begin(self) -> None:
        self.wait(self.watch.pusher())
        for device in (ANN, BOB):
            self.wait(self.watch.receiver(device))

    @precondition(lambda self: len(self.pushers()) < 3)
    @rule()
    def open_a_push_session(self) -> None:
        self.wait(self.watch.pusher())

    @rule(device=DEVICES)
    def connect(self, device: int) -> None:
        """Anew, or once more beside the session that it has."""
        if list(self.watch.devices.values()).count(self.known[device]) < 2:
            self.wait(self.watch.receiver(self.known[device]))

    def blob(self, spelling: bytes) -> bytes:
        """The first of all is empty."""
        self.pushed += 1
        return wire.field(15, b"%06d" % (self.pushed * 7919 % 10**6)) + spelling if self.pushed > 1 else b""

    @precondition(lambda self: self.pushers())
    @rule(data=st.data(), device=DEVICES, spellings=st.lists(SPELLINGS, min_size=1, max_size=4))
    def push(self, data: st.DataObject, device: int, spellings: list[bytes]) -> None:
        """Several at once, to one that is connected or not."""
        channel = self.pick(data, self.pushers(), "session")
        pushes = [Push(self.known[device].public, self.blob(spelling)) for spelling in spellings]
        self.last = pushes[-1]
        self.wait(self._say(channel, *(message for push in pushes for message in self.watch.codec.encode(push))))

    @precondition(lambda self: self.pushers() and self.last)
    @rule(data=st.data())
    def push_again(self, data: st.DataObject) -> None:
        """The very same: another blob."""
        again, self.last = self.last, None
        assert again, "pushed before"
        self.wait(self._say(self.pick(data, self.pushers(), "session"), *self.watch.codec.encode(again)))

    @precondition(lambda self: self.pushers())
    @rule(data=st.data(), key=st.sampled_from(NEIGHBOURS))
    def push_to_nobody(self, data: st.DataObject, key: bytes) -> None:
        self.wait(self._say(self.pick(data, self.pushers(), "session"), wire.push(key, self.blob(b"lost"))))

    @precondition(lambda self: self.pushers())
    @rule(data=st.data(), device=DEVICES, bad=st.sampled_from(["short", "shorter", "large"]))
    def push_what_is_rejected(self, data: st.DataObject, device: int, bad: str) -> None:
        """A good Push behind it is Acked, or the session is over."""
        channel, key = self.pick(data, self.pushers(), "session"), self.known[device].public
        if bad == "large" and self.watch.relay.limit == wire.LIMIT:
            return  # it heeds no other, and so much need not be sent here
        message = wire.frame(wire.PUSH, key[: 31 if bad == "short" else 8])
        if bad == "large":
            message = wire.push(key, wire.blob(LOWERED + 1))
        self.wait(self._say(channel, message, wire.push(key, self.blob(b"good"))))

    @precondition(lambda self: self.watch.devices and any(self.watch.ids.values()))
    @rule(data=st.data(), foreign=st.booleans())
    def ack(self, data: st.DataObject, foreign: bool) -> None:
        """Ids of its own, acked before or not, or somebody else's."""
        channel = self.pick(data, sorted(self.watch.devices), "device")
        mine = self.watch.ids.get(self.watch.devices[channel].public, [])
        every = [id for ids in self.watch.ids.values() for id in ids]
        if ids := every if foreign else mine:
            acks = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3), label="ids")
            self.wait(
                self._say(channel, *(message for id in acks for message in self.watch.codec.encode(DeliverAck(id))))
            )

    @precondition(lambda self: self.watch.sessions)
    @rule(data=st.data(), count=st.integers(1, 3))
    def beat(self, data: st.DataObject, count: int) -> None:
        self.wait(self._say(self.pick(data, sorted(self.watch.sessions), "session"), *[wire.BEAT] * count))

    @precondition(lambda self: self.watch.devices)
    @rule(data=st.data(), stray=st.sampled_from([2**32, 2**63, 256, 2**64 - 1]))
    def ack_what_is_not_there(self, data: st.DataObject, stray: int) -> None:
        """Ids that are almost one of its own."""
        channel = self.pick(data, sorted(self.watch.devices), "device")
        mine = self.watch.ids.get(self.watch.devices[channel].public, [])
        ids = {(id + stray) % 2**64 for id in mine[:2] or [1]} - set(mine)
        self.wait(self._say(channel, *map(wire.deliver_ack, sorted(ids))))

    @precondition(lambda self: self.watch.devices)
    @rule(data=st.data(), shape=st.sampled_from(MISSHAPEN))
    def ack_with_another_body(self, data: st.DataObject, shape: Callable[[bytes, bytes], bytes]) -> None:
        channel = self.pick(data, sorted(self.watch.devices), "device")
        device = self.watch.devices[channel]
        ids = [id.to_bytes(8, "big") for id in self.watch.ids.get(device.public, [1])]
        self.wait(self._say_last(channel, wire.frame(wire.DELIVER_ACK, shape(ids[0], ids[-1])), wire.BEAT))
        self.wait(self.watch.receiver(device))

    @precondition(lambda self: self.watch.sessions)
    @rule(data=st.data())
    def say_something_odd(self, data: st.DataObject) -> None:
        """Whole frames that have no business there: passed over, answered or the end of the session, as the machine allows."""
        channel = self.pick(data, sorted(self.watch.sessions), "session")
        misplaced = pushes(self.pushed) if channel in self.watch.devices else [wire.deliver_ack(1)]
        odd = [*ODD, wire.frame(wire.DELIVER_ACK, b"x"), *misplaced]
        self.wait(self._say_last(channel, data.draw(st.sampled_from(odd), label="frame"), wire.BEAT))

    @precondition(lambda self: self.watch.sessions)
    @rule(data=st.data(), message=st.sampled_from(NO_FRAME))
    def say_no_frame(self, data: st.DataObject, message: bytes) -> None:
        """Nobody knows where the next frame begins, so nothing more is said in that session."""
        self.wait(self._say_last(self.pick(data, sorted(self.watch.sessions), "session"), message))

    @precondition(lambda self: self.watch.sessions)
    @rule(data=st.data(), tag=st.sampled_from([0, 7, 0x81, 0xFF]))
    def say_an_unknown_tag(self, data: st.DataObject, tag: int) -> None:
        self.wait(self._unknown(self.pick(data, sorted(self.watch.sessions), "session"), tag))

    @precondition(lambda self: self.watch.sessions)
    @rule(data=st.data(), politely=st.booleans(), beating=st.booleans())
    def hang_up(self, data: st.DataObject, politely: bool, beating: bool) -> None:
        """Perhaps with a question on its lips: nobody is left who could be answered."""
        channel = self.pick(data, sorted(self.watch.sessions), "session")
        self.wait(self.watch.hang_up(channel, politely, *[wire.BEAT] * beating))

    @rule(device=DEVICES)
    def crash(self, device: int) -> None:
        """SIGKILL, restart on the same store; then somebody connects and somebody pushes."""
        self.wait(self.watch.crash())
        self.wait(self.watch.receiver(self.known[device]))
        self.wait(self.watch.pusher())

    async def _say(self, channel: int, *messages: bytes) -> None:
        await self.watch.plain(channel, *messages)
        await self.watch.asked(channel)

    async def _say_last(self, channel: int, *messages: bytes) -> None:
        """A relay with Heartbeats of its own does not show whether the session goes on: it is over in any case."""
        await self.watch.plain(channel, *messages)
        await self.watch.hang_up(channel, politely=True)

    async def _unknown(self, channel: int, tag: int) -> None:
        await self.watch.plain(channel, wire.frame(tag, b"x"))
        await self.watch.settle()

    async def finish(self) -> None:
        """Killed, everybody connects once more, and acks a blob; and again: exactly what is not acked comes."""
        for channel in list(self.watch.sessions):
            await self.watch.asked(channel)
        for _ in range(2):
            await self.watch.crash()
            for device in self.known:
                channel = await self.watch.receiver(device)
                for id in self.watch.ids.get(device.public, [])[-1:]:
                    await self.watch.say(channel, DeliverAck(id))
                    await self.watch.asked(channel)

    async def free(self) -> None:
        await self.watch.relay.close()


@clauses("TS-DLV-08", "TS-ACK-01", "TS-ACK-03", "TS-DACK-04", "TS-SES-08", "TS-HB-02", "TS-TYP-03", "TS-PUSH-06")
@needs("restart")
async def test_relay_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever is pushed, acked or broken, the relay says what the machine owes, and nothing else."""
    declared = await target.capabilities(ROLE)
    limit = LOWERED if "limit" in declared else wire.LIMIT
    make = functools.partial(Relay, trial, limit, "large_frames" in declared)
    await explore(make, steps=25, examples=trial.random_runs(15, slow=40))
