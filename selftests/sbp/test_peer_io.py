"""Two peers on a carrier: the golden bytes mean the same over the loopback as over WebSocket (SBP-INT-02)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reference_impl.io.carrier import Carrier
from reference_impl.io.loopback import Loopback
from reference_impl.io.websocket import Listener, WebSocket, dial
from reference_impl.sbp.codec import Unencodable
from reference_impl.sbp.frames import Delivered, Ended, Established, HostEvent
from reference_impl.sbp.peer import Config, PeerMachine
from reference_impl.sbp.peer_io import Session, SessionOver, settings

WAIT_S = 5


class Host:
    """What a session told."""

    def __init__(self, name: str, **config: bool) -> None:
        self.config = Config(name, **config)  # type: ignore[arg-type]  # the tests set flags only
        self.events: asyncio.Queue[HostEvent] = asyncio.Queue()
        self.session: Session | None = None

    def make(self, carrier: Carrier[str | bytes, bytes]) -> Session:
        self.session = Session(
            carrier, PeerMachine(self.config), on_event=lambda _, event: self.events.put_nowait(event)
        )
        return self.session

    async def hears(self, kind: type[HostEvent]) -> HostEvent:
        while not isinstance(event := await asyncio.wait_for(self.events.get(), WAIT_S), kind):
            pass
        return event

    @property
    def own(self) -> Session:
        assert self.session
        return self.session


@asynccontextmanager
async def over_loopback(left: Host, right: Host) -> AsyncIterator[None]:
    one, other = Loopback[str | bytes].pair()
    tasks = [asyncio.create_task(left.make(one).run()), asyncio.create_task(right.make(other).run())]
    yield
    await one.close()
    await asyncio.wait_for(asyncio.gather(*tasks), WAIT_S)


@asynccontextmanager
async def over_websocket(left: Host, right: Host) -> AsyncIterator[None]:
    async def handle(carrier: WebSocket) -> None:
        await right.make(carrier).run()

    listener = Listener(handle, settings(right.config.limit))
    await listener.start()
    carrier = await dial(f"ws://127.0.0.1:{listener.port}", settings(left.config.limit))
    task = asyncio.create_task(left.make(carrier).run())
    yield
    await carrier.close()
    await asyncio.wait_for(task, WAIT_S)
    await listener.stop()


CARRIERS = pytest.mark.parametrize("carrier", [over_loopback, over_websocket])


@CARRIERS
async def test_two_peers_meet_and_talk(carrier: type) -> None:
    left, right = Host("left"), Host("right", receipt=True)
    async with carrier(left, right):
        assert await left.hears(Established) == Established("right", None, None)
        assert await right.hears(Established) == Established("left", None, None)
        id = left.own.send("app/\u00e9", b"\x00\xff", -1)
        assert await right.hears(Delivered) == Delivered("app/\u00e9", b"\x00\xff", -1)
        left.own.ping()
        told = [str(await asyncio.wait_for(left.events.get(), WAIT_S)) for _ in range(2)]
        assert f"Acked(id={id.hex()})" in told


@CARRIERS
async def test_a_close_ends_both(carrier: type) -> None:
    left, right = Host("left"), Host("right")
    async with carrier(left, right):
        await left.hears(Established)
        await right.hears(Established)
        left.own.close("bye")
        assert await right.hears(Ended) == Ended("bye")
        await left.hears(Ended)
        with pytest.raises(SessionOver):
            left.own.send("app/x")


async def test_what_cannot_be_written_is_the_hosts_error() -> None:
    left, right = Host("left"), Host("right")
    async with over_loopback(left, right):
        await left.hears(Established)
        with pytest.raises(Unencodable):
            left.own.send("")


@CARRIERS
async def test_text_and_garbage_end_it(carrier: type) -> None:
    for message in ("text", b"", b"\x00\x02" + bytes(16) + b"\x01"):
        left, right = Host("left"), Host("right")
        async with carrier(left, right):
            await left.hears(Established)
            await left.own.carrier.send(message)  # type: ignore[arg-type]  # what no honest peer sends
            await right.hears(Ended)
