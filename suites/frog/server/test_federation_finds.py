"""Section 35: peers on other servers are found by asking sisters, and only answers to a question count."""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import (
    Find,
    Peers,
    SisterFind,
    SisterFound,
    SisterLookup,
    SisterPeers,
)
from suites.frog.server.sisters import Federation, SisterLine, sibling
from suites.frog.wire import Peer, cid, message

LONGER_THAN_ANY_PATIENCE_MS = 600_000


async def asking(mesh: Federation, x: SisterLine, *others: SisterLine, limit: int = 3) -> SisterFind:
    """A find of a sister's that is pending: it was passed on, and whatever was known here is answered."""
    sent = SisterFind(cid("R"), sibling().id, Peer(mesh.network).key, limit, 3)
    await x.send(sent)
    for line in others:
        await line.expect_frame(replace(sent, ttl=2), "FROG-35-08")
    await x.fence()
    x.inbox.drain()
    return sent


# -- a sister looks for peers ------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-35-03", "FROG-35-04", "FROG-35-05", "FROG-35-06")
async def test_who_is_here_and_of_that_network(mesh: Federation, trial: Trial) -> None:
    """Of the asker's network, without the asker, also where that one is registered here."""
    here, other = await mesh.asker(), await mesh.asker()
    await mesh.peer(Peer("ELSEWHERE"))
    await mesh.peer(Peer(f"{mesh.network}2"))
    await mesh.peer(here.peer.elsewhere("ELSEWHERE"))
    x, asked = await mesh.sister(), cid("R")
    await x.send(SisterFind(asked, x.id, here.key, 7, 0))
    answer = await x.expect(SisterPeers, "FROG-35-03")
    trial.expect((answer.fcid, answer.server_id) == (asked, x.id), f"@PEERS {asked} {x.id}", answer, "FROG-35-03")
    trial.expect(here.key not in answer.peer_keys, "not the asker", answer, "FROG-35-05")
    trial.expect(set(answer.peer_keys) <= {other.key}, f"at most {other.key}", answer, "FROG-35-04")
    trial.expect(answer.peer_keys == (other.key,), other.key, answer, "FROG-35-03")


@needs("sister")
@clauses("FROG-35-06", "FROG-35-03", "FROG-35-07")
@axis("limit", [1, 3, 7])
async def test_no_more_peers_than_the_limit(mesh: Federation, trial: Trial, limit: int) -> None:
    """Of twelve no more than were asked for, each once; over twenty finds not always the same."""
    here = {(await mesh.asker()).key for _ in range(12)}
    x, seen = await mesh.sister(), set[str]()
    for _ in range(20):
        await x.send(SisterFind(asked := cid("R"), x.id, Peer(mesh.network).key, limit, 0))
        answer = await x.expect(SisterPeers, "FROG-35-03")
        keys = answer.peer_keys
        trial.expect(answer.fcid == asked and len(keys) <= limit, f"at most {limit} peers", answer, "FROG-35-06")
        trial.expect(len(set(keys)) == len(keys) and set(keys) <= here, "each once, from here", answer, "FROG-35-03")
        seen |= set(keys)
    if len(seen) <= limit:
        trial.warn("FROG-35-07", f"twenty times the same {len(seen)} of 12 peers")


@needs("sister")
@clauses("FROG-34-04", "FROG-35-08")
@axis("limit", [1, 3])
async def test_what_is_found_here_lowers_no_limit(mesh: Federation, trial: Trial, limit: int) -> None:
    """Passed on with one hop less and else unchanged, whoever was found here already."""
    await mesh.asker()
    x, y = await mesh.sisters(2)
    sent = SisterFind(cid("R"), x.id, Peer(mesh.network).key, limit, 3)
    await x.send(sent)
    copy, wanted = await y.expect_find(), replace(sent, ttl=2)
    trial.expect(copy == wanted, str(wanted), copy, "FROG-34-04")


@needs("sister")
@clauses("FROG-35-10")
async def test_who_is_here_too_stays_in_the_answer(mesh: Federation) -> None:
    """@PEERS are passed on unchanged, also with a key that is registered here."""
    here, (x, y) = await mesh.asker(), await mesh.sisters(2)
    sent = await asking(mesh, x, y)
    answer = SisterPeers(sent.fcid, sent.server_id, (here.key, Peer(mesh.network).key))
    await y.send(answer)
    await x.expect_frame(answer, "FROG-35-10")


@needs("sister")
@clauses("FROG-35-07")
@axis("end", ["left", "closed"])
async def test_who_is_gone_is_not_found(mesh: Federation, end: str) -> None:
    """Only peers that are registered now."""
    here, x = await mesh.asker(), await mesh.sister()
    if end == "left":
        await here.raw(message("LEAVE"))
        await here.next("OK LEAVE", "FROG-19-01")
    else:
        await here.close()
    for _ in mesh.trial.patiently():
        await x.send(SisterFind(cid("R"), x.id, Peer(mesh.network).key, 7, 0))
        answer = await x.expect(SisterPeers, "FROG-35-03")
        if not answer.peer_keys:
            return
    raise Broken("FROG-35-07", "nobody", str(answer))


@needs("sister")
@clauses("FROG-35-10", "FROG-35-09")
@axis("count", [0, 1, 3])
async def test_peers_go_toward_the_origin(mesh: Federation, count: int) -> None:
    """An answer of who was asked goes unchanged to who asked, and to nobody else."""
    x, y, z = await mesh.sisters(3)
    sent = await asking(mesh, x, y, z)
    answer = SisterPeers(sent.fcid, sent.server_id, tuple(Peer(mesh.network).key for _ in range(count)))
    await y.send(answer)
    await x.expect_frame(answer, "FROG-35-10")
    await z.expect_silence("FROG-35-10")
    await z.send(other := replace(answer, peer_keys=(Peer(mesh.network).key,)))
    await x.expect_frame(other, "FROG-35-10")


@needs("sister")
@clauses("FROG-35-09")
@axis("fault", ["unknown-fcid", "another-origin", "another-network", "more-than-the-limit", "one-of-another-network"])
async def test_peers_that_do_not_count(mesh: Federation, fault: str) -> None:
    """Each thing that is checked of @PEERS, wrong in turn: not passed on."""
    x, y = await mesh.sisters(2)
    sent = await asking(mesh, x, y)
    own, strange = Peer(mesh.network).key, Peer("ELSEWHERE").key
    right = SisterPeers(sent.fcid, sent.server_id, (own,))
    await y.send({
        "unknown-fcid": replace(right, fcid=cid("R")),
        "another-origin": replace(right, server_id=sibling().id),
        "another-network": replace(right, peer_keys=(strange,)),
        "more-than-the-limit": replace(right, peer_keys=tuple(Peer(mesh.network).key for _ in range(4))),
        "one-of-another-network": replace(right, peer_keys=(own, strange)),
    }[fault])  # fmt: skip
    await y.expect_no_effect("FROG-35-09")
    await x.expect_silence("FROG-35-09")


@needs("sister")
@clauses("FROG-35-09")
@axis("count", {"more-than-there-are": "3", "less-than-there-are": "1", "none": "0"})
async def test_peers_with_another_count(mesh: Federation, count: str) -> None:
    """Two keys, and a count that is not two: not passed on."""
    x, y = await mesh.sisters(2)
    sent = await asking(mesh, x, y)
    one, other = Peer(mesh.network).key, Peer(mesh.network).key
    await y.raw(message(f"@PEERS {sent.fcid} {sent.server_id} {count} {one} {other}"))
    await y.expect_no_effect("FROG-35-09")
    await x.expect_silence("FROG-35-09")


@needs("sister")
@clauses("FROG-35-09")
@axis("sender", ["who-asked", "late-comer"])
async def test_peers_of_who_was_not_asked(mesh: Federation, sender: str) -> None:
    """Only who got a copy may answer it."""
    x, y = await mesh.sisters(2)
    sent = await asking(mesh, x, y)
    stranger = x if sender == "who-asked" else await mesh.sister(2)
    await stranger.send(SisterPeers(sent.fcid, sent.server_id, (Peer(mesh.network).key,)))
    await stranger.expect_no_effect("FROG-35-09")
    await x.expect_silence("FROG-35-09")


@needs("sister")
@clauses("FROG-39-06", "FROG-35-14")
async def test_peers_that_come_too_late(real_mesh: Federation) -> None:
    """After the time of a find an answer is not passed on any more."""
    x, y = await real_mesh.sisters(2)
    sent = await asking(real_mesh, x, y)
    await real_mesh.wait(4)
    await y.send(SisterPeers(sent.fcid, sent.server_id, (Peer(real_mesh.network).key,)))
    await y.expect_no_effect("FROG-39-06")
    await x.expect_silence("FROG-39-06")


# -- a client looks for peers ------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-35-15", "FROG-35-11", "FROG-35-12", "FROG-22-09", "FROG-7.10-06")
async def test_a_find_asks_sisters_until_it_has_enough(mesh: Federation, trial: Trial) -> None:
    """Two sisters answer with overlapping keys: as soon as there are enough, one PEERS, each key once."""
    asker, (x, y) = await mesh.asker(), await mesh.sisters(2)
    await asker.send(Find(asked := cid("F"), 3))
    sent, copy = await x.expect_find("FROG-22-09"), await y.expect_find("FROG-22-09")
    trial.expect(sent == copy, "the same find to both", (sent, copy), "FROG-35-15")
    wanted = SisterFind(sent.fcid, mesh.id or sent.server_id, asker.key, sent.limit, sent.ttl)
    trial.expect(sent == wanted and sent.limit <= 3, str(wanted), sent, "FROG-35-15")
    keys = [Peer(mesh.network).key for _ in range(3)]
    await x.send(SisterPeers(sent.fcid, sent.server_id, tuple(keys[:2])))
    await x.fence()
    await y.send(SisterPeers(sent.fcid, sent.server_id, tuple(keys[1:])))
    peers = await asker.expect(Peers, "FROG-35-11")
    trial.expect(peers.cid == asked and sorted(peers.peer_keys) == sorted(keys), f"PEERS {asked}", peers, "FROG-35-11")
    await y.send(SisterPeers(sent.fcid, sent.server_id, (Peer(mesh.network).key,)))
    await y.expect_no_effect("FROG-35-11")
    await asker.expect_silence("FROG-35-11")
    if sent.ttl != 3:
        trial.info(f"the TTL of its finds is {sent.ttl}, 3 is recommended")
    if len(sent.fcid) < 20:
        trial.warn("FROG-7.10-06", f"{sent.fcid} has less than 96 bits")


@needs("sister")
@clauses("FROG-35-12", "FROG-35-11", "FROG-35-13", "FROG-39-01")
@axis("answers", [0, 1])
async def test_a_find_ends_in_time(federation: Federation, trial: Trial, answers: int) -> None:
    """After 1500 ms the client hears who was found till then, or nobody; a lookup's time may be another one."""
    federation.timed = "real"
    federation.config["lookup_timeout_ms"] = LONGER_THAN_ANY_PATIENCE_MS
    real_mesh = await federation.start()
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    await asker.send(Find(asked := cid("F"), 7))
    sent = await x.expect_find("FROG-22-09")
    keys = tuple(Peer(real_mesh.network).key for _ in range(answers))
    if keys:
        await x.send(SisterPeers(sent.fcid, sent.server_id, keys))
        await x.fence()
    await real_mesh.wait(1.6)
    peers = await asker.expect(Peers, "FROG-35-12")
    trial.expect(peers == Peers(asked, keys), f"PEERS {asked} {keys}", peers, "FROG-35-12" if keys else "FROG-35-13")
    await x.send(SisterPeers(sent.fcid, sent.server_id, (Peer(real_mesh.network).key,)))
    await x.expect_no_effect("FROG-35-14")
    await asker.expect_silence("FROG-35-11")


@needs("sister")
@clauses("FROG-35-09", "FROG-3.3-01")
@axis("fault", ["another-network", "more-than-the-limit", "not-asked"])
async def test_a_client_hears_of_nobody_who_does_not_count(real_mesh: Federation, fault: str) -> None:
    """What a sister may not answer is not told to the client."""
    asker, x = await real_mesh.asker(), await real_mesh.sister()
    await asker.send(Find(asked := cid("F"), 3))
    sent = await x.expect_find("FROG-22-09")
    own = tuple(Peer(real_mesh.network).key for _ in range(4))
    keys = {"another-network": (Peer("ELSEWHERE").key,), "more-than-the-limit": own, "not-asked": own[:1]}[fault]
    sender = await real_mesh.sister(1) if fault == "not-asked" else x
    await sender.send(SisterPeers(sent.fcid, sent.server_id, keys))
    await sender.expect_no_effect("FROG-35-09")
    await real_mesh.wait(1.6)
    peers = await asker.expect(Peers, "FROG-35-12")
    real_mesh.trial.expect(peers == Peers(asked), f"PEERS {asked} 0", peers, "FROG-35-09")


@needs("sister")
@clauses("FROG-35-16", "FROG-36-12")
@axis("word", ["FIND", "LOOKUP"])
async def test_a_client_that_is_gone(mesh: Federation, word: str) -> None:
    """Answers to nobody are harmless: the sister is served as before, and a newcomer hears nothing of it."""
    asker, x = await mesh.asker(), await mesh.sister()
    target = Peer(mesh.network).key
    await asker.raw(message(f"FIND {cid('F')} 3" if word == "FIND" else f"LOOKUP {cid('L')} {target}"))
    sent = await x.next("@FIND or @LOOKUP", "FROG-24-02")
    await asker.close()
    again = await mesh.peer(asker.peer)
    if isinstance(sent, SisterLookup):
        await x.send(SisterFound(sent.route_id, target))
    elif isinstance(sent, SisterFind):
        await x.send(SisterPeers(sent.fcid, sent.server_id, (target,)))
    await x.expect_no_effect("FROG-35-16")
    await again.expect_silence("FROG-35-16" if word == "FIND" else "FROG-36-12")


@needs("sister")
@clauses("FROG-7.10-05")
async def test_finds_that_overlap_have_names_of_their_own(mesh: Federation, trial: Trial) -> None:
    """Thirty finds at once, thirty FCIDs."""
    asker, x = await mesh.asker(), await mesh.sister()
    for _ in range(30):
        await asker.send(Find(cid("F"), 7))
    fcids = [(await x.expect_find("FROG-22-09")).fcid for _ in range(30)]
    trial.expect(len(set(fcids)) == 30, "30 FCIDs", sorted(fcids), "FROG-7.10-05")


@needs("sister")
@clauses("FROG-35-11")
async def test_no_more_than_the_client_asked_for(mesh: Federation, trial: Trial) -> None:
    """One peer is here and a sister knows two more: a client that asked for two hears of two at most."""
    asker, _, x = await mesh.asker(), await mesh.asker(), await mesh.sister()
    await asker.send(Find(asked := cid("F"), 2))
    sent = await x.expect_find("FROG-35-15")
    known = [Peer(mesh.network).key for _ in range(sent.limit)]
    await x.send(SisterPeers(sent.fcid, sent.server_id, tuple(known)))
    heard = await asker.expect(Peers, "FROG-35-11")
    trial.expect(heard.cid == asked and len(heard.peer_keys) <= 2, "at most two peers", heard, "FROG-35-11")
