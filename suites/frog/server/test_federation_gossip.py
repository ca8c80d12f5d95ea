"""Sections 30 to 33: which servers are verified, who hears of them, and which of two connections with a sister stays."""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import (
    Hangup,
    Lookup,
    SisterChal,
    SisterFind,
    SisterFound,
    SisterList,
    SisterLookup,
    SisterOk,
    SisterPeers,
    SisterServers,
    SisterSignal,
    Try,
)
from suites.frog.server.sisters import Federation, Listening, Sibling, SisterLine, sibling
from suites.frog.wire import Peer, an_id, cid, message


async def told(federation: Federation, limit: int = 7) -> tuple[str, ...]:
    """The URIs that a client hears."""
    client = await federation.connect()
    await client.hello()
    asked = cid("G")
    await client.raw(message(f"GETSERVERS {asked} {limit}"))
    answer = await client.expect(Try, "FROG-21-01")
    federation.trial.expect(answer.cid == asked, f"TRY {asked}", answer, "FROG-21-01")
    return answer.uris


async def verified(federation: Federation, count: int) -> list[Listening]:
    """So many sisters that were dialled and proved themselves."""
    listening = [await federation.listen() for _ in range(count)]
    await federation.start()
    for one in listening:
        await federation.met(one)
    return listening


async def asked_for_more(federation: Federation, seed: Listening) -> tuple[SisterLine, str]:
    """A sister that it dialled and now asks whom else she knows: her connection, and the question's id."""
    federation.config["discover"] = 1
    await federation.start()
    line = await seed.dialled()
    line.gossips = True
    await line.accept_until("sister")
    return line, (await line.expect(SisterList, "FROG-33-08")).fcid


def unlike(federation: Federation, sister: str) -> Sibling:
    """One whose id is smaller or larger than the server's, if that has the seed that it is told."""
    return sibling(smaller_than=federation.id) if sister == "smaller" else sibling(larger_than=federation.id)


# -- what is verified --------------------------------------------------------------------------------------------------


@needs("dials", "sister")
@clauses("FROG-30-01", "FROG-33-01", "FROG-32-04", "FROG-43-01")
async def test_who_was_dialled_is_named_to_clients_and_sisters(federation: Federation, trial: Trial) -> None:
    """A server that was dialled at its URI and proved its id is verified: its record is what others hear."""
    [listening] = await verified(federation, 1)
    who = listening.who
    uris = await told(federation)
    trial.expect(set(uris) <= {who.uri}, f"nothing but {who.uri}", uris, "FROG-30-04")
    sister = await federation.sister()
    listed = await sister.listed()
    trial.expect(set(listed) <= {(who.id, who.uri)}, f"nothing but {who.id} {who.uri}", listed, "FROG-33-05")
    if not uris or not listed:
        trial.warn("FROG-43-01", "it does not tell of a server that it has verified")


@needs("sister")
@clauses("FROG-30-02", "FROG-3.9-01", "FROG-30-04", "FROG-33-05")
async def test_who_dialled_is_not_verified(mesh: Federation, trial: Trial) -> None:
    """A URI that came with @HELLO is nobody's business, whatever was proven on that connection."""
    first, second = await mesh.sisters(2)
    listed, uris = await second.listed(), await told(mesh)
    trial.expect(listed == (), "@SERVERS with nobody", listed, "FROG-30-02")
    trial.expect(uris == (), "TRY with nobody", uris, "FROG-30-04")
    await first.expect_silence("FROG-30-02")


@needs("dials")
@clauses("FROG-30-04", "FROG-30-01")
@axis("step", ["d0", "d1", "d2", "d3"])
async def test_who_is_being_dialled_is_not_verified(federation: Federation, trial: Trial, step: str) -> None:
    """Nor is one whose proof has not come yet."""
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.accept_until(step)
    uris = await told(federation)
    trial.expect(listening.who.uri not in uris, f"no {listening.who.uri}", uris, "FROG-30-04")


@needs("dials", "sister")
@clauses("FROG-30-04", "FROG-30-01", "FROG-33-05")
async def test_a_server_that_claims_another_uri(federation: Federation, trial: Trial) -> None:
    """Its @HELLO names a URI that was not dialled: that one is not verified by it."""
    listening = await federation.listen()
    claimed = "wss://claimed.example.org/"
    listening.who = listening.who.elsewhere(claimed)
    await federation.start()
    line = await listening.dialled()
    await line.greeted()
    await line.hello()
    if not await gone(line):
        uris, sister = await told(federation), await federation.sister()
        trial.expect(claimed not in uris, f"no {claimed}", uris, "FROG-30-04")
        listed = await sister.listed()
        trial.expect(claimed not in dict(listed).values(), f"no {claimed}", listed, "FROG-33-05")


async def gone(line: SisterLine) -> bool:
    """The rest of the handshake, unless it is refused."""
    await line.send(SisterChal(nonce := an_id()))
    if await line.refused():
        return True
    await line.expect_proof(nonce)
    await line.send(SisterOk())
    if await line.refused():
        return True
    await line.challenged()
    await line.auth()
    return await line.refused()


@needs("dials", "sister")
@clauses("FROG-30-05", "FROG-30-02")
@axis("sister", ["smaller", "larger"])
async def test_another_uri_of_a_verified_server(federation: Federation, trial: Trial, sister: str) -> None:
    """Verified at one URI, she dials with another in her @HELLO: neither clients nor sisters are told of the new one,
    whichever of the two connections stays."""
    listening = await federation.listen(unlike(federation, sister))
    federation.config["sisters"] = [listening.who.id]
    await federation.start()
    await federation.met(listening)
    moved = listening.who.elsewhere("wss://moved.example.org/")
    await federation.second(moved)
    uris, asking = await told(federation), await federation.sister()
    trial.expect(moved.uri not in uris, f"no {moved.uri}", uris, "FROG-30-05")
    listed = await asking.listed()
    trial.expect(moved.uri not in dict(listed).values(), f"no {moved.uri}", listed, "FROG-30-05")


@needs("dials", "sister")
@clauses("FROG-30-06", "FROG-30-05")
async def test_of_two_verified_uris_the_later_one_counts(federation: Federation, trial: Trial) -> None:
    """One server at two seeds: once both were dialled, no more than one URI of it is told."""
    who = sibling()
    listening = [await federation.listen(who) for _ in range(2)]
    await federation.start()
    first, second = [await one.dialled() for one in listening]
    await first.accept_until("sister")
    await second.greeted()
    await second.hello()
    if await gone(second):
        return trial.info("it does not keep a second connection with the same server long enough to verify its URI")
    uris = await told(federation)
    trial.expect(len(uris) < 2, "one URI for one server", uris, "FROG-30-06")
    if uris:
        trial.expect(uris == (listening[1].who.uri,), f"{listening[1].who.uri}, the later", uris, "FROG-30-06")


@needs("dials")
@clauses("FROG-32-04", "FROG-32-03")
async def test_a_verified_server_that_is_gone_may_be_told(federation: Federation, trial: Trial) -> None:
    """Its connection ends: nothing but its own URI is told, and nobody is asked for it."""
    [listening] = await verified(federation, 1)
    await listening.lines[0].close()
    uris = await told(federation)
    trial.expect(set(uris) <= {listening.who.uri}, f"at most {listening.who.uri}", uris, "FROG-30-04")


@needs("dials")
@clauses("FROG-33-08", "FROG-27-03")
async def test_a_seed_is_dialled_again(federation: Federation) -> None:
    """Each of two seeds whose connection ended is dialled once more, and is a sister again."""
    for seed in await verified(federation, 2):
        await seed.lines[0].close()
        line = await federation.met(seed)
        await line.listed()


# -- @LIST and @SERVERS ------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-33-02", "FROG-38-02")
@axis("limit", ["0", "8", "07", "-1", "255", "18446744073709551617", "x"])
async def test_a_limit_out_of_range(mesh: Federation, limit: str) -> None:
    """@LIST is for one to seven servers."""
    line, asked = await mesh.sister(), cid("G")
    await line.raw(message(f"@LIST {asked} {limit}"))
    await line.expect_error(asked, "BAD_REQUEST", "FROG-33-02")


@needs("sister")
@clauses("FROG-33-01", "FROG-7.10-03", "FROG-33-02")
@axis("limit", [1, 7])
async def test_each_sister_has_her_own_questions(mesh: Federation, limit: int) -> None:
    """The same FCID on two connections at once: each gets its answer."""
    asked = cid("G")
    lines = await mesh.sisters(2)
    for line in lines:
        await line.send(SisterList(asked, limit))
    for line in lines:
        await line.expect_frame(SisterServers(asked), "FROG-7.10-03")


@needs("sister")
@clauses("FROG-7.10-01", "FROG-7.10-02", "FROG-33-01")
@axis("fcid", {"lower-case": "g1", "dash": "-", "33-characters": "G" * 33, "a-dot": "G.1"})
async def test_an_fcid_that_is_none(mesh: Federation, fcid: str) -> None:
    """It is rejected, and the error has the dash."""
    line = await mesh.sister()
    await line.raw(message(f"@LIST {fcid} 7"))
    await line.expect_error("-", "BAD_REQUEST", "FROG-7.10-01")


@needs("dials", "sister")
@clauses("FROG-33-04", "FROG-33-03", "FROG-33-06", "FROG-33-05", "FROG-21-04", "FROG-21-05")
@axis("limit", [1, 3, 7])
async def test_no_more_than_was_asked_for(federation: Federation, trial: Trial, limit: int) -> None:
    """Of nine verified servers no more than the limit, each once, and never the server itself."""
    known = {(one.who.id, one.who.uri) for one in await verified(federation, 9)}
    sister = await federation.sister()
    listed = await sister.listed(limit)
    trial.expect(len(listed) <= limit, f"at most {limit} records", listed, "FROG-33-04")
    trial.expect(len(set(listed)) == len(listed), "each once", listed, "FROG-33-04")
    trial.expect(federation.id not in dict(listed), "not itself", listed, "FROG-33-06")
    trial.expect(set(listed) <= known, "verified records", listed, "FROG-33-05")
    uris = await told(federation, limit)
    trial.expect(len(uris) <= limit, f"at most {limit} URIs", uris, "FROG-21-04")


@needs("dials")
@clauses("FROG-33-07", "FROG-33-06")
async def test_who_asks_is_not_told_of_herself(federation: Federation, trial: Trial) -> None:
    """Two verified sisters: each hears of the other."""
    listening = [await federation.listen() for _ in range(2)]
    await federation.start()
    lines = [await federation.met(one) for one in listening]
    for line in lines:
        listed = await line.listed()
        trial.expect(line.id not in dict(listed), "others", listed, "FROG-33-07")
        trial.expect(federation.id not in dict(listed), "others", listed, "FROG-33-06")


@needs("sister")
@clauses("FROG-30-04", "FROG-33-05")
async def test_servers_that_nobody_asked_about(mesh: Federation, trial: Trial) -> None:
    """@SERVERS out of the blue verifies nobody."""
    first, second = await mesh.sisters(2)
    unknown = sibling()
    await first.send(SisterServers(cid("G"), ((unknown.id, unknown.uri),)))
    await first.fence()
    listed, uris = await second.listed(), await told(mesh)
    trial.expect(listed == (), "@SERVERS with nobody", listed, "FROG-33-05")
    trial.expect(uris == (), "TRY with nobody", uris, "FROG-30-04")


@needs("gossip", "dials")
@clauses("FROG-33-08", "FROG-30-01", "FROG-30-04", "FROG-3.10-02", "FROG-27-03")
async def test_who_is_named_is_dialled_before_it_is_told(federation: Federation, trial: Trial) -> None:
    """It asks its sister, dials the server that she names, and tells of it once that has proven itself, and not before."""
    seed, unknown = await federation.listen(), await federation.listen(seed=False)
    first, asked = await asked_for_more(federation, seed)
    await first.send(SisterServers(asked, ((unknown.who.id, unknown.who.uri),)))
    second = await unknown.dialled()
    uris = await told(federation)
    trial.expect(unknown.who.uri not in uris, f"no {unknown.who.uri} yet", uris, "FROG-30-04")
    await second.accept_until("sister")
    for _ in trial.patiently():
        if unknown.who.uri in (uris := await told(federation)):
            return
    trial.info(f"a server that it has verified is not told: {uris}")


@needs("gossip", "dials")
@clauses("FROG-30-01", "FROG-30-04", "FROG-3.10-02", "FROG-33-08")
async def test_who_is_not_who_was_named(federation: Federation, trial: Trial) -> None:
    """At the URI that was named another server answers, and proves that it is another: the record is not told."""
    seed, unknown = await federation.listen(), await federation.listen(seed=False)
    first, asked = await asked_for_more(federation, seed)
    named = sibling()
    await first.send(SisterServers(asked, ((named.id, unknown.who.uri),)))
    second = await unknown.dialled()
    await second.greeted()
    await second.hello()
    await gone(second)
    first.gossips = False
    listed = await first.listed()
    trial.expect((named.id, unknown.who.uri) not in listed, "no record of who was not met", listed, "FROG-30-01")


@needs("gossip", "dials")
@clauses("FROG-30-05", "FROG-30-04")
async def test_another_uri_by_hearsay(federation: Federation, trial: Trial) -> None:
    """A verified server is named at another URI: that is not told before it was dialled with success."""
    seed, elsewhere = await federation.listen(), await federation.listen(seed=False)
    line, asked = await asked_for_more(federation, seed)
    await line.send(SisterServers(asked, ((seed.who.id, elsewhere.who.uri),)))
    await line.fence()
    uris = await told(federation)
    trial.expect(elsewhere.who.uri not in uris, f"no {elsewhere.who.uri}", uris, "FROG-30-05")


# -- two connections with one sister -----------------------------------------------------------------------------------


async def both(federation: Federation, sister: str) -> tuple[SisterLine, SisterLine | None]:
    """Two connections with one sister: the one that the server dialled, then hers, where it is not refused at once."""
    await federation.trial.need("seed")
    who = unlike(federation, sister)
    listening = await federation.listen(who)
    federation.config["sisters"] = [who.id]
    await federation.start()
    ours = await federation.met(listening)
    return ours, await federation.second(listening.who)


@needs("dials", "sister")
@clauses("FROG-31-04", "FROG-31-03", "FROG-31-01")
@axis("sister", ["smaller", "larger"])
async def test_the_smaller_id_began_the_connection_that_stays(federation: Federation, sister: str) -> None:
    """Of a connection each way, the one that the smaller id dialled is kept and the other closed."""
    dialled, hers = await both(federation, sister)
    kept, other = (hers, dialled) if sister == "smaller" else (dialled, hers)
    if kept is None:
        raise Broken("FROG-31-04", "the connection that the smaller id dialled", "it is refused")
    while other and not isinstance(await other.next("the end", "FROG-31-04"), Hangup):
        pass
    await kept.listed()


@needs("sister")
@clauses("FROG-31-01", "FROG-31-07")
async def test_two_connections_that_she_dialled(mesh: Federation, trial: Trial) -> None:
    """One of them at least is of use, and a flood reaches her once."""
    lines = [await mesh.sister(0), await mesh.second(0)]
    open = [line for line in lines if line and await line.fence()]
    trial.expect(bool(open), "a connection that is open", "none", "FROG-31-01")
    asker = await mesh.asker()
    await asker.send(Lookup(cid("L"), Peer(mesh.network).key))
    await asker.fence()
    copies = []
    for line in open:
        await line.fence()
        copies += [item for item in line.inbox.drain() if isinstance(item, SisterLookup)]
    trial.expect(len(copies) == 1, "one @LOOKUP", copies, "FROG-31-07")


@needs("sister")
@clauses("FROG-31-02", "FROG-31-01", "FROG-35-11", "FROG-24-06")
@axis("flood", ["find", "lookup"])
async def test_one_answer_by_two_connections(real_mesh: Federation, trial: Trial, flood: str) -> None:
    """A sister answers, and says the same with the first word of a second connection: to the client it is one answer."""
    asker, first = await real_mesh.asker(), await real_mesh.sister(0)
    second = await real_mesh.line(0)
    if not await second.proves_anyhow(last=False):
        return trial.info("it takes no second connection of a sister")
    target, asked = Peer(real_mesh.network).key, cid("A")
    await asker.raw(message(f"LOOKUP {asked} {target}" if flood == "lookup" else f"FIND {asked} 2"))
    if flood == "lookup":
        answer: SisterFound | SisterPeers = SisterFound((await first.expect_lookup("FROG-24-02")).route_id, target)
    else:
        sent = await first.expect_find("FROG-22-09")
        answer = SisterPeers(sent.fcid, sent.server_id, (target,))
    await first.send(answer)
    await first.fence()
    await second.send(SisterOk(), answer)
    await second.fence()
    await real_mesh.wait(1.6)
    heard = await asker.next("one answer", "FROG-31-02")
    one = getattr(heard, "peer_keys", None) == (target,) or getattr(heard, "peer_key", None) == target
    trial.expect(one and getattr(heard, "cid", "") == asked, f"one answer with {target}", heard, "FROG-31-02")
    await asker.expect_silence("FROG-31-02")


@needs("sister")
@clauses("FROG-31-02", "FROG-35-10", "FROG-36-09")
@axis("flood", ["find", "lookup"])
async def test_one_answer_by_two_connections_is_passed_on_once(mesh: Federation, trial: Trial, flood: str) -> None:
    """The same between two sisters: who asked hears the answer once."""
    x, first = await mesh.sisters(2)
    second = await mesh.line(1)
    if not await second.proves_anyhow(last=False):
        return trial.info("it takes no second connection of a sister")
    source, target = Peer(mesh.network).key, Peer(mesh.network).key
    find, lookup = SisterFind(cid("R"), x.id, source, 3, 3), SisterLookup(an_id(), x.id, source, target, 5)
    request: SisterFind | SisterLookup = find if flood == "find" else lookup
    found, peers = SisterFound(lookup.route_id, target), SisterPeers(find.fcid, x.id, (target,))
    answer = peers if flood == "find" else found
    await x.send(request)
    await first.expect_frame(replace(request, ttl=request.ttl - 1), "FROG-34-04")
    await x.fence()
    x.inbox.drain()  # who of that network is here, which is nobody
    await first.send(answer)
    await x.expect_frame(answer, "FROG-35-10" if flood == "find" else "FROG-36-08")
    await second.send(SisterOk(), answer)
    await second.fence()
    await x.expect_silence("FROG-31-02")


@needs("sister")
@clauses("FROG-31-06", "FROG-31-05")
async def test_a_route_outlives_its_connection(mesh: Federation) -> None:
    """Sides of a route are servers: a sister that comes back carries it on, both ways."""
    local, sister = await mesh.asker(), await mesh.sister(0)
    source, rid = Peer(mesh.network).key, an_id()
    await sister.send(SisterLookup(rid, sister.id, source, local.key, 5))
    await sister.expect_frame(SisterFound(rid, local.key), "FROG-36-04")
    await sister.close()
    while not isinstance(await sister.next("the end", "FROG-31-06"), Hangup):
        pass
    again = await mesh.returned(0)
    await again.send(SisterSignal(rid, source, "ICE", b"back"))
    heard = await local.next("SIGNAL-FROM", "FROG-31-06")
    if getattr(heard, "payload", None) != b"back":
        raise Broken("FROG-31-06", "SIGNAL-FROM with b'back'", str(heard))
    await local.raw(message(f"SIGNAL {rid} ICE 1", b"x"))
    await again.expect_frame(SisterSignal(rid, local.key, "ICE", b"x"), "FROG-31-06")
