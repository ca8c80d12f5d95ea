"""A relay under test, seen by those who push and by its devices."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Self

from harness.catalogue.addresses import endpoint
from harness.errors import TargetCrashed, TargetTimeout
from harness.judging.trial import Broken, Trial
from harness.targets import Instance
from reference_impl.io import tcp
from reference_impl.io.carrier import NoAnswer, NoConnection
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import Ack, Deliver, DeliverAck, Error, Frame, Hangup, Push
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from suites.common.connect import dial_tcp
from suites.common.line import ByteLine
from suites.common.names import unique
from suites.common.private import PrivateTarget
from suites.trueseal import wire
from suites.trueseal.line import TruesealLine, shaken

ROLE = "trueseal/relay"
PRIVATE_KEY = secrets.token_bytes(32)
"""The relay's, for this run."""
LOWERED = 1_000
"""A stricter limit, for relays that heed one."""


class Device:
    """A device's key pair."""

    def __init__(self, private: bytes = b"") -> None:
        self.private = private or secrets.token_bytes(32)
        self.public = public_key(self.private)


def device_with(fits: Callable[[bytes], bool]) -> Device:
    """A device whose public key is so, which one in some hundreds is."""
    return next(device for device in iter(Device, None) if fits(device.public))


class RelayLine(TruesealLine):
    """A session with the relay under test."""

    other = "relay"

    def __init__(self, relay: RelayUnderTest, carrier: Sealed, label: str) -> None:
        super().__init__(relay.trial, carrier, unique(label))
        self._relay = relay
        relay.lines.append(self)

    async def heard(self, frame: Frame | Hangup | Broken) -> None:
        """With a relay that has died its sessions end too: whoever waits here learns of the death."""
        if isinstance(frame, Hangup) and not self.left and (death := await self._relay.death()):
            self.inbox.put(death)
        else:
            await super().heard(frame)


class PushLine(RelayLine):
    """A Push Session with the relay under test."""

    async def push(self, device: Device | bytes, *envelopes: bytes) -> None:
        recipient = device.public if isinstance(device, Device) else device
        await self.send(*(Push(recipient, envelope) for envelope in envelopes))

    async def expect_answers(self, *kinds: type[Ack] | type[Error], clause: str = "") -> None:
        """These answers, in this order, and none else between."""
        for kind in kinds:
            await self.expect(kind, clause)

    async def stores(self, device: Device | bytes, *envelopes: bytes, clause: str = "TS-ACK-01") -> None:
        """Pushed and Acked."""
        await self.push(device, *envelopes)
        await self.expect_answers(*[Ack] * len(envelopes), clause=clause)


class DeviceLine(RelayLine):
    """A Receive Session with the relay under test."""

    def __init__(self, relay: RelayUnderTest, carrier: Sealed, device: Device) -> None:
        super().__init__(relay, carrier, "device")
        self.device = device
        self._seen: set[Deliver] = set()

    def unasked(self, frame: Frame | Hangup) -> bool:
        """One more delivery in a session is no fault of its own: TS-DLV-11 has a case."""
        return super().unasked(frame) or (isinstance(frame, Deliver) and frame in self._seen)

    async def next(self, what: str = "a frame", clause: str = "", beats: bool = False) -> Frame | Hangup:
        if isinstance(frame := await super().next(what, clause, beats), Deliver):
            self._seen.add(frame)
        return frame

    async def expect_delivery(self, envelope: bytes, clause: str = "") -> Deliver:
        """The next frame delivers this envelope, byte for byte."""
        got = await self.expect(Deliver, clause)
        self.trial.expect(got.envelope == envelope, f"Deliver of {shown(envelope)}", got, clause)
        return got

    async def expect_deliveries(self, envelopes: Iterable[bytes], clause: str = "") -> list[Deliver]:
        """Each of them once, in any order (TS-DLV-12 has a case of its own)."""
        missing, got = list(envelopes), []
        while missing:
            frame = await self.expect(Deliver, clause)
            self.trial.expect(frame.envelope in missing, f"one of {[shown(m) for m in missing]}", frame, clause)
            missing.remove(frame.envelope)
            got.append(frame)
        return got

    async def ack(self, *deliveries: Deliver) -> None:
        """Acked, and the relay has read it."""
        await self.send(*(DeliverAck(delivery.blob_id) for delivery in deliveries))
        await self.fence("TS-DACK-04")


def shown(envelope: bytes) -> str:
    return f"{envelope[:24].hex()}… ({len(envelope)} bytes)"


class RelayUnderTest:
    """The relay of one case: opens sessions, and ends them when the case ends."""

    instance: Instance

    def __init__(self, trial: Trial, limit: int = wire.LIMIT) -> None:
        self.trial, self.limit = trial, limit
        self.lines: list[TruesealLine] = []
        self.streams: list[Stream] = []

    @property
    def config(self) -> dict[str, Any]:
        keys = {"private_key": PRIVATE_KEY.hex(), "public_key": public_key(PRIVATE_KEY).hex()}
        return {**keys, "limit": self.limit}

    async def start(self) -> Self:
        """The one that cases of the same limit share."""
        self.instance = await self.trial.target.instance(ROLE, self.config)
        return self

    @property
    def public_key(self) -> bytes:
        """Its own word for it, if it has one: a relay may choose its key."""
        told = self.instance.details.get("public_key")
        return bytes.fromhex(told) if isinstance(told, str) else public_key(PRIVATE_KEY)

    async def death(self) -> TargetCrashed | None:
        """How it died, if it does. While it dies its port may still be open: then no session comes of it, and the next fails."""
        try:
            for _ in range(2):
                stream = await tcp.dial(*endpoint(self.instance.addresses["push"]), self.trial.patience_s)
                with contextlib.suppress(Broken):
                    await self.sealed(stream, self.anonymous(), "TS-SES-01")
                    stream.cut()
                    break
        except NoAnswer:
            pass
        except NoConnection as nobody:
            return await self._last_words() or TargetCrashed(str(nobody))
        return None

    async def _last_words(self) -> TargetCrashed | None:
        try:
            await self.instance.event(self.trial.patience_s)
        except TargetCrashed as death:
            return death
        except TargetTimeout:
            pass
        return None

    async def stream(self, port: str) -> Stream:
        """A bare connection to its `push` or `receive` port."""
        stream = await dial_tcp(self.trial, *endpoint(self.instance.addresses[port]))
        self.streams.append(stream)
        return stream

    async def sealed(self, stream: Stream, noise: Noise, clause: str) -> Sealed:
        """The handshake, which must succeed."""
        return await shaken(self.trial, Sealed(stream, Secured(noise, trusted=self.public_key)), True, clause)

    def anonymous(self) -> Noise:
        return Noise(Pattern.NK, initiator=True, entropy=secrets.token_bytes, remote_static=self.public_key)

    async def pusher(self, stream: Stream | None = None) -> PushLine:
        """A Push Session."""
        sealed = await self.sealed(stream or await self.stream("push"), self.anonymous(), "TS-SES-01")
        return PushLine(self, sealed, "push")

    async def device(self, device: Device | None = None, stream: Stream | None = None) -> DeviceLine:
        """A Receive Session, of a new device unless one is given."""
        device = device or Device()
        noise = Noise(Pattern.XX, initiator=True, entropy=secrets.token_bytes, static=device.private)
        sealed = await self.sealed(stream or await self.stream("receive"), noise, "TS-SES-06")
        return DeviceLine(self, sealed, device)

    async def expect_only(self, line: DeviceLine, *others: bytes, clause: str = "") -> None:
        """A sentinel pushed now is all that arrives, with these: whatever else was to be delivered has come before."""
        sentinel = wire.blob()
        await (await self.pusher()).stores(line.device, sentinel)
        await line.expect_deliveries([*others, sentinel], clause)
        await line.expect_silence(clause)

    async def alive(self, clause: str = "TS-FRM-07") -> None:
        """It takes another push and delivers it."""
        await self.expect_only(await self.device(), clause=clause)

    async def expect_refused(self, stream: Stream, clause: str) -> None:
        """No session comes of what was said there: it is silent while others are served. Whether it ends is recorded."""
        line = ByteLine(self.trial, stream)
        await self.alive(clause)
        said = b"".join(piece for piece in line.inbox.drain() if isinstance(piece, bytes))
        self.trial.expect(not said, "no answer", said.hex(), clause)

    async def close(self) -> None:
        for line in self.lines:
            await line.leave()
        for stream in self.streams:
            await stream.close()


class PrivateRelay(RelayUnderTest):
    """A relay of the case's own, which it may kill and start again on the same store."""

    def __init__(self, trial: Trial, limit: int = wire.LIMIT) -> None:
        super().__init__(trial, limit)
        self._killed = False
        self._own = PrivateTarget(trial, {**self.config, "state_dir": str(trial.target.new_folder("private"))})

    async def start(self) -> Self:
        self.instance = await self._own.start()
        return self

    async def kill(self) -> None:
        self._killed = True
        await self._own.kill()

    async def death(self) -> TargetCrashed | None:
        return None if self._killed else await super().death()

    async def restart(self, **otherwise: Any) -> None:
        """Killed, and started again, perhaps as its operator would have it now."""
        self._killed = True
        self.instance = await self._own.restart(**otherwise)
        self._killed = False

    async def close(self) -> None:
        await super().close()
        await self._own.close()
