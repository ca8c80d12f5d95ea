"""A conversation: turns are whole, words are in order, the end comes once, and nobody waits for who does not read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_impl.io.carrier import LOST, HungUp
from reference_impl.io.conversation import Conversation
from reference_impl.io.loopback import Loopback
from reference_impl.io.websocket import Listener, Settings, WebSocket
from selftests.io.ends import (
    MORE_THAN_BUFFERS_HOLD,
    UPGRADE,
    deaf,
    end_of,
    over_loopback,
    over_tcp,
    over_websocket,
    soon,
)

EACH = pytest.mark.parametrize("transport", [over_websocket, over_tcp, over_loopback])


class Log:
    """What a conversation told, in order."""

    def __init__(self, carrier: Any) -> None:
        self.told: list[Any] = []
        self.conversation: Conversation[Any, Any] = Conversation(carrier, self.told.append, self.told.append)
        self.running = asyncio.create_task(self.conversation.run())

    @property
    def codes(self) -> list[int]:
        """Of the ends that were told."""
        return [item.code for item in self.told if isinstance(item, HungUp)]


@EACH
async def test_what_comes_is_heard_in_order_and_the_end_last(transport: Any) -> None:
    async with transport() as (one, other):
        log = Log(one)
        for n in range(50):
            await other.send(f"{n};".encode())
        await other.close()
        await soon(log.running)
    assert b"".join(log.told[:-1]) == b"".join(f"{n};".encode() for n in range(50))
    assert len(log.codes) == 1


@EACH
async def test_hanging_up_comes_behind_what_was_said(transport: Any) -> None:
    """And the end that we made is told like any other."""
    async with transport() as (one, other):
        log = Log(one)
        for _ in range(50):
            log.conversation.say(b"word")
        log.conversation.hang_up(1000)
        got = b""
        while len(got) < 200:
            got += await soon(other.receive())
        await end_of(other)
        await soon(log.running)
    assert got == b"word" * 50
    assert len(log.codes) == 1


@EACH
async def test_a_cut_at_either_end_is_told_once(transport: Any) -> None:
    for which in (0, 1):
        async with transport() as ends:
            log = Log(ends[0])
            ends[which].cut()
            await soon(log.running)
            assert log.codes == [LOST]


@EACH
async def test_words_behind_the_end_are_lost_and_hurt_nobody(transport: Any) -> None:
    async with transport() as (one, other):
        log = Log(one)
        await other.close()
        await soon(log.running)
        log.conversation.say(b"too late")
        log.conversation.hang_up(1000)
        log.conversation.cut()
    assert len(log.codes) == 1


async def test_one_that_is_cancelled_tells_its_machine() -> None:
    """The machine hears that the connection is gone, whoever ended it."""
    one, _ = Loopback[bytes].pair()
    log = Log(one)
    await asyncio.sleep(0)
    log.running.cancel()
    await asyncio.wait([log.running])
    assert log.codes == [LOST]


async def test_a_fault_of_whoever_hears_is_not_swallowed() -> None:
    """The machine is told of the end all the same."""
    one, other = Loopback[bytes].pair()
    ends: list[HungUp] = []

    def fails(message: bytes) -> None:
        raise ZeroDivisionError

    await other.send(b"x")
    with pytest.raises(ZeroDivisionError):
        await soon(Conversation(one, fails, ends.append).run())
    assert [end.code for end in ends] == [LOST]


class Faulty(Loopback[bytes]):
    """Cannot send."""

    fault: type[Exception] = HungUp

    async def send(self, message: bytes) -> None:
        raise self.fault


@pytest.mark.parametrize("fault", [HungUp, ZeroDivisionError])
async def test_a_fault_of_the_carrier_is_not_swallowed(fault: type[Exception]) -> None:
    """What no carrier may raise comes out where the conversation runs, once it is over; a hang-up is told, and is no fault."""
    one, other = Faulty.pair()
    Faulty.fault = fault
    log = Log(one)
    log.conversation.say(b"x")
    await asyncio.sleep(0.01)
    await other.close()
    await soon(asyncio.wait([log.running]))
    raised = log.running.exception()
    assert raised is None if fault is HungUp else isinstance(raised, fault)
    assert log.codes == [1000]


async def test_a_peer_that_does_not_read_holds_nobody_up() -> None:
    """Its turns go on, everybody else is served, and the listener stops."""
    logs: asyncio.Queue[Log] = asyncio.Queue()

    async def handle(carrier: WebSocket) -> None:
        log = Log(carrier)
        logs.put_nowait(log)
        await log.running

    listener = Listener(handle, Settings(close_s=0.1))
    port = await listener.start()
    peer = await deaf(port, UPGRADE)
    stuck = await soon(logs.get())
    for _ in range(3):
        stuck.conversation.say(MORE_THAN_BUFFERS_HOLD)
    one, other = Loopback[bytes].pair()
    another = Log(one)
    another.conversation.say(b"for another")
    assert await soon(other.receive()) == b"for another"
    another.conversation.hang_up(1000)
    await soon(another.running)
    peer.write(b"\x81\x82\x00\x00\x00\x00hi")
    while stuck.told != ["hi"]:  # noqa: ASYNC110  what is told is a list
        await asyncio.sleep(0.001)
    await soon(listener.stop())
    assert stuck.codes == [LOST]
    peer.close()
