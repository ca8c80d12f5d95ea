"""Pairs of FROG/1: a make of client with a make of server, clients of two makes on the reference's server, and clients of two
makes across a federation: each on a server of its own make, which are sisters. Servers of two makes also meet with one of the
reference's between them, and its clients at either end.

What is promised: peers that have joined find and look one another up; every SIGNAL on a live route arrives once, byte for byte,
at exactly the peer that was looked up; nothing crosses networks; a client that lost its connection joins again by itself, and a
new LOOKUP works.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.catalogue.addresses import endpoint
from harness.errors import TargetRefused
from harness.matrix.faults import KILL_SERVER, NONE, PAUSES, STREAMS, WHOLE
from harness.matrix.history import Breach, History, disordered, lost, repeated, strange
from harness.matrix.pairing import CLIENT, SERVER, THIRD, Pairing, Scenario, Seat
from harness.matrix.parties import End
from harness.matrix.play import Bench, Stage
from suites.common import shim
from suites.frog import wire
from suites.frog.along import CHAIN, read_along, read_federation, shown
from suites.frog.server.under_test import USUAL

BACKOFF_MS = 20
SLOWEST_REDIAL_S = 10.0
"""A client whose waits cannot be set may take that long before it dials again."""

MOST_TRIES = 12
ASKED_AGAIN_S = 2.0
LIMIT = 7
KINDS = ("OFFER", "ICE", "ANSWER")
ROUTE_IS_OVER = frozenset({"ROUTE_EXPIRED", "ROUTE_NOT_FOUND", "PEER_NOT_FOUND"})
SHORT_ROUTE_MS = 2_000
"""How long routes live at a server whose clock cannot be pushed."""


async def open_server(bench: Bench) -> None:
    await serve(bench, "server", {"seed": wire.Peer("X").seed.hex()})


async def serve(bench: Bench, label: str, told: dict[str, Any]) -> str:
    """One server, under its URI."""
    config = {**USUAL, **told}
    if bench.proxied:  # clients and sisters sign the server's own URI: it has to be the proxy's
        bench.parties[label].need("uri")
        config["uri"] = f"ws://127.0.0.1:{(await bench.line(label)).port}/"
    await bench.serve(label, config)
    return await bench.way(label, label)


async def open_federation(bench: Bench) -> None:
    """A chain of servers: each dials the next and lets the one before federate. Caller at the first, callee at the last."""
    labels = [label for label in CHAIN if label in bench.parties]
    keys = {label: wire.Peer("X") for label in labels}
    dials: list[str] = []
    for before, label in reversed(list(zip(["", *labels], labels, strict=False))):
        sisters = [keys[before].fingerprint] if before else []
        told = {"seed": keys[label].seed.hex(), "seeds": dials, "sisters": sisters, "redial_ms": BACKOFF_MS}
        dials = [f"{keys[label].fingerprint}@{await serve(bench, label, told)}"]
    bench.kept["homes"] = {"caller": labels[0], "callee": labels[-1]}


async def client(stage: Stage, seat: str, peer: wire.Peer, who: str = "", uri: str = "") -> End:
    """A client that has joined, at the server of its seat."""
    home = stage.kept.get("homes", {}).get(seat, "server")
    uri = uri or await stage.bench.way(home, home)
    config: dict[str, Any] = {"bootstrap": [uri], "network": peer.network, "seed": peer.seed.hex(), "cache": []}
    if "backoff_ms" in stage.party(seat).capabilities:
        config["backoff_ms"] = BACKOFF_MS
    end = await stage.end(seat, config, who=who)
    if not await joined(stage, end) and stage.profile in WHOLE:
        raise TargetRefused(f"{end.who} did not come to join")
    return end


def is_joined(history: History, who: str) -> bool:
    said = [
        m for m in history.moments if m.who == who and m.what in ("start", "status") and m.kind in ("asked", "told")
    ]
    return bool(said) and said[-1].what == "status" and bool(said[-1].data.get("registered"))


async def joined(stage: Stage, end: End) -> bool:
    slow = 0.0 if "backoff_ms" in end.capabilities else SLOWEST_REDIAL_S
    return await stage.until(lambda: is_joined(stage.history, end.who), slow)


async def asked(stage: Stage, end: End, op: str, **args: Any) -> dict[str, Any]:
    """Asked again for as long as it is refused: a peer may be joining still, a connection may have been lost.

    Where none is lost only a lookup has a reason to be refused.
    """
    last: Exception | None = None
    for n in range(MOST_TRIES):
        try:
            async with asyncio.timeout(None if stage.profile in WHOLE else ASKED_AGAIN_S):
                return await end.do(op, **args)
        except (TargetRefused, TimeoutError) as error:
            if stage.profile in WHOLE and op != "lookup":
                raise
            last = error
            await joined(stage, end)
            await asyncio.sleep(pause_s(n))
    raise TargetRefused(f"{end.who}: {op} is refused, however often it is asked: {last}")


def pause_s(tries: int) -> float:
    """Nobody tells when another peer has joined, or when servers have become sisters: asked ever later, five seconds in all."""
    return 0.02 * 1.5**tries


def peers_of(stage: Stage) -> tuple[wire.Peer, wire.Peer]:
    network = wire.network()
    return wire.Peer(network), wire.Peer(network)


# -- reading the history -------------------------------------------------------------------------------------------------


def signalled(history: History, who: str) -> list[tuple[int, str, str, str]]:
    """What that host sent: place, route, kind, payload."""
    return [
        (place, q.data["route_id"], q.data["kind"], q.data.get("payload", ""))
        for place, q, _, _ in history.answers(who, "signal")
    ]


def heard(history: History, who: str) -> list[str]:
    """Whose signal, of which kind, along which route, with which payload."""
    return [
        " ".join(shim.member(m.data, name, shim.text, "signal") for name in ("peer_key", "kind", "route_id", "payload"))
        for m in history.told(who, "signal")
    ]


def interruptions(history: History) -> list[int]:
    """Places at which a connection was lost, or the server, or came again. What ends because its host goes is none."""
    going = next(
        (n for n, m in enumerate(history.moments) if (m.kind, m.what) == ("asked", "stop")), len(history.moments)
    )
    return [
        place
        for place, m in enumerate(history.moments[:going])
        if (m.kind == "told" and m.what == "status")
        or (m.kind == "fault" and m.what in ("cut", "gone", "killed", "runs again", "nobody there"))
    ]


def routes_since(history: History, since: int) -> set[str]:
    """Of those that were looked up by then or later: a route is as old as the connections that it binds."""
    answers = [a for who in ("caller", "callee") for a in history.answers(who, "lookup")]
    return {str(answer.data.get("route_id")) for place, _, _, answer in answers if place >= since}


# -- promises ------------------------------------------------------------------------------------------------------------


def found_one_another(history: History, profile: str) -> Iterator[Breach]:
    wanted = next(m for m in history.moments if m.what == "peers")
    callee, foreign, caller = wanted.data["callee"], wanted.data["foreign"], wanted.data["caller"]
    last = [a.data.get("peer_keys", []) for _, _, _, a in history.answers("caller", "find")][-1:]
    for keys in last:
        if callee not in keys:
            yield Breach("FROG-22-02", f"{callee} among the peers", str(keys))
        if foreign in keys:
            yield Breach("FROG-22-03", "peers of the own network only", foreign)
        if caller in keys:
            yield Breach("FROG-22-04", "others than itself", caller)
        if len(set(keys)) != len(keys) or len(keys) > LIMIT:
            yield Breach("FROG-22-06", f"at most {LIMIT} keys, each once", str(keys))


def signals_arrive(history: History, profile: str) -> Iterator[Breach]:
    """Both ways. What was sent on a route from before the last interruption may be lost; nothing is heard twice or elsewhere."""
    peers = next(m for m in history.moments if m.what == "peers").data
    live = routes_since(history, 0 if profile in WHOLE else max(interruptions(history), default=0))
    for who, other in (("caller", "callee"), ("callee", "caller")):
        sent = {
            place: (route, f"{peers[who]} {kind} {route} {payload}")
            for place, route, kind, payload in signalled(history, who)
        }
        said, got = [text for _, text in sent.values()], heard(history, other)
        yield from lost("FROG-26-03", [text for route, text in sent.values() if route in live], got)
        yield from strange("FROG-26-01", said, got)
        yield from repeated("FROG-26-03", got, said)
        if profile in WHOLE:
            yield from disordered("FROG-26-03", said, got)
    if elsewhere := heard(history, "bystander"):
        yield Breach("FROG-25-06", "nothing at a peer that nobody looked up", elsewhere[0][:120])


def as_many_as_asked(history: History, profile: str) -> Iterator[Breach]:
    """Of a crowd as many as were asked for, all of the own network, each once, never the one that asks."""
    crowd = next(m for m in history.moments if m.what == "crowd").data
    for _, question, _, answer in history.answers("caller", "find"):
        keys, limit = answer.data.get("peer_keys", []), question.data["limit"]
        if len(keys) != min(limit, len(crowd["keys"])):
            yield Breach("FROG-22-02", f"{limit} of {len(crowd['keys'])} peers", f"{len(keys)}")
        if wrong := set(keys) - set(crowd["keys"]):
            yield Breach("FROG-22-03", "peers of the own network, and others than itself", str(sorted(wrong)))
        if len(set(keys)) != len(keys):
            yield Breach("FROG-22-06", "each once", str(keys))


def routes_are_apart(history: History, profile: str) -> Iterator[Breach]:
    """Each LOOKUP makes a route of its own, to the peer that it named."""
    routes = [a.data.get("route_id") for who in ("caller", "callee") for _, _, _, a in history.answers(who, "lookup")]
    if len(set(routes)) != len(routes):
        yield Breach("FROG-25-09", "a route of its own for each LOOKUP", str(routes))
    yield from signals_arrive(history, profile)


def the_new_has_it(history: History, profile: str) -> Iterator[Breach]:
    """Behind a replacement a new route leads to the new connection, and nothing comes to the old one."""
    since = next(place for place, m in enumerate(history.moments) if m.what == "replaced")
    old_routes = history.moments[since].data["routes"]
    later = [(route, payload) for place, route, _, payload in signalled(history, "caller") if place > since]
    sent = [payload for route, payload in later if route not in old_routes]
    got = heard(history, "callee again")
    yield from lost("FROG-25-09", sent, payloads(got))
    if stray := [text for text in got if any(route in text for route in old_routes)]:
        yield Breach("FROG-25-05", "a route ends with its connection", stray[0][:120])
    old = [text for who in ("callee", "second callee") for text in heard(history, who) if text.split(" ")[-1] in sent]
    if old:
        yield Breach("FROG-25-06", "nothing at a replaced connection", old[0][:120])


def the_old_is_told(history: History, profile: str) -> Iterator[Breach]:
    """Who signals along a route of before hears that it is over. Across servers the text lets a signal be lost in silence."""
    since = next(place for place, m in enumerate(history.moments) if m.what == "replaced")
    told = [m.data.get("id") for m in history.told("caller", "error")]
    for place, route, _, _ in signalled(history, "caller"):
        if place > since and route in history.moments[since].data["routes"] and route not in told:
            yield Breach("FROG-17.1-06", f"an error for {route}, whose connection was replaced", "none")


def gone_is_gone(history: History, profile: str) -> Iterator[Breach]:
    """Nobody finds a peer that left, and who signals to it is told that its route is over."""
    clause = "FROG-19-01" if history.count("callee", "answered", "leave") else "FROG-18-02"
    for moment in history.moments:
        if moment.kind == "note" and moment.what == "ghost":
            yield Breach(clause, "a peer that left is not found", str(moment.data["how"]))
    for _, route, _, _ in signalled(history, "caller"):
        if route not in [m.data.get("id") for m in history.told("caller", "error")]:
            yield Breach("FROG-25-05", f"an error for {route}, whose peer has left", "none")


def they_join_again(history: History, profile: str) -> Iterator[Breach]:
    """At the server that came in place of theirs, which knows no route of before; what is looked up there is a route."""
    since, again = next((place, m.data) for place, m in enumerate(history.moments) if m.what == "another server")
    for who in again["away"]:
        yield Breach("FROG-43-03", f"{who} joins the server that came in place of its own", "it does not")
    live = routes_since(history, since)
    for who, other in (("caller", "callee"), ("callee", "caller")):
        got = heard(history, other)
        yield from lost("FROG-26-03", [p for _, route, _, p in signalled(history, who) if route in live], payloads(got))
        late = [p for place, route, _, p in signalled(history, who) if place > since and route not in live]
        if stray := [text for text in got if text.split(" ")[-1] in late]:
            yield Breach("FROG-26-07", "nothing on a route that this server never made", stray[0][:120])


def alone_and_not_alone(history: History, profile: str) -> Iterator[Breach]:
    """Before the other has come nobody is found; from then on it is."""
    came = next(place for place, m in enumerate(history.moments) if m.what == "came")
    for place, _, _, answer in history.answers("caller", "find"):
        if place < came and (keys := answer.data.get("peer_keys", [])):
            yield Breach("FROG-22-10", "nobody, for there is nobody else in this network", str(keys))
    for place, question, _, answer in history.answers("caller", "lookup"):
        if place < came:
            yield Breach("FROG-23-06", f"no route to {question.data['peer_key']}, who is not there", str(answer.data))
    yield from found_one_another(history, profile)
    yield from signals_arrive(history, profile)


def nothing_crosses(history: History, profile: str) -> Iterator[Breach]:
    """One key in two networks is two peers: each hears what was said in its own, and only that."""
    for n in range(2):
        sent = [payload for _, _, _, payload in signalled(history, f"caller {n}")]
        got = payloads(heard(history, f"callee {n}"))
        yield from lost("FROG-26-03", sent, got)
        yield from strange("FROG-25-06", sent, got)
        yield from repeated("FROG-26-03", got)
        found = [a.data.get("peer_keys", []) for _, _, _, a in history.answers(f"caller {n}", "find")][-1:]
        key = next(m.data[f"callee {n}"] for m in history.moments if m.what == "networks")
        if any(keys != [key] for keys in found):
            yield Breach("FROG-22-03", f"{key} alone: the only other peer of the network", str(found[0]))


def over_is_over(history: History, profile: str) -> Iterator[Breach]:
    """A route that was left unused for longer than routes live leads nowhere, and who uses it is told; a new one leads on."""
    since = next(place for place, m in enumerate(history.moments) if m.what == "long after")
    old = {str(a.data.get("route_id")) for place, _, _, a in history.answers("caller", "lookup") if place < since}
    late = [(route, payload) for place, route, _, payload in signalled(history, "caller") if place > since]
    got = payloads(heard(history, "callee"))
    yield from lost("FROG-26-03", [payload for route, payload in late if route not in old], got)
    for route, payload in late:
        if route in old and payload in got:
            yield Breach("FROG-25-02", "nothing along a route that is over", f"a signal on {route}")
        codes = [m.data.get("code") for m in history.told("caller", "error") if m.data.get("id") == route]
        if route in old and not codes:
            yield Breach("FROG-26-08", f"an error for {route}, which is over", "none")
        if route in old and codes and not ROUTE_IS_OVER & set(codes):
            yield Breach("FROG-25-07", f"{route} is over: one of {sorted(ROUTE_IS_OVER)}", str(codes))


def sisters_are_named(history: History, profile: str) -> Iterator[Breach]:
    """Of a chain, a server names only those that it has verified: its neighbours, and never itself."""
    chain = next(m.data["uris"] for m in history.moments if m.what == "chain")
    for who, own in (("caller", chain[0]), ("callee", chain[-1])):
        for _, question, _, answer in history.answers(who, "getservers"):
            uris = answer.data.get("uris", [])
            if own in uris:
                yield Breach("FROG-21-07", "other servers than itself", own)
            if unknown := [uri for uri in uris if uri not in chain]:
                yield Breach("FROG-21-06", "verified sisters only", unknown[0])
            if len(uris) > question.data["limit"] or len(set(uris)) != len(uris):
                yield Breach("FROG-21-04", f"at most {question.data['limit']}, each once", str(uris))


def payloads(texts: list[str]) -> list[str]:
    return [text.split(" ")[-1] for text in texts]


def each_has_its_own(history: History, profile: str) -> Iterator[Breach]:
    """However many questions are open: every route leads to the peer that it was asked for."""
    keys = next(m for m in history.moments if m.what == "crowd").data["keys"]
    meant = {str(a.data["route_id"]): q.data["peer_key"] for _, q, _, a in history.answers("caller", "lookup")}
    sent = [(meant.get(route, ""), payload) for _, route, _, payload in signalled(history, "caller")]
    for n, key in enumerate(keys):
        got = payloads(heard(history, f"callee {n}"))
        yield from lost("FROG-26-03", [payload for whom, payload in sent if whom == key], got)
        yield from strange("FROG-25-06", [payload for whom, payload in sent if whom == key], got)
        yield from repeated("FROG-26-03", got)


# -- scenarios -----------------------------------------------------------------------------------------------------------


def note(stage: Stage, caller: wire.Peer, callee: wire.Peer, foreign: wire.Peer | None = None) -> None:
    names = {"caller": caller.key, "callee": callee.key, "foreign": foreign.key if foreign else ""}
    stage.history.add("harness", "note", "peers", names)


async def find(stage: Stage) -> None:
    one, two = peers_of(stage)
    other = wire.Peer(wire.network())
    note(stage, one, two, other)
    await client(stage, "callee", two)
    await client(stage, "callee", other, "foreigner")
    caller = await client(stage, "caller", one)
    for n in range(MOST_TRIES):
        if two.key in (await asked(stage, caller, "find", limit=LIMIT)).get("peer_keys", []):
            return
        await asyncio.sleep(pause_s(n))


async def servers(stage: Stage) -> None:
    """Who asks for other servers where there are none is told so, and goes on."""
    one, two = peers_of(stage)
    note(stage, one, two)
    await client(stage, "callee", two)
    caller = await client(stage, "caller", one)
    for limit in (LIMIT, 1):
        await asked(stage, caller, "getservers", limit=limit)
    await asked(stage, caller, "find", limit=LIMIT)


def none_is_named(history: History, profile: str) -> Iterator[Breach]:
    """A server that has no sisters has verified none."""
    for _, _, _, answer in history.answers("caller", "getservers"):
        if uris := answer.data.get("uris"):
            yield Breach("FROG-21-06", "verified sisters only, and there are none", str(uris))
    yield from found_one_another(history, profile)


async def crowd(stage: Stage) -> None:
    """More peers than anybody is told of, with a network beside them whose name begins alike."""
    network = wire.network()[:14]
    peers = [wire.Peer(network) for _ in range(LIMIT + 2)]
    for n, peer in enumerate([*peers, wire.Peer(f"{network}X", peers[0].seed)]):
        await client(stage, "callee", peer, f"callee {n}")
    caller = await client(stage, "caller", wire.Peer(network))
    stage.history.add("harness", "note", "crowd", {"keys": [peer.key for peer in peers]})
    for limit in (1, 2, LIMIT, LIMIT - 1):
        await asked(stage, caller, "find", limit=limit)
    await asyncio.gather(*(asked(stage, caller, "find", limit=limit) for limit in (3, 1, LIMIT)))


async def busy(stage: Stage) -> None:
    """A host that always has several questions open."""
    network = wire.network()
    peers = [wire.Peer(network) for _ in range(5)]
    for n, peer in enumerate(peers):
        await client(stage, "callee", peer, f"callee {n}")
    caller = await client(stage, "caller", wire.Peer(network))
    stage.history.add("harness", "note", "crowd", {"keys": [peer.key for peer in peers]})

    async def errand(of: int) -> None:
        for n in range(4):
            await asked(stage, caller, "find", limit=1 + (3 * of + n) % LIMIT)
            route = (await asked(stage, caller, "lookup", peer_key=peers[(of + n) % len(peers)].key))["route_id"]
            await caller.do("signal", route_id=route, kind=KINDS[n % 3], payload=bytes([of, n]).hex())
            if of:
                await asked(stage, caller, "getservers", limit=1 + n)

    await asyncio.gather(*(errand(of) for of in range(3)))
    await stage.until(lambda: sum(len(heard(stage.history, f"callee {n}")) for n in range(len(peers))) >= 12)


async def routes(stage: Stage) -> None:
    """Several routes between two peers, made from either side: each leads where it was made for."""
    one, two = peers_of(stage)
    note(stage, one, two)
    callee, caller = await client(stage, "callee", two), await client(stage, "caller", one)
    await client(stage, "callee", wire.Peer(one.network), "bystander")
    found = [(caller, "caller", (await asked(stage, caller, "lookup", peer_key=two.key))["route_id"]) for _ in range(2)]
    found.append((callee, "callee", (await asked(stage, callee, "lookup", peer_key=one.key))["route_id"]))
    for n, kind in enumerate(("ICE", "OFFER", "ANSWER", "ICE")):
        for end, _, route in found:
            await end.do("signal", route_id=route, kind=kind, payload=bytes([n % 2]).hex())
    await heard_or_lost(stage, "caller", "callee")
    await heard_or_lost(stage, "callee", "caller")
    for _, who, route in found:
        answerer = callee if who == "caller" else caller
        for kind in ("ANSWER", "OFFER", "ICE", "ICE"):  # either may offer anew, and what is said twice is heard twice
            await answerer.do("signal", route_id=route, kind=kind, payload=route.encode().hex())
    await heard_or_lost(stage, "caller", "callee")
    await heard_or_lost(stage, "callee", "caller")


async def replaced(stage: Stage) -> None:
    """The same peer joins once more on another connection, and again; its host stops each that was replaced."""
    one, two = peers_of(stage)
    note(stage, one, two)
    last, caller = await client(stage, "callee", two), await client(stage, "caller", one)
    routes = []
    for n, who in enumerate(("second callee", "callee again")):
        routes.append((await asked(stage, caller, "lookup", peer_key=two.key))["route_id"])
        await caller.do("signal", route_id=routes[-1], kind="OFFER", payload=bytes([n, 9]).hex())
        await stage.until(lambda who=last.who: bool(heard(stage.history, who)))  # type: ignore[misc]
        again = await client(stage, "callee", two, who)
        await last.stop()
        await joined(stage, again)
        last = again
    await to_the_new(stage, caller, two, routes)


async def to_the_new(stage: Stage, caller: End, two: wire.Peer, old_routes: list[str]) -> None:
    """Signals along routes of before, and along a new one."""
    stage.history.add("harness", "note", "replaced", {"routes": old_routes})
    said = set()
    for n, route in enumerate(old_routes):
        with contextlib.suppress(TargetRefused):  # it may know that the route is over
            await caller.do("signal", route_id=route, kind="ICE", payload=bytes([n, 8]).hex())
            said.add(route)
    route = (await asked(stage, caller, "lookup", peer_key=two.key))["route_id"]
    for n in range(3):
        await caller.do("signal", route_id=route, kind="OFFER", payload=bytes([n, 1]).hex())
    owed = said if "homes" not in stage.kept else set()  # see `the_old_is_told`

    def over() -> bool:
        told = {m.data.get("id") for m in stage.history.told("caller", "error")}
        return len(heard(stage.history, "callee again")) >= 3 and owed <= told

    await stage.until(over)


async def returned(stage: Stage) -> None:
    """A peer that went comes back under its key: it is found again, and no route of before leads to it."""
    one, two = peers_of(stage)
    note(stage, one, two)
    callee, caller = await client(stage, "callee", two), await client(stage, "caller", one)
    await conversation(stage, caller, callee, two, (b"before",), 0)
    old_route = stage.history.told("callee", "signal")[-1].data.get("route_id")
    await callee.stop()
    await client(stage, "callee", two, "callee again")
    await to_the_new(stage, caller, two, [str(old_route)])


async def alone(stage: Stage) -> None:
    """Who is alone in its network finds nobody, whoever is in others; then the other comes."""
    one, two = peers_of(stage)
    note(stage, one, two)
    await client(stage, "callee", wire.Peer(wire.network(), two.seed), "foreigner")
    caller = await client(stage, "caller", one)
    for limit in (1, LIMIT):
        await asked(stage, caller, "find", limit=limit)
    with contextlib.suppress(TargetRefused):
        await caller.do("lookup", peer_key=two.key)
    stage.history.add("harness", "note", "came")
    callee = await client(stage, "callee", two)
    await asked(stage, caller, "find", limit=LIMIT)
    await conversation(stage, caller, callee, two, (b"now", b"and then"), 0)


async def two_networks(stage: Stage) -> None:
    """The same two keys in two networks at once."""
    seeds = [wire.Peer("X").seed for _ in range(2)]
    networks = [wire.network() for _ in range(2)]
    callees = [wire.Peer(network, seeds[0]) for network in networks]
    stage.history.add("harness", "note", "networks", {f"callee {n}": peer.key for n, peer in enumerate(callees)})
    for n, peer in enumerate(callees):
        await client(stage, "callee", peer, f"callee {n}")
    callers = [
        await client(stage, "caller", wire.Peer(network, seeds[1]), f"caller {n}") for n, network in enumerate(networks)
    ]
    for n, caller in enumerate(callers):
        await asked(stage, caller, "find", limit=LIMIT)
        route = (await asked(stage, caller, "lookup", peer_key=callees[n].key))["route_id"]
        for m, kind in enumerate(KINDS):
            await caller.do("signal", route_id=route, kind=kind, payload=bytes([n, m]).hex())
    await stage.until(lambda: all(len(heard(stage.history, f"callee {n}")) >= len(KINDS) for n in range(2)))


async def long_after(stage: Stage) -> None:
    """Routes are made, one is used, and nobody says a word for longer than they live."""
    one, two = peers_of(stage)
    note(stage, one, two)
    line = await stage.bench.line("long after")
    uri = f"ws://127.0.0.1:{line.port}/"
    pushed = "clock" in stage.party("server").capabilities
    lives_ms = USUAL["route_ttl_ms"] if pushed else SHORT_ROUTE_MS
    told = {**USUAL, "seed": wire.Peer("X").seed.hex(), "uri": uri, "route_ttl_ms": lives_ms}
    server = await stage.end("server", told, who="server of short routes")
    assert server.instance, "it has been started"
    line.upstream = endpoint(server.instance.address)
    await client(stage, "callee", two, uri=uri)
    caller = await client(stage, "caller", one, uri=uri)
    routes = [(await asked(stage, caller, "lookup", peer_key=two.key))["route_id"] for _ in range(2)]
    await caller.do("signal", route_id=routes[0], kind="OFFER", payload=b"in time".hex())
    if pushed:
        await server.do("advance_clock", seconds=lives_ms / 1000 + 10.0)
    else:
        await asyncio.sleep(1.5 * lives_ms / 1000)  # the time itself is what is tried
    stage.history.add("harness", "note", "long after")
    said = set()
    for n, route in enumerate(routes):
        with contextlib.suppress(TargetRefused):  # it may know that the route is over
            await caller.do("signal", route_id=route, kind="ICE", payload=bytes([n, 77]).hex())
            said.add(route)
    await stage.until(lambda: {m.data.get("id") for m in stage.history.told("caller", "error")} >= said)
    anew = (await asked(stage, caller, "lookup", peer_key=two.key))["route_id"]
    await caller.do("signal", route_id=anew, kind="OFFER", payload=b"again".hex())
    await stage.until(lambda: b"again".hex() in payloads(heard(stage.history, "callee")))


async def sisters(stage: Stage) -> None:
    """Both ends of a federation ask for other servers, and go on."""
    one, two = peers_of(stage)
    note(stage, one, two)
    labels = [label for label in CHAIN if label in stage.bench.parties]
    uris = [await stage.bench.way(label, label) for label in labels]
    stage.history.add("harness", "note", "chain", {"uris": uris})
    ends = [await client(stage, "callee", two), await client(stage, "caller", one)]
    for limit in (LIMIT, 1):
        for end in ends:
            await asked(stage, end, "getservers", limit=limit)
    await conversation(stage, ends[1], ends[0], two, (b"and on",), 0)


async def restarted(stage: Stage) -> None:
    """Their server goes, and one that knows nothing comes at its address, with a key of its own."""
    one, two = peers_of(stage)
    note(stage, one, two)
    line = await stage.bench.line("again")
    uri = f"ws://127.0.0.1:{line.port}/"

    async def a_server(who: str) -> End:
        server = await stage.end("server", {**USUAL, "seed": wire.Peer("X").seed.hex(), "uri": uri}, who=who)
        assert server.instance, "it has been started"
        line.upstream = endpoint(server.instance.address)
        return server

    server = await a_server("first server")
    callee, caller = await client(stage, "callee", two, uri=uri), await client(stage, "caller", one, uri=uri)
    await conversation(stage, caller, callee, two, (b"before",), 0)
    route, since = stage.history.told("callee", "signal")[-1].data.get("route_id"), len(stage.history.moments)
    await server.stop()
    await a_server("second server")

    def away() -> list[str]:
        statuses = {end.who: stage.history.told(end.who, "status", since)[-1:] for end in (caller, callee)}
        return [who for who, last in statuses.items() if not any(m.data.get("registered") for m in last)]

    slow = not all("backoff_ms" in end.capabilities for end in (caller, callee))
    await stage.until(lambda: not away(), SLOWEST_REDIAL_S if slow else 0.0)
    stage.history.add("harness", "note", "another server", {"away": away()})
    if away():
        return
    with contextlib.suppress(TargetRefused):
        await caller.do("signal", route_id=route, kind="ICE", payload=b"late".hex())
    await conversation(stage, caller, callee, two, (b"behind", b"it"), 1)


PAYLOADS = (
    b"",
    b"\x00\n \xff",
    b"offer" * 200,
    b'{ "sdp" : "v=0\\r\\n\\r\\na=1", "of" : %d }  ',
    b"SIGNAL x OFFER 3\nabc\n\n",
    bytes(1_022),
    b"b" * 1_498,
    b"c" * 5_000,
    b"",
    b"d" * 20_000,
    b"",
)
"""Each that is not empty is made unlike the others: by two bytes behind it, with which some fill a buffer to the last byte, or in
its place, for what is JSON stays JSON."""


async def signal(stage: Stage, payloads: tuple[bytes, ...] = PAYLOADS) -> None:
    """Looked up, called, and answered on the same route; under faults until nothing came between."""
    one, two = peers_of(stage)
    note(stage, one, two)
    callee = await client(stage, "callee", two)
    await client(stage, "callee", wire.Peer(one.network), "bystander")
    caller = await client(stage, "caller", one)
    for attempt in range(MOST_TRIES):
        since = len(stage.history.moments)
        try:
            await conversation(stage, caller, callee, two, payloads, attempt)
        except TargetRefused:
            if stage.profile in WHOLE:
                raise
        if attempt == 0:
            await stage.step()
        if not any(place >= since for place in interruptions(stage.history)) and attempt + 1 >= stage.scenario.steps:
            return
        for end in (caller, callee):
            await joined(stage, end)


async def conversation(
    stage: Stage, caller: End, callee: End, two: wire.Peer, payloads: tuple[bytes, ...], attempt: int
) -> None:
    route = (await asked(stage, caller, "lookup", peer_key=two.key)).get("route_id")
    for n, payload in enumerate(payloads):
        data = marked(payload, attempt, n) if attempt or (n and payload) else payload
        await caller.do("signal", route_id=route, kind=KINDS[n % len(KINDS)], payload=data.hex())
    await heard_or_lost(stage, "caller", "callee")
    back = [m.data.get("route_id") for m in stage.history.told("callee", "signal")]
    if back:
        await callee.do("signal", route_id=back[-1], kind="ANSWER", payload=bytes([attempt, 255]).hex())
        await heard_or_lost(stage, "callee", "caller")


def marked(payload: bytes, attempt: int, n: int) -> bytes:
    return payload % attempt if b"%d" in payload else payload + bytes([attempt, n])


async def heard_or_lost(stage: Stage, who: str, other: str) -> None:
    """Until all of it was heard, or the connection was lost under it."""
    history, before = stage.history, len(interruptions(stage.history))
    payloads = Counter(payload for _, _, _, payload in signalled(history, who))

    def over() -> bool:
        return payloads <= Counter(text.split(" ")[-1] for text in heard(history, other)) or (
            stage.profile not in WHOLE and len(interruptions(history)) > before
        )

    await history.until(over, stage.patience_s if stage.profile in WHOLE else ASKED_AGAIN_S)


async def large(stage: Stage) -> None:
    await signal(stage, (bytes(range(256)) * 255 + bytes(256),))


async def closing(stage: Stage) -> None:
    await leaving(stage, by_close=True)


async def leaving(stage: Stage, by_close: bool = False) -> None:
    """With a word, or by closing its connection: from then on nobody finds it."""
    one, two = peers_of(stage)
    note(stage, one, two)
    callee = await client(stage, "callee", two)
    caller = await client(stage, "caller", one)
    route = (await asked(stage, caller, "lookup", peer_key=two.key))["route_id"]
    await (callee.stop() if by_close else callee.do("leave"))
    for _ in range(MOST_TRIES):
        try:
            await caller.do("lookup", peer_key=two.key)
        except TargetRefused:
            break
        await asyncio.sleep(0.05)  # its server may hear of the end a little later
    else:
        stage.history.add("caller", "note", "ghost", {"how": "LOOKUP still finds it"})
    if two.key in (await asked(stage, caller, "find", limit=LIMIT)).get("peer_keys", []):
        stage.history.add("caller", "note", "ghost", {"how": "FIND still lists it"})
    with contextlib.suppress(TargetRefused):  # it may know that the route is over
        await caller.do("signal", route_id=route, kind="OFFER", payload=b"too late".hex())
    owed = signalled(stage.history, "caller")
    await stage.until(lambda: len(stage.history.told("caller", "error")) >= len(owed))


SCENARIOS = (
    Scenario("find", find, (found_one_another,), ("FROG-22-02", "FROG-22-03"), profiles=("slow", *PAUSES)),
    Scenario("signal", signal, (signals_arrive,), ("FROG-26-03", "FROG-26-01", "FROG-25-06"), {"size": "small"}),
    Scenario("signal", large, (signals_arrive,), ("FROG-26-03", "FROG-5-20"), {"size": "limit"}, profiles=("slow",)),
    Scenario("servers", servers, (none_is_named,), ("FROG-21-01", "FROG-21-06"), profiles=("slow",)),
    Scenario("crowd", crowd, (as_many_as_asked,), ("FROG-22-02", "FROG-22-03", "FROG-22-06"), profiles=(NONE,)),
    Scenario(
        "busy",
        busy,
        (as_many_as_asked, each_has_its_own),
        ("FROG-20-04", "FROG-20-01", "FROG-26-03"),
        profiles=("slow",),
    ),
    Scenario(
        "restarted",
        restarted,
        (they_join_again,),
        ("FROG-43-03", "FROG-17-11", "FROG-26-07"),
        needs={"server": ("uri",)},
        profiles=(NONE,),
        is_led=True,
    ),
    Scenario("routes", routes, (routes_are_apart,), ("FROG-26-03", "FROG-25-09", "FROG-26-04"), profiles=("slow",)),
    Scenario("replaced", replaced, (the_new_has_it, the_old_is_told), ("FROG-25-06", "FROG-25-09"), profiles=(NONE,)),
    Scenario("returned", returned, (the_new_has_it, the_old_is_told), ("FROG-25-05", "FROG-18-02"), profiles=(NONE,)),
    Scenario("alone", alone, (alone_and_not_alone,), ("FROG-22-10", "FROG-23-06"), profiles=("slow",)),
    Scenario("two-networks", two_networks, (nothing_crosses,), ("FROG-22-03", "FROG-26-03"), profiles=("slow",)),
    Scenario(
        "long-after",
        long_after,
        (over_is_over,),
        ("FROG-25-02", "FROG-26-08"),
        needs={"server": ("clock|timers", "uri")},
        profiles=(NONE,),
        is_led=True,
    ),
    Scenario("leave", leaving, (gone_is_gone,), ("FROG-19-01", "FROG-25-05"), {"by": "word"}, profiles=("slow",)),
    Scenario("leave", closing, (gone_is_gone,), ("FROG-18-02", "FROG-25-05"), {"by": "close"}, profiles=("slow",)),
)

ACROSS = (
    *(
        replace(
            scenario,
            profiles=("slow",),
            promises=[promise for promise in scenario.promises if promise is not the_old_is_told],
        )
        for scenario in SCENARIOS
        if scenario.name in ("find", "signal", "routes", "replaced", "returned", "two-networks")
    ),
    Scenario("sisters", sisters, (sisters_are_named, signals_arrive), ("FROG-21-06", "FROG-21-07"), profiles=("slow",)),
)
"""What clients do whose servers have to ask one another."""

NEAR, FAR = Seat(CLIENT, "frog/server", ("seed", "dials")), Seat(SERVER, "frog/server", ("seed", "sister"))

PAIRINGS = (
    Pairing(
        "frog",
        "client-server",
        {
            "server": Seat(SERVER, "frog/server"),
            "caller": Seat(CLIENT, "frog/client"),
            "callee": Seat(CLIENT, "frog/client"),
        },
        SCENARIOS,
        (*STREAMS, KILL_SERVER, *PAUSES),
        open_server,
        ("server",),
        read_along,
        shown,
    ),
    Pairing(
        "frog",
        "caller-callee",
        {
            "server": Seat(THIRD, "frog/server"),
            "caller": Seat(CLIENT, "frog/client"),
            "callee": Seat(SERVER, "frog/client"),
        },
        SCENARIOS,
        (*STREAMS, *PAUSES),
        open_server,
        ("server",),
        read_along,
        shown,
        alike=False,
    ),
    Pairing(
        "frog",
        "federation-of-two",
        {
            **{"caller": Seat(CLIENT, "frog/client"), "near": NEAR},
            **{"callee": Seat(SERVER, "frog/client"), "far": FAR},
        },
        ACROSS,
        ("slow",),
        open_federation,
        ("near", "far"),
        read_federation,
        shown,
    ),
    Pairing(
        "frog",
        "federation-of-three",
        {
            **{end: Seat(THIRD, "frog/client") for end in ("caller", "callee")},
            **{"near": NEAR, "middle": Seat(THIRD, "frog/server"), "far": FAR},
        },
        ACROSS,
        ("slow",),
        open_federation,
        CHAIN,
        read_federation,
        shown,
    ),
)
