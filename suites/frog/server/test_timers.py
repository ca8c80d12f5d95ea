"""Sections 17, 25 and 39: challenges live for 30 seconds, routes for 180 since they last carried a signal."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import Chal, Hangup, Joined, Left, Signal, SignalFrom
from suites.frog.server.under_test import PeerLine, TimedServer
from suites.frog.wire import an_id, message

OVER = ("ROUTE_EXPIRED", "ROUTE_NOT_FOUND")


@clauses("FROG-17-15", "FROG-39-01")
async def test_a_challenge_can_be_answered_in_time(timed: TimedServer) -> None:
    """After 25 seconds it still counts."""
    line = await timed.in_state("auth-pending")
    await timed.wait(25)
    await line.auth()
    await line.expect(Joined, "FROG-17-15")


@clauses("FROG-17-15", "FROG-39-01")
async def test_each_challenge_has_its_own_time(timed: TimedServer, trial: Trial) -> None:
    """A second JOIN, after a failure, begins anew: 40 seconds after the first its challenge still counts."""
    line = await timed.in_state("auth-pending")
    await timed.wait(20)
    await line.auth(nonce=an_id())
    if await line.expect_refusal("FROG-17-10", ("AUTH_FAILED",)):
        await line.raw(message(f"JOIN {line.key}"))
        if isinstance(again := await line.next("CHAL, or an error", "FROG-17-01"), Chal):
            line.nonce = again.nonce
            await timed.wait(20)
            await line.auth()
            await line.expect(Joined, "FROG-17-15")
            return
    trial.info("a failed AUTH leads to no state from which it may join again (AMB-13)")


@clauses("FROG-17-15", "FROG-39-04")
async def test_a_challenge_counts_whenever_it_began(timed: TimedServer) -> None:
    """Every ten seconds a new one, answered twenty seconds later: whenever a server looks for expired ones, these are not."""
    pending: list[PeerLine] = []
    for _ in range(10):
        pending.append(await timed.in_state("auth-pending"))
        if len(pending) > 2:
            line = pending.pop(0)
            await line.auth()
            await line.expect(Joined, "FROG-17-15")
        await timed.wait(10)


@clauses("FROG-17-06", "FROG-39-04", "FROG-39-01")
async def test_what_is_said_keeps_no_challenge_alive(timed: TimedServer) -> None:
    """Two times 20 seconds, with a command in the middle that is not for now: too late."""
    line = await timed.in_state("auth-pending")
    for _ in range(2):
        await timed.wait(20)
        if not await line.fence():
            return
    await line.auth()
    await line.expect_refusal("FROG-17-06", ("AUTH_FAILED", "BAD_STATE"), silent=True)


@clauses("FROG-17-06", "FROG-39-04", "FROG-39-01")
async def test_a_challenge_expires(timed: TimedServer, trial: Trial) -> None:
    """After 33 seconds a good proof is too late: AUTH_FAILED, or the connection is closed already."""
    line = await timed.in_state("auth-pending")
    await timed.wait(33)
    await line.auth()
    heard = await line.next("ERR - AUTH_FAILED", "FROG-17-06")
    if isinstance(heard, Hangup):
        return
    code = getattr(heard, "code", "")
    if code == "BAD_STATE":
        trial.warn("FROG-17-06", "BAD_STATE instead of AUTH_FAILED")
    elif code != "AUTH_FAILED":
        raise Broken("FROG-17-06", "ERR - AUTH_FAILED", str(heard))
    await (await timed.peer()).expect_miss(line.key, "FROG-17-12")


@clauses("FROG-25-02", "FROG-39-01")
async def test_a_route_lives(timed: TimedServer) -> None:
    """After 150 seconds without a signal it still carries one."""
    a, b = await timed.peers()
    route = await a.route(b)
    await timed.wait(150)
    await a.signals(route, b)


@clauses("FROG-25-02", "FROG-26-08", "FROG-25-07", "FROG-39-07")
@axis("sender", ["a", "b"])
async def test_a_route_expires(timed: TimedServer, sender: str) -> None:
    """After 190 seconds without a signal it does not, from either side; a new lookup makes a new one."""
    a, b = await timed.peers()
    route = await a.route(b)
    await timed.wait(190)
    late, other = (a, b) if sender == "a" else (b, a)
    await late.send(Signal(route, "ICE", b"late"))
    await late.expect_error(route, OVER, "FROG-26-08")
    await late.signals(await late.route(other), other, b"first")


@clauses("FROG-25-03")
async def test_a_signal_renews_its_route(timed: TimedServer, trial: Trial) -> None:
    """Signals at 100, at 200 and at 300 seconds all pass, the first by who has looked up, the others by the other side."""
    a, b = await timed.peers()
    route = await a.route(b)
    for line, other in ((a, b), (b, a), (b, a)):
        await timed.wait(100)
        await line.send(Signal(route, "ICE", b"renewed"))
        if await line.fence() and len(line.inbox):
            trial.warn("FROG-25-03", f"not renewed: {line.inbox.drain()[0]}")
            return
        await other.expect(SignalFrom, "FROG-26-03")


@clauses("FROG-25-02", "FROG-24-10")
async def test_of_two_routes_the_older_expires(timed: TimedServer) -> None:
    """Found 100 seconds apart: after another 100 the first is refused, and the second carries on."""
    a, b = await timed.peers()
    first = await a.route(b)
    await timed.wait(100)
    second = await a.route(b)
    await timed.wait(100)
    await a.send(Signal(first, "ICE", b"late"))
    await a.expect_error(first, OVER, "FROG-26-08")
    await a.signals(second, b, b"there")
    await b.signals(second, a, b"and back")


@clauses("FROG-19-01", "FROG-18-02", "FROG-39-07")
async def test_who_outlives_a_route_may_leave(timed: TimedServer) -> None:
    """Long after its only route has expired, and may be forgotten, a peer goes as any other."""
    a, b = await timed.peers()
    await a.route(b)
    for _ in range(2):
        await timed.wait(200)
    await a.raw(message("LEAVE"))
    await a.expect(Left, "FROG-19-01")
    await b.expect_miss(a.key, "FROG-18-02")


@clauses("FROG-4-11", "FROG-25-02")
async def test_pings_do_not_renew_a_route(timed: TimedServer) -> None:
    """Whatever else passes on the two connections, a route lives by its signals."""
    a, b = await timed.peers()
    route = await a.route(b)
    for _ in range(3):
        await timed.wait(63)
        await a.carrier.ping(b"alive")
        await b.find()
    await a.send(Signal(route, "ICE", b"late"))
    await a.expect_error(route, OVER, "FROG-4-11")


@clauses("FROG-18-01")
async def test_presence_does_not_expire(timed: TimedServer) -> None:
    """Five minutes of silence, and the peer is found."""
    a, b = await timed.peers()
    await timed.wait(300)
    await a.signals(await a.route(b), b)
