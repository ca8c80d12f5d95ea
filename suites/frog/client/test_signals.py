"""Section 26 from the client's side: bytes in, bytes out."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import Err, Found, Lookup, Signal, SignalFrom
from suites.frog.client.under_test import ClientLine, ClientUnderTest
from suites.frog.wire import MAX_PAYLOAD, Peer, an_id, message

PAYLOADS = {"empty": b"", "line-feeds": b"\n\r\n", "no-utf-8": bytes(range(256)), "64-kib": b"\xff" * MAX_PAYLOAD}


async def routed(client: ClientUnderTest, line: ClientLine, other: Peer | None = None) -> tuple[str, Peer]:
    """A route that the client looked up."""
    other, route = other or Peer(client.peer.network), an_id()
    asked = client.asking("lookup", peer_key=other.key)
    lookup = await line.expect(Lookup, "FROG-46-01")
    await line.send(Found(lookup.cid, other.key, route))
    await client.answer(asked)
    return route, other


@clauses("FROG-46-01", "FROG-5-19", "FROG-5-20", "FROG-5-21")
@axis("payload", PAYLOADS)
async def test_a_signal_is_sent(client: ClientUnderTest, trial: Trial, payload: bytes) -> None:
    """On a route that was found, with the bytes as they are."""
    line = await client.online()
    route, _ = await routed(client, line)
    await client.answer(client.asking("signal", route_id=route, kind="OFFER", payload=payload.hex()))
    heard = await line.expect(Signal, "FROG-46-01")
    trial.expect(heard == Signal(route, "OFFER", payload), f"SIGNAL {route} OFFER {len(payload)}", heard)


@clauses("FROG-46-01", "FROG-5-19", "FROG-5-20")
@axis("payload", PAYLOADS)
async def test_a_signal_is_handed_over(client: ClientUnderTest, trial: Trial, payload: bytes) -> None:
    """With its route, its source, its kind and its bytes."""
    line, other, route = await client.online(), Peer(client.peer.network), an_id()
    await line.send(SignalFrom(route, other.key, "ANSWER", payload))
    told = await client.expect_told("signal", "FROG-46-01")
    wanted = {"route_id": route, "peer_key": other.key, "kind": "ANSWER", "payload": payload.hex()}
    trial.expect(told == wanted, str(wanted)[:200], str(told)[:200])


@clauses("FROG-46-01")
async def test_every_signal_is_handed_over(client: ClientUnderTest, trial: Trial) -> None:
    """Whatever came before it: candidates before an offer, the same bytes twice, none at all."""
    line, other, route = await client.online(), Peer(client.peer.network), an_id()
    said = [("ICE", b"c"), ("ICE", b"c"), ("ANSWER", b"a"), ("OFFER", b""), ("OFFER", b"o"), ("ICE", b""), ("ICE", b"")]
    for kind, payload in said:
        await line.send(SignalFrom(route, other.key, kind, payload))
    for kind, payload in said:
        told = await client.expect_told("signal", "FROG-46-01")
        wanted = {"route_id": route, "peer_key": other.key, "kind": kind, "payload": payload.hex()}
        trial.expect(told == wanted, str(wanted), told)


@clauses("FROG-22-11", "FROG-46-01")
async def test_who_is_called_may_answer(client: ClientUnderTest, trial: Trial) -> None:
    """The route of a signal that came leads back, without a lookup (AMB-61)."""
    line, other, route = await client.online(), Peer(client.peer.network), an_id()
    await line.send(SignalFrom(route, other.key, "OFFER", b"o"))
    await client.expect_told("signal", "FROG-46-01")
    await client.answer(client.asking("signal", route_id=route, kind="ANSWER", payload="61"))
    heard = await line.expect(Signal, "FROG-22-11")
    trial.expect(heard == Signal(route, "ANSWER", b"a"), "the answer on that route", heard)


@clauses("FROG-38-02", "FROG-46-01")
@axis("code", ["ROUTE_EXPIRED", "ROUTE_NOT_FOUND", "PEER_NOT_FOUND", "TARGET_MISMATCH"])
async def test_an_error_about_a_route_is_told(client: ClientUnderTest, trial: Trial, code: str) -> None:
    """The host learns which route, and why; a new lookup makes a new one."""
    line = await client.online()
    route, _ = await routed(client, line)
    await client.answer(client.asking("signal", route_id=route, kind="ICE", payload=""))
    await line.expect(Signal, "FROG-46-01")
    await line.send(Err(route, code))
    told = await client.expect_told("error", "FROG-46-01")
    trial.expect(told == {"id": route, "code": code}, f"{route} {code}", told)
    await routed(client, line)


@clauses("FROG-46-01", "FROG-38-02")
@axis("code", ["ROUTE_EXPIRED", "ROUTE_NOT_FOUND"])
async def test_an_error_is_about_one_route(client: ClientUnderTest, trial: Trial, code: str) -> None:
    """Two routes to one peer: when the one is over, signals go along the other."""
    line = await client.online()
    over, other = await routed(client, line)
    living, _ = await routed(client, line, other)
    await line.send(Err(over, code))
    await client.expect_told("error", "FROG-46-01")
    answer = await client.answer(client.asking("signal", route_id=living, kind="ICE", payload="67"))
    trial.expect(not isinstance(answer, str), "a signal along the other route", answer)
    heard = await line.expect(Signal, "FROG-46-01")
    trial.expect(heard == Signal(living, "ICE", b"g"), f"SIGNAL {living} ICE 1", heard)


BROKEN = {
    "short": "SIGNAL-FROM {route} {key} ICE 6",
    "long": "SIGNAL-FROM {route} {key} ICE 4",
    "kind": "SIGNAL-FROM {route} {key} BYE 5",
    "no-source": "SIGNAL-FROM {route} ICE 5",
    "leading-zero": "SIGNAL-FROM {route} {key} ICE 05",
}


@clauses("FROG-5-16", "FROG-13.1-03", "FROG-5-15", "FROG-13.1-02")
@axis("header", BROKEN)
async def test_a_broken_signal_is_not_handed_over(client: ClientUnderTest, trial: Trial, header: str) -> None:
    """The host hears the next good one, or that the connection is gone (AMB-49)."""
    line, other = await client.online(), Peer(client.peer.network)
    await line.raw(message(header.format(route=an_id(), key=other.key), b"hello"))
    good = SignalFrom(an_id(), other.key, "ICE", b"good")
    await line.send(good)
    while (told := await trial.next_of(client.told, "the good signal, or the end", "FROG-5-16"))[0] == "error":
        pass
    event, data = told
    right = event == "status" or data.get("route_id") == good.route_id
    trial.expect(right, "the good signal, or the end", told)


@clauses("FROG-5-17", "FROG-26-10")
async def test_a_payload_over_the_maximum_is_not_sent(client: ClientUnderTest, trial: Trial) -> None:
    """A client refuses it to its host."""
    line = await client.online()
    route, _ = await routed(client, line)
    await client.refuses("signal", "FROG-5-17", route_id=route, kind="ICE", payload="00" * (MAX_PAYLOAD + 1))
    await client.answer(client.asking("signal", route_id=route, kind="ICE", payload="67"))
    heard = await line.expect(Signal, "FROG-46-01")
    trial.expect(heard.payload == b"g", "the signal behind it", heard)
