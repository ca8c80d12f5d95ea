"""Sections 18 and 19: who is there, and that nobody is found who is not."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import Left, Signal
from suites.frog.server.under_test import PeerLine, ServerUnderTest
from suites.frog.wire import Peer, message

GONE = ("ROUTE_EXPIRED", "ROUTE_NOT_FOUND", "PEER_NOT_FOUND")
ENDS = ["close", "cut", "leave", "text"]


async def end(line: PeerLine, how: str) -> None:
    match how:
        case "close":
            await line.close()
        case "cut":
            line.cut()
        case "leave":
            await line.raw(message("LEAVE"))
            await line.expect(Left, "FROG-19-01")
        case _:
            await line.text("LEAVE\n")
            await line.expect_closed("FROG-4-06")


async def until_missed(server: ServerUnderTest, witness: PeerLine, key: str, clause: str) -> None:
    """A server learns of a broken connection when it learns of it: ask until it does, within the patience."""
    for _ in range(50):
        if key not in await witness.find():
            break
    await witness.expect_miss(key, clause)


@clauses("FROG-18-02", "FROG-18-05", "FROG-19-01", "FROG-22-08", "FROG-4-10", "FROG-39-07")
@axis("how", ENDS)
async def test_whoever_is_gone_is_not_found(server: ServerUnderTest, trial: Trial, how: str) -> None:
    """Registration ends with the connection, at once: neither FIND nor LOOKUP knows the peer any more."""
    peer, witness = await server.peers()
    await end(peer, how)
    if how in ("leave", "text"):
        await witness.expect_miss(peer.key, "FROG-19-01" if how == "leave" else "FROG-18-05")
    await until_missed(server, witness, peer.key, "FROG-18-02")
    trial.expect(await witness.find() == (), "nobody", "the peer that left", "FROG-22-08")


@clauses("FROG-25-05", "FROG-26-12", "FROG-26-08", "FROG-25-06")
@axis("how", ENDS)
async def test_routes_end_with_a_peer(server: ServerUnderTest, how: str) -> None:
    """A signal to a peer that is gone is refused, whoever of the two made the route, and also when it is back."""
    peer, witness = await server.peers()
    routes = [await witness.route(peer), await peer.route(witness)]
    await end(peer, how)
    await until_missed(server, witness, peer.key, "FROG-18-02")
    for route in routes:
        await witness.send(Signal(route, "ICE", b"1"))
        await witness.expect_error(route, GONE, "FROG-25-05")
    back = await server.peer(peer.peer)
    for route in routes:
        await witness.send(Signal(route, "ICE", b"2"))
        await witness.expect_error(route, GONE, "FROG-25-05")
    await back.expect_silence("FROG-25-06")


@clauses("FROG-25-02", "FROG-26-03")
@axis("how", [*ENDS, "replaced"])
async def test_routes_of_others_live_on(server: ServerUnderTest, how: str) -> None:
    """Somebody else of their network goes, or comes back on another connection: two peers signal as before."""
    a, b, third = await server.peers(3)
    between, away = await a.route(b), await a.route(third)
    if how == "replaced":
        await server.peer(third.peer)
    else:
        await end(third, how)
        await until_missed(server, b, third.key, "FROG-18-02")
    await a.send(Signal(away, "ICE", b"late"))
    await a.expect_error(away, GONE, "FROG-25-05")
    await a.signals(between, b, b"there")
    await b.signals(between, a, b"and back")


@clauses("FROG-17.1-07", "FROG-18-01", "FROG-3.5-01")
@axis("how", ENDS)
async def test_who_goes_in_one_network_stays_in_another(server: ServerUnderTest, how: str) -> None:
    """The same key is two peers: one of them ends, the other is found and signals."""
    here, witness = await server.peers()
    there = f"{server.network[:15]}V"
    stays, mate = await server.peer(here.peer.elsewhere(there)), await server.peer(Peer(there))
    await end(here, how)
    await until_missed(server, witness, here.key, "FROG-18-02")
    await mate.signals(await route_to(mate, stays), stays)
    await stays.expect_silence("FROG-17.1-07")


async def route_to(line: PeerLine, other: PeerLine) -> str:
    """Where nobody is found it is presence that is broken."""
    try:
        return await line.route(other)
    except Broken as broken:
        raise Broken(
            "FROG-17.1-07", f"the peer of the other network as before: {broken.expected}", broken.observed
        ) from None


@clauses("FROG-18-07")
async def test_a_pending_peer_is_not_there(server: ServerUnderTest, trial: Trial) -> None:
    """A claim is no presence."""
    claimant, witness = await server.in_state("auth-pending"), await server.peer()
    trial.expect(await witness.find() == (), "nobody", "a peer that has not proven its key")
    await witness.expect_miss(claimant.key, "FROG-18-07")


@clauses("FROG-39-03", "FROG-17-11")
async def test_ok_join_means_found(server: ServerUnderTest) -> None:
    """From OK JOIN on, everybody finds the peer."""
    witness = await server.peer()
    for _ in range(5):
        await witness.route(await server.peer())


@clauses("FROG-3.3-01", "FROG-3.3-02", "FROG-22-03", "FROG-3.2-01")
async def test_networks_do_not_see_each_other(server: ServerUnderTest, trial: Trial) -> None:
    """Neither FIND nor LOOKUP reaches into another network."""
    here, mate = await server.peers()
    there = await server.peer(here.peer.elsewhere(f"{server.network[:15]}Y"))
    trial.expect(await here.find() == (mate.key,), mate.key, "others too", "FROG-3.3-01")
    trial.expect(await there.find() == (), "nobody", "somebody", "FROG-3.3-01")
    await here.raw(message(f"LOOKUP L_1 {there.key}"))
    await here.expect_error("L_1", "BAD_REQUEST", "FROG-3.3-02")
