"""Section 40: bounds and rates, where a target lets itself be configured; and a peer that does not read."""

from __future__ import annotations

from typing import Any

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetCrashed
from harness.judging.clock import clock_of
from harness.judging.trial import Broken, Trial
from harness.targets import Target
from reference_impl.frog.frames import Chal, Err, Found, Hangup, Joined, Signal
from suites.frog.line import OVERLOAD
from suites.frog.server.under_test import ROLE, PeerLine, ServerUnderTest
from suites.frog.wire import Peer, cid, message


async def limited(trial: Trial, capability: str, **config: Any) -> ServerUnderTest:
    """A server of the case's own with these limits."""
    await trial.target.need(ROLE, capability)
    return await ServerUnderTest(trial, seed=Peer("X").seed.hex(), **config).start()


async def expect_overload(line: PeerLine, text: str, id: str, clause: str) -> None:
    """This is over a limit: one of the two codes, and nothing else (FROG-40-04)."""
    await line.raw(message(text))
    is_overload(await line.any_next(f"ERR {id} {OVERLOAD[0]}", clause), id, clause)


def is_overload(heard: Any, id: str, clause: str) -> None:
    if not isinstance(heard, Err) or heard.code not in OVERLOAD or heard.id != id:
        raise Broken(clause, f"ERR {id} {' or '.join(OVERLOAD)}", str(heard))


async def expect_no_room(line: PeerLine) -> None:
    """Refused when it asks, or once it has proven its key: section 40 bounds registered peers and names no command."""
    await line.raw(message(f"JOIN {line.key}"))
    heard = await line.any_next(f"ERR - {OVERLOAD[0]}, or CHAL", "FROG-40-02")
    if isinstance(heard, Chal):
        line.nonce = heard.nonce
        await line.auth()
        heard = await line.any_next(f"ERR - {OVERLOAD[0]}", "FROG-40-02")
    is_overload(heard, "-", "FROG-40-02")


async def expect_room(line: PeerLine, clause: str) -> None:
    """It may register: that it is refused for want of room is no limit of the target's here."""
    await line.raw(message(f"JOIN {line.key}"))
    heard = await line.any_next("CHAL", clause)
    if isinstance(heard, Chal):
        line.nonce = heard.nonce
        await line.auth()
        heard = await line.any_next("OK JOIN", clause)
    if not isinstance(heard, Joined):
        raise Broken(clause, "OK JOIN", str(heard))


@clauses("FROG-40-02")
@axis("bound", ["max_peers", "max_peers_per_network", "max_challenges"])
async def test_a_full_server_takes_no_more(trial: Trial, bound: str) -> None:
    """Two are registered, or pending; the third is refused, and whoever was there is served."""
    server = await limited(trial, "bounds", **{bound: 2})
    first, _ = [await server.in_state("auth-pending" if bound == "max_challenges" else "registered") for _ in range(2)]
    third = await server.in_state("hello-ok")
    if bound == "max_challenges":
        await expect_overload(third, f"JOIN {third.key}", "-", "FROG-40-02")
        await first.expect_state("auth-pending", "FROG-40-02")
    else:
        await expect_no_room(third)
        await first.find()
    await server.close()


@clauses("FROG-40-02", "FROG-17.1-01")
async def test_a_full_server_lets_a_peer_come_back(trial: Trial) -> None:
    """Who is registered already needs no room."""
    server = await limited(trial, "bounds", max_peers=1)
    await server.peer(peer := Peer(server.network))
    await expect_room(await server.in_state("hello-ok", peer), "FROG-17.1-01")
    await server.close()


@clauses("FROG-40-02", "FROG-39-03")
async def test_no_more_routes_than_the_bound(trial: Trial) -> None:
    """The third lookup is refused, not answered with a route that does not exist."""
    server = await limited(trial, "bounds", max_routes=2)
    a, b = await server.peers()
    for _ in range(2):
        await a.signals(await a.route(b), b)
    asked = cid("L")
    await expect_overload(a, f"LOOKUP {asked} {b.key}", asked, "FROG-40-02")
    await server.close()


@clauses("FROG-40-02")
@axis("bound", ["max_connections", "max_connections_per_ip"])
async def test_no_more_connections_than_the_bound(trial: Trial, bound: str) -> None:
    """The third is turned away, in whatever way; when one has gone there is room again."""
    server = await limited(trial, "bounds", **{bound: 2})
    first, second = await server.connect(), await server.connect()
    await first.hello()
    await second.hello()
    try:
        third = await server.connect()
        await third.raw(message("HELLO FROG/1"))
        await third.expect_closed("FROG-40-02")
    except TargetCrashed:
        trial.said("harness", "server", "note", "the upgrade was refused")
    await first.join()
    await server.close()


@clauses("FROG-40-02", "FROG-39-03")
@axis("bound", ["max_peers", "max_peers_per_network", "max_challenges"])
async def test_a_place_is_given_back(trial: Trial, bound: str) -> None:
    """Two are registered, or pending; when one of them is gone there is room for another."""
    server = await limited(trial, "bounds", **{bound: 2})
    first, _ = [await server.in_state("auth-pending" if bound == "max_challenges" else "registered") for _ in range(2)]
    await first.close()
    for _ in trial.patiently():
        line = await server.in_state("hello-ok")
        await line.raw(message(f"JOIN {line.key}"))
        heard = await line.any_next("CHAL", "FROG-40-02")
        if isinstance(heard, Chal):
            break
    trial.expect(isinstance(heard, Chal), "room for one more", heard)
    await server.close()


@clauses("FROG-39-04", "FROG-40-02")
async def test_an_expired_challenge_takes_no_place(trial: Trial) -> None:
    """Two are pending, and nobody answers: when they have expired there is room for another."""
    server = await limited(trial, "bounds", max_challenges=2)
    clock = await clock_of(trial, server.instance)
    for _ in range(2):
        await server.in_state("auth-pending")
    await clock.advance(121)  # for who looks for them once a minute
    await expect_room(await server.in_state("hello-ok"), "FROG-39-04")
    await server.close()


@clauses("FROG-40-01")
async def test_the_rate_of_joins_is_kept(trial: Trial) -> None:
    """Two in a minute; the third is refused with the code for it."""
    server = await limited(trial, "rates", rate_joins=2)
    line = await server.in_state("hello-ok")
    for _ in range(2):
        await line.raw(message(f"JOIN {line.key}"))
        if not await failed_once_more(line):
            trial.info("a failed AUTH leads to no state from which it may join again (AMB-13)")
            break
    else:
        await expect_overload(line, f"JOIN {line.key}", "-", "FROG-40-01")
    await server.close()


async def failed_once_more(line: PeerLine) -> bool:
    """JOIN was said; a false proof, after which it may be said again, or not."""
    if not isinstance(await line.next("CHAL", "FROG-17-01"), Chal):
        return False
    await line.auth(nonce="0" * 26)
    return await line.expect_refusal("FROG-17-10", ("AUTH_FAILED",))


RATES = {
    "getservers": "GETSERVERS {id} 1",
    "finds": "FIND {id} 1",
    "lookups": "LOOKUP {id} {other}",
    "signals": "SIGNAL {id} ICE 0",
}


class Rated:
    """One kind of request that a peer makes of a server with a rate for it."""

    def __init__(self, rate: str, line: PeerLine, other: PeerLine, route: str = "") -> None:
        self.rate, self.line, self.other, self.route = rate, line, other, route

    @classmethod
    async def of(cls, rate: str, line: PeerLine, other: PeerLine) -> Rated:
        return cls(rate, line, other, await line.route(other) if rate == "signals" else "")

    def text(self) -> tuple[str, str]:
        id = self.route or cid("R")
        return RATES[self.rate].format(id=id, other=self.other.key), id

    async def is_answered(self, times: int = 1) -> None:
        for _ in range(times):
            await self.line.raw(message(self.text()[0]))
            hearing = self.other if self.route else self.line
            heard = await hearing.any_next("an answer, or a signal", "FROG-40-01")
            if isinstance(heard, Err | Hangup):
                raise Broken("FROG-40-01", "an answer within the rate", str(heard))

    async def is_too_much(self) -> None:
        await expect_overload(self.line, *self.text(), "FROG-40-01")


@clauses("FROG-40-01", "FROG-38-02")
@axis("rate", list(RATES))
async def test_a_rate_is_kept(trial: Trial, rate: str) -> None:
    """Two in a minute; the third is refused with the code for it, and so is the fourth."""
    server = await limited(trial, "rates", **{f"rate_{rate}": 2})
    asking = await Rated.of(rate, *await server.peers())
    await asking.is_answered(2)
    await asking.is_too_much()
    await asking.is_too_much()
    await server.close()


@clauses("FROG-40-01")
@axis("rate", list(RATES))
async def test_a_rate_is_for_one_connection_and_one_request(trial: Trial, rate: str) -> None:
    """Neither what else the peer asks for counts, nor what others do."""
    server = await limited(trial, "rates", **{f"rate_{rate}": 2})
    a, b, c = await server.peers(3)
    mine, others = await Rated.of(rate, a, b), await Rated.of(rate, c, b)
    await Rated("finds" if rate == "getservers" else "getservers", a, b).is_answered(3)
    await mine.is_answered(2)
    await mine.is_too_much()
    await others.is_answered(2)
    await server.close()


@clauses("FROG-40-01")
@axis("rate", list(RATES))
async def test_a_rate_is_by_the_minute(trial: Trial, rate: str) -> None:
    """When a minute has passed there may be two more."""
    server = await limited(trial, "rates", **{f"rate_{rate}": 2})
    clock = await clock_of(trial, server.instance)
    asking = await Rated.of(rate, *await server.peers())
    await asking.is_answered(2)
    await asking.is_too_much()
    await clock.advance(121)  # for who counts by calendar minutes, or gives back by and by
    await asking.is_answered(2)
    await server.close()


@clauses("FROG-40-02")
async def test_a_peer_that_does_not_read_holds_nobody_up(trial: Trial, target: Target) -> None:
    """Sixteen megabytes on their way to one that has stopped reading: everybody else is served."""
    server = await ServerUnderTest(trial, max_queue=100).start()
    sleeper, sender, other = await server.peers(3)
    route = await sender.route(sleeper)
    sleeper.carrier.connection.transport.pause_reading()
    for _ in range(250):
        await sender.send(Signal(route, "ICE", bytes(65536)))
    between = await other.route(sender)
    await other.send(Signal(between, "ICE", b"first"))
    while (heard := await sender.next("a signal", "FROG-40-02")) and isinstance(heard, Err):
        pass
    trial.expect(not isinstance(heard, Hangup | Found), "the other peer's signal", heard)
    sleeper.cut()
    await server.close()
