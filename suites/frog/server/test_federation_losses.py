"""Section 37: somebody on the way is gone, or reports an error; who signals hears of it."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import (
    Err,
    Hangup,
    Lookup,
    Signal,
    SisterErr,
    SisterFound,
    SisterSignal,
)
from suites.frog.server.crossings import between, expect_heard, first_heard, looked_up, looks_up
from suites.frog.server.sisters import Federation
from suites.frog.wire import Peer, cid, message

GONE = ("ROUTE_EXPIRED", "ROUTE_NOT_FOUND", "PEER_NOT_FOUND")  # AMB-18
CODES = ("PEER_NOT_FOUND", "SERVER_UNAVAILABLE", "ROUTE_EXPIRED", "ROUTE_NOT_FOUND", "TARGET_MISMATCH", "INTERNAL")


# -- when somebody is gone ---------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-37-09", "FROG-25-05", "FROG-25-06", "FROG-18-02")
@axis("end", ["left", "closed", "replaced"])
async def test_a_local_target_that_is_gone(mesh: Federation, end: str) -> None:
    """The route is over: an error toward the sender, and nothing for the connection that took its place."""
    local, x = await mesh.asker(), await mesh.sister()
    rid, source = await looked_up(mesh, x, local)
    if end == "left":
        await local.raw(message("LEAVE"))
        await local.next("OK LEAVE", "FROG-19-01")
    elif end == "closed":
        await local.close()
        while not isinstance(await local.next("the end", "FROG-18-02"), Hangup):
            pass
    again = await mesh.peer(local.peer) if end != "left" else None
    await x.send(SisterSignal(rid, source, "ICE", b"x"))
    await x.expect_error(rid, GONE, "FROG-37-09")
    if again:
        await again.expect_silence("FROG-25-06")


@needs("sister")
@clauses("FROG-37-10", "FROG-32-03", "FROG-38-02")
@axis("way", ["there", "back"])
@axis("end", ["closed", "cut"])
async def test_a_sister_in_between_dies(mesh: Federation, way: str, end: str) -> None:
    """Whoever signals hears SERVER_UNAVAILABLE, from either side; and she may come back."""
    route = await between(mesh)
    dead, alive = (route.y, route.x) if way == "there" else (route.x, route.y)
    source = route.a if way == "there" else route.b
    if end == "closed":
        await dead.close()
    else:
        dead.cut()
    for _ in mesh.trial.patiently():
        await alive.send(SisterSignal(route.route, source, "ICE", b"x"))
        if await alive.fence() and (heard := alive.inbox.drain()):
            wanted = SisterErr(route.route, "SERVER_UNAVAILABLE")
            mesh.trial.expect(heard[0] == wanted, str(wanted), heard[0], "FROG-37-10")
            return
    raise Broken("FROG-37-10", f"@ERR {route.route} SERVER_UNAVAILABLE", "nothing")


@needs("sister")
@clauses("FROG-26-14", "FROG-32-03")
@axis("end", ["closed", "cut"])
async def test_a_clients_sister_dies(mesh: Federation, end: str) -> None:
    """In the middle of signalling the way is gone: SERVER_UNAVAILABLE to the client."""
    local, x = await mesh.asker(), await mesh.sister()
    rid, _ = await looks_up(mesh, x, local)
    await local.send(Signal(rid, "OFFER", b"offer"))
    await x.expect_frame(SisterSignal(rid, local.key, "OFFER", b"offer"), "FROG-26-13")
    if end == "closed":
        await x.close()
    else:
        x.cut()
    for _ in mesh.trial.patiently():
        await local.send(Signal(rid, "ICE", b"x"))
        if heard := await first_heard(local):
            wanted = Err(rid, "SERVER_UNAVAILABLE")
            mesh.trial.expect(heard == wanted, str(wanted), heard, "FROG-26-14")
            return
    raise Broken("FROG-26-14", f"ERR {rid} SERVER_UNAVAILABLE", "nothing")


# -- errors ------------------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-37-11", "FROG-38-01")
@axis("code", CODES)
async def test_an_error_goes_on_to_the_other_side(mesh: Federation, code: str) -> None:
    """Between sisters, both ways, with the same code; who reported it hears nothing."""
    route = await between(mesh)
    for sender, other in ((route.x, route.y), (route.y, route.x)):
        await sender.send(SisterErr(route.route, code))
        await other.expect_frame(SisterErr(route.route, code), "FROG-37-11")
        await sender.expect_silence("FROG-37-11")


@needs("sister")
@clauses("FROG-37-11", "FROG-38-01")
@axis("code", CODES)
async def test_an_error_reaches_the_client(mesh: Federation, code: str) -> None:
    """As ERR, with the same code and the route's id; the sister who reported it hears nothing."""
    local, x = await mesh.asker(), await mesh.sister()
    rid, _ = await looks_up(mesh, x, local)
    await x.send(SisterErr(rid, code))
    await expect_heard(local, Err(rid, code), "FROG-37-11")
    await x.expect_silence("FROG-37-11")


@needs("sister")
@clauses("FROG-37-12")
@axis("route", ["between", "local"])
async def test_an_error_of_a_stranger_goes_nowhere(mesh: Federation, route: str) -> None:
    """A sister that is no side of the route does not speak about it."""
    if route == "between":
        made, z = await between(mesh), await mesh.sister(2)
        await z.send(SisterErr(made.route, "PEER_NOT_FOUND"))
        await z.fence()
        await made.x.expect_silence("FROG-37-12")
        await made.y.expect_silence("FROG-37-12")
    else:
        local, (x, z) = await mesh.asker(), await mesh.sisters(2)
        rid, _ = await looked_up(mesh, x, local)
        await z.send(SisterErr(rid, "PEER_NOT_FOUND"))
        await z.fence()
        await local.expect_silence("FROG-37-12")
        await x.expect_silence("FROG-37-12")


@needs("sister")
@clauses("FROG-37-11", "FROG-36-07", "FROG-38-02")
async def test_an_error_about_a_lookup_does_not_end_it(mesh: Federation, trial: Trial) -> None:
    """One of two sisters cannot help: the other's answer still counts, and the client hears nothing of the route before."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    target = Peer(mesh.network).key
    await local.send(Lookup(asked := cid("L"), target))
    sent = await x.expect_lookup("FROG-24-02")
    await y.expect_lookup("FROG-24-02")
    await x.send(SisterErr(sent.route_id, "INTERNAL"))
    await x.fence()
    await y.send(SisterFound(sent.route_id, target))
    heard = await local.next(f"FOUND {asked}", "FROG-36-07")
    if isinstance(heard, Err) and heard.id == asked:
        trial.warn("FROG-24-07", f"one sister's error ends the lookup: {heard}")
    else:
        trial.expect(getattr(heard, "cid", "") == asked, f"FOUND {asked}", heard, "FROG-38-02")
