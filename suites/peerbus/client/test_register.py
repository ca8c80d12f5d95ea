"""Section 2.1 from the client's side: how it registers, and what it takes for a rejection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused
from harness.judging.trial import Nothing, Trial
from reference_impl.peerbus.frames import Ack, Deliver, Frame, Peers, Register
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import codec, message

DROPPED = 0
"""No close frame at all: the TCP connection is gone."""


@clauses("PB-2.1-01", "PB-7-01")
async def test_register_comes_first(client: ClientUnderTest) -> None:
    """The first frame on a new connection is the register."""
    line = await client.accept()
    await line.expect(Register)


@clauses("PB-2.1-03", "PB-6-06", "PB-7-01")
async def test_register_says_name_and_token(client: ClientUnderTest, trial: Trial) -> None:
    """The register carries the version, the configured token and the configured name."""
    line = await client.accept()
    wanted = Register(client.token, client.name)
    trial.expect(await line.expect(Register) == wanted, str(wanted), line.register)
    if client.token in line.asked_for:
        trial.info("the token also travels in the HTTP request")


@clauses("PB-2.1-03")
@axis("name", {"unicode": "pëer-名前", "spaces": "my peer", "quote": 'say "hi"\\', "long": "n" * 300})
async def test_register_says_any_name_as_it_is(
    clients: Callable[..., ClientUnderTest], name: str, trial: Trial
) -> None:
    """A name is any non-empty string, and goes on the wire as that string."""
    client = clients()
    client.name = name
    await client.start()
    register = await (await client.accept()).expect(Register)
    trial.expect(register.name == name, name, register.name)


@clauses("PB-2.1-06")
async def test_an_empty_name_is_never_registered(clients: Callable[..., ClientUnderTest], trial: Trial) -> None:
    """With an empty name a client refuses to start, or never sends it."""
    client = clients()
    client.name = ""
    try:
        await client.start()
        line = await trial.next_of(client.broker.arrivals, "a connection")
    except (Nothing, TargetRefused, TargetFailed):
        return
    frame = await line.next()
    trial.expect(not isinstance(frame, Register) or frame.name != "", "no register with an empty name", frame)


@clauses("PB-2.1-04", "PB-6-10")
async def test_the_secret_stays_at_home(client: ClientUnderTest, trial: Trial) -> None:
    """Neither the HTTP request nor any frame contains the secret, raw, in hex or in base64; `ClientLine` looks at each frame."""
    line = await client.online()
    trial.expect(client.secret.decode() not in line.asked_for, "no secret in the HTTP request", line.asked_for)
    await client.handles(line, client.mail())
    line.cut()
    await client.expect_ignored(await client.online())


@clauses("PB-2.1-29")
async def test_peers_means_registered(client: ClientUnderTest) -> None:
    """Once `peers` has answered the register, the host can receive and send."""
    line = await client.online()
    await client.handles(line, client.mail(), clause="PB-2.1-29")
    await client.expect_unacked(line)


@clauses("PB-2.1-29")
@axis(
    "names",
    {"empty": '"names":[]', "null": '"names":null', "many": '"names":["a","b","c"]', "extra": '"names":[],"x":1'},
)
async def test_any_peers_frame_means_registered(client: ClientUnderTest, names: str) -> None:
    """Its type says it: whatever names it lists."""
    line = await client.registering()
    await line.text(f'{{"protocol_version":"v1","type":"peers",{names}}}')
    await client.until(lambda: True in client.statuses, "a connected client")
    await client.expect_ignored(line)


async def assert_not_connected(client: ClientUnderTest, trial: Trial) -> None:
    """The host was never told of a connection, and a send is refused."""
    trial.expect(True not in client.statuses, "no connection", f"statuses {client.statuses}")
    try:
        await client.send("bob")
    except (TargetRefused, TargetFailed):
        return
    trial.expect(False, "a refused send", "the send was accepted")


@clauses("PB-2.1-15")
@axis("code", {"1000": 1000, "1003": 1003, "1007": 1007, "1008": 1008, "1011": 1011, "4000": 4000, "dropped": DROPPED})
async def test_a_close_at_handshake_time_is_a_rejection(client: ClientUnderTest, trial: Trial, code: int) -> None:
    """However the broker ends the handshake: not connected, and a send fails."""
    line = await client.registering()
    await line.close(code) if code else line.cut()
    await client.registering("PB-2.1-15")
    await assert_not_connected(client, trial)


@clauses("PB-2.1-15")
async def test_a_send_before_the_answer_is_refused(client: ClientUnderTest, trial: Trial) -> None:
    """As long as the register is not answered there is no connection to send on."""
    await client.registering()
    await assert_not_connected(client, trial)


async def take_no_later_answer(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """Registered meanwhile, it is asked for peers again, and says who is there."""
    listed = (await client.host.do("peers"))["names"]  # the line answers with the client's own name
    trial.expect(listed in ([client.name], []), f"{[client.name]}", listed, "PB-2.3-05")
    await client.expect_ignored(line)


@clauses("PB-2.3-05", "PB-7-04", "PB-2.1-15")
async def test_a_question_that_came_too_early_takes_no_later_answer(client: ClientUnderTest, trial: Trial) -> None:
    """Peers that are asked for before the register is answered are refused, or wait; asked for again, they are listed."""
    line = await client.registering()
    early = asyncio.gather(client.host.do("peers"), return_exceptions=True)
    await asyncio.sleep(0)  # it is on its way
    await client.answer(line)
    await take_no_later_answer(client, line, trial)
    early.cancel()


@clauses("PB-2.3-05", "PB-7-04", "PB-2.1-15")
async def test_a_question_without_a_connection_takes_no_later_answer(
    clients: Callable[..., ClientUnderTest], trial: Trial
) -> None:
    """The same while there is no connection yet on which it could be asked."""
    client = clients()
    async with client.dialling():
        early = asyncio.gather(client.host.do("peers"), return_exceptions=True)
        await asyncio.sleep(0)  # it is on its way
    await take_no_later_answer(client, await client.online(), trial)
    early.cancel()


@clauses("PB-6-05", "PB-2.1-15")
async def test_a_rejected_client_does_not_try_another_version(client: ClientUnderTest, trial: Trial) -> None:
    """There is no negotiation: each register after a rejection says v1, like the first."""
    for _ in range(3):
        line = await client.registering()
        wanted = Register(client.token, client.name)
        trial.expect(line.register == wanted, str(wanted), line.register)
        await line.close(1008)


WRONG_ANSWERS: dict[str, Frame | str] = {
    "deliver": Deliver("k", message("alice", "bob")),
    "ack": Ack("k"),
    "register": Register("t", "n"),
    "envelope": message("alice", "bob"),
    "garbage": "{nope",
    "empty": "",
    "array": "[]",
    "no-type": '{"protocol_version":"v1","names":[]}',
    "other-type": '{"protocol_version":"v1","type":"welcome","names":[]}',
    "upper-case": '{"protocol_version":"v1","type":"PEERS","names":[]}',
}


@clauses("PB-2.1-30", "PB-7-01")
@axis("answer", WRONG_ANSWERS)
async def test_any_other_answer_is_a_rejection(client: ClientUnderTest, trial: Trial, answer: Frame | str) -> None:
    """A first frame that is no `peers` ends the attempt: the client drops the connection and dials again."""
    line = await client.registering()
    await line.text(answer if isinstance(answer, str) else codec.encode(answer).decode())
    await line.expect_closed()
    again = await client.registering()
    trial.expect(True not in client.statuses, "no connection", f"statuses {client.statuses}")
    await again.send(Peers((client.name,)))
    await client.expect_ignored(again)


@clauses("PB-2.1-30")
async def test_a_deliver_before_the_answer_is_not_taken(client: ClientUnderTest) -> None:
    """A delivery instead of the answer is neither surfaced nor acked; delivered again, it is."""
    line = await client.registering()
    mail = client.mail()
    await line.deliver(mail)
    await line.expect_closed()
    await client.handles(await client.online(), mail)


@clauses("PB-2.1-31")
async def test_peers_and_delivers_come_at_any_time(client: ClientUnderTest, line: ClientLine) -> None:
    """Unasked `peers` frames change nothing, before, between and after deliveries."""
    for names in ((), (client.name,), ("a", "b")):
        await line.send(Peers(names))
        await client.handles(line, client.mail())
    await line.send(Peers(), Peers())
    await client.expect_ignored(line)


@clauses("PB-2.1-33", "PB-2.1-34")
@axis("cause", {"peers": 0, "deliver": 1, "redial": 2})
async def test_one_register_per_connection(client: ClientUnderTest, cause: int) -> None:
    """To register again a client opens a new connection; `ClientLine` takes a second register for a fault."""
    line = await client.online()
    if cause == 0:
        await line.send(Peers(("somebody-else",)))
    if cause == 2:
        line.cut()
        line = await client.online()
    await client.handles(line, client.mail())
    await client.expect_unacked(line)


@clauses("PB-2.1-34", "PB-7-05")
async def test_reconnecting_is_a_register_under_the_same_name(client: ClientUnderTest, trial: Trial) -> None:
    """What makes a broker hand over name and backlog is the same register, on another connection."""
    first = await client.online()
    unacked = client.mail()
    await client.surfaces(first, unacked)
    await first.close(1001)
    second = await client.registering_consumed(unacked.id)
    trial.expect(second.register == first.register, str(first.register), second.register)
    await client.answer(second)
    await second.deliver(unacked)
    await second.expect_ack(unacked.id)
