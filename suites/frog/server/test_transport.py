"""Section 4: the subprotocol, binary messages, one message each."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import Hangup, Hello, SignalFrom, Welcome
from reference_impl.io.carrier import HungUp, NoConnection
from reference_impl.io.websocket import Settings, dial
from suites.common.connect import dial_websocket
from suites.frog.server.under_test import STATES, ServerUnderTest
from suites.frog.wire import MAX_PAYLOAD, SUBPROTOCOL, message


@clauses("FROG-4-02", "FROG-51-01")
@axis("offered", {"alone": (SUBPROTOCOL,), "in-a-list": ("x", SUBPROTOCOL, "y"), "last": ("chat", SUBPROTOCOL)})
async def test_subprotocol_is_selected(server: ServerUnderTest, trial: Trial, offered: tuple[str, ...]) -> None:
    """Whoever offers frog.v1 gets it, whatever else is offered."""
    carrier = await dial_websocket(trial, server.instance.address, subprotocols=offered)
    trial.expect(carrier.subprotocol == SUBPROTOCOL, SUBPROTOCOL, carrier.subprotocol)
    await carrier.close()


@clauses("FROG-4-03")
@axis("offered", {"none": (), "frog.v2": ("frog.v2",), "chat": ("chat",), "other-case": ("FROG.V1",)})
async def test_without_the_subprotocol_nothing_is_answered(
    server: ServerUnderTest, trial: Trial, offered: tuple[str, ...]
) -> None:
    """No upgrade, or a close: a HELLO that is sent anyway gets no answer."""
    settings = Settings(open_s=trial.patience_s, subprotocols=offered)
    try:
        carrier = await dial(server.instance.address, settings)
    except NoConnection:
        return
    try:
        await carrier.send(b"HELLO FROG/1\n")
        heard = await carrier.receive()
    except HungUp:
        return
    trial.expect(False, "a close", heard)


@clauses("FROG-4-06", "FROG-18-05")
@axis("state", STATES)
async def test_text_closes_the_connection(server: ServerUnderTest, trial: Trial, state: str) -> None:
    """A text message is no FROG message, in any state: the connection is closed, and nothing else happens."""
    line = await server.in_state(state)
    await line.text("HELLO FROG/1\n" if state == "new" else "LEAVE\n")
    said = await line.expect_closed("FROG-4-06")
    trial.expect(not said, "nothing before the end", said)
    if state == "registered":
        await (await server.peer()).expect_miss(line.key, "FROG-18-05")


@clauses("FROG-4-07")
@axis(
    "message",
    {
        "two-commands": b"HELLO FROG/1\nGETSERVERS A_1 1\n",
        "half-a-command": b"HELLO FR",
        "the-other-half": b"OG/1\n",
    },
)
async def test_a_message_is_one_command(server: ServerUnderTest, message: bytes) -> None:
    """Not two, and not half of one."""
    line = await server.connect()
    await line.raw(message)
    if await line.expect_refusal("FROG-4-07", ("BAD_REQUEST",), silent=True):
        await line.expect_state("new", "FROG-5-24")


@clauses("FROG-4-08")
async def test_fragments_are_invisible(server: ServerUnderTest) -> None:
    """A command in frames of one byte, an empty one among them, is one command."""
    line = await server.connect()
    await line.binary([*(bytes([byte]) for byte in b"HELLO FROG"), b"", b"/1\n"])
    await line.expect(Welcome, "FROG-4-08")


@clauses("FROG-4-08", "FROG-5-20")
async def test_a_fragmented_payload_is_whole(server: ServerUnderTest, trial: Trial) -> None:
    """The largest signal in a hundred fragments arrives in one piece."""
    a, b = await server.peers()
    route, payload = await a.route(b), bytes(range(256)) * (MAX_PAYLOAD // 256)
    wire = message(f"SIGNAL {route} OFFER {len(payload)}", payload)
    await a.binary([wire[at : at + 656] for at in range(0, len(wire), 656)])
    got = await b.expect(SignalFrom, "FROG-4-08")
    trial.expect(got.payload == payload, "the same 65536 bytes", f"{len(got.payload)} bytes")


@clauses("FROG-15-09")
async def test_nothing_is_said_before_hello(server: ServerUnderTest, trial: Trial) -> None:
    """A server does not speak first, not even with a TRY."""
    line = await server.connect()
    await line.send(Hello())
    first = await trial.next_of(line.inbox, "HELLO", "FROG-16-02")
    trial.expect(isinstance(first, Welcome), "HELLO as the first message", first)


@clauses("FROG-11-03", "FROG-16-02", "FROG-7.6-01", "FROG-4-05")
async def test_one_server_has_one_id(server: ServerUnderTest, trial: Trial) -> None:
    """The id in HELLO is the same on every connection."""
    ids = {(await (await server.connect()).hello()).server_id for _ in range(5)}
    trial.expect(len(ids) == 1, "one server id", ids)


@clauses("FROG-5-04")
@axis("size", {"4097": 4097, "65536": 65_536, "a-megabyte": 1 << 20})
async def test_a_server_survives_a_long_header(server: ServerUnderTest, trial: Trial, size: int) -> None:
    """A header over 4096 bytes is rejected, and the server serves whoever comes next."""
    line = await server.connect()
    await line.raw(b"A" * size + b"\n")
    heard = await line.next("an error, or the end", "FROG-5-04")
    trial.expect(isinstance(heard, Hangup) or getattr(heard, "code", "") == "BAD_REQUEST", "a rejection", heard)
    await (await server.connect()).hello()
