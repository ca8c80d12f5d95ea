"""Sections 5 and 7: a lost connection is dialled again, under the same name, with no cursor to resume from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harness.catalogue.cases import axis, clauses, needs
from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Envelope, Peers, Register
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest


async def abnormal(line: ClientLine) -> None:
    line.cut()


async def mid_frame(line: ClientLine) -> None:
    """The head of a text message of 256 bytes, and four of them."""
    line.cut_behind(b'\x81\x7e\x01\x00{"pr')


async def mid_message(line: ClientLine) -> None:
    """A first fragment that is never continued."""
    line.cut_behind(b'\x01\x05{"pro')


async def protocol_error(line: ClientLine) -> None:
    """A reserved opcode: the client fails the connection itself."""
    line.carrier.connection.transport.write(b"\x83\x00")
    await line.expect_closed()


LOSSES: dict[str, Callable[[ClientLine], Awaitable[None]]] = {
    "clean": lambda line: line.close(1000),
    "going-away": lambda line: line.close(1001),
    "policy": lambda line: line.close(1008),
    "internal": lambda line: line.close(1011),
    "abnormal": abnormal,
    "mid-frame": mid_frame,
    "mid-message": mid_message,
    "protocol-error": protocol_error,
}


@clauses("PB-5-21", "PB-7-05", "PB-2.1-34")
@axis("loss", LOSSES)
async def test_a_lost_connection_is_dialled_again(
    client: ClientUnderTest, trial: Trial, loss: Callable[[ClientLine], Awaitable[None]]
) -> None:
    """However it was lost: a new connection, with the same name and token, and the session goes on."""
    first = await client.online()
    await loss(first)
    second = await client.registering("PB-5-21")
    trial.expect(second.register == first.register, str(first.register), second.register)
    await client.answer(second)
    await client.expect_ignored(second)


@clauses("PB-5-21", "PB-7-05")
async def test_it_does_not_give_up(client: ClientUnderTest) -> None:
    """Several losses in a row, before and after the answer, each end in another connection."""
    for round in range(4):
        line = await client.registering()
        if round % 2:
            await client.answer(line)
        line.cut()
    await client.expect_ignored(await client.online())


@clauses("PB-5-21", "PB-7-05")
@needs("backoff_ms")
async def test_it_does_not_give_up_however_often(clients: Callable[..., ClientUnderTest]) -> None:
    """Ten connections in a row that end before they are answered: an eleventh comes, and serves."""
    client = await clients().start(backoff_ms=1)
    for _ in range(10):
        (await client.registering("PB-5-21")).cut()
    await client.expect_ignored(await client.online())


@clauses("PB-5-21")
async def test_a_refused_upgrade_is_tried_again(client: ClientUnderTest, trial: Trial) -> None:
    """A broker that is not ready yet (HTTP 503) is dialled again."""
    line = await client.online()
    client.broker.port.turn_away = 2
    line.cut()
    again = await client.online()
    trial.expect(client.broker.port.turn_away == 0, "two attempts turned away", client.broker.port.turn_away)
    await client.expect_ignored(again)


@clauses("PB-5-21", "PB-2.1-33")
async def test_one_connection_at_a_time(client: ClientUnderTest, trial: Trial) -> None:
    """A client that is connected does not dial: a second connection would take its own name over."""
    line = await client.online()
    for _ in range(5):
        await client.handles(line, client.mail())
    trial.expect(len(client.broker.lines) == 1, "one connection", f"{len(client.broker.lines)} connections")


@clauses("PB-5-20")
async def test_no_position_is_kept(client: ClientUnderTest, trial: Trial) -> None:
    """A register after messages is the very register before them: there is no cursor; `lint` looks for one in each frame."""
    first = await client.online()
    for _ in range(3):
        await client.handles(first, client.mail())
    first.cut()
    second = await client.online()
    trial.expect(second.raw_register == first.raw_register, repr(first.raw_register), second.raw_register)


@clauses("PB-5-21", "PB-2.2-05")
async def test_consumed_while_offline_is_acked_when_it_returns(client: ClientUnderTest) -> None:
    """The ack that could not be sent is not lost: redelivered, the message is acked and not surfaced."""
    line, mail = await client.online(), client.mail()
    await client.surfaces(line, mail)
    line.cut()
    again = await client.registering_consumed(mail.id)
    await client.answer(again)
    await again.deliver(mail)
    await again.expect_ack(mail.id)
    await client.expect_ignored(again)


@clauses("PB-5-21", "PB-2.2-05")
async def test_consumed_without_a_connection_is_acked_when_it_returns(client: ClientUnderTest) -> None:
    """The same while nobody lets it in: there is nothing yet on which an ack could go."""
    line, mail = await client.online(), client.mail()
    await client.surfaces(line, mail)
    if client.serial:
        raise TargetUnsupported("it does not notice that its connection is gone before it may read on")
    async with client.dialling(line):
        await client.consume(mail.id)
    again = await client.online()
    await again.deliver(mail)
    await again.expect_ack(mail.id)
    await client.expect_ignored(again)


@clauses("PB-2.1-01", "PB-5-21")
async def test_nothing_old_comes_before_the_register(client: ClientUnderTest) -> None:
    """An ack or a send that the old connection did not carry may not come first on the new one."""
    line, mail = await client.online(), client.mail()
    await client.surfaces(line, mail)
    line.cut()
    await client.consume(mail.id)
    again = await client.accept()
    await again.expect(Register, "PB-2.1-01")
    again.acked.add(mail.id)
    await client.answer(again)
    await client.send("bob")
    await again.expect(Envelope)


@clauses("PB-2.1-29", "PB-5-21")
async def test_the_host_can_send_again_after_a_redial(client: ClientUnderTest) -> None:
    """Sending and asking work on the new connection."""
    (await client.online()).cut()
    line = await client.online()
    await client.send("bob")
    await line.expect(Envelope)
    await line.send(Peers((client.name,)))
    await client.expect_ignored(line)
