"""Section 31: a sister dials again in the middle of something; what she has a part in goes on."""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from reference_impl.frog.frames import SignalFrom, SisterFound, SisterLookup, SisterSignal
from suites.frog.server.crossings import expect_heard, looked_up
from suites.frog.server.sisters import Federation, SisterLine
from suites.frog.wire import Peer, an_id


async def dialled_again(mesh: Federation, first: SisterLine, who: int) -> list[SisterLine]:
    """Those of her connections that the server leaves open."""
    lines = (first, await mesh.second(who))
    open = [line for line in lines if line and await line.fence()]
    mesh.trial.expect(bool(open), "a connection that is open", "none", "FROG-31-01")
    return open


@needs("sister")
@clauses("FROG-31-06", "FROG-31-01")
async def test_a_route_outlives_a_second_connection(mesh: Federation) -> None:
    """Sides of a route are servers: whichever connection stays carries it on."""
    local, sister = await mesh.asker(), await mesh.sister(0)
    rid, source = await looked_up(mesh, sister, local)
    *_, line = await dialled_again(mesh, sister, 0)
    await line.send(SisterSignal(rid, source, "ICE", b"x"))
    await expect_heard(local, SignalFrom(rid, source, "ICE", b"x"), "FROG-31-06")


@needs("sister")
@clauses("FROG-31-01", "FROG-36-08")
async def test_an_answer_by_a_second_connection(mesh: Federation) -> None:
    """Who was asked is a server: she may answer by whichever connection stays."""
    asking, asked = await mesh.sisters(2)
    sent = SisterLookup(an_id(), asking.id, Peer(mesh.network).key, Peer(mesh.network).key, 5)
    await asking.send(sent)
    await asked.expect_frame(replace(sent, ttl=4), "FROG-36-05")
    *_, line = await dialled_again(mesh, asked, 1)
    found = SisterFound(sent.route_id, sent.target)
    await line.send(found)
    await asking.expect_frame(found, "FROG-36-08")


@needs("sister")
@clauses("FROG-34-05", "FROG-36-06")
async def test_no_echo_by_a_second_connection(mesh: Federation, trial: Trial) -> None:
    """A request does not go back to who sent it, by none of her connections."""
    lines = await dialled_again(mesh, await mesh.sister(0), 0)
    for line in lines:
        await line.send(SisterLookup(an_id(), line.id, Peer(mesh.network).key, Peer(mesh.network).key, 5))
        await line.fence()
    for line in lines:
        await line.fence()
        echoed = [item for item in line.inbox.drain() if isinstance(item, SisterLookup)]
        trial.expect(not echoed, "no @LOOKUP", echoed, "FROG-34-05")
