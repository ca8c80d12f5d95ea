"""Sections 20 to 24 from the client's side: what its host asks for, and what comes of it."""

from __future__ import annotations

from typing import Any

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import Err, Find, Found, GetServers, Lookup, Peers, Try
from suites.frog.client.under_test import HANGING_S, ClientUnderTest
from suites.frog.wire import Peer, an_id, message


@clauses("FROG-46-01", "FROG-22-02", "FROG-13.1-07")
@axis("count", [0, 2, 7])
async def test_find(client: ClientUnderTest, trial: Trial, count: int) -> None:
    """FIND with the limit; the host gets the peers of the answer, however many."""
    line, others = await client.online(), [Peer(client.peer.network).key for _ in range(count)]
    asked = client.asking("find", limit=7)
    find = await line.expect(Find, "FROG-46-01")
    trial.expect(find.limit == 7, "limit 7", find)
    await line.send(Peers(find.cid, tuple(others)))
    trial.expect(await client.answer(asked) == {"peer_keys": others}, str(others), asked)


@clauses("FROG-46-01", "FROG-23-05")
async def test_lookup(client: ClientUnderTest, trial: Trial) -> None:
    """LOOKUP of the key; the host gets the route."""
    line, other, route = await client.online(), Peer(client.peer.network), an_id()
    asked = client.asking("lookup", peer_key=other.key)
    lookup = await line.expect(Lookup, "FROG-46-01")
    trial.expect(lookup.peer_key == other.key, other.key, lookup)
    await line.send(Found(lookup.cid, other.key, route))
    trial.expect(await client.answer(asked) == {"route_id": route}, route, asked)


@clauses("FROG-46-01", "FROG-8-25")
async def test_getservers(client: ClientUnderTest, trial: Trial) -> None:
    """GETSERVERS; of the answer the canonical URIs count."""
    line = await client.online()
    line.lists = False
    asked = client.asking("getservers", limit=5)
    while (request := await line.expect(GetServers, "FROG-46-01")).limit != 5:
        await line.send(Try(request.cid))  # one of its own
    await line.raw(message(f"TRY {request.cid} 3 wss://a.example/ wss://b.example wss://c.example/"))
    trial.expect(await client.answer(asked) == {"uris": ["wss://a.example/", "wss://c.example/"]}, "a and c", asked)


@clauses("FROG-20-04", "FROG-44-01", "FROG-17-14")
@axis("code", ["PEER_NOT_FOUND", "LOOKUP_TIMEOUT", "BAD_REQUEST", "RATE_LIMITED", "INTERNAL"])
async def test_an_error_fails_its_request(client: ClientUnderTest, trial: Trial, code: str) -> None:
    """The host learns the code; nothing else comes of it."""
    line = await client.online()
    asked = client.asking("lookup", peer_key=Peer(client.peer.network).key)
    lookup = await line.expect(Lookup, "FROG-46-01")
    await line.send(Err(lookup.cid, code))
    answer = await client.answer(asked)
    trial.expect(isinstance(answer, str) and answer.startswith(code), code, answer)
    again = client.asking("find", limit=1)
    heard = await line.next("FIND", "FROG-17-14")
    trial.expect(isinstance(heard, Find), "FIND, and no second JOIN", heard, "FROG-17-14")
    again.cancel()


@clauses("FROG-20-05", "FROG-7.9-03")
async def test_a_cid_in_use_is_not_taken_again(client: ClientUnderTest, trial: Trial) -> None:
    """Two are out, the first is answered, a third is asked: its CID is not the second's."""
    line, keys = await client.online(), [Peer(client.peer.network).key for _ in range(3)]
    out: dict[str, str] = {}
    asked = []
    for key in keys:
        asked.append(client.asking("lookup", peer_key=key))
        lookup = await line.expect(Lookup, "FROG-20-02")
        trial.expect(lookup.cid not in out, "a CID that is not in use", lookup, "FROG-20-05")
        out[lookup.cid] = key
        if len(out) == 2:
            first, target = next(iter(out.items()))
            await line.send(Found(first, target, an_id()))
            await client.answer(asked[0])
            del out[first]
    for one in asked[1:]:
        one.cancel()


@clauses("FROG-20-04", "FROG-20-05", "FROG-7.9-03", "FROG-20-02")
async def test_answers_in_another_order(client: ClientUnderTest, trial: Trial) -> None:
    """Four requests at once have four CIDs, and each gets its own answer."""
    line, keys = await client.online(), [Peer(client.peer.network).key for _ in range(4)]
    asked = {key: client.asking("lookup", peer_key=key) for key in keys}
    lookups = [await line.expect(Lookup, "FROG-20-02") for _ in keys]
    trial.expect(len({lookup.cid for lookup in lookups}) == 4, "four CIDs", lookups, "FROG-7.9-03")
    routes = {lookup.peer_key: an_id() for lookup in lookups}
    for lookup in reversed(lookups):
        await line.send(Found(lookup.cid, lookup.peer_key, routes[lookup.peer_key]))
    for key in keys:
        trial.expect(
            await client.answer(asked[key]) == {"route_id": routes[key]}, routes[key], asked[key], "FROG-20-04"
        )


@clauses("FROG-20-04", "FROG-46-01")
async def test_an_error_is_about_one_request(client: ClientUnderTest, trial: Trial) -> None:
    """Two lookups are out: the first fails, and the second gets its route."""
    line, keys, route = await client.online(), [Peer(client.peer.network).key for _ in range(2)], an_id()
    asked, lookups = [], []
    for key in keys:
        asked.append(client.asking("lookup", peer_key=key))
        lookups.append(await line.expect(Lookup, "FROG-20-02"))
    await line.send(Err(lookups[0].cid, "PEER_NOT_FOUND"), Found(lookups[1].cid, keys[1], route))
    trial.expect(isinstance(await client.answer(asked[0]), str), "a failure", asked[0])
    trial.expect(await client.answer(asked[1]) == {"route_id": route}, route, asked[1])


@clauses("FROG-20-04", "FROG-46-01")
async def test_the_same_answer_twice(client: ClientUnderTest, trial: Trial) -> None:
    """What was found before is found again: each answer is told in full."""
    line, others = await client.online(), [Peer(client.peer.network).key for _ in range(2)]
    for _ in range(2):
        asked = client.asking("find", limit=7)
        find = await line.expect(Find, "FROG-46-01")
        await line.send(Peers(find.cid, tuple(others)))
        trial.expect(await client.answer(asked) == {"peer_keys": others}, str(others), asked)


@clauses("FROG-23-04", "FROG-21-02", "FROG-22-01", "FROG-23-02", "FROG-22-11")
@axis("wish", ["itself", "another-network", "no-key", "find-8", "find-0", "getservers-8", "unknown-route"])
async def test_what_a_client_may_not_send_is_refused(client: ClientUnderTest, trial: Trial, wish: str) -> None:
    """And nothing of it is on the wire: the next message is the next request."""
    line = await client.online()
    wishes: dict[str, tuple[str, str, dict[str, Any]]] = {
        "itself": ("lookup", "FROG-23-04", {"peer_key": client.peer.key}),
        "another-network": ("lookup", "FROG-23-02", {"peer_key": Peer("ELSEWHERE").key}),
        "no-key": ("lookup", "FROG-23-01", {"peer_key": client.peer.key.lower()}),
        "find-8": ("find", "FROG-22-01", {"limit": 8}),
        "find-0": ("find", "FROG-22-01", {"limit": 0}),
        "getservers-8": ("getservers", "FROG-21-02", {"limit": 8}),
        "unknown-route": ("signal", "FROG-22-11", {"route_id": an_id(), "kind": "ICE", "payload": ""}),
    }
    op, clause, args = wishes[wish]
    await client.refuses(op, clause, **args)
    asked = client.asking("find", limit=1)
    heard = await line.next("FIND", clause)
    trial.expect(heard == Find(getattr(heard, "cid", ""), 1), "FIND with limit 1", heard, clause)
    asked.cancel()


@clauses("FROG-20-04")
async def test_an_answer_to_nobody_is_ignored(client: ClientUnderTest, trial: Trial) -> None:
    """A CID that is not in use answers nothing (AMB-64)."""
    line, other, route = await client.online(), Peer(client.peer.network), an_id()
    asked = client.asking("lookup", peer_key=other.key)
    lookup = await line.expect(Lookup, "FROG-46-01")
    await line.send(Found("NOBODY_1", other.key, an_id()), Peers("NOBODY_2"), Err("NOBODY_3", "INTERNAL"))
    await line.send(Found(lookup.cid, other.key, route))
    trial.expect(await client.answer(asked) == {"route_id": route}, route, asked)


LIES = {
    "another-target": "FOUND {cid} {other} {route}",
    "lower-case-route": "FOUND {cid} {target} {lower}",
    "no-route": "FOUND {cid} {target}",
    "one-field-more": "FOUND {cid} {target} {route} 180",
}


@clauses("FROG-23-05", "FROG-13.1-02", "FROG-7.7-01")
@axis("answer", LIES)
async def test_a_false_route_is_not_used(client: ClientUnderTest, trial: Trial, answer: str) -> None:
    """A broken FOUND, or one about somebody else, makes no route (AMB-49, AMB-65)."""
    line, target, route = await client.online(), Peer(client.peer.network), an_id()
    asked = client.asking("lookup", peer_key=target.key)
    lookup = await line.expect(Lookup, "FROG-46-01")
    other = Peer(client.peer.network).key
    text = answer.format(cid=lookup.cid, other=other, target=target.key, route=route, lower=route.lower())
    await line.raw(message(text))
    await line.send(Err(lookup.cid, "PEER_NOT_FOUND"))
    got = await client.answer(asked)
    trial.expect(isinstance(got, str), "no route", got)
    await client.refuses("signal", "FROG-22-11", route_id=route, kind="ICE", payload="")


COUNTS = {
    "one-too-many": "PEERS {cid} 1 {key} {key}",
    "one-missing": "PEERS {cid} 2 {key}",
    "eight": "PEERS {cid} 8 " + " ".join(["{key}"] * 8),
    "leading-zero": "PEERS {cid} 01 {key}",
}


@clauses("FROG-13.1-05", "FROG-13.1-07")
@axis("answer", COUNTS)
async def test_a_wrong_count_drops_the_message(client: ClientUnderTest, trial: Trial, answer: str) -> None:
    """None of its peers reaches the host; the answer behind it may."""
    line, false, true = await client.online(), Peer(client.peer.network).key, Peer(client.peer.network).key
    asked = client.asking("find", limit=7)
    find = await line.expect(Find, "FROG-46-01")
    await line.raw(message(answer.format(cid=find.cid, key=false)))
    await line.send(Peers(find.cid, (true,)))
    got = await client.answer(asked)
    right = isinstance(got, str) or got == {"peer_keys": [true]}
    trial.expect(right, f"{true}, or a failure", got)


@clauses("FROG-44-01", "FROG-43-03")
@axis("op", {"find": {"limit": 1}, "lookup": {}})
async def test_a_lost_connection_fails_what_was_asked(
    client: ClientUnderTest, trial: Trial, op: dict[str, int]
) -> None:
    """Nothing hangs."""
    line = await client.online()
    if op:
        asked = client.asking("find", **op)
        await line.expect(Find, "FROG-46-01")
    else:
        asked = client.asking("lookup", peer_key=Peer(client.peer.network).key)
        await line.expect(Lookup, "FROG-46-01")
    line.cut()
    answer = await client.answer(asked, "FROG-44-01", HANGING_S)
    trial.expect(isinstance(answer, str), "a failure", answer)


@clauses("FROG-22-11")
async def test_a_peer_that_was_found_is_not_yet_signalled(client: ClientUnderTest, trial: Trial) -> None:
    """PEERS is a hint; a signal needs a route, and no id that was heard before is one."""
    line, other = await client.online(), Peer(client.peer.network)
    asked = client.asking("find", limit=1)
    find = await line.expect(Find, "FROG-46-01")
    await line.send(Peers(find.cid, (other.key,)))
    await client.answer(asked)
    await client.refuses("signal", "FROG-22-11", route_id=other.fingerprint, kind="ICE", payload="")
    again = client.asking("lookup", peer_key=other.key)
    heard = await line.next("LOOKUP", "FROG-22-11")
    trial.expect(isinstance(heard, Lookup), "LOOKUP before any signal", heard)
    again.cancel()
