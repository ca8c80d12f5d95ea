"""What every carrier owes, whatever is under it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reference_impl.io.carrier import LOST, HungUp
from selftests.io.ends import end_of, over_loopback, over_tcp, over_websocket, soon

EACH = pytest.mark.parametrize("transport", [over_websocket, over_tcp, over_loopback])
WHOLE = pytest.mark.parametrize("transport", [over_websocket, over_loopback])


@WHOLE
@pytest.mark.parametrize(
    "message", [b"", b"\x00\xff", "", "é\u2028\U0001f600", bytes(1 << 20)], ids=lambda m: str(m[:2])
)
async def test_a_message_arrives_whole_and_as_what_it_was(transport: Any, message: Any) -> None:
    """Text stays text, bytes stay bytes, both ways."""
    async with transport() as (one, other):
        for speaker, listener in ((one, other), (other, one)):
            await speaker.send(message)
            assert await soon(listener.receive()) == message


@EACH
async def test_what_is_sent_arrives_in_order(transport: Any) -> None:
    """A byte stream may join and split, but not shuffle."""
    async with transport() as (one, other):
        sent = [f"{n};".encode() * n for n in range(1, 60)]
        for piece in sent:
            await one.send(piece)
        got = b""
        while len(got) < len(b"".join(sent)):
            got += await soon(other.receive())
    assert got == b"".join(sent)


@EACH
async def test_what_was_sent_before_a_close_still_arrives(transport: Any) -> None:
    async with transport() as (one, other):
        await one.send(b"last words")
        await soon(one.close())
        assert await soon(other.receive()) == b"last words"
        await end_of(other)


@EACH
async def test_the_end_is_told_ever_after(transport: Any) -> None:
    """Whoever asks again gets the same answer, at both ends."""
    async with transport() as (one, other):
        await soon(one.close())
        for end in (one, other):
            first = await end_of(end)
            with pytest.raises(HungUp) as again:
                await soon(end.receive())
            assert again.value.code == first.code


@EACH
async def test_a_cut_is_no_goodbye(transport: Any) -> None:
    """Both ends know that nobody said anything, also who was listening just then."""
    async with transport() as (one, other):
        receiving = asyncio.create_task(end_of(one))
        await asyncio.sleep(0)
        one.cut()
        assert (await end_of(other)).code == LOST
        assert (await soon(receiving)).code == LOST
        assert (await end_of(one)).code == LOST


@EACH
async def test_nothing_can_be_sent_to_who_was_cut_off(transport: Any) -> None:
    async with transport() as (one, other):
        one.cut()
        await end_of(other)
        with pytest.raises(HungUp):
            await soon(other.send(b"anybody there?"))


@EACH
async def test_ends_may_be_ended_twice(transport: Any) -> None:
    """Closing what is over changes nothing."""
    async with transport() as (one, other):
        await soon(one.close())
        code = (await end_of(other)).code
        for end in (one, other, one):
            await soon(end.close(1001))
        assert [(await end_of(other)).code for _ in range(5)] == [code] * 5
