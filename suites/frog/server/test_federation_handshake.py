"""Sections 28 and 29: sisters prove their keys to one another, whoever dialled, and every step of it is checked."""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import (
    Hangup,
    Lookup,
    SisterChal,
    SisterErr,
    SisterFound,
    SisterLookup,
    SisterOk,
    SisterServers,
)
from suites.frog.server.sisters import Federation, SisterLine, sibling
from suites.frog.wire import Peer, an_id, base32, cid, message, server_proof

Forgery = Callable[[SisterLine], dict[str, str]]
OTHER = Peer("SISTER")  # somebody else's key


def signature(line: SisterLine) -> str:
    return base32(line.who.key.raw_signature(line.proof()))


def changed(text: str, at: int, by: str) -> str:
    return text[:at] + by + text[at + 1 :]


def other(symbol: str) -> str:
    return "1" if symbol == "0" else "0"


def alike(text: str) -> str:
    """With letters where Crockford would read digits; with one in any case, so that it is never right."""
    written = text.replace("0", "O").replace("1", "L")
    return changed(text, 3, "O") if written == text else written


FORGED: dict[str, Forgery] = {  # one thing wrong in each; what is left is right
    "another-prefix": lambda line: {"prefix": "FROG-AUTH-V1"},
    "another-nonce": lambda line: {"nonce": an_id()},
    "own-uri-without-its-path": lambda line: {"self_uri": line.who.uri.rstrip("/")},
    "own-uri-of-another": lambda line: {"self_uri": "wss://rv2.example.org/"},
    "own-id-of-another": lambda line: {"self_id": OTHER.fingerprint},
    "uri-of-the-verifier-without-its-path": lambda line: {"peer_uri": line.server.uri.rstrip("/")},
    "uri-of-the-verifier-and-more": lambda line: {"peer_uri": line.server.uri + "other"},
    "uri-of-another-verifier": lambda line: {"peer_uri": "wss://rv2.example.org/"},
    "id-of-another-verifier": lambda line: {"peer_id": OTHER.fingerprint},
    "sides-swapped": lambda line: {
        "self_uri": line.server.uri, "self_id": line.server.id, "peer_uri": line.who.uri, "peer_id": line.id,
    },
    "key-of-another": lambda line: {"public_key": OTHER.public_key},
    "key-and-signature-of-another": lambda line: {
        "public_key": OTHER.public_key, "signature": base32(OTHER.raw_signature(line.proof())),
    },
    "signature-of-another": lambda line: {"signature": base32(OTHER.raw_signature(line.proof()))},
    "line-feed-behind-the-text": lambda line: {"peer_id": line.server.id + "\n"},
    "one-bit-of-the-signature": lambda line: {"signature": changed(signature(line), 0, other(signature(line)[0]))},
}  # fmt: skip
MISSHAPEN: dict[str, Forgery] = {
    "key-with-pad-bits": lambda line: {"public_key": changed(line.who.key.public_key, 51, "1")},
    "key-too-short": lambda line: {"public_key": line.who.key.public_key[:51]},
    "key-too-long": lambda line: {"public_key": line.who.key.public_key + "0"},
    "key-in-lower-case": lambda line: {"public_key": line.who.key.public_key.lower()},
    "key-with-a-u": lambda line: {"public_key": changed(line.who.key.public_key, 3, "U")},
    "key-with-letters-for-digits": lambda line: {"public_key": alike(line.who.key.public_key)},
    "signature-with-pad-bits": lambda line: {"signature": changed(signature(line), 102, "1")},
    "signature-too-short": lambda line: {"signature": signature(line)[:102]},
    "signature-too-long": lambda line: {"signature": signature(line) + "0"},
    "signature-in-lower-case": lambda line: {"signature": signature(line).lower()},
    "signature-with-letters-for-digits": lambda line: {"signature": alike(signature(line))},
}
CLAUSE = {"key-of-another": "FROG-29-08", "key-and-signature-of-another": "FROG-29-08"}
WRONG = FORGED | MISSHAPEN


async def expect_failure(line: SisterLine, how: str) -> None:
    """AUTH_FAILED, or for what is not even canonical also BAD_REQUEST, or the end; no @OK AUTH, and no sister."""
    clause = CLAUSE.get(how, "FROG-29-07" if how in MISSHAPEN else "FROG-29-09")
    codes = ("AUTH_FAILED", "BAD_REQUEST") if how in MISSHAPEN else ("AUTH_FAILED",)
    heard = await line.next("@ERR - AUTH_FAILED", clause)
    if not isinstance(heard, Hangup) and getattr(heard, "code", "") not in codes:
        raise Broken(clause, "@ERR - AUTH_FAILED", str(heard))
    await line.expect_no_sister(clause, SisterServers, SisterOk)


@needs("sister")
@clauses(
    "FROG-29-03", "FROG-29-01", "FROG-12.2-01", "FROG-8-23", "FROG-8-27", "FROG-46-02", "FROG-30-03", "FROG-3.10-01"
)
async def test_a_sister_that_dials_becomes_one(mesh: Federation) -> None:
    """@HELLO and @CHAL, @OK AUTH for our proof, a proof of its own over our challenge; then it answers."""
    line = await mesh.sister()
    await line.listed()
    await line.expect_silence("FROG-29-03")


@needs("dials")
@clauses("FROG-29-03", "FROG-29-01", "FROG-12.2-01", "FROG-8-23")
async def test_a_sister_that_is_dialled_becomes_one(federation: Federation) -> None:
    """Who dials speaks first, proves itself first, and challenges once its proof is taken."""
    listening = await federation.listen()
    await federation.start()
    line = await federation.met(listening)
    await line.listed()


@needs("dials")
@clauses("FROG-29-03")
async def test_who_dials_does_not_challenge_early(federation: Federation) -> None:
    """No @CHAL before @OK AUTH: behind the proof nothing comes until that is said."""
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.accept_until("d2")
    asked = cid("G")
    await line.raw(message(f"@LIST {asked} 1"))
    await line.expect_error(asked, "BAD_STATE", "FROG-29-03")


@needs("sister")
@clauses("FROG-29-09", "FROG-29-07", "FROG-29-08", "FROG-12.2-02", "FROG-12.2-03", "FROG-12.2-04", "FROG-29-02")
@axis("how", list(WRONG))
async def test_a_forged_proof_of_who_dials(mesh: Federation, how: str) -> None:
    """Each thing that a verifier checks, wrong in turn."""
    line = await mesh.line()
    await line.dial_until("sa1")
    await line.auth(**WRONG[how](line))
    await expect_failure(line, how)


@needs("dials")
@clauses("FROG-29-09", "FROG-29-07", "FROG-29-08", "FROG-29-13", "FROG-12.2-02", "FROG-12.2-03", "FROG-12.2-04")
@axis("how", list(WRONG))
async def test_a_forged_proof_of_who_is_dialled(federation: Federation, how: str) -> None:
    """The same for who is dialled: and neither is it verified, so that no client hears of it."""
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.accept_until("d3")
    await line.auth(**WRONG[how](line))
    await expect_failure(line, how)
    await expect_untold(federation, listening.who.uri, "FROG-29-13")


async def expect_untold(federation: Federation, uri: str, clause: str) -> None:
    """A client that asks for servers does not hear of that one."""
    peer = await federation.connect()
    await peer.hello()
    await peer.raw(message(f"GETSERVERS {cid('G')} 7"))
    told = await peer.next("TRY", "FROG-21-01")
    federation.trial.expect(uri not in getattr(told, "uris", ()), f"no {uri}", told, clause)


@needs("sister")
@clauses("FROG-29-05")
async def test_the_servers_own_id_is_not_a_sisters(mesh: Federation) -> None:
    """Whoever claims it fails, at the greeting or at its proof, even with that very key."""
    own = Peer("SISTER", bytes.fromhex(mesh.config["seed"]))
    line = await mesh.line()
    await line.hello(id=mesh.id)
    if not await line.refused():
        await line.greeted()
        await line.challenged()
        text = server_proof(line.nonce, line.who.uri, mesh.id, mesh.uri, mesh.id)
        await line.raw(message(f"@AUTH {own.public_key} {base32(own.raw_signature(text))}"))
    heard = await line.next("an error, or the end", "FROG-29-05")
    if not isinstance(heard, Hangup | SisterErr):
        raise Broken("FROG-29-05", "@ERR - AUTH_FAILED", str(heard))
    await line.expect_no_sister("FROG-29-05", SisterServers, SisterOk)


@needs("dials")
@clauses("FROG-29-05")
async def test_the_servers_own_id_where_it_dials(federation: Federation) -> None:
    """An echo of its own greeting is no sister, even with that very key."""
    own = Peer("SISTER", bytes.fromhex(federation.config["seed"]))
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.greeted()
    await line.hello(id=federation.id)
    await line.send(SisterChal(an_id()))
    heard = await line.next("an error, or the end", "FROG-29-05")
    if not isinstance(heard, Hangup | SisterErr):
        federation.trial.info(f"it goes on to {type(heard).__name__} with its own id, and must fail at the proof")
        await line.send(SisterOk())
        if not await line.refused():
            await line.challenged()
            signed = base32(own.raw_signature(line.proof(self_id=federation.id)))
            await line.auth(own.public_key, signed)
    await line.expect_no_sister("FROG-29-05", SisterServers, SisterOk)


@needs("sister")
@clauses("FROG-29-06", "FROG-8-24")
@axis("uri", {
    "no-path": "wss://rv2.example.org", "default-port": "wss://rv2.example.org:443/", "query": "wss://rv2.example.org/?x=1",
    "upper-case": "wss://RV2.example.org/", "another-scheme": "https://rv2.example.org/", "user": "wss://a@rv2.example.org/",
    "dot-segment": "wss://rv2.example.org/a/../b", "201-bytes": "wss://rv2.example.org/" + "a" * 179,
})  # fmt: skip
async def test_a_uri_that_is_not_canonical(mesh: Federation, uri: str) -> None:
    """It is refused with the greeting, or with a proof over that very URI."""
    line = await mesh.line()
    await line.hello(uri=uri)
    if not await line.refused():
        await line.greeted()
        await line.challenged()
        await line.auth(self_uri=uri)
    heard = await line.next("@ERR - BAD_REQUEST", "FROG-29-06")
    if not isinstance(heard, Hangup) and getattr(heard, "code", "") not in ("BAD_REQUEST", "AUTH_FAILED"):
        raise Broken("FROG-29-06", "@ERR - BAD_REQUEST", str(heard))
    await line.expect_no_sister("FROG-29-06", SisterServers, SisterOk)


@needs("sister")
@clauses("FROG-29-12", "FROG-7.8-03")
async def test_each_challenge_is_a_new_one(mesh: Federation, trial: Trial) -> None:
    """Twenty connections, twenty nonces."""
    nonces = []
    for _ in range(20):
        line = await mesh.line()
        await line.dial_until("sa1")
        nonces.append(line.nonce)
    trial.expect(len(set(nonces)) == 20, "20 different nonces", sorted(nonces), "FROG-29-12")


@needs("sister")
@clauses("FROG-29-09", "FROG-28-04", "FROG-29-12")
async def test_a_proof_of_another_connection(mesh: Federation) -> None:
    """What one connection proved proves nothing on the next."""
    first, second = await mesh.line(), await mesh.line()
    await first.dial_until("sa1")
    await second.dial_until("sa1")
    await second.auth(nonce=first.nonce)
    await expect_failure(second, "another-nonce")


@needs("sister")
@clauses("FROG-27-02", "FROG-3.11-01", "FROG-28-06")
@axis("step", ["sa1", "sa2", "sa3", "unauthorised"])
async def test_no_flood_to_who_is_no_sister(mesh: Federation, step: str) -> None:
    """A client's lookup goes to the live sister alone, not to one that is half way or unknown."""
    sister = await mesh.sister(0)
    half = await mesh.line(sibling() if step == "unauthorised" else 1)
    if step == "unauthorised":
        if not await half.proves_anyhow():
            return
        await half.fence()
        half.inbox.drain()
    else:
        await half.dial_until(step)
    asker, target = await mesh.asker(), Peer(mesh.network)
    await asker.send(Lookup(cid("L"), target.key))
    await sister.expect_lookup("FROG-24-02")
    await half.expect_no_sister("FROG-27-02", SisterLookup)


@needs("sister")
@clauses("FROG-28-06", "FROG-29-02")
@axis("skipped", ["our-proof", "our-ok"])
async def test_no_step_can_be_left_out(mesh: Federation, skipped: str) -> None:
    """Without a proof of ours, or without our word for its proof, nothing is looked up for us."""
    local = await mesh.asker()
    line = await mesh.line()
    await line.dial_until("sa1" if skipped == "our-proof" else "sa3")
    if skipped == "our-proof":
        await line.send(SisterOk())
        await line.expect_error("-", "BAD_STATE", "FROG-28-05")
    route = an_id()
    await line.send(SisterLookup(route, line.id, Peer(mesh.network).key, local.key, 5))
    heard = await line.next(f"@ERR {route} BAD_STATE", "FROG-28-06")
    if isinstance(heard, SisterFound) or not isinstance(heard, SisterErr | Hangup):
        raise Broken("FROG-28-06", f"@ERR {route} BAD_STATE", str(heard))


@needs("sister")
@clauses("FROG-28-06", "FROG-27-02", "FROG-31-01")
@axis("step", ["sa1", "sa2", "sa3"])
async def test_what_one_connection_proved_counts_on_that_one(mesh: Federation, step: str) -> None:
    """She is half way on one connection when she becomes a sister on another: on the first she is none yet."""
    local, half = await mesh.asker(), await mesh.line(0)
    await half.dial_until(step)
    if await mesh.second(0) is None:
        return
    await half.send(SisterLookup(an_id(), half.id, Peer(mesh.network).key, local.key, 5))
    await half.expect_no_sister("FROG-28-06", SisterFound)


@needs("dials")
@clauses("FROG-4-01", "FROG-51-01")
async def test_it_offers_the_subprotocol(federation: Federation, trial: Trial) -> None:
    """Whoever dials offers frog.v1."""
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    trial.expect("frog.v1" in line.asked_for, "Sec-WebSocket-Protocol: frog.v1", line.asked_for, "FROG-4-01")


@needs("dials")
@clauses("FROG-4-04")
async def test_it_says_nothing_without_the_subprotocol(federation: Federation) -> None:
    """Where frog.v1 was not selected it closes, and says no @HELLO."""
    listening = await federation.listen(selects=())
    await federation.start()
    line = await listening.dialled()
    heard = await line.next("the end", "FROG-4-04")
    if not isinstance(heard, Hangup):
        raise Broken("FROG-4-04", "the end, without a word", str(heard))


@needs("dials")
@clauses("FROG-30-01", "FROG-29-05")
async def test_a_seed_that_is_somebody_else(federation: Federation) -> None:
    """Where an id is expected, a server with another one is no sister, however well it proves itself."""
    listening = await federation.listen(expected=sibling().id)
    await federation.start()
    line = await listening.dialled()
    await line.greeted()
    await line.hello()
    await line.send(SisterChal(an_id()))
    await line.expect_no_sister("FROG-30-01", SisterServers)
    await expect_untold(federation, listening.who.uri, "FROG-30-01")


@needs("dials")
@clauses("FROG-4-06")
async def test_text_from_who_is_dialled(federation: Federation) -> None:
    """A text message ends it there too."""
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.accept_until("d1")
    await line.text("@LIST G1 7\n")
    if not isinstance(heard := await line.next("the end", "FROG-4-06"), Hangup):
        raise Broken("FROG-4-06", "the end of the connection", str(heard))


@needs("sister")
@clauses("FROG-14-01")
async def test_clients_and_sisters_come_by_the_same_door(mesh: Federation) -> None:
    """The first word decides: on one address a client registers and a sister proves herself."""
    await mesh.sister()
    await mesh.asker()


# -- in time -----------------------------------------------------------------------------------------------------------


@needs("sister")
@clauses("FROG-29-11", "FROG-28-04", "FROG-39-05")
async def test_a_challenge_expires(timed_mesh: Federation) -> None:
    """After 33 seconds a good proof is too late: AUTH_FAILED, or the connection is closed already."""
    line = await timed_mesh.line()
    await line.dial_until("sa1")
    await timed_mesh.wait(33)
    await line.auth()
    heard = await line.next("@ERR - AUTH_FAILED", "FROG-29-11")
    if not isinstance(heard, Hangup) and getattr(heard, "code", "") != "AUTH_FAILED":
        raise Broken("FROG-29-11", "@ERR - AUTH_FAILED", str(heard))


@needs("sister", "clock")
@clauses("FROG-29-03", "FROG-39-01")
async def test_a_challenge_can_be_answered_in_time(timed_mesh: Federation) -> None:
    """After 25 seconds it still counts."""
    line = await timed_mesh.line()
    await line.dial_until("sa1")
    await timed_mesh.wait(25)
    await line.dial_until("sister", since="sa1")
    await line.listed()


@needs("sister")
@clauses("FROG-29-10")
@axis("step", ["sa1", "sa2", "sa3"])
async def test_a_handshake_that_stalls_is_closed(timed_mesh: Federation, step: str) -> None:
    """Whoever is not done after 30 seconds should be closed."""
    line = await timed_mesh.line()
    await line.dial_until(step)
    await timed_mesh.wait(35)
    heard = await line.next("the end", "FROG-29-10")
    if isinstance(heard, SisterErr):
        heard = await line.next("the end", "FROG-29-10")
    if not isinstance(heard, Hangup):
        raise Broken("FROG-29-10", "the end of the connection", str(heard))


@needs("sister")
@clauses("FROG-29-10", "FROG-32-04")
async def test_who_is_done_stays(timed_mesh: Federation) -> None:
    """The 30 seconds are the handshake's: a live sister is not closed by them."""
    line = await timed_mesh.sister()
    await timed_mesh.wait(40)
    await line.listed()
