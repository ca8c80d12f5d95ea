"""Sections 20 to 24: GETSERVERS, FIND and LOOKUP."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import (
    Err,
    Find,
    Found,
    GetServers,
    Hangup,
    Hello,
    Join,
    Leave,
    Left,
    Lookup,
    Peers,
    Try,
)
from reference_impl.io.carrier import HungUp
from suites.common.connect import dial_websocket
from suites.frog.server.test_registration import spread_out
from suites.frog.server.under_test import ServerUnderTest
from suites.frog.wire import SUBPROTOCOL, Peer, an_id, cid, message


@clauses("FROG-21-06", "FROG-21-07", "FROG-21-03", "FROG-30-04", "FROG-13.1-04")
async def test_a_server_without_sisters_lists_nobody(server: ServerUnderTest, trial: Trial) -> None:
    """Least of all itself."""
    line = await server.in_state("hello-ok")
    await line.send(GetServers("G_1", 7))
    answer = await line.expect(Try, "FROG-21-01")
    trial.expect(answer == Try("G_1"), "TRY G_1 0", answer)


@clauses("FROG-21-08", "FROG-30-04", "FROG-21-06")
async def test_nor_does_it_unasked(server: ServerUnderTest, trial: Trial) -> None:
    """A TRY may come at any time after HELLO; of a server without sisters it is empty."""
    line = await server.connect()
    await line.send(Hello(), Join(line.key), Leave())
    said: list[object] = []
    while not isinstance(heard := await trial.next_of(line.inbox, "the end, or OK LEAVE", "FROG-19-03"), Hangup | Left):
        said.append(heard)
    named = [heard for heard in said if isinstance(heard, Try) and heard.uris]
    trial.expect(not named, "nobody named", named, "FROG-30-04")


@clauses("FROG-30-04", "FROG-21-06", "FROG-3.9-01")
async def test_whoever_says_hello_is_not_listed(server: ServerUnderTest, trial: Trial) -> None:
    """A sister's own word does not verify its URI."""
    sister = await dial_websocket(trial, server.instance.address, subprotocols=(SUBPROTOCOL,))
    await sister.send(message(f"@HELLO FROG/1 {an_id()} wss://sister.example/"))
    with suppress(HungUp, TimeoutError):
        async with asyncio.timeout(trial.patience_s):
            await sister.receive()
    line = await server.in_state("hello-ok")
    await line.send(GetServers("G_1", 7))
    answer = await line.expect(Try, "FROG-21-01")
    trial.expect("wss://sister.example/" not in answer.uris, "no URI that was not verified", answer, "FROG-30-04")
    await sister.close()


@clauses("FROG-7.9-01", "FROG-7.9-02", "FROG-20-01", "FROG-20-02")
@axis("id", ["A", "--", "-A", "_", "0", "Z" * 32, "2N9VVK36ZP3JH2M8QAK1JY7Z5T"])
async def test_any_cid_is_echoed(server: ServerUnderTest, trial: Trial, id: str) -> None:
    """As it was sent, in a reply and in an error, whoever else has a request with that one."""
    other, line = await server.peers()
    await other.send(GetServers(id, 1))
    trial.expect((first := await other.expect(Try, "FROG-20-01")).cid == id, id, first)
    await line.send(GetServers(id, 1))
    trial.expect((heard := await line.expect(Try, "FROG-20-01")).cid == id, id, heard)
    await line.send(Find(id, 1))
    trial.expect((peers := await line.expect(Peers, "FROG-20-01")).cid == id, id, peers)
    await line.raw(message(f"LOOKUP {id} {line.key}"))
    await line.expect_error(id, "BAD_REQUEST", "FROG-20-01")


BAD_VALUES = {
    "find-8": "FIND {cid} 8",
    "getservers-0": "GETSERVERS {cid} 0",
    "lookup-lower-case": "LOOKUP {cid} {lower}",
    "lookup-too-short": "LOOKUP {cid} {short}",
    "lookup-letter-u": "LOOKUP {cid} {short}U",
    "lookup-no-network": "LOOKUP {cid} :{fingerprint}",
}


@clauses("FROG-20-01", "FROG-23-01", "FROG-38-02", "FROG-21-02", "FROG-22-01")
@axis("text", BAD_VALUES)
async def test_a_bad_value_is_refused_with_its_cid(server: ServerUnderTest, text: str) -> None:
    """The CID is good, so it is echoed, and not the one of the request before."""
    line, asked = await server.peer(), cid("V")
    await line.find()
    words = {"lower": line.key.lower(), "short": line.key[:-1], "fingerprint": line.peer.fingerprint}
    await line.raw(message(text.format(cid=asked, **words)))
    await line.expect_error(asked, "BAD_REQUEST", "FROG-20-01")


FOLLOWING = ["GETSERVERS {cid} 1", "FIND {cid} 7", "LOOKUP {cid} {key}"]


@clauses("FROG-15-14", "FROG-20-01")
@axis("text", {text.split()[0].lower(): text for text in FOLLOWING})
async def test_what_follows_an_error_is_answered(server: ServerUnderTest, trial: Trial, text: str) -> None:
    """Right behind a request that cannot be read a good one: both are answered, or the connection is closed."""
    line, other = await server.peers()
    asked = [cid("E"), cid("E")]
    await line.raw(message(f"FIND {asked[0]} 8"))
    await line.raw(message(text.format(cid=asked[1], key=other.key)))
    answers = [await line.next(f"answers to {asked}", "FROG-20-01")]
    if not isinstance(answers[0], Hangup):
        answers.append(await line.next(f"answers to {asked}", "FROG-20-01"))
    if any(isinstance(answer, Hangup) for answer in answers):
        trial.info("the connection is closed behind an error (FROG-38-07)")
        return
    ids = sorted(getattr(answer, "cid", "") or getattr(answer, "id", "") for answer in answers)
    trial.expect(ids == sorted(asked), f"answers to {asked}", answers, "FROG-20-01")


@clauses("FROG-20-02", "FROG-20-01")
async def test_many_requests_at_once(server: ServerUnderTest, trial: Trial) -> None:
    """Thirty requests back to back have thirty answers, one for each CID, in whatever order."""
    line, other = await server.peers()
    asked = {cid("M"): n for n in range(30)}
    for id, n in asked.items():
        await line.raw(message((f"GETSERVERS {id} 1", f"FIND {id} 3", f"LOOKUP {id} {other.key}")[n % 3]))
    kinds = (Try, Peers, Found)
    for _ in range(len(asked)):
        answer = await line.next("an answer", "FROG-20-02")
        number = asked.pop(getattr(answer, "cid", ""), None)
        right = number is not None and isinstance(answer, kinds[number % 3])
        trial.expect(right, "an answer to one of the requests", answer, "FROG-20-01")


# -- FIND --------------------------------------------------------------------------------------------------------------


@clauses("FROG-22-10")
async def test_a_lone_peer_finds_nobody(server: ServerUnderTest, trial: Trial) -> None:
    """PEERS with none, not an error."""
    line = await server.peer()
    await line.send(Find("F_1", 7))
    heard = await line.expect(Peers, "FROG-22-10")
    trial.expect(heard == Peers("F_1"), "PEERS F_1 0", heard)


@clauses("FROG-22-04", "FROG-22-05", "FROG-22-06", "FROG-22-02", "FROG-39-01")
@axis("limit", [1, 3, 7])
async def test_some_of_the_others(server: ServerUnderTest, trial: Trial, limit: int) -> None:
    """Of twelve peers never the one that asks, never more than it asked for, none twice."""
    lines = await server.peers(12)
    others = {line.key for line in lines[1:]}
    await lines[0].find(7)  # and that is forgotten
    for _ in range(10):
        found = await lines[0].find(limit)
        trial.expect(lines[0].key not in found, "others only", found, "FROG-22-04")
        trial.expect(len(found) <= limit, f"at most {limit}", found, "FROG-22-06")
        trial.expect(len(set(found)) == len(found), "each once", found, "FROG-22-06")
        trial.expect(set(found) <= others, "peers that are there", found, "FROG-22-08")


@clauses("FROG-22-12")
async def test_those_who_are_there_are_found(server: ServerUnderTest, trial: Trial) -> None:
    """Two others, and room for seven: both, for each of the three and whoever has asked before."""
    lines = await server.peers(3)
    for line in lines * 2:
        others = {other.key for other in lines if other is not line}
        found = set(await line.find()) or set(await line.find())
        trial.expect(found == others, f"both of {sorted(others)}", found)


@clauses("FROG-22-07")
async def test_the_choice_is_random(server: ServerUnderTest, trial: Trial) -> None:
    """Forty times one of ten: at least three different ones."""
    lines = await server.peers(11)
    found = {key for _ in range(40) for key in await lines[0].find(1)}
    trial.expect(len(found) >= 3, "at least three different peers", found)


@clauses("FROG-22-07")
async def test_everybody_has_a_chance(server: ServerUnderTest, trial: Trial) -> None:
    """Twelve peers ask ten times each: at least ten of the twelve are found by somebody."""
    lines = await server.peers(12)
    found = {key for line in lines for _ in range(10) for key in await line.find(7)}
    trial.expect(len(found) >= 10, "at least ten different peers", found)


# -- LOOKUP ------------------------------------------------------------------------------------------------------------


@clauses("FROG-23-03", "FROG-23-04", "FROG-20-01", "FROG-38-02")
async def test_nobody_looks_up_itself(server: ServerUnderTest) -> None:
    """BAD_REQUEST, with the CID of this request and not of the one before."""
    line = await server.peer()
    await line.find()
    await line.raw(message(f"LOOKUP L_1 {line.key}"))
    await line.expect_error("L_1", "BAD_REQUEST", "FROG-23-03")


@clauses("FROG-23-02")
@axis("who", ["own-key-elsewhere", "somebody"])
async def test_another_network_is_a_bad_request(server: ServerUnderTest, who: str) -> None:
    """Whether or not anybody is there."""
    line = await server.peer()
    target = line.peer.elsewhere("ELSEWHERE") if who == "own-key-elsewhere" else Peer("ELSEWHERE")
    await line.raw(message(f"LOOKUP L_1 {target.key}"))
    await line.expect_error("L_1", "BAD_REQUEST", "FROG-23-02")


@clauses("FROG-23-06", "FROG-38-06", "FROG-24-01", "FROG-39-06")
@axis("who", ["nobody", "zeros", "nearly-another"])
async def test_a_peer_that_is_not_there(server: ServerUnderTest, trial: Trial, who: str) -> None:
    """PEER_NOT_FOUND, or LOOKUP_TIMEOUT after its time; the connection stays open. The whole key counts."""
    line, other = await server.peers()
    near = other.key[:-1] + "01"[other.key[-1] == "0"]
    keys = {"nobody": Peer(server.network).key, "zeros": f"{server.network}:{'0' * 26}", "nearly-another": near}
    await line.expect_miss(keys[who], "FROG-23-06")
    if not await line.fence():
        trial.warn("FROG-38-07", "the connection was closed after a lookup that found nobody")


@clauses("FROG-23-05", "FROG-24-01", "FROG-24-10")
async def test_each_lookup_is_a_new_route(server: ServerUnderTest, trial: Trial) -> None:
    """And the older one stays usable."""
    a, b = await server.peers()
    first, second = await a.route(b), await a.route(b)
    if first == second:
        trial.warn("FROG-24-10", f"the same route {first} twice")
    for route in (first, second, first):
        await a.signals(route, b)


@clauses("FROG-7.7-02", "FROG-7.7-01", "FROG-7.7-03")
async def test_route_ids_are_random(server: ServerUnderTest, trial: Trial) -> None:
    """Two hundred routes: all different, every place takes many symbols."""
    a, b = await server.peers()
    spread_out(trial, [await a.route(b) for _ in range(200)], "FROG-7.7-02", "FROG-7.7-03")


@clauses("FROG-20-05")
async def test_a_cid_used_twice_at_once(server: ServerUnderTest, trial: Trial) -> None:
    """A client may not; what a server does is open, but it goes on serving (AMB-29)."""
    line, other = await server.peers()
    await line.send(Lookup("D_1", other.key), Lookup("D_1", other.key))
    await line.fence()
    trial.info(f"two requests with one CID: {', '.join(type(heard).__name__ for heard in line.inbox.drain())}")
    await line.route(other)


@clauses("FROG-38-06", "FROG-38-07", "FROG-38-05", "FROG-4-05", "FROG-38-02")
async def test_errors_of_every_day_leave_the_connection_open(server: ServerUnderTest, trial: Trial) -> None:
    """A limit of 8, a lookup of oneself, an unknown route: the peer stays registered."""
    line, other = await server.peers()
    for text in ("FIND E_1 8", f"LOOKUP E_2 {line.key}", f"SIGNAL {'0' * 26} ICE 0"):
        await line.raw(message(text))
        heard = await line.next("an error", "FROG-38-06")
        trial.expect(isinstance(heard, Err), "an error", heard)
    if await line.fence():
        await other.route(line)
    else:
        trial.warn("FROG-38-07", "the connection was closed after errors of every day")
