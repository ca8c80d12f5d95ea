"""Section 34: floods are bounded, by their TTL, by what was seen before, by who sent them and by how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.frog.frames import (
    Lookup,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterLookup,
    SisterPeers,
    SisterSignal,
)
from suites.frog.server.sisters import Federation, SisterLine, sibling
from suites.frog.server.under_test import PeerLine
from suites.frog.wire import Peer, an_id, cid, message

FLOODS = ("find", "lookup")
Flood = SisterFind | SisterLookup


def flood_of(kind: str, federation: Federation, origin: str, ttl: int = 5) -> Flood:
    """One of nobody's in particular: its asker and its target are on no server that we know."""
    asker, target = Peer(federation.network).key, Peer(federation.network).key
    if kind == "find":
        return SisterFind(cid("R"), origin, asker, 3, ttl)
    return SisterLookup(an_id(), origin, asker, target, ttl)


def id_of(flood: Flood) -> str:
    return flood.fcid if isinstance(flood, SisterFind) else flood.route_id


def raw(flood: Flood, ttl: str) -> bytes:
    """With any TTL, legal or not."""
    if isinstance(flood, SisterFind):
        return message(f"@FIND {flood.fcid} {flood.server_id} {flood.peer_key} {flood.limit} {ttl}")
    return message(f"@LOOKUP {flood.route_id} {flood.server_id} {flood.source} {flood.target} {ttl}")


async def answered(line: SisterLine, flood: Flood) -> None:
    """A find of which nobody is here may be answered with nobody (AMB-23); a lookup is not."""
    if isinstance(flood, SisterFind):
        await line.fence()
        kept = [item for item in line.inbox.drain() if item != SisterPeers(flood.fcid, flood.server_id)]
        line.inbox.put_back(kept)


async def forwarded(line: SisterLine, flood: Flood, clause: str = "") -> None:
    """The next thing here is this flood, as it is."""
    await line.expect_frame(flood, clause or ("FROG-35-08" if isinstance(flood, SisterFind) else "FROG-36-05"))


# -- TTL ---------------------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-34-04", "FROG-34-05", "FROG-36-05", "FROG-36-06", "FROG-35-08", "FROG-7.7-04", "FROG-27-01")
@axis("flood", FLOODS)
@axis("ttl", range(1, 8))
async def test_passed_on_with_one_hop_less(mesh: Federation, flood: str, ttl: int) -> None:
    """To every other sister, the same but for its TTL, and not back to who sent it."""
    x, y, z = await mesh.sisters(3)
    sent = flood_of(flood, mesh, sibling().id, ttl)
    await x.send(sent)
    for line in (y, z):
        heard = await line.next(f"{flood} with ttl {ttl - 1}", "FROG-36-05" if flood == "lookup" else "FROG-35-08")
        wanted = replace(sent, ttl=ttl - 1)
        mesh.trial.expect(heard == wanted, str(wanted), heard, "FROG-34-04")
    await answered(x, sent)
    await x.expect_silence("FROG-34-05")


@needs("sister")
@clauses("FROG-34-03", "FROG-34-05", "FROG-27-01")
@axis("flood", FLOODS)
async def test_without_a_hop_left_it_goes_no_further(mesh: Federation, flood: str) -> None:
    """TTL 0: no other sister hears of it."""
    x, y = await mesh.sisters(2)
    sent = flood_of(flood, mesh, x.id, 0)
    await x.send(sent)
    await answered(x, sent)
    await x.expect_silence("FROG-34-03")
    await y.expect_silence("FROG-34-03")


@needs("sister")
@clauses("FROG-34-02", "FROG-36-04", "FROG-35-03")
@axis("flood", FLOODS)
async def test_without_a_hop_left_it_is_answered(mesh: Federation, flood: str) -> None:
    """TTL 0: the local table is looked at all the same."""
    local, x = await mesh.asker(), await mesh.sister()
    asker = Peer(mesh.network).key
    if flood == "find":
        await x.send(SisterFind(asked := cid("R"), x.id, asker, 3, 0))
        await x.expect_frame(SisterPeers(asked, x.id, (local.key,)), "FROG-34-02")
    else:
        await x.send(SisterLookup(rid := an_id(), x.id, asker, local.key, 0))
        await x.expect_frame(SisterFound(rid, local.key), "FROG-34-02")


@needs("sister")
@clauses("FROG-34-01", "FROG-35-01", "FROG-36-01", "FROG-38-02")
@axis("flood", FLOODS)
@axis("ttl", ["8", "9", "255", "4294967301", "07", "-1", "x"])
async def test_a_ttl_out_of_range(mesh: Federation, flood: str, ttl: str) -> None:
    """More than seven, or no number: BAD_REQUEST with its id, and nobody else hears of it."""
    x, y = await mesh.sisters(2)
    sent = flood_of(flood, mesh, x.id)
    await x.raw(raw(sent, ttl))
    await x.expect_error(id_of(sent), "BAD_REQUEST", "FROG-34-01")
    await y.expect_silence("FROG-34-01")


# -- duplicates --------------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-34-06", "FROG-34-07", "FROG-36-03", "FROG-27-01")
@axis("flood", FLOODS)
@axis("copy", ["same-sister", "other-sister", "less-ttl", "more-ttl", "other-sister-less-ttl"])
async def test_a_copy_is_ignored(mesh: Federation, flood: str, copy: str) -> None:
    """What was seen is neither passed on nor answered again, whoever sends it and however many hops it has left."""
    x, y, z = await mesh.sisters(3)
    sent = flood_of(flood, mesh, sibling().id)
    await x.send(sent)
    for line in (y, z):
        await forwarded(line, replace(sent, ttl=4))
    await answered(x, sent)
    again = y if copy.startswith("other") else x
    ttl = {"less-ttl": 2, "other-sister-less-ttl": 3, "more-ttl": 7}.get(copy, 5)
    await again.send(replace(sent, ttl=ttl))
    await again.expect_silence("FROG-34-07" if again is x else "FROG-34-06")
    await z.expect_silence("FROG-34-06")


@needs("sister")
@clauses("FROG-34-06", "FROG-36-04")
async def test_a_copy_after_a_hit_is_not_answered(mesh: Federation) -> None:
    """The second sister who asks for the same route gets no @FOUND, and hers is no side of it."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    sent = SisterLookup(an_id(), x.id, Peer(mesh.network).key, local.key, 5)
    await x.send(sent)
    await x.expect_frame(SisterFound(sent.route_id, local.key), "FROG-36-04")
    await y.send(replace(sent, ttl=4))
    await y.expect_silence("FROG-34-06")
    await y.send(SisterSignal(sent.route_id, sent.source, "ICE", b"x"))
    await y.expect_error(sent.route_id, ("TARGET_MISMATCH", "ROUTE_NOT_FOUND"), "FROG-37-04")
    await local.expect_silence("FROG-37-04")


CONFLICTS: dict[str, Callable[[Any, str], Flood]] = {
    "lookup-target": lambda sent, other: replace(sent, target=other),
    "lookup-source": lambda sent, other: replace(sent, source=other),
    "lookup-origin": lambda sent, _: replace(sent, server_id=sibling().id),
    "find-asker": lambda sent, other: replace(sent, peer_key=other),
    "find-limit": lambda sent, _: replace(sent, limit=sent.limit + 1),
}


@needs("sister")
@clauses("FROG-34-08", "FROG-36-03", "FROG-27-01")
@axis("conflict", list(CONFLICTS))
@axis("sender", ["same", "other"])
async def test_a_conflicting_copy_is_rejected(mesh: Federation, conflict: str, sender: str) -> None:
    """The same name for another request: BAD_STATE, nobody else hears of it, and the first goes on as it was."""
    x, y, z = await mesh.sisters(3)
    sent = flood_of(conflict.partition("-")[0], mesh, sibling().id)
    await x.send(sent)
    for line in (y, z):
        await forwarded(line, replace(sent, ttl=4))
    await answered(x, sent)
    again = x if sender == "same" else y
    await again.send(CONFLICTS[conflict](sent, Peer(mesh.network).key))
    await again.expect_error(id_of(sent), "BAD_STATE", "FROG-34-08")
    await z.expect_silence("FROG-34-08")
    if isinstance(sent, SisterLookup):
        answer: SisterFound | SisterPeers = SisterFound(sent.route_id, sent.target)
    else:
        answer = SisterPeers(sent.fcid, sent.server_id, (Peer(mesh.network).key,))
    await z.send(answer)
    await x.expect_frame(answer, "FROG-34-08")


@needs("sister")
@clauses("FROG-7.10-04", "FROG-34-06")
async def test_one_fcid_of_two_origins(mesh: Federation) -> None:
    """A find is known by its origin and its FCID: two servers may use the same one."""
    x, y = await mesh.sisters(2)
    first = flood_of("find", mesh, sibling().id)
    second = replace(first, server_id=sibling().id)
    for sent in (first, second):
        await x.send(sent)
        await forwarded(y, replace(sent, ttl=4), "FROG-7.10-04")


@needs("sister")
@clauses("FROG-35-02", "FROG-36-02", "FROG-27-01")
@axis("flood", FLOODS)
async def test_its_own_flood_came_round(mesh: Federation, flood: str) -> None:
    """A request whose origin is this very server is ignored, also where it could be answered."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    sent = flood_of(flood, mesh, mesh.id)
    await x.send(replace(sent, target=local.key) if isinstance(sent, SisterLookup) else sent)
    clause = "FROG-36-02" if flood == "lookup" else "FROG-35-02"
    await x.expect_silence(clause)
    await y.expect_silence(clause)


@needs("sister")
@clauses("FROG-36-02", "FROG-27-01", "FROG-34-06", "FROG-24-05", "FROG-24-06")
async def test_a_ring_of_servers(mesh: Federation, trial: Trial) -> None:
    """What a client asked comes back by the sister's sisters: it is not sent again, and the client hears one answer."""
    asker, (x, y) = await mesh.asker(), await mesh.sisters(2)
    target, asked = Peer(mesh.network).key, cid("L")
    await asker.send(Lookup(asked, target))
    first, second = await x.expect_lookup("FROG-24-02"), await y.expect_lookup("FROG-24-02")
    trial.expect(first == second, "one lookup for both", (first, second), "FROG-24-03")
    await x.send(replace(first, ttl=first.ttl - 2))
    await y.send(replace(first, ttl=first.ttl - 2))
    for line in (x, y):
        await line.expect_silence("FROG-36-02")
    await x.send(SisterFound(first.route_id, target))
    await y.send(SisterFound(first.route_id, target))
    await found(asker, asked, target, first.route_id)
    await y.fence()
    await asker.expect_silence("FROG-24-06")


async def found(asker: PeerLine, asked: str, target: str, route: str, clause: str = "FROG-24-05") -> None:
    heard = await asker.next(f"FOUND {asked}", clause)
    told = getattr(heard, "cid", ""), getattr(heard, "peer_key", ""), getattr(heard, "route_id", "")
    asker.trial.expect(told == (asked, target, route), f"FOUND {asked} {target} {route}", heard, clause)


# -- what else is not obeyed -------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-36-01", "FROG-3.12-01", "FROG-38-02")
async def test_a_lookup_across_networks(mesh: Federation) -> None:
    """Source and target are of one network, or it is BAD_REQUEST; also where the target is here."""
    local, (x, y) = await mesh.asker(), await mesh.sisters(2)
    rid = an_id()
    await x.send(SisterLookup(rid, x.id, Peer("ELSEWHERE").key, local.key, 5))
    await x.expect_error(rid, "BAD_REQUEST", "FROG-36-01")
    await y.expect_silence("FROG-36-01")


MALFORMED = {
    "lookup-route": ("@LOOKUP {bad} {id} {key} {key2} 5", "-"),
    "lookup-origin": ("@LOOKUP {rid} {bad} {key} {key2} 5", "{rid}"),
    "lookup-source": ("@LOOKUP {rid} {id} {rid} {key2} 5", "{rid}"),
    "lookup-target": ("@LOOKUP {rid} {id} {key} {rid} 5", "{rid}"),
    "lookup-without-ttl": ("@LOOKUP {rid} {id} {key} {key2}", "{rid}"),
    "lookup-and-more": ("@LOOKUP {rid} {id} {key} {key2} 5 5", "{rid}"),
    "find-fcid": ("@FIND - {id} {key} 3 3", "-"),
    "find-origin": ("@FIND {fcid} {key} {key} 3 3", "{fcid}"),
    "find-asker": ("@FIND {fcid} {id} {rid} 3 3", "{fcid}"),
    "find-limit-0": ("@FIND {fcid} {id} {key} 0 3", "{fcid}"),
    "find-limit-8": ("@FIND {fcid} {id} {key} 8 3", "{fcid}"),
    "find-without-ttl": ("@FIND {fcid} {id} {key} 3", "{fcid}"),
}


@needs("sister")
@clauses("FROG-36-01", "FROG-35-01", "FROG-38-02")
@axis("fault", list(MALFORMED))
async def test_a_flood_with_a_fault(mesh: Federation, fault: str) -> None:
    """Each field of @FIND and @LOOKUP, wrong in turn: BAD_REQUEST, and nobody else hears of it."""
    x, y = await mesh.sisters(2)
    names = {
        "bad": an_id()[:25] + "U", "id": x.id, "rid": an_id(), "fcid": cid("R"),
        "key": Peer(mesh.network).key, "key2": Peer(mesh.network).key,
    }  # fmt: skip
    text, id = (part.format(**names) for part in MALFORMED[fault])
    await x.raw(message(text))
    await x.expect_error(id, "BAD_REQUEST", "FROG-36-01" if fault.startswith("lookup") else "FROG-35-01")
    await y.expect_silence("FROG-36-01" if fault.startswith("lookup") else "FROG-35-01")


# -- how many ----------------------------------------------------------------------------------------------------------


@needs("sister", "floods")
@clauses("FROG-34-09", "FROG-34-10")
@axis("fanout", [1, 7])
async def test_no_more_than_the_fanout(federation: Federation, trial: Trial, fanout: int) -> None:
    """Of nine sisters no more than the fanout are asked, and over twenty lookups each of them at some time."""
    federation.config |= {"lookup_fanout": fanout, "find_fanout": fanout}
    federation.family = [sibling() for _ in range(9)]
    await federation.start()
    asker, lines = await federation.asker(), await federation.sisters(9)
    reached = set[str]()
    for _ in range(40 if fanout == 1 else 20):
        await asker.send(Lookup(cid("L"), Peer(federation.network).key))
        await asker.fence()
        asked = set[str]()
        for line in lines:
            await line.fence()
            asked |= {line.id for item in line.inbox.drain() if isinstance(item, SisterLookup)}
        trial.expect(1 <= len(asked) <= fanout, f"1 to {fanout} copies", len(asked), "FROG-34-09")
        reached |= asked
    trial.expect(len(reached) >= min(9, fanout + 2), "another choice now and then", len(reached), "FROG-34-10")


@needs("sister", "floods")
@clauses("FROG-34-11", "FROG-40-01")
@axis("flood", FLOODS)
async def test_floods_are_limited(federation: Federation, flood: str) -> None:
    """Ten a minute: the eleventh is refused and goes nowhere; another sister's is not."""
    federation.config["rate_floods"] = 10
    await federation.start()
    x, y, z = await federation.sisters(3)
    for _ in range(10):
        await x.send(sent := flood_of(flood, federation, x.id))
        await answered(x, sent)
    for line in (y, z):
        await line.fence()
        line.inbox.drain()
    await x.send(over := flood_of(flood, federation, x.id))
    heard = await x.any_next(f"@ERR {id_of(over)} RATE_LIMITED", "FROG-34-11")
    limited = isinstance(heard, SisterErr) and heard.code in ("RATE_LIMITED", "SERVER_UNAVAILABLE")
    federation.trial.expect(limited, f"@ERR {id_of(over)} RATE_LIMITED", heard, "FROG-34-11")
    await y.expect_silence("FROG-34-11")
    await y.send(sent := flood_of(flood, federation, y.id))
    await forwarded(z, replace(sent, ttl=4), "FROG-34-11")


# -- in time -----------------------------------------------------------------------------------------------------------


@needs("sister", "clock")
@clauses("FROG-34-12", "FROG-34-13")
@axis("flood", {"find": ("find", 1.2), "lookup": ("lookup", 2.6)})
async def test_a_copy_is_known_for_its_time(real_mesh: Federation, flood: tuple[str, float]) -> None:
    """1500 ms for a find, 3000 ms for a lookup: shortly before, a copy is still one."""
    kind, seconds = flood
    x, y = await real_mesh.sisters(2)
    sent = flood_of(kind, real_mesh, sibling().id)
    await x.send(sent)
    await forwarded(y, replace(sent, ttl=4))
    await answered(x, sent)
    await real_mesh.wait(seconds)
    await x.send(sent)
    clause = "FROG-34-12" if kind == "find" else "FROG-34-13"
    await x.expect_silence(clause)
    await y.expect_silence(clause)


@needs("sister")
@clauses("FROG-34-14")
async def test_a_routes_name_is_taken_while_it_lives(timed_mesh: Federation) -> None:
    """After 20 seconds, and after 150: another lookup with its id is BAD_STATE, and the route works."""
    local, (x, y) = await timed_mesh.asker(), await timed_mesh.sisters(2)
    sent = SisterLookup(an_id(), x.id, Peer(timed_mesh.network).key, local.key, 5)
    await x.send(sent)
    await x.expect_frame(SisterFound(sent.route_id, local.key), "FROG-36-04")
    for seconds in (20, 100):
        await timed_mesh.wait(seconds)
        await y.send(replace(sent, target=Peer(timed_mesh.network).key))
        await y.expect_error(sent.route_id, "BAD_STATE", "FROG-34-14")
    await x.send(SisterSignal(sent.route_id, sent.source, "ICE", b"x"))
    heard = await local.next("SIGNAL-FROM", "FROG-34-14")
    timed_mesh.trial.expect(getattr(heard, "payload", None) == b"x", "SIGNAL-FROM", heard, "FROG-34-14")


@needs("sister", "clock")
@clauses("FROG-39-07", "FROG-34-13")
async def test_what_was_seen_is_forgotten(timed_mesh: Federation, trial: Trial) -> None:
    """After four minutes a lookup of the same name is a new one; when exactly is nobody's business."""
    x, y = await timed_mesh.sisters(2)
    sent = flood_of("lookup", timed_mesh, sibling().id)
    await x.send(sent)
    await forwarded(y, replace(sent, ttl=4))
    await timed_mesh.wait(240)
    await x.send(sent)
    await x.fence()
    await y.fence()
    if not [item for item in y.inbox.drain() if isinstance(item, SisterLookup)]:
        trial.info("a lookup is still known after four minutes")
