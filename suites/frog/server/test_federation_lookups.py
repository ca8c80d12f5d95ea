"""Sections 24 and 36: a peer on another server is looked up by asking sisters; the first valid answer is the route."""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.frog.frames import (
    Found,
    Hangup,
    Lookup,
    Signal,
    SignalFrom,
    SisterFound,
    SisterLookup,
    SisterSignal,
)
from suites.frog.server.sisters import Federation, SisterLine, sibling
from suites.frog.server.under_test import PeerLine
from suites.frog.wire import Peer, an_id, cid, message


async def looking(mesh: Federation, x: SisterLine, *others: SisterLine) -> SisterLookup:
    """A lookup of a sister's that is pending."""
    sent = SisterLookup(an_id(), sibling().id, Peer(mesh.network).key, Peer(mesh.network).key, 5)
    await x.send(sent)
    for line in others:
        await line.expect_frame(replace(sent, ttl=4), "FROG-36-05")
    return sent


# -- a client looks somebody up ----------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-24-02", "FROG-24-03", "FROG-24-09", "FROG-36-08", "FROG-24-05", "FROG-25-01")
async def test_a_lookup_asks_sisters(mesh: Federation, trial: Trial) -> None:
    """All get the same route id; the first @FOUND is the client's FOUND."""
    asker, (x, y) = await mesh.asker(), await mesh.sisters(2)
    target = Peer(mesh.network).key
    await asker.send(Lookup(asked := cid("L"), target))
    sent, copy = await x.expect_lookup("FROG-24-02"), await y.expect_lookup("FROG-24-02")
    trial.expect(sent == copy, "the same lookup to both", (sent, copy), "FROG-24-03")
    wanted = SisterLookup(sent.route_id, mesh.id or sent.server_id, asker.key, target, sent.ttl)
    trial.expect(sent == wanted, str(wanted), sent, "FROG-24-02")
    await y.send(SisterFound(sent.route_id, target))
    await expect_found(asker, Found(asked, target, sent.route_id))
    if sent.ttl != 5:
        trial.info(f"the TTL of its lookups is {sent.ttl}, 5 is recommended")


async def expect_found(asker: PeerLine, wanted: Found, clause: str = "FROG-36-08") -> None:
    heard = await asker.next(str(wanted), clause)
    asker.trial.expect(heard == wanted, str(wanted), heard, clause)


@needs("sister")
@clauses("FROG-24-01")
async def test_who_is_here_is_not_asked_for(mesh: Federation) -> None:
    """The local table first: no sister hears of it."""
    (a, b), x = await mesh.peers(2), await mesh.sister()
    await a.route(b)
    await x.expect_silence("FROG-24-01")


@needs("sister")
@clauses("FROG-24-07", "FROG-39-01", "FROG-39-06", "FROG-36-11")
async def test_a_lookup_ends_in_time(real_mesh: Federation) -> None:
    """After 3000 ms: LOOKUP_TIMEOUT; a @FOUND behind that is nothing to the client, and no route."""
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    target = Peer(real_mesh.network).key
    await asker.send(Lookup(asked := cid("L"), target))
    sent = await x.expect_lookup("FROG-24-02")
    await real_mesh.wait(3.2)
    await asker.expect_error(asked, "LOOKUP_TIMEOUT", "FROG-24-07")
    await x.send(SisterFound(sent.route_id, target))
    await x.expect_no_effect("FROG-24-07")
    await asker.expect_silence("FROG-24-07")
    await asker.raw(message(f"SIGNAL {sent.route_id} ICE 0"))
    await asker.expect_error(sent.route_id, ("ROUTE_NOT_FOUND", "ROUTE_EXPIRED"), "FROG-24-07")


@needs("sister")
@clauses("FROG-24-07", "FROG-39-06", "FROG-36-11")
async def test_each_lookup_ends_in_its_own_time(real_mesh: Federation) -> None:
    """Of two that begin 1.5 s apart each gets its LOOKUP_TIMEOUT, the second behind the first."""
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    for n, seconds in enumerate((1.5, 1.7)):
        await asker.send(Lookup(f"L_{n}", Peer(real_mesh.network).key))
        await x.expect_lookup("FROG-24-02")
        await real_mesh.wait(seconds)
    await asker.expect_error("L_0", "LOOKUP_TIMEOUT", "FROG-24-07")
    await real_mesh.wait(1.5)
    await asker.expect_error("L_1", "LOOKUP_TIMEOUT", "FROG-24-07")


@needs("sister", "clock")
@clauses("FROG-24-07", "FROG-39-01")
async def test_a_lookup_is_not_given_up_early(real_mesh: Federation) -> None:
    """After 2600 ms an answer is still in time."""
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    await asker.send(Lookup(asked := cid("L"), target := Peer(real_mesh.network).key))
    sent = await x.expect_lookup("FROG-24-02")
    await real_mesh.wait(2.6)
    await x.send(SisterFound(sent.route_id, target))
    await expect_found(asker, Found(asked, target, sent.route_id), "FROG-24-07")


@needs("sister")
@clauses("FROG-36-07", "FROG-24-05")
@axis("fault", ["another-route", "another-target", "not-asked"])
async def test_a_client_is_told_of_no_false_find(mesh: Federation, fault: str) -> None:
    """Each thing that is checked of @FOUND, wrong in turn; then the right one still counts."""
    asker, x = await mesh.asker(), await mesh.sister()
    await asker.send(Lookup(asked := cid("L"), target := Peer(mesh.network).key))
    sent = await x.expect_lookup("FROG-24-02")
    right = SisterFound(sent.route_id, target)
    sender = await mesh.sister(1) if fault == "not-asked" else x
    wrong = {"another-route": replace(right, route_id=an_id()), "another-target": replace(right, peer_key=asker.key)}
    await sender.send(wrong.get(fault, right))
    await sender.expect_no_effect("FROG-36-07")
    await asker.expect_silence("FROG-36-07")
    await x.send(right)
    await expect_found(asker, Found(asked, target, sent.route_id), "FROG-36-07")


@needs("sister")
@clauses("FROG-20-03", "FROG-20-01")
async def test_a_slow_lookup_holds_nothing_up(mesh: Federation) -> None:
    """While a sister is silent, the client's other requests are answered."""
    (a, b), x = await mesh.peers(2), await mesh.sister()
    await a.send(Lookup(cid("L"), Peer(mesh.network).key))
    await x.expect_lookup("FROG-24-02")
    await a.route(b)


@needs("sister")
@clauses("FROG-32-03", "FROG-3.11-01")
async def test_a_sister_that_is_gone_is_not_waited_for(real_mesh: Federation) -> None:
    """Nobody is left to ask: PEER_NOT_FOUND, or LOOKUP_TIMEOUT in its time."""
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    await x.close()
    while not isinstance(await x.next("the end", "FROG-32-03"), Hangup):
        pass
    await asker.send(Lookup(asked := cid("L"), Peer(real_mesh.network).key))
    await real_mesh.wait(3.2)
    await asker.expect_error(asked, ("PEER_NOT_FOUND", "LOOKUP_TIMEOUT"), "FROG-32-03")


@needs("sister")
@clauses("FROG-26-13", "FROG-36-08", "FROG-25-01")
async def test_a_cid_that_comes_again_is_a_new_lookup(mesh: Federation) -> None:
    """What was answered under it before is over: signals go where the new lookup has led."""
    (a, b), x = await mesh.peers(2), await mesh.sister()
    asked, target = cid("L"), Peer(mesh.network).key
    await a.send(Lookup(asked, b.key))
    await a.expect(Found, "FROG-23-05")
    await a.send(Lookup(asked, target))
    sent = await x.expect_lookup("FROG-24-02")
    await x.send(SisterFound(sent.route_id, target))
    await expect_found(a, Found(asked, target, sent.route_id))
    await a.send(Signal(sent.route_id, "ICE", b"x"))
    await x.expect_frame(SisterSignal(sent.route_id, a.key, "ICE", b"x"), "FROG-26-13")


# -- a sister looks somebody up ----------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-36-04", "FROG-36-10")
async def test_who_is_here_is_found_for_a_sister(mesh: Federation) -> None:
    """@FOUND to who asked; the others hear neither that nor the lookup, nor does the target."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    await x.send(SisterLookup(rid := an_id(), x.id, Peer(mesh.network).key, local.key, 5))
    await x.expect_frame(SisterFound(rid, local.key), "FROG-36-04")
    await y.expect_silence("FROG-36-04")
    await local.expect_silence("FROG-36-04")


@needs("sister")
@clauses("FROG-36-10")
async def test_a_miss_is_silent(mesh: Federation) -> None:
    """Nobody is here by that key, and no hop is left: not a word."""
    x = await mesh.sister()
    await x.send(SisterLookup(an_id(), x.id, Peer(mesh.network).key, Peer(mesh.network).key, 0))
    await x.expect_silence("FROG-36-10")


@needs("sister")
@clauses("FROG-36-08", "FROG-36-09", "FROG-36-07")
async def test_the_first_found_wins(mesh: Federation) -> None:
    """It goes to who asked; a second one, of another sister or of the same, does not."""
    x, y, z = await mesh.sisters(3)
    sent = await looking(mesh, x, y, z)
    found = SisterFound(sent.route_id, sent.target)
    await y.send(found)
    await x.expect_frame(found, "FROG-36-08")
    for line in (z, y):
        await line.send(found)
        await line.expect_no_effect("FROG-36-09")
    await x.expect_silence("FROG-36-09")


@needs("sister")
@clauses("FROG-36-07")
@axis("fault", ["another-route", "another-target", "the-source", "who-asked", "late-comer"])
async def test_found_that_does_not_count(mesh: Federation, fault: str) -> None:
    """Of no pending lookup, of another target, or of who was not asked: not passed on."""
    x, y = await mesh.sisters(2)
    sent = await looking(mesh, x, y)
    right = SisterFound(sent.route_id, sent.target)
    wrong = {
        "another-route": replace(right, route_id=an_id()),
        "another-target": replace(right, peer_key=Peer(mesh.network).key),
        "the-source": replace(right, peer_key=sent.source),
    }
    sender = {"who-asked": x}.get(fault, y) if fault != "late-comer" else await mesh.sister(2)
    await sender.send(wrong.get(fault, right))
    await sender.expect_no_effect("FROG-36-07")
    await x.expect_silence("FROG-36-07")
    await y.send(right)
    await x.expect_frame(right, "FROG-36-07")


@needs("sister")
@clauses("FROG-39-06", "FROG-36-11")
async def test_found_that_comes_too_late(real_mesh: Federation) -> None:
    """After the time of a lookup it is not passed on, and is no route."""
    x, y = await real_mesh.sisters(2)
    sent = await looking(real_mesh, x, y)
    await real_mesh.wait(7)
    await y.send(SisterFound(sent.route_id, sent.target))
    await y.expect_no_effect("FROG-39-06")
    await x.expect_silence("FROG-39-06")


@needs("sister")
@clauses("FROG-34-06", "FROG-36-08")
async def test_a_copy_does_not_move_the_answer(mesh: Federation) -> None:
    """Another sister sends the same lookup while it is pending: @FOUND goes to who sent it first."""
    x, y = await mesh.sisters(2)
    sent = await looking(mesh, x, y)
    late = await mesh.sister(2)
    await late.send(replace(sent, ttl=3))
    await late.expect_silence("FROG-34-06")
    await y.send(SisterFound(sent.route_id, sent.target))
    await x.expect_frame(SisterFound(sent.route_id, sent.target), "FROG-36-08")
    await late.expect_silence("FROG-34-06")


@needs("sister")
@clauses("FROG-34-14", "FROG-34-08")
async def test_the_name_of_a_local_route_is_taken(mesh: Federation) -> None:
    """A sister's lookup under the id of a route between two clients is a conflict, and does that route no harm (AMB-51)."""
    (a, b), x = await mesh.peers(2), await mesh.sister()
    rid = await a.route(b)
    await x.send(SisterLookup(rid, x.id, Peer(mesh.network).key, b.key, 5))
    await x.expect_error(rid, "BAD_STATE", "FROG-34-14")
    await a.send(Signal(rid, "ICE", b"x"))
    heard, wanted = await b.next("SIGNAL-FROM", "FROG-34-14"), SignalFrom(rid, a.key, "ICE", b"x")
    b.trial.expect(heard == wanted, str(wanted), heard, "FROG-34-14")


@needs("sister")
@clauses("FROG-36-08")
async def test_two_clients_look_for_the_same_peer(mesh: Federation) -> None:
    """Each lookup has a route of its own: the second is answered to who asked second."""
    first, second, x = await mesh.asker(), await mesh.asker(), await mesh.sister()
    target = Peer(mesh.network).key
    await first.send(Lookup(cid("L"), target))
    await x.expect_lookup("FROG-24-02")
    await second.send(Lookup(asked := cid("L"), target))
    sent = await x.expect_lookup("FROG-24-02")
    await x.send(SisterFound(sent.route_id, target))
    await expect_found(second, Found(asked, target, sent.route_id))


@needs("sister")
@clauses("FROG-36-01")
async def test_networks_that_begin_alike_are_two(mesh: Federation) -> None:
    """A lookup from a network whose name begins as the target's is refused."""
    local, x, rid = await mesh.asker(), await mesh.sister(), an_id()
    await x.send(SisterLookup(rid, x.id, Peer(f"{mesh.network}2").key, local.key, 5))
    await x.expect_error(rid, "BAD_REQUEST", "FROG-36-01")


@needs("sister")
@clauses("FROG-36-04", "FROG-37-04")
async def test_a_route_leads_to_who_sent_the_lookup(mesh: Federation) -> None:
    """And not to its origin, which is further away: that sister's signals come through."""
    local, x, rid = await mesh.asker(), await mesh.sister(), an_id()
    source = Peer(mesh.network).key
    await x.send(SisterLookup(rid, sibling().id, source, local.key, 4))
    await x.expect_frame(SisterFound(rid, local.key), "FROG-36-04")
    await x.send(SisterSignal(rid, source, "ICE", b"x"))
    heard, wanted = await local.next("SIGNAL-FROM", "FROG-37-04"), SignalFrom(rid, source, "ICE", b"x")
    local.trial.expect(heard == wanted, str(wanted), heard, "FROG-37-04")
