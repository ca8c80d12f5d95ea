"""Sections 21, 41 and 42: which servers a client knows, whom it dials, and when it comes back."""

from __future__ import annotations

import itertools
import time

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from harness.targets import Target
from reference_impl.frog.frames import GetServers, Left, Try
from suites.frog.client.test_signals import routed
from suites.frog.client.under_test import BACKOFF_MS, ROLE, ClientLine, ClientUnderTest
from suites.frog.wire import message


@clauses("FROG-18-06", "FROG-43-03", "FROG-41-05")
@axis("end", ["close", "cut"])
async def test_it_comes_back(client: ClientUnderTest, trial: Trial, end: str) -> None:
    """After a disconnect it dials and registers again, tells its host both, and has no route left."""
    line = await client.online()
    route, _ = await routed(client, line)
    if end == "cut":
        line.cut()
    else:
        await line.close()
    await client.expect_status(False, "FROG-18-06")
    again = await (await client.accept("FROG-18-06")).registers()
    await client.expect_status(True, "FROG-18-06")
    await client.refuses("signal", "FROG-43-03", route_id=route, kind="ICE", payload="")
    await routed(client, again)


@clauses("FROG-41-02", "FROG-21-09")
async def test_each_server_has_its_turn(client: ClientUnderTest, trial: Trial) -> None:
    """Of a list with repetitions each server is dialled once before one comes again."""
    stages = [await client.stage() for _ in range(3)]
    uris = [stage.uri for stage in stages]
    await client.start(*uris, uris[0], uris[0], uris[1])
    dialled = []
    for _ in range(3):
        line = await client.accept()
        dialled.append(line.stage.uri)
        await line.close()
    trial.expect(sorted(dialled) == sorted(uris), "each of the three once", dialled)


@clauses("FROG-41-02")
async def test_it_does_not_always_begin_with_the_same(trial: Trial, target: Target) -> None:
    """Ten starts with three servers: not always the same first."""
    first: set[int] = set()
    for _ in range(10):
        client = ClientUnderTest(trial, await target.session(), await target.capabilities(ROLE))
        stages = [await client.stage() for _ in range(3)]
        await client.start(*(stage.uri for stage in stages))
        first.add(stages.index((await client.accept()).stage))
        await client.close()
    trial.expect(len(first) > 1, "another server first, now and then", first)


@clauses("FROG-15-12", "FROG-8-25", "FROG-41-06", "FROG-49-01", "FROG-21-10")
async def test_it_goes_where_it_is_sent(client: ClientUnderTest, trial: Trial) -> None:
    """A busy server says HELLO, TRY and closes: the client comes to the other one, and not to a URI that is not canonical."""
    busy, free, trap = [await client.stage() for _ in range(3)]
    await client.start(busy.uri)
    line = await client.accept()
    await line.joins()
    await line.raw(message(f"TRY - 2 {free.uri} {trap.uri.rstrip('/')}"))
    await line.close()
    for _ in range(4):
        line = await client.accept("FROG-15-12")
        trial.expect(line.stage is not trap, "only canonical URIs dialled", line.stage.uri, "FROG-8-25")
        if line.stage is free:
            await line.registers()
            await client.expect_status(True, "FROG-15-12")
            return
        await line.close()
    trial.expect(False, f"a dial to {free.uri}", "the busy server again and again")


@clauses("FROG-15-11")
async def test_a_try_is_advice(client: ClientUnderTest, trial: Trial) -> None:
    """A client that is told of others stays where it is."""
    line, other = await client.online(), await client.stage()
    await line.send(Try("-", (other.uri,)), Try("-"))
    await routed(client, line)
    trial.expect(not other.lines, "no dial to the other server", other.lines)


@clauses("FROG-21-09", "FROG-41-03", "FROG-15-12")
async def test_it_learns_from_getservers(client: ClientUnderTest, trial: Trial) -> None:
    """A server from an answer to GETSERVERS is dialled when the first is gone."""
    first, second = await client.stage(), await client.stage()
    line = await client.online(first.uri)
    await learn(client, line, second.uri)
    await first.port.close()
    line = await client.accept("FROG-21-09")
    trial.expect(line.stage is second, second.uri, line.stage.uri)


@clauses("FROG-41-03", "FROG-21-09")
async def test_it_learns_from_what_it_asks_itself(client: ClientUnderTest, trial: Trial) -> None:
    """Nor is it lost what a client that asks of its own accord is told."""
    first, second = await client.stage(), await client.stage()
    await client.start(first.uri)
    line = await client.accept()
    line.named = (second.uri,)
    await line.registers()
    await trial.next_of(first.asked, "GETSERVERS", "FROG-41-03")
    await routed(client, line)
    await first.port.close()
    line = await client.accept("FROG-21-09")
    trial.expect(line.stage is second, second.uri, line.stage.uri)


async def learn(client: ClientUnderTest, line: ClientLine, uri: str) -> None:
    """The host asks, and the answer names one more server."""
    line.lists = False
    asked = client.asking("getservers", limit=6)
    while (request := await line.expect(GetServers, "FROG-46-01")).limit != 6:
        await line.send(Try(request.cid))
    await line.send(Try(request.cid, (uri,)))
    await client.answer(asked)


@clauses("FROG-41-04", "FROG-21-09", "FROG-42-01")
async def test_the_bootstrap_list_is_kept(client: ClientUnderTest, trial: Trial) -> None:
    """When those that it learned fail, it comes back to where it began."""
    first, second = await client.stage(), await client.stage()
    line = await client.online(first.uri)
    await line.send(Try("-", (second.uri,)))
    await routed(client, line)
    await second.port.close()
    await line.close()
    line = await client.accept("FROG-41-04")
    trial.expect(line.stage is first, first.uri, line.stage.uri)


@clauses("FROG-41-04", "FROG-41-02", "FROG-21-09", "FROG-21-10")
@axis("learned", [False, True])
async def test_another_of_its_servers_takes_over(client: ClientUnderTest, trial: Trial, learned: bool) -> None:
    """Of two that it was shipped with the one where it was is gone, and so is one that it learned of: it comes to the other."""
    shipped, third = [await client.stage() for _ in range(2)], await client.stage()
    line = await client.online(*(stage.uri for stage in shipped))
    shipped.remove(line.stage)
    if learned:
        await line.send(Try("-", (third.uri,)))
        await routed(client, line)
    await third.port.close()
    await line.stage.port.close()
    again = await client.accept("FROG-41-04" if learned else "FROG-41-02")
    trial.expect(again.stage is shipped[0], shipped[0].uri, again.stage.uri)
    await again.registers()


@clauses("FROG-13.1-05", "FROG-13.1-06", "FROG-8-25")
@axis(
    "count",
    {"too-few": "1 {0} {1}", "too-many": "3 {0} {1}", "eight": "8 {0} {0} {0} {0} {0} {0} {0} {1}", "none": "{0} {1}"},
)
async def test_a_try_with_a_wrong_count_is_dropped(client: ClientUnderTest, trial: Trial, count: str) -> None:
    """None of its servers is dialled."""
    home, traps = await client.stage(), [await client.stage() for _ in range(2)]
    await client.start(home.uri)
    line = await client.accept()
    await line.joins()
    await line.raw(message(f"TRY - {count.format(*(trap.uri for trap in traps))}"))
    await line.close()
    for _ in range(3):
        line = await client.accept()
        trial.expect(line.stage is home, home.uri, line.stage.uri, "FROG-13.1-05")
        await line.close()


@clauses("FROG-41-05", "FROG-15-13")
async def test_it_waits_longer_and_longer(client: ClientUnderTest, trial: Trial) -> None:
    """Dials that fail are further and further apart, and not all alike."""
    if "backoff_ms" not in client.capabilities:
        raise TargetUnsupported("its backoff cannot be set: nobody waits for minutes")
    stage = await client.stage()
    await client.start(stage.uri, backoff_ms=BACKOFF_MS)
    times = []
    for _ in range(6):
        line = await client.accept()
        times.append(time.monotonic())
        line.cut()
    waits = [round(later - earlier, 3) for earlier, later in itertools.pairwise(times)]
    trial.measures["first_wait_s"], trial.measures["last_wait_s"] = waits[0], waits[-1]
    trial.expect(min(waits) > BACKOFF_MS / 1000 / 2, "a wait before each dial", waits)
    trial.expect(waits[-1] > 2 * waits[0], "longer waits", waits)


@clauses("FROG-41-02")
async def test_the_cache_is_used(client: ClientUnderTest, target: Target) -> None:
    """A server that it learned in an earlier life is dialled when the first is gone."""
    await target.need(ROLE, "cache")
    gone, cached = await client.stage(), await client.stage()
    await gone.port.close()
    await client.start(gone.uri, cache=[cached.uri])
    await (await client.accept()).registers()
    await client.expect_status(True, "FROG-41-02")


@clauses("FROG-46-01", "FROG-19-01", "FROG-13.1-01", "FROG-6-02", "FROG-4-05")
@axis("answer", ["ok-leave", "the-end"])
async def test_leaving_is_for_good(client: ClientUnderTest, trial: Trial, target: Target, answer: str) -> None:
    """LEAVE, and once that is confirmed it does not come back."""
    line = await client.online()
    asked = client.asking("leave")
    heard = await line.next("LEAVE", "FROG-46-01")
    trial.expect(type(heard).__name__ == "Leave", "LEAVE", heard)
    if answer == "ok-leave":
        await line.send(Left())
    await line.close()
    trial.expect(await client.answer(asked) == {}, "left", asked)
    other = ClientUnderTest(trial, await target.session(), client.capabilities)
    line = await other.online()
    for _ in range(3):  # as long as three times somebody else comes back, nobody dials
        line.cut()
        line = await (await other.accept()).registers()
    trial.expect(len(client.stages[0].lines) == 1, "no further connection", client.stages[0].lines)
    await other.close()
    await client.refuses("find", "FROG-46-01", limit=1)
