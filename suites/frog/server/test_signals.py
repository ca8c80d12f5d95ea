"""Sections 25 and 26: signals pass along a route, unchanged, between the two connections that it was made for."""

from __future__ import annotations

import hashlib

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import Chal, Hangup, Joined, Signal, SignalFrom
from suites.frog.server.under_test import ServerUnderTest
from suites.frog.wire import MAX_PAYLOAD, Peer, an_id, message

PAYLOADS = {
    "empty": b"",
    "line-feeds": b"\n\n\n",
    "cr-lf": b"\r\n\r\n",
    "a-command": b"LEAVE\n",
    "a-signal": b"SIGNAL 00000000000000000000000000 ICE 1\nx",
    "blanks-at-the-end": b"x \t\n",
    "nul": bytes(5),
    "no-utf-8": bytes(range(128, 256)),
    "json": b'{"sdp":"v=0\\r\\n"}',
    "json-with-blanks": b'{ "b": 1.0, "a" : [ ] }',
    "64-kib-less-one": bytes(MAX_PAYLOAD - 1),
    "64-kib": bytes(range(256)) * 256,
}


@clauses("FROG-26-03", "FROG-26-01", "FROG-26-04", "FROG-5-19", "FROG-5-20", "FROG-5-21", "FROG-39-02")
@axis("payload", PAYLOADS)
async def test_payload_arrives_unchanged(server: ServerUnderTest, payload: bytes) -> None:
    """Any bytes, from none to 65536."""
    a, b = await server.peers()
    await a.signals(await a.route(b), b, payload)


BUFFERS = (128, 256, 512, 1024, 1280, 1460, 1500, 1536, 2048, 4096, 8192, 9000, 16_384, 32_768, 65_507, 65_535)


@clauses("FROG-26-03", "FROG-26-01", "FROG-39-02", "FROG-5-20")
async def test_payloads_of_the_size_of_a_buffer(server: ServerUnderTest) -> None:
    """And of one byte less and one more: in none of the sizes that people choose for a buffer is anything lost."""
    a, b = await server.peers()
    route = await a.route(b)
    for size in BUFFERS:
        for length in (size - 1, size, size + 1):
            await a.signals(route, b, (b"0123456789" * (length // 10 + 1))[:length])


@clauses("FROG-26-11", "FROG-13.1-03", "FROG-26-03", "FROG-26-04")
@axis("kind", ["OFFER", "ANSWER", "ICE"])
async def test_both_ways_on_one_route(server: ServerUnderTest, kind: str) -> None:
    """Any kind, by whoever made the route and by whom it was made for."""
    a, b = await server.peers()
    route = await a.route(b)
    await a.signals(route, b, b"there", kind)
    await b.signals(route, a, b"and back", kind)
    await a.signals(route, b, b"again", kind)


@clauses("FROG-26-11", "FROG-24-10", "FROG-26-15", "FROG-26-03")
async def test_who_is_looked_up_may_look_up_too(server: ServerUnderTest) -> None:
    """Then there are two routes between them, and each carries both ways, under its own id."""
    a, b = await server.peers()
    for route in [await a.route(b), await b.route(a)] * 2:
        await a.signals(route, b, b"there")
        await b.signals(route, a, b"and back")
    await a.expect_silence("FROG-26-15")


@clauses("FROG-25-02", "FROG-24-10", "FROG-26-03", "FROG-23-05", "FROG-39-03")
async def test_many_routes_live_at_once(server: ServerUnderTest, trial: Trial) -> None:
    """Of three hundred, found within moments, each carries a signal, the oldest too."""
    a, b = await server.peers()
    routes = [await a.route(b) for _ in range(300)]
    for route in routes:
        await a.send(Signal(route, "ICE", route.encode()))
    for number, route in enumerate(routes):
        heard = await b.next(f"the signal along route {number}", "FROG-25-02")
        wanted = SignalFrom(route, a.key, "ICE", route.encode())
        trial.expect(heard == wanted, str(wanted), heard, "FROG-25-02")


@clauses("FROG-26-04", "FROG-17-10", "FROG-17-11")
async def test_the_source_is_who_was_proven(server: ServerUnderTest, trial: Trial) -> None:
    """A connection that had claimed another key, and could not prove it, signals under the one that it has proven."""
    claimed, own = Peer(server.network), Peer(server.network)
    line, other = await server.in_state("auth-pending", claimed), await server.peer()
    await line.auth(nonce=an_id())
    if await line.expect_refusal("FROG-17-10", ("AUTH_FAILED",)):
        line.peer = own
        await line.raw(message(f"JOIN {own.key}"))
        if isinstance(again := await line.next("CHAL, or an error", "FROG-17-01"), Chal):
            line.nonce = again.nonce
            await line.auth()
            await line.expect(Joined, "FROG-17-11")
            await line.signals(await line.route(other), other)
            return
    trial.info("a failed AUTH leads to no state from which it may join again (AMB-13)")


@clauses("FROG-26-15")
async def test_the_sender_hears_nothing(server: ServerUnderTest) -> None:
    """A signal that was delivered is not confirmed."""
    a, b = await server.peers()
    await a.signals(await a.route(b), b)
    await a.expect_silence("FROG-26-15")
    await b.expect_silence("FROG-26-15")


@clauses("FROG-26-16", "FROG-26-01", "FROG-26-03")
async def test_order_is_kept(server: ServerUnderTest, trial: Trial) -> None:
    """Two hundred signals of all sizes arrive as they were sent."""
    a, b = await server.peers()
    route = await a.route(b)
    payloads = [hashlib.sha256(bytes([n])).digest() * (n * 7 % 40) for n in range(200)]
    for payload in payloads:
        await a.send(Signal(route, "ICE", payload))
    for number, payload in enumerate(payloads):
        got = await b.expect(SignalFrom, "FROG-26-03")
        trial.expect(got.payload == payload, f"signal {number}", got)


@clauses("FROG-26-07", "FROG-20-06", "FROG-38-02")
async def test_an_unknown_route(server: ServerUnderTest) -> None:
    """ROUTE_NOT_FOUND, with the route id, whatever was asked before."""
    line, route = await server.peer(), an_id()
    await line.find()
    await line.send(Signal(route, "OFFER", b"x"))
    await line.expect_error(route, "ROUTE_NOT_FOUND", "FROG-26-07")


@clauses("FROG-26-05", "FROG-38-06")
async def test_a_third_peer_cannot_use_a_route(server: ServerUnderTest, trial: Trial) -> None:
    """TARGET_MISMATCH; nobody hears of it, and the route lives on."""
    a, b, stranger = await server.peers(3)
    route = await a.route(b)
    await stranger.send(Signal(route, "ICE", b"intruder"))
    err = await stranger.expect_error(route, ("TARGET_MISMATCH", "ROUTE_NOT_FOUND"), "FROG-26-05")
    if err.code != "TARGET_MISMATCH":
        trial.warn("FROG-38-06", "a stranger's signal is refused with ROUTE_NOT_FOUND instead of TARGET_MISMATCH")
    await a.signals(route, b, b"first")
    await b.signals(route, a, b"first")


@clauses("FROG-26-02", "FROG-26-05", "FROG-15-02")
async def test_a_claim_cannot_use_a_route(server: ServerUnderTest) -> None:
    """Whoever claims the key of an endpoint, and has not proven it, is not that endpoint."""
    a, b = await server.peers()
    route = await a.route(b)
    claimant = await server.in_state("auth-pending", a.peer)
    await claimant.send(Signal(route, "ICE", b"intruder"))
    await claimant.expect_refusal("FROG-26-02", ("BAD_STATE",), ("-", route))
    await a.signals(route, b, b"first")


@clauses("FROG-3.3-03", "FROG-26-09", "FROG-26-06")
async def test_the_same_key_in_another_network_cannot_use_a_route(server: ServerUnderTest) -> None:
    """A route is for the two peer keys, networks and all."""
    a, b = await server.peers()
    route = await a.route(b)
    twin = await server.peer(a.peer.elsewhere(f"{server.network[:15]}Z"))
    await twin.send(Signal(route, "ICE", b"intruder"))
    await twin.expect_error(route, ("TARGET_MISMATCH", "ROUTE_NOT_FOUND"), "FROG-3.3-03")
    await a.signals(route, b, b"first")


@clauses("FROG-26-10", "FROG-5-17", "FROG-38-06")
async def test_a_payload_over_the_maximum(server: ServerUnderTest, trial: Trial) -> None:
    """PAYLOAD_TOO_LARGE, or the end; the other side hears nothing of it."""
    a, b, c = await server.peers(3)
    route, other = await a.route(b), await c.route(b)
    await a.raw(message(f"SIGNAL {route} OFFER {MAX_PAYLOAD + 1}", bytes(MAX_PAYLOAD + 1)))
    heard = await a.next(f"ERR {route} PAYLOAD_TOO_LARGE, or the end", "FROG-26-10")
    code = "PAYLOAD_TOO_LARGE" if isinstance(heard, Hangup) else getattr(heard, "code", "")
    trial.expect(code in ("PAYLOAD_TOO_LARGE", "BAD_REQUEST"), "PAYLOAD_TOO_LARGE, or the end", heard)
    if code == "BAD_REQUEST":
        trial.warn("FROG-38-06", "BAD_REQUEST for a payload that has a code of its own")
    await c.signals(other, b, b"first")


@clauses("FROG-5-16", "FROG-5-14", "FROG-5-15")
@axis(
    "length",
    {"one-short": "6", "one-long": "4", "none": "", "leading-zero": "05", "plus": "+5", "wraps": str(2**32 + 5)},
)
async def test_a_wrong_length_is_not_delivered(server: ServerUnderTest, length: str) -> None:
    """The other side hears the next good signal, and nothing before it."""
    a, b, c = await server.peers(3)
    route, other = await a.route(b), await c.route(b)
    await a.raw(message(f"SIGNAL {route} OFFER {length}".rstrip(), b"hello"))
    codes = ("BAD_REQUEST", "PAYLOAD_TOO_LARGE") if len(length) > 4 else ("BAD_REQUEST",)
    await a.expect_refusal("FROG-5-16", codes, (route, "-"), silent=True)
    await c.signals(other, b, b"first")


@clauses("FROG-3.12-01", "FROG-25-04")
async def test_routes_are_apart(server: ServerUnderTest) -> None:
    """Three peers, a route between each two: every signal goes where its route leads."""
    a, b, c = await server.peers(3)
    routes = [(a, b, await a.route(b)), (b, c, await b.route(c)), (c, a, await c.route(a))]
    for sender, receiver, route in [*routes, *((there, back, route) for back, there, route in routes)]:
        await sender.signals(route, receiver, route.encode())
