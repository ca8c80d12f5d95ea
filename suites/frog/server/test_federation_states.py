"""Section 28: every command in every state of a sister's connection, cell by cell, whoever dialled."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import (
    Hangup,
    SisterChal,
    SisterErr,
    SisterFound,
    SisterPeers,
    SisterServers,
)
from suites.frog.server.sisters import STEPS, Federation, SisterLine, sibling
from suites.frog.wire import Peer, an_id, cid, message

FEDERATION = ["@LIST", "@SERVERS", "@FIND", "@PEERS", "@LOOKUP", "@FOUND", "@SIGNAL"]
COMMANDS = ["@HELLO", "@CHAL", "@AUTH", "@OK", *FEDERATION]
ALLOWED = {  # what the state table of section 28, with the order of section 29, lets through; @ERR is apart
    "new": {"@HELLO"},
    "sa1": {"@AUTH", "@CHAL"},  # @CHAL is early there: section 28 allows it, section 29 does not foresee it
    "sa2": {"@CHAL"},
    "sa3": {"@OK", "@CHAL"},  # a second @CHAL is in the table of section 28
    "sister": set(FEDERATION),
}
WRONG = {f"{step}-{word[1:]}": (step, word) for step in STEPS for word in COMMANDS if word not in ALLOWED[step]}
DIALLED = {  # of a connection that the server dialled
    "d0": {"@HELLO"},
    "d1": {"@CHAL"},
    "d2": {"@OK", "@CHAL"},
    "d3": {"@AUTH", "@CHAL"},
}
AWAY = {f"{step}-{word[1:]}": (step, word) for step in DIALLED for word in COMMANDS if word not in DIALLED[step]}
CLIENTS = ["HELLO", "JOIN", "AUTH", "LEAVE", "GETSERVERS", "FIND", "LOOKUP", "SIGNAL"]


def spoken(word: str, line: SisterLine) -> tuple[str, str]:
    """A well-formed command, and the id that an error about it echoes."""
    id, route, peer, other = cid("R"), an_id(), Peer("N").key, Peer("N").key
    rest, echoed = {
        "@HELLO": (f"FROG/1 {line.id} {line.who.uri}", "-"),
        "@CHAL": (an_id(), "-"),
        "@AUTH": (f"{line.who.key.public_key} {line.who.key.sign(b'nothing')}", "-"),
        "@OK": ("AUTH", "-"),
        "@LIST": (f"{id} 7", id),
        "@SERVERS": (f"{id} 0", id),
        "@FIND": (f"{id} {line.id} {peer} 3 3", id),
        "@PEERS": (f"{id} {line.id} 0", id),
        "@LOOKUP": (f"{route} {line.id} {peer} {other} 5", route),
        "@FOUND": (f"{route} {peer}", route),
        "@SIGNAL": (f"{route} {peer} ICE 0", route),
    }[word]
    return f"{word} {rest}", echoed


def client_word(word: str) -> str:
    key = Peer("N")
    return {
        "HELLO": "HELLO FROG/1",
        "JOIN": f"JOIN {key.key}",
        "AUTH": f"AUTH {key.public_key} {key.sign(b'nothing')}",
        "LEAVE": "LEAVE",
        "GETSERVERS": f"GETSERVERS {cid()} 1",
        "FIND": f"FIND {cid()} 3",
        "LOOKUP": f"LOOKUP {cid()} {key.key}",
        "SIGNAL": f"SIGNAL {an_id()} ICE 0",
    }[word]


def refusals(step: str, word: str) -> tuple[str, ...]:
    """A proof that is not due is in the wrong state, or has failed: within the handshake section 28 does not say."""
    return (
        ("BAD_STATE", "AUTH_FAILED") if word in ("@AUTH", "@OK") and step not in ("new", "sister") else ("BAD_STATE",)
    )


async def goes_on(line: SisterLine, step: str) -> None:
    """Nothing has changed: the rest of the handshake works, unless the connection was closed (FROG-28-03)."""
    if await line.fence():
        await line.dial_until("sister", since=step)
        await line.listed()


@needs("sister")
@clauses("FROG-28-02", "FROG-28-01", "FROG-28-05", "FROG-28-06", "FROG-28-07", "FROG-29-02", "FROG-29-04", "FROG-38-02")
@axis("cell", WRONG)
async def test_wrong_state(mesh: Federation, cell: tuple[str, str]) -> None:
    """A well-formed command that is not for this state is refused with BAD_STATE and its id, and changes nothing."""
    step, word = cell
    line = await mesh.line()
    await line.dial_until(step)
    if step == "sister":
        await line.fence()
    text, id = spoken(word, line)
    await line.raw(message(text))
    clause = {"@HELLO": "FROG-28-07", "@OK": "FROG-28-05"}.get(word, "FROG-28-02")
    err = await line.expect_error(id, refusals(step, word), clause)
    if err.code == "BAD_STATE":
        await goes_on(line, step)


@needs("sister")
@clauses("FROG-28-06", "FROG-28-01", "FROG-29-03")
@axis("step", ["sa1", "sa3"])
async def test_a_challenge_out_of_order(mesh: Federation, trial: Trial, step: str) -> None:
    """@CHAL is allowed before the handshake is complete, and not foreseen there: answered or refused, it makes no sister."""
    line = await mesh.line()
    await line.dial_until(step)
    await line.send(SisterChal(nonce := an_id()))
    heard = await line.next("@AUTH, or @ERR - BAD_STATE", "FROG-28-01")
    if isinstance(heard, SisterErr):
        trial.expect(heard.code == "BAD_STATE", "BAD_STATE", heard, "FROG-28-02")
    elif not isinstance(heard, Hangup):
        line.inbox.put_back([heard])
        await line.expect_proof(nonce)
    await line.expect_no_sister("FROG-28-06", SisterServers)


@needs("sister")
@clauses("FROG-27-02", "FROG-3.8-01", "FROG-28-06")
@axis("word", FEDERATION)
async def test_an_unauthorised_sister_is_not_heard(mesh: Federation, word: str) -> None:
    """Who proves its key and is on no list gets an error or the end, for each command of federation."""
    local = await mesh.asker()
    line = await mesh.line(sibling())
    if not await line.proves_anyhow():
        return
    text, id = spoken(word, line)
    if word == "@LOOKUP":
        text = f"@LOOKUP {id} {line.id} {Peer(mesh.network).key} {local.key} 5"
    elif word == "@FIND":
        text = f"@FIND {id} {line.id} {Peer(mesh.network).key} 3 3"
    await line.raw(message(text))
    heard = await line.next(f"@ERR {id} AUTH_REQUIRED, or the end", "FROG-27-02")
    if isinstance(heard, Hangup):
        return
    if not isinstance(heard, SisterErr) or heard.code not in ("BAD_STATE", "AUTH_REQUIRED", "AUTH_FAILED"):
        raise Broken("FROG-27-02", f"@ERR {id} AUTH_REQUIRED", str(heard))
    await line.expect_no_sister("FROG-27-02", SisterServers, SisterPeers, SisterFound)


@needs("sister", "dials")
@clauses("FROG-27-02")
async def test_the_uri_of_a_seed_authorises_nobody(federation: Federation) -> None:
    """Policy is about ids: who dials in with a key of its own and claims a seed's URI is no sister."""
    seed = await federation.listen()
    await federation.start()
    line = await federation.line(sibling().elsewhere(seed.who.uri))
    if await line.proves_anyhow():
        await line.expect_no_sister("FROG-27-02")


@needs("sister")
@clauses("FROG-27-02")
async def test_a_second_connection_authorises_nobody(mesh: Federation) -> None:
    """Who is on no list is no sister by having been there before."""
    stranger = sibling()
    for _ in range(2):
        line = await mesh.line(stranger)
        if not await line.proves_anyhow():
            return
        await line.expect_no_sister("FROG-27-02")


@needs("sister")
@clauses("FROG-27-02", "FROG-3.8-01")
async def test_a_sister_authorises_nobody_else(mesh: Federation) -> None:
    """Who is on no list, and waits, is no sister when one comes that is."""
    line = await mesh.line(sibling())
    if await line.proves_anyhow():
        await mesh.sister()
        await line.expect_no_sister("FROG-27-02")


@needs("sister", "gossip")
@clauses("FROG-27-02", "FROG-3.8-01")
async def test_who_seeks_servers_takes_no_stranger(federation: Federation) -> None:
    """Where the verified may federate, a key that is proven is not enough: at her URI nobody has proven anything yet."""
    unknown = await federation.listen(seed=False)
    federation.config["discover"] = 1
    await federation.start()
    line = await federation.line(unknown.who)
    if await line.proves_anyhow():
        await line.expect_no_sister("FROG-27-02")


@needs("sister")
@clauses("FROG-28-06", "FROG-29-02", "FROG-27-02")
@axis("step", ["sa1", "sa2", "sa3"])
async def test_a_handshake_is_of_one_connection(mesh: Federation, trial: Trial, step: str) -> None:
    """Who is a sister on one connection is none yet on another, where she is half way."""
    half = await mesh.line(0)
    await half.dial_until(step)
    if await mesh.second(0) is None:
        return trial.info("it makes nobody a sister who is half way on another connection")
    await half.expect_no_sister("FROG-28-06")


@needs("sister")
@clauses("FROG-14-03", "FROG-13-03", "FROG-14-02")
@axis("word", CLIENTS)
async def test_clients_words_from_a_sister(mesh: Federation, word: str) -> None:
    """After @HELLO no client's command is obeyed: an error of the sisters' family, or the end."""
    line = await mesh.sister()
    await line.raw(message(client_word(word)))
    heard = await line.next("@ERR - BAD_REQUEST", "FROG-14-03")
    if not isinstance(heard, Hangup) and getattr(heard, "code", "") not in ("BAD_REQUEST", "BAD_STATE"):
        raise Broken("FROG-14-03", "@ERR - BAD_REQUEST or BAD_STATE", str(heard))


@needs("sister")
@clauses("FROG-14-03", "FROG-13-03")
@axis("step", ["sa1", "sa2", "sa3"])
async def test_clients_words_in_the_handshake(mesh: Federation, step: str) -> None:
    """Nor while who dialled is still proving itself."""
    line = await mesh.line()
    await line.dial_until(step)
    await line.raw(message(client_word("GETSERVERS")))
    heard = await line.next("@ERR - BAD_REQUEST", "FROG-14-03")
    if not isinstance(heard, Hangup) and getattr(heard, "code", "") not in ("BAD_REQUEST", "BAD_STATE"):
        raise Broken("FROG-14-03", "@ERR - BAD_REQUEST or BAD_STATE", str(heard))


@needs("sister")
@clauses("FROG-4-06")
@axis("step", STEPS)
async def test_text_ends_the_connection(mesh: Federation, step: str) -> None:
    """A text message closes a sister's connection in every state."""
    line = await mesh.line()
    await line.dial_until(step)
    await line.text("@LIST G1 7\n")
    heard = await line.next("the end", "FROG-4-06")
    if not isinstance(heard, Hangup):
        raise Broken("FROG-4-06", "the end of the connection", str(heard))


@needs("sister")
@clauses("FROG-28-01")
@axis("step", ["sa1", "sa2", "sa3", "unauthorised", "sister"])
async def test_an_error_is_not_answered_with_an_error(mesh: Federation, step: str) -> None:
    """@ERR is allowed in SISTER_AUTH, authorised or not, and in SISTER: whatever it ends, it is not refused."""
    line = await mesh.line(sibling() if step == "unauthorised" else 0)
    if step != "unauthorised":
        await line.dial_until(step)
    elif await line.proves_anyhow() and await line.fence():
        line.inbox.drain()  # that it is refused
    else:
        return
    await line.send(SisterErr("-", "INTERNAL"))
    if await line.fence():
        errors = [item for item in line.inbox.drain() if isinstance(item, SisterErr)]
        if errors:
            raise Broken("FROG-28-01", "no error about an error", str(errors[0]))


@needs("sister")
@clauses("FROG-32-01", "FROG-5-12")
@axis("text", ["@PING", "@PONG", "@NOTFOUND {}", "@list G1 7", "@OK", "@OK JOIN"])
async def test_there_are_no_other_commands(mesh: Federation, text: str) -> None:
    """The command set is closed: BAD_REQUEST; of a known word that has no place here either, also BAD_STATE (AMB-02)."""
    line = await mesh.sister()
    await line.raw(message(text.format(an_id())))
    codes = ("BAD_REQUEST", "BAD_STATE") if text.startswith("@OK") else ("BAD_REQUEST",)
    await line.expect_error("-", codes, "FROG-5-12")


@needs("dials")
@clauses("FROG-28-02", "FROG-28-01", "FROG-28-04", "FROG-28-05", "FROG-28-07", "FROG-29-03")
@axis("cell", AWAY)
async def test_wrong_state_where_it_dialled(federation: Federation, cell: tuple[str, str]) -> None:
    """The same for a connection that the server dialled: refused, or ended; never taken for the step that was due."""
    step, word = cell
    listening = await federation.listen()
    await federation.start()
    line = await listening.dialled()
    await line.accept_until(step)
    text, id = spoken(word, line)
    await line.raw(message(text))
    clause = {"@HELLO": "FROG-28-07", "@OK": "FROG-28-05", "@AUTH": "FROG-28-04"}.get(word, "FROG-28-02")
    if isinstance(heard := await line.next(f"@ERR {id} BAD_STATE", clause), Hangup):
        return
    line.inbox.put_back([heard])
    await line.expect_error(id, refusals(step, word), clause)
    await line.expect_no_sister("FROG-28-06", SisterServers)
