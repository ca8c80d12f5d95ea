"""`python -m harness.bench.trueseal`: what the relay does in a second, with the disk's own rate beside it."""

from __future__ import annotations

import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.bench.disk import syncs_per_s
from reference_impl.io.tcp import dial
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import MAX_ENVELOPE, Ack, Deliver, DeliverAck, Frame, Push
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay

ROUNDS, PUSHES = 7, 1_000


class End:
    """One side of a session, frame by frame."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed, self._codec = sealed, Codec()
        self._reader = self._codec.reader()

    async def say(self, frame: Frame) -> None:
        for message in self._codec.encode(frame):
            await self._sealed.send(message)

    async def hear(self) -> object:
        while (frame := self._reader.read(await self._sealed.receive())) is None:
            pass
        return frame


async def session(port: int, noise: Noise) -> End:
    sealed = Sealed(await dial("127.0.0.1", port), Secured(noise))
    await sealed.shake_hands(initiator=True)
    return End(sealed)


@contextmanager
def timed(into: list[float]) -> Iterator[None]:
    began = time.perf_counter()
    yield
    into.append(time.perf_counter() - began)


async def largest_s(pusher: End, device: End, key: bytes) -> float:
    """From the Push of 1 MiB to the last byte of its delivery."""
    took: list[float] = []
    for _ in range(ROUNDS):
        with timed(took):
            await pusher.say(Push(key, secrets.token_bytes(MAX_ENVELOPE)))
            delivery = await device.hear()
        assert isinstance(delivery, Deliver), delivery
        assert isinstance(await pusher.hear(), Ack)
        await device.say(DeliverAck(delivery.blob_id))
    return statistics.median(took)


async def pushes_per_s(pusher: End, ahead: int) -> float:
    """Of 1 KiB to a device that is not there, on one session, with so many under way."""
    took: list[float] = []
    key, envelope, free = secrets.token_bytes(32), bytes(1_024), asyncio.Semaphore(ahead)

    async def answers() -> None:
        for _ in range(PUSHES):
            assert isinstance(await pusher.hear(), Ack)
            free.release()

    with timed(took):
        hearing = asyncio.create_task(answers())
        for _ in range(PUSHES):
            await free.acquire()
            await pusher.say(Push(key, envelope))
        await hearing
    return PUSHES / took[0]


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="trueseal-bench-") as name:
        private, device = secrets.token_bytes(32), secrets.token_bytes(32)
        relay = Relay(RelayMachine(), Path(name), private)
        await relay.start()
        nk = Noise(Pattern.NK, initiator=True, entropy=secrets.token_bytes, remote_static=public_key(private))
        xx = Noise(Pattern.XX, initiator=True, entropy=secrets.token_bytes, static=device)
        pusher, receiver = await session(relay.ports[0], nk), await session(relay.ports[1], xx)
        print(f"1 MiB pushed and delivered: {1_000 * await largest_s(pusher, receiver, public_key(device)):.0f} ms")
        for ahead in (1, 16, 64):
            rate = await pushes_per_s(pusher, ahead)
            print(
                f"pushes of 1 KiB Acked, {ahead} under way: {rate:,.0f}/s; the disk syncs {syncs_per_s(Path(name)):,.0f}/s"
            )
        await relay.stop()


if __name__ == "__main__":
    asyncio.run(main())
