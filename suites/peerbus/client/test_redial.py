"""Sections 5 and 7: a lost connection is dialled again, under the same name, with no cursor to resume from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harness.cases import axis, clauses
from harness.trial import Trial
from reference_impl.peerbus.frames import Envelope, Peers, Register
from suites.peerbus.adapter import Adapter, Link


async def abnormal(link: Link) -> None:
    link.cut()


async def mid_frame(link: Link) -> None:
    """The head of a text message of 256 bytes, and four of them."""
    link.cut(b'\x81\x7e\x01\x00{"pr')


async def mid_message(link: Link) -> None:
    """A first fragment that is never continued."""
    link.cut(b'\x01\x05{"pro')


async def protocol_error(link: Link) -> None:
    """A reserved opcode: the client fails the connection itself."""
    link.websocket.transport.write(b"\x83\x00")
    await link.expect_closed()


LOSSES: dict[str, Callable[[Link], Awaitable[None]]] = {
    "clean": lambda link: link.close(1000),
    "going-away": lambda link: link.close(1001),
    "policy": lambda link: link.close(1008),
    "internal": lambda link: link.close(1011),
    "abnormal": abnormal,
    "mid-frame": mid_frame,
    "mid-message": mid_message,
    "protocol-error": protocol_error,
}


@clauses("PB-5-21", "PB-7-05", "PB-2.1-34")
@axis("loss", LOSSES)
async def test_a_lost_connection_is_dialled_again(
    adapter: Adapter, trial: Trial, loss: Callable[[Link], Awaitable[None]]
) -> None:
    """However it was lost: a new connection, with the same name and token, and the session goes on."""
    first = await adapter.online()
    await loss(first)
    second = await adapter.registering("PB-5-21")
    trial.expect(second.register == first.register, str(first.register), second.register)
    await adapter.answer(second)
    await adapter.expect_ignored(second)


@clauses("PB-5-21", "PB-7-05")
async def test_it_does_not_give_up(adapter: Adapter) -> None:
    """Several losses in a row, before and after the answer, each end in another connection."""
    for round in range(4):
        link = await adapter.registering()
        if round % 2:
            await adapter.answer(link)
        link.cut()
    await adapter.expect_ignored(await adapter.online())


@clauses("PB-5-21")
async def test_a_refused_upgrade_is_tried_again(adapter: Adapter, trial: Trial) -> None:
    """A broker that is not ready yet (HTTP 503) is dialled again."""
    link = await adapter.online()
    adapter.broker.turn_away = 2
    link.cut()
    again = await adapter.online()
    trial.expect(adapter.broker.turn_away == 0, "two attempts turned away", adapter.broker.turn_away)
    await adapter.expect_ignored(again)


@clauses("PB-5-21", "PB-2.1-33")
async def test_one_connection_at_a_time(adapter: Adapter, trial: Trial) -> None:
    """A client that is connected does not dial: a second connection would take its own name over."""
    link = await adapter.online()
    for _ in range(5):
        await adapter.handles(link, adapter.mail())
    trial.expect(len(adapter.broker.links) == 1, "one connection", f"{len(adapter.broker.links)} connections")


@clauses("PB-5-20")
async def test_no_position_is_kept(adapter: Adapter, trial: Trial) -> None:
    """A register after messages is the very register before them: there is no cursor; `lint` looks for one in each frame."""
    first = await adapter.online()
    for _ in range(3):
        await adapter.handles(first, adapter.mail())
    first.cut()
    second = await adapter.online()
    trial.expect(second.raw_register == first.raw_register, first.raw_register, second.raw_register)


@clauses("PB-5-21", "PB-2.2-05")
async def test_consumed_while_offline_is_acked_when_it_returns(adapter: Adapter) -> None:
    """The ack that could not be sent is not lost: redelivered, the message is acked and not surfaced."""
    link, mail = await adapter.online(), adapter.mail()
    await link.deliver(mail)
    await adapter.expect_surfaced(mail)
    link.cut()
    again = await adapter.registering_consumed(mail.id)
    await adapter.answer(again)
    await again.deliver(mail)
    await again.expect_ack(mail.id)
    await adapter.expect_ignored(again)


@clauses("PB-2.1-01", "PB-5-21")
async def test_nothing_old_comes_before_the_register(adapter: Adapter) -> None:
    """An ack or a send that the old connection did not carry may not come first on the new one."""
    link, mail = await adapter.online(), adapter.mail()
    await link.deliver(mail)
    await adapter.expect_surfaced(mail)
    link.cut()
    await adapter.consume(mail.id)
    again = await adapter.accept()
    await again.expect(Register, "PB-2.1-01")
    again.acked.add(mail.id)
    await adapter.answer(again)
    await adapter.send("bob")
    await again.expect(Envelope)


@clauses("PB-2.1-29", "PB-5-21")
async def test_the_host_can_send_again_after_a_redial(adapter: Adapter) -> None:
    """Sending and asking work on the new connection."""
    (await adapter.online()).cut()
    link = await adapter.online()
    await adapter.send("bob")
    await link.expect(Envelope)
    await link.send(Peers((adapter.name,)))
    await adapter.expect_ignored(link)
