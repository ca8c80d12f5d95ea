"""Section 17.1: a peer that comes back on another connection."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import Err, Hangup, Joined, Lookup, Signal
from suites.frog.server.test_presence import end, until_missed
from suites.frog.server.under_test import ServerUnderTest
from suites.frog.wire import Peer, an_id, cid, message

ROUTE_GONE = ("ROUTE_EXPIRED", "ROUTE_NOT_FOUND")


@clauses("FROG-17.1-02", "FROG-17.1-01", "FROG-17.1-04", "FROG-25-06", "FROG-24-01")
async def test_the_new_connection_is_the_peer(server: ServerUnderTest, trial: Trial) -> None:
    """It is found once, and signals reach it and nobody else."""
    old, other = await server.peers()
    new = await server.peer(old.peer)
    trial.expect(await other.find() == (old.key,), "the peer once", "another list", "FROG-17.1-04")
    await other.signals(await other.route(new), new)
    rest = [frame for frame in old.inbox.drain() if not isinstance(frame, Hangup)]
    trial.expect(not rest, "nothing for the old connection but its end", rest, "FROG-25-06")


@clauses("FROG-17.1-03")
async def test_the_old_connection_is_closed(server: ServerUnderTest) -> None:
    """As it should be."""
    old = await server.peer()
    await server.peer(old.peer)
    await old.expect_closed("FROG-17.1-03")


@clauses("FROG-17.1-04", "FROG-17.1-02")
@axis("command", ["FIND", "LOOKUP", "SIGNAL"])
async def test_the_old_connection_is_nobody(server: ServerUnderTest, trial: Trial, command: str) -> None:
    """Closed, or refused whatever it asks (AMB-17)."""
    old, other = await server.peers()
    route = await old.route(other)
    await server.peer(old.peer)
    asked = cid("X")
    text = {"FIND": f"FIND {asked} 7", "LOOKUP": f"LOOKUP {asked} {other.key}", "SIGNAL": f"SIGNAL {route} ICE 0"}
    await old.raw(message(text[command]))
    heard = await old.next("the end, or an error", "FROG-17.1-04")
    trial.expect(isinstance(heard, Hangup | Err), "the end, or an error", heard)
    await other.expect_silence("FROG-25-06")


@clauses("FROG-17.1-05", "FROG-19-01")
@axis("how", ["bad-proof", "silence", "gone", "left"])
async def test_a_claim_without_proof_evicts_nobody(server: ServerUnderTest, how: str) -> None:
    """Only a proof takes a registration over."""
    holder, other = await server.peers()
    claimant = await server.in_state("auth-pending", holder.peer)
    if how == "bad-proof":
        await claimant.auth(nonce=an_id())
        await claimant.expect_refusal("FROG-17-10", ("AUTH_FAILED",))
    elif how == "gone":
        await claimant.close()
    elif how == "left":
        await claimant.raw(message("LEAVE"))
        await claimant.next("OK LEAVE, or the end", "FROG-19-03")
    await other.signals(await other.route(holder), holder)
    await holder.expect_silence("FROG-17.1-05")


@clauses("FROG-17-11", "FROG-17.1-01")
@axis("how", ["close", "leave"])
async def test_a_claim_outlives_the_holder(server: ServerUnderTest, how: str) -> None:
    """The key was registered when it was claimed, and is not any more when it is proven: the proof counts all the same."""
    holder, other = await server.peers()
    claimant = await server.in_state("auth-pending", holder.peer)
    await end(holder, how)
    await until_missed(server, other, holder.key, "FROG-18-02")
    await claimant.auth()
    await claimant.expect(Joined, "FROG-17-11")
    await other.signals(await other.route(claimant), claimant)


@clauses("FROG-17.1-02", "FROG-17.1-04", "FROG-17-11", "FROG-17-01")
async def test_of_two_claims_the_later_proof_counts(server: ServerUnderTest, trial: Trial) -> None:
    """Both were challenged before either was registered: the second proof replaces the first."""
    other, peer = await server.peer(), Peer(server.network)
    first, second = [await server.in_state("auth-pending", peer) for _ in range(2)]
    for line in (first, second):
        await line.auth()
        await line.expect(Joined, "FROG-17.1-02")
    trial.expect(await other.find() == (peer.key,), "the peer once", "another list", "FROG-17.1-04")
    await other.signals(await other.route(second), second)
    asked = cid("X")
    await first.raw(message(f"FIND {asked} 7"))
    heard = await first.next("the end, or an error", "FROG-17.1-04")
    trial.expect(isinstance(heard, Hangup | Err), "the end, or an error", heard, "FROG-17.1-04")


@clauses("FROG-17.1-06", "FROG-17.1-02", "FROG-25-05", "FROG-25-04", "FROG-26-08")
@axis("times", [1, 2, 3])
async def test_routes_of_the_old_connection_are_over(server: ServerUnderTest, trial: Trial, times: int) -> None:
    """Neither side can use them, and the new connection hears nothing; however often the peer has come back before."""
    old, other = await server.peers()
    for _ in range(times - 1):
        old = await server.peer(old.peer)
    route = await other.route(old)
    new = await server.peer(old.peer)
    await other.send(Signal(route, "ICE", b"late"))
    err = await other.expect_error(route, (*ROUTE_GONE, "PEER_NOT_FOUND"), "FROG-17.1-06")
    if err.code == "PEER_NOT_FOUND":
        trial.warn("FROG-25-07", "PEER_NOT_FOUND, though the peer is registered again")
    await new.send(Signal(route, "ICE", b"late"))
    await new.expect_error(route, (*ROUTE_GONE, "TARGET_MISMATCH", "PEER_NOT_FOUND"), "FROG-26-06")
    await other.expect_silence("FROG-17.1-06")
    await new.expect_silence("FROG-17.1-06")


@clauses("FROG-17.1-08", "FROG-17.1-02")
@axis("end", ["close", "leave"])
async def test_the_end_of_the_old_connection_is_not_the_peers(server: ServerUnderTest, end: str) -> None:
    """A registration that was taken over does not die with the connection that had it."""
    old, other = await server.peers()
    new = await server.peer(old.peer)
    if end == "leave":
        await old.raw(message("LEAVE"))
    await old.close()
    await old.over()
    await other.fence()
    await other.signals(await other.route(new), new)


@clauses("FROG-17.1-02")
async def test_the_peer_is_never_missing_meanwhile(server: ServerUnderTest, trial: Trial) -> None:
    """Lookups before, during and after a takeover all find it."""
    old, other = await server.peers()
    new = await server.in_state("auth-pending", old.peer)
    asked = [cid("L") for _ in range(60)]
    for n, id in enumerate(asked):
        if n == 20:
            await new.auth()
        await other.send(Lookup(id, old.key))
    await new.expect(Joined, "FROG-17-11")
    for _ in asked:
        heard = await other.next("FOUND", "FROG-17.1-02")
        if isinstance(heard, Err):
            raise Broken("FROG-17.1-02", "FOUND throughout", str(heard))


@clauses("FROG-3.5-01", "FROG-17.1-07", "FROG-3.2-01")
async def test_the_same_key_in_another_network_is_another_peer(server: ServerUnderTest, trial: Trial) -> None:
    """Both stay registered, and each is found in its own network only."""
    here, mate = await server.peers()
    there = await server.peer(here.peer.elsewhere(f"{server.network[:15]}X"))
    await here.expect_silence("FROG-17.1-07")
    trial.expect(await there.find() == (), "nobody in the other network", "somebody", "FROG-3.3-01")
    await mate.route(here)
