"""Section 2.1 from the client's side: how it registers, and what it takes for a rejection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused
from harness.trial import Trial
from reference_impl.peerbus.frames import Ack, Deliver, Frame, Peers, Register
from suites.peerbus.adapter import Adapter, Link
from suites.peerbus.bus import codec, message

DROPPED = 0
"""No close frame at all: the TCP connection is gone."""


@clauses("PB-2.1-01", "PB-7-01")
async def test_register_comes_first(adapter: Adapter) -> None:
    """The first frame on a new connection is the register."""
    link = await adapter.accept()
    await link.expect(Register)


@clauses("PB-2.1-03", "PB-6-06", "PB-7-01")
async def test_register_says_name_and_token(adapter: Adapter, trial: Trial) -> None:
    """The register carries the version, the configured token and the configured name."""
    link = await adapter.accept()
    wanted = Register(adapter.token, adapter.name)
    trial.expect(await link.expect(Register) == wanted, str(wanted), link.register)
    request = link.websocket.request
    if request and adapter.token in f"{request.path} {request.headers}":
        trial.info("the token also travels in the HTTP request")


@clauses("PB-2.1-03")
@axis("name", {"unicode": "pëer-名前", "spaces": "my peer", "quote": 'say "hi"\\', "long": "n" * 300})
async def test_register_says_any_name_as_it_is(adapters: Callable[..., Adapter], name: str, trial: Trial) -> None:
    """A name is any non-empty string, and goes on the wire as that string."""
    adapter = adapters()
    adapter.name = name
    await adapter.start()
    register = await (await adapter.accept()).expect(Register)
    trial.expect(register.name == name, name, register.name)


@clauses("PB-2.1-06")
async def test_an_empty_name_is_never_registered(adapters: Callable[..., Adapter], trial: Trial) -> None:
    """With an empty name a client refuses to start, or never sends it."""
    adapter = adapters()
    adapter.name = ""
    try:
        await adapter.start()
        link = await asyncio.wait_for(adapter.broker.arrivals.get(), trial.patience_s)
    except (TimeoutError, TargetRefused, TargetFailed):
        return
    frame = await link.next()
    trial.expect(not isinstance(frame, Register) or frame.name != "", "no register with an empty name", frame)


@clauses("PB-2.1-04", "PB-6-10")
async def test_the_secret_stays_at_home(adapter: Adapter, trial: Trial) -> None:
    """Neither the HTTP request nor any frame contains the secret, raw, in hex or in base64; `Link` looks at each frame."""
    link = await adapter.online()
    request = link.websocket.request
    text = f"{request.path} {request.headers}" if request else ""
    trial.expect(adapter.secret.decode() not in text, "no secret in the HTTP request", text)
    await adapter.handles(link, adapter.mail())
    link.cut()
    await adapter.expect_ignored(await adapter.online())


@clauses("PB-2.1-29")
async def test_peers_means_registered(adapter: Adapter) -> None:
    """Once `peers` has answered the register, the host can receive and send."""
    link = await adapter.online()
    await adapter.handles(link, adapter.mail(), clause="PB-2.1-29")
    await adapter.expect_unacked(link)


@clauses("PB-2.1-29")
@axis(
    "names",
    {"empty": '"names":[]', "null": '"names":null', "many": '"names":["a","b","c"]', "extra": '"names":[],"x":1'},
)
async def test_any_peers_frame_means_registered(adapter: Adapter, names: str) -> None:
    """Its type says it: whatever names it lists."""
    link = await adapter.registering()
    await link.text(f'{{"protocol_version":"v1","type":"peers",{names}}}')
    await adapter.until(lambda: True in adapter.statuses, "a connected client")
    await adapter.expect_ignored(link)


async def assert_not_connected(adapter: Adapter, trial: Trial) -> None:
    """The host was never told of a connection, and a send is refused."""
    trial.expect(True not in adapter.statuses, "no connection", f"statuses {adapter.statuses}")
    try:
        await adapter.send("bob")
    except (TargetRefused, TargetFailed):
        return
    trial.expect(False, "a refused send", "the send was accepted")


@clauses("PB-2.1-15")
@axis("code", {"1000": 1000, "1003": 1003, "1007": 1007, "1008": 1008, "1011": 1011, "4000": 4000, "dropped": DROPPED})
async def test_a_close_at_handshake_time_is_a_rejection(adapter: Adapter, trial: Trial, code: int) -> None:
    """However the broker ends the handshake: not connected, and a send fails."""
    link = await adapter.registering()
    await link.close(code) if code else link.cut()
    await adapter.registering("PB-2.1-15")
    await assert_not_connected(adapter, trial)


@clauses("PB-2.1-15")
async def test_a_send_before_the_answer_is_refused(adapter: Adapter, trial: Trial) -> None:
    """As long as the register is not answered there is no connection to send on."""
    await adapter.registering()
    await assert_not_connected(adapter, trial)


@clauses("PB-6-05", "PB-2.1-15")
async def test_a_rejected_client_does_not_try_another_version(adapter: Adapter, trial: Trial) -> None:
    """There is no negotiation: each register after a rejection says v1, like the first."""
    for _ in range(3):
        link = await adapter.registering()
        wanted = Register(adapter.token, adapter.name)
        trial.expect(link.register == wanted, str(wanted), link.register)
        await link.close(1008)


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
async def test_any_other_answer_is_a_rejection(adapter: Adapter, trial: Trial, answer: Frame | str) -> None:
    """A first frame that is no `peers` ends the attempt: the client drops the connection and dials again."""
    link = await adapter.registering()
    await link.text(answer if isinstance(answer, str) else codec.encode(answer).decode())
    await link.expect_closed()
    again = await adapter.registering()
    trial.expect(True not in adapter.statuses, "no connection", f"statuses {adapter.statuses}")
    await again.send(Peers((adapter.name,)))
    await adapter.expect_ignored(again)


@clauses("PB-2.1-30")
async def test_a_deliver_before_the_answer_is_not_taken(adapter: Adapter) -> None:
    """A delivery instead of the answer is neither surfaced nor acked; delivered again, it is."""
    link = await adapter.registering()
    mail = adapter.mail()
    await link.deliver(mail)
    await link.expect_closed()
    await adapter.handles(await adapter.online(), mail)


@clauses("PB-2.1-31")
async def test_peers_and_delivers_come_at_any_time(adapter: Adapter, link: Link) -> None:
    """Unasked `peers` frames change nothing, before, between and after deliveries."""
    for names in ((), (adapter.name,), ("a", "b")):
        await link.send(Peers(names))
        await adapter.handles(link, adapter.mail())
    await link.send(Peers(), Peers())
    await adapter.expect_ignored(link)


@clauses("PB-2.1-33", "PB-2.1-34")
@axis("cause", {"peers": 0, "deliver": 1, "redial": 2})
async def test_one_register_per_connection(adapter: Adapter, cause: int) -> None:
    """To register again a client opens a new connection; `Link` takes a second register for a fault."""
    link = await adapter.online()
    if cause == 0:
        await link.send(Peers(("somebody-else",)))
    if cause == 2:
        link.cut()
        link = await adapter.online()
    await adapter.handles(link, adapter.mail())
    await adapter.expect_unacked(link)


@clauses("PB-2.1-34", "PB-7-05")
async def test_reconnecting_is_a_register_under_the_same_name(adapter: Adapter, trial: Trial) -> None:
    """What makes a broker hand over name and backlog is the same register, on another connection."""
    first = await adapter.online()
    unacked = adapter.mail()
    await first.deliver(unacked)
    await adapter.expect_surfaced(unacked)
    await first.close(1001)
    second = await adapter.registering_consumed(unacked.id)
    trial.expect(second.register == first.register, str(first.register), second.register)
    await adapter.answer(second)
    await second.deliver(unacked)
    await second.expect_ack(unacked.id)
