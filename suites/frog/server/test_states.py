"""Section 15: every command in every state, cell by cell."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import Chal, Err, Hangup, Left, Try, Welcome
from suites.frog.server.under_test import STATES, PeerLine, ServerUnderTest
from suites.frog.wire import Peer, an_id, cid, message

COMMANDS = ["HELLO", "JOIN", "AUTH", "LEAVE", "GETSERVERS", "FIND", "LOOKUP", "SIGNAL"]
ALLOWED = {
    "new": {"HELLO"},
    "hello-ok": {"JOIN", "GETSERVERS", "LEAVE"},
    "auth-pending": {"AUTH", "LEAVE"},
    "registered": {"LEAVE", "GETSERVERS", "FIND", "LOOKUP", "SIGNAL"},
}
WRONG = {
    f"{state}-{command}": (state, command) for state in STATES for command in COMMANDS if command not in ALLOWED[state]
}

CONTESTED = "a signal has no CID, so section 15 wants the dash; sections 20 and 38 would have its route id"


def spoken(command: str, line: PeerLine) -> tuple[str, str]:
    """A well-formed command, and the id that an error about it echoes."""
    id = cid("S")
    rest, echoed = {
        "HELLO": ("FROG/1", "-"),
        "JOIN": (Peer(line.peer.network).key, "-"),
        "AUTH": (f"{line.peer.public_key} {line.peer.sign(b'nothing')}", "-"),
        "LEAVE": ("", "-"),
        "GETSERVERS": (f"{id} 3", id),
        "FIND": (f"{id} 3", id),
        "LOOKUP": (f"{id} {Peer(line.peer.network).key}", id),
        "SIGNAL": (f"{an_id()} ICE 0", "-"),
    }[command]
    return f"{command} {rest}".rstrip(), echoed


@clauses("FROG-15-02", "FROG-15-01", "FROG-15-03", "FROG-15-04", "FROG-15-14", "FROG-17-04", "FROG-17-05", "FROG-26-02")
@axis("cell", WRONG)
async def test_wrong_state(server: ServerUnderTest, trial: Trial, cell: tuple[str, str]) -> None:
    """A well-formed command that is not for this state is refused with BAD_STATE and its CID, and changes nothing."""
    state, command = cell
    line = await server.in_state(state)
    text, id = spoken(command, line)
    await line.raw(message(text))
    heard = await line.next(f"ERR {id} BAD_STATE", "FROG-15-02")
    if not isinstance(heard, Err) or heard.code != "BAD_STATE":
        raise Broken("FROG-15-02", f"ERR {id} BAD_STATE", str(heard))
    if command == "SIGNAL" and heard.id == text.split()[1]:
        trial.warn("FROG-15-04", f"{CONTESTED}: {heard}")
    elif heard.id != id:
        raise Broken("FROG-15-03" if id != "-" else "FROG-15-04", f"ERR {id} BAD_STATE", str(heard))
    if await line.fence():
        await line.expect_state(state, "FROG-15-14")
    else:
        trial.warn("FROG-38-07", f"the connection was closed after one {command} in the state {state}")


@clauses("FROG-16-03", "FROG-16-02")
async def test_hello_is_answered_once(server: ServerUnderTest) -> None:
    """HELLO leads to the state in which JOIN is allowed."""
    line = await server.connect()
    await line.hello()
    await line.join()


@clauses("FROG-21-01")
@axis("state", ["hello-ok", "registered"])
async def test_getservers_is_answered(server: ServerUnderTest, trial: Trial, state: str) -> None:
    """Before registration and after it, with the CID of the request."""
    line, asked = await server.in_state(state), cid("G")
    await line.raw(message(f"GETSERVERS {asked} 7"))
    answer = await line.expect(Try, "FROG-21-01")
    trial.expect(answer.cid == asked, f"TRY {asked}", answer, "FROG-13.1-04")


@clauses("FROG-19-01", "FROG-19-02", "FROG-19-03")
@axis("state", ["hello-ok", "auth-pending", "registered"])
async def test_leave_is_confirmed_and_closes(server: ServerUnderTest, trial: Trial, state: str) -> None:
    """OK LEAVE, then the end; before registration both are advice."""
    line = await server.in_state(state)
    await line.raw(message("LEAVE"))
    clause = "FROG-19-01" if state == "registered" else "FROG-19-03"
    heard = await line.next("OK LEAVE", clause)
    trial.expect(isinstance(heard, Left), "OK LEAVE", heard, clause)
    try:
        said = await line.expect_closed("FROG-19-02")
    except Broken as broken:
        trial.warn("FROG-19-02", broken.observed)
        return
    trial.expect(not said, "nothing behind OK LEAVE", said, clause)


UNKNOWN = ["PING", "X-FOO", "HELO", "NOTICE", "CLOSE"]


@clauses("FROG-5-12", "FROG-6-06", "FROG-25-10")
@axis("state", STATES)
@axis("word", UNKNOWN)
async def test_unknown_word(server: ServerUnderTest, state: str, word: str) -> None:
    """The command set is closed."""
    line = await server.in_state(state)
    await line.raw(message(f"{word} {an_id()}"))
    if await line.expect_refusal("FROG-5-12", ("BAD_REQUEST",)):
        await line.expect_state(state, "FROG-5-24")


FOREIGN = {
    "welcome": "HELLO FROG/1 {id}",
    "chal": "CHAL {id}",
    "ok-join": "OK JOIN",
    "ok-leave": "OK LEAVE",
    "try": "TRY - 0",
    "peers": "PEERS F1 0",
    "found": "FOUND L1 {key} {id}",
    "signal-from": "SIGNAL-FROM {id} {key} ICE 0",
}
SISTERS = {
    "hello": "@HELLO FROG/1 {id} wss://rv2.example.org/",
    "chal": "@CHAL {id}",
    "ok": "@OK AUTH",
    "list": "@LIST G1 7",
    "find": "@FIND R1 {id} {key} 3 3",
    "lookup": "@LOOKUP {id} {id} {key} {key} 5",
    "found": "@FOUND {id} {key}",
    "signal": "@SIGNAL {id} {key} ICE 0",
}


@clauses("FROG-5-13", "FROG-13-01")
@axis("state", STATES)
@axis("word", FOREIGN)
async def test_a_servers_word_from_a_client(server: ServerUnderTest, state: str, word: str) -> None:
    """What only a server says is refused, in any state."""
    line = await server.in_state(state)
    await line.raw(message(word.format(id=an_id(), key=line.key)))
    clause, codes = "FROG-5-13", ("BAD_REQUEST", "BAD_STATE")
    if await line.expect_refusal(clause, codes, silent=True):
        await line.expect_state(state, "FROG-5-24")


@clauses("FROG-5-13", "FROG-5-24")
@axis("state", STATES)
async def test_an_error_from_a_client(server: ServerUnderTest, trial: Trial, state: str) -> None:
    """It has no effect; whether it is refused, or passed over so that errors are never answered, is open (AMB-33)."""
    line = await server.in_state(state)
    await line.raw(message("ERR - BAD_STATE"))
    if await line.fence():
        said = line.inbox.drain()
        refusals = [heard for heard in said if isinstance(heard, Err) and heard.code in ("BAD_REQUEST", "BAD_STATE")]
        trial.expect(said == refusals and len(said) <= 1, "at most one refusal", said)
        await line.expect_state(state, "FROG-5-24")


@clauses("FROG-14-04", "FROG-14-02", "FROG-5-13")
@axis("state", STATES[1:])
@axis("word", SISTERS)
async def test_a_sisters_word_from_a_client(server: ServerUnderTest, state: str, word: str) -> None:
    """After HELLO no sister's command is taken, and none is answered in the sisters' family."""
    line = await server.in_state(state)
    text = word.format(id=an_id(), key=line.key)
    echoes = [field for field in text.split()[1:2] if not field.startswith("FROG")]
    await line.raw(message(text))
    if await line.expect_refusal("FROG-14-04", ("BAD_REQUEST", "BAD_STATE"), ("-", *echoes), silent=True):
        await line.expect_state(state, "FROG-5-24")


@clauses("FROG-14-01", "FROG-5-24")
@axis("first", ["JOIN", "FIND", "LEAVE", "SIGNAL"])
async def test_a_failed_first_command_fixes_no_role(server: ServerUnderTest, trial: Trial, first: str) -> None:
    """After an error the connection may still say HELLO."""
    line = await server.connect()
    await line.raw(message(spoken(first, line)[0]))
    heard = await line.next("an error", "FROG-15-02")
    trial.expect(isinstance(heard, Err | Hangup), "an error", heard, "FROG-15-02")
    if isinstance(heard, Err):
        await line.raw(message("HELLO FROG/1"))
        answer = await line.next("HELLO, or the end", "FROG-14-01")
        trial.expect(isinstance(answer, Welcome | Hangup), "HELLO, or the end", answer)


@clauses("FROG-17-13", "FROG-15-14")
async def test_a_second_join_changes_nothing(server: ServerUnderTest, trial: Trial) -> None:
    """A registered connection keeps its registration, and the other key is nobody's."""
    line, witness, other = await server.peer(), await server.peer(), Peer(server.network)
    await line.raw(message(f"JOIN {other.key}"))
    await line.expect_error("-", "BAD_STATE", "FROG-17-13")
    await witness.expect_miss(other.key, "FROG-17-13")
    await witness.route(line)


@clauses("FROG-17-04")
async def test_a_join_while_a_challenge_is_pending(server: ServerUnderTest, trial: Trial) -> None:
    """No new challenge is sent, and the first one can still be answered (AMB-15)."""
    line = await server.in_state("auth-pending")
    await line.raw(message(f"JOIN {line.key}"))
    heard = await line.next("ERR - BAD_STATE", "FROG-17-04")
    trial.expect(not isinstance(heard, Chal), "no new challenge", heard)
    if await line.fence():
        await line.expect_state("auth-pending", "FROG-17-04")
