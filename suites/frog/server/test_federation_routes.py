"""Sections 37 and 48: signals pass hop by hop, along what a lookup has made and not otherwise."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from reference_impl.frog.frames import (
    Hangup,
    Lookup,
    Signal,
    SignalFrom,
    SisterErr,
    SisterFound,
    SisterLookup,
    SisterSignal,
)
from suites.frog.server.crossings import between, expect_heard, looked_up
from suites.frog.server.sisters import Federation
from suites.frog.server.test_signals import PAYLOADS
from suites.frog.wire import Peer, an_id, cid, message

OVER = ("ROUTE_EXPIRED", "ROUTE_NOT_FOUND")
STRANGER = ("TARGET_MISMATCH", "ROUTE_NOT_FOUND")  # AMB-19


# -- along a route -----------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-48-01", "FROG-37-01", "FROG-37-06", "FROG-36-08", "FROG-34-04", "FROG-3.12-02", "FROG-25-01")
@axis("kind", ["OFFER", "ANSWER", "ICE"])
async def test_in_the_middle(mesh: Federation, kind: str) -> None:
    """As server B of the example: the lookup on with TTL 4, @FOUND back, and signals both ways as they came."""
    route = await between(mesh)
    await route.x.send(there := SisterSignal(route.route, route.a, kind, b"\n" * 2841))
    await route.y.expect_frame(there, "FROG-37-01")
    await route.y.send(back := SisterSignal(route.route, route.b, kind, bytes(1906)))
    await route.x.expect_frame(back, "FROG-37-06")
    await route.y.expect_silence("FROG-37-06")


@needs("sister")
@clauses("FROG-48-01", "FROG-36-04", "FROG-37-07", "FROG-37-06", "FROG-26-13")
@axis("kind", ["OFFER", "ANSWER", "ICE"])
async def test_at_the_target(mesh: Federation, kind: str) -> None:
    """As server C: a signal is delivered to the peer that was looked up, and its own go back to the sister who asked."""
    local, x = await mesh.asker(), await mesh.sister()
    rid, source = await looked_up(mesh, x, local)
    await x.send(SisterSignal(rid, source, kind, b"offer"))
    await expect_heard(local, SignalFrom(rid, source, kind, b"offer"), "FROG-37-07")
    await local.send(Signal(rid, kind, b"answer"))
    await x.expect_frame(SisterSignal(rid, local.key, kind, b"answer"), "FROG-26-13")


@needs("sister")
@clauses("FROG-48-01", "FROG-26-13", "FROG-37-07", "FROG-24-05", "FROG-39-03", "FROG-24-06", "FROG-36-09")
@axis("kind", ["OFFER", "ANSWER", "ICE"])
async def test_at_the_origin(mesh: Federation, kind: str) -> None:
    """As server A: what its client signals goes to the sister who found the target, and what comes from there to the client."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    target = Peer(mesh.network).key
    await local.send(Lookup(cid("L"), target))
    sent = await x.expect_lookup("FROG-24-02")
    await y.expect_lookup("FROG-24-02")
    await x.send(SisterFound(sent.route_id, target))
    await local.next("FOUND", "FROG-24-05")
    await y.send(SisterFound(sent.route_id, target))  # too late: the route is with x (FROG-24-06)
    await y.fence()
    y.inbox.drain()
    await local.send(Signal(sent.route_id, kind, b"offer"))
    await x.expect_frame(SisterSignal(sent.route_id, local.key, kind, b"offer"), "FROG-26-13")
    await y.expect_silence("FROG-24-06")
    await x.send(SisterSignal(sent.route_id, target, kind, b"answer"))
    await expect_heard(local, SignalFrom(sent.route_id, target, kind, b"answer"), "FROG-37-07")


@needs("sister")
@clauses("FROG-37-08", "FROG-37-01", "FROG-37-05", "FROG-26-01", "FROG-5-20")
@axis("payload", PAYLOADS)
async def test_payload_arrives_unchanged(mesh: Federation, payload: bytes) -> None:
    """Any bytes, from none to 65536, through a server in the middle."""
    route = await between(mesh)
    await route.x.send(signal := SisterSignal(route.route, route.a, "OFFER", payload))
    await route.y.expect_frame(signal, "FROG-37-08")


@needs("sister")
@clauses("FROG-26-16", "FROG-37-01")
async def test_order_is_kept(mesh: Federation) -> None:
    """A hundred signals in the order in which they came."""
    route = await between(mesh)
    signals = [SisterSignal(route.route, route.a, "ICE", b"%d" % n) for n in range(100)]
    for signal in signals:
        await route.x.send(signal)
    for signal in signals:
        await route.y.expect_frame(signal, "FROG-26-16")


# -- what does not pass ------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-37-02", "FROG-2-01", "FROG-38-02")
async def test_an_unknown_route(mesh: Federation) -> None:
    """ROUTE_NOT_FOUND, with its id; nobody else hears of it."""
    x, y = await mesh.sisters(2)
    await x.send(SisterSignal(rid := an_id(), Peer(mesh.network).key, "ICE", b"x"))
    await x.expect_error(rid, "ROUTE_NOT_FOUND", "FROG-37-02")
    await y.expect_silence("FROG-37-02")


@needs("sister")
@clauses("FROG-37-02", "FROG-2-01")
async def test_a_lookup_without_an_answer_is_no_route(mesh: Federation) -> None:
    """While it is pending nothing passes, neither way."""
    x, y = await mesh.sisters(2)
    rid, a, b = an_id(), Peer(mesh.network).key, Peer(mesh.network).key
    await x.send(SisterLookup(rid, x.id, a, b, 5))
    await y.expect_lookup()
    await x.send(SisterSignal(rid, a, "ICE", b"x"))
    await x.expect_error(rid, ("ROUTE_NOT_FOUND", "TARGET_MISMATCH"), "FROG-37-02")
    await y.expect_silence("FROG-37-02")


STRANGERS = {
    "third-key-from-x": ("x", "third"), "third-key-from-y": ("y", "third"),
    "b-from-x": ("x", "b"), "a-from-y": ("y", "a"), "a-from-z": ("z", "a"), "b-from-z": ("z", "b"),
}  # fmt: skip


@needs("sister")
@clauses("FROG-37-04", "FROG-37-03")
@axis("sender", list(STRANGERS))
async def test_from_the_wrong_side(mesh: Federation, sender: str) -> None:
    """A signal is taken only from the side where its source is, and of none but the two: TARGET_MISMATCH."""
    route, z = await between(mesh), await mesh.sister(2)
    line, key = STRANGERS[sender]
    source = {"a": route.a, "b": route.b, "third": Peer(mesh.network).key}[key]
    lines = {"x": route.x, "y": route.y, "z": z}
    clause = "FROG-37-03" if key == "third" else "FROG-37-04"
    await lines[line].send(SisterSignal(route.route, source, "ICE", b"x"))
    await lines[line].expect_error(route.route, STRANGER, clause)
    for other in lines.values():
        await other.expect_silence(clause)


@needs("sister")
@clauses("FROG-37-04", "FROG-37-03")
@axis("source", ["target", "third"])
async def test_a_sister_does_not_speak_for_a_local_peer(mesh: Federation, source: str) -> None:
    """Nothing is delivered that names the local peer itself, or somebody else, as its source."""
    local, x = await mesh.asker(), await mesh.sister()
    rid, _ = await looked_up(mesh, x, local)
    key = local.key if source == "target" else Peer(mesh.network).key
    await x.send(SisterSignal(rid, key, "ICE", b"x"))
    await x.expect_error(rid, STRANGER, "FROG-37-04" if source == "target" else "FROG-37-03")
    await local.expect_silence("FROG-37-04")


@needs("sister")
@clauses("FROG-26-05", "FROG-26-13")
async def test_another_client_does_not_use_the_route(mesh: Federation) -> None:
    """A third peer here, with the id of a route that is not its own: TARGET_MISMATCH, and the sister hears nothing."""
    (local, other), x = await mesh.peers(2), await mesh.sister()
    rid, _ = await looked_up(mesh, x, local)
    await other.send(Signal(rid, "ICE", b"x"))
    await other.expect_error(rid, STRANGER, "FROG-26-05")
    await x.expect_silence("FROG-26-05")


FAULTS = {
    "kind": ("@SIGNAL {rid} {key} BYE 1", b"x", ("BAD_REQUEST",)),
    "kind-in-small-letters": ("@SIGNAL {rid} {key} ice 1", b"x", ("BAD_REQUEST",)),
    "kind-with-one-small-letter": ("@SIGNAL {rid} {key} OFFEr 1", b"x", ("BAD_REQUEST",)),
    "no-length": ("@SIGNAL {rid} {key} ICE", b"x", ("BAD_REQUEST",)),
    "leading-zero": ("@SIGNAL {rid} {key} ICE 01", b"x", ("BAD_REQUEST",)),
    "one-byte-more": ("@SIGNAL {rid} {key} ICE 1", b"xx", ("BAD_REQUEST",)),
    "one-byte-less": ("@SIGNAL {rid} {key} ICE 2", b"x", ("BAD_REQUEST",)),
    "65537-bytes": ("@SIGNAL {rid} {key} ICE 65537", bytes(65537), ("PAYLOAD_TOO_LARGE", "BAD_REQUEST")),
    "no-source": ("@SIGNAL {rid} ICE 1", b"x", ("BAD_REQUEST",)),
}


@needs("sister")
@clauses("FROG-37-05", "FROG-26-10", "FROG-5-16", "FROG-5-17")
@axis("fault", list(FAULTS))
async def test_a_signal_with_a_fault(mesh: Federation, fault: str) -> None:
    """Kind and length are checked, and nothing passes that has a fault; broken framing may end the connection."""
    route = await between(mesh)
    text, payload, codes = FAULTS[fault]
    await route.x.raw(message(text.format(rid=route.route, key=route.a), payload))
    heard = await route.x.next(f"@ERR {route.route} {codes[0]}", "FROG-37-05")
    if not isinstance(heard, Hangup):
        good = isinstance(heard, SisterErr) and heard.code in codes and heard.id in (route.route, "-")
        mesh.trial.expect(good, f"@ERR {route.route} {codes[0]}", heard, "FROG-37-05")
    await route.y.expect_silence("FROG-37-05")


# -- in time -----------------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-25-02", "FROG-37-02", "FROG-25-07")
async def test_a_route_expires(timed_mesh: Federation) -> None:
    """After 190 seconds nothing passes, from either side."""
    route = await between(timed_mesh)
    await timed_mesh.wait(190)
    for line, source in ((route.x, route.a), (route.y, route.b)):
        await line.send(SisterSignal(route.route, source, "ICE", b"x"))
        await line.expect_error(route.route, OVER, "FROG-37-02")


@needs("sister")
@clauses("FROG-25-03", "FROG-25-02")
async def test_use_renews_a_route(timed_mesh: Federation) -> None:
    """A signal after 150 seconds passes, and one 150 seconds behind it."""
    route = await between(timed_mesh)
    for source, line, other in ((route.a, route.x, route.y), (route.b, route.y, route.x)):
        await timed_mesh.wait(150)
        await line.send(signal := SisterSignal(route.route, source, "ICE", b"x"))
        await other.expect_frame(signal, "FROG-25-03" if line is route.y else "FROG-25-02")
