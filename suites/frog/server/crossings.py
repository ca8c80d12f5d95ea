"""Routes that cross the server under test: their far ends are peers behind sisters, played by the harness."""

from __future__ import annotations

from reference_impl.frog.frames import (
    Frame,
    Hangup,
    Lookup,
    SisterFound,
    SisterLookup,
)
from suites.frog.server.sisters import Federation, SisterLine
from suites.frog.server.under_test import PeerLine
from suites.frog.wire import Peer, an_id, cid, message


class Between:
    """The server is in the middle: `a` is a peer behind sister x, `b` one behind sister y."""

    def __init__(self, mesh: Federation, x: SisterLine, y: SisterLine) -> None:
        self.x, self.y, self.route = x, y, an_id()
        self.a, self.b = Peer(mesh.network).key, Peer(mesh.network).key

    async def made(self) -> Between:
        await self.x.send(SisterLookup(self.route, self.x.id, self.a, self.b, 5))
        await self.y.expect_frame(SisterLookup(self.route, self.x.id, self.a, self.b, 4), "FROG-36-05")
        await self.y.send(SisterFound(self.route, self.b))
        await self.x.expect_frame(SisterFound(self.route, self.b), "FROG-36-08")
        return self


async def between(mesh: Federation) -> Between:
    x, y = await mesh.sisters(2)
    return await Between(mesh, x, y).made()


async def looked_up(mesh: Federation, x: SisterLine, local: PeerLine) -> tuple[str, str]:
    """A route from a peer behind a sister to one that is here: its id, and who asked."""
    rid, source = an_id(), Peer(mesh.network).key
    await x.send(SisterLookup(rid, x.id, source, local.key, 5))
    await x.expect_frame(SisterFound(rid, local.key), "FROG-36-04")
    return rid, source


async def looks_up(mesh: Federation, x: SisterLine, local: PeerLine) -> tuple[str, str]:
    """A route from a peer that is here to one behind a sister: its id, and who was found."""
    target = Peer(mesh.network).key
    await local.send(Lookup(cid("L"), target))
    sent = await x.expect_lookup("FROG-24-02")
    await x.send(SisterFound(sent.route_id, target))
    heard = await local.next("FOUND", "FROG-36-08")
    mesh.trial.expect(getattr(heard, "route_id", "") == sent.route_id, f"FOUND {sent.route_id}", heard, "FROG-36-08")
    return sent.route_id, target


async def expect_heard(line: PeerLine, wanted: Frame, clause: str) -> None:
    """Exactly this comes next, an error about an unreachable server too."""
    heard = await line.any_next(str(wanted), clause)
    line.trial.expect(heard == wanted, str(wanted), heard, clause)


async def first_heard(line: PeerLine) -> Frame | Hangup | None:
    """What was said before the answer to a question, if anything was."""
    await line.raw(message(f"GETSERVERS {(asked := cid('G'))} 1"))
    heard = await line.any_next("an answer to GETSERVERS", "FROG-20-01")
    if getattr(heard, "cid", "") == asked:
        return None
    while getattr(await line.any_next("an answer to GETSERVERS", "FROG-20-01"), "cid", "") != asked:
        pass
    return heard
