"""Sections 4, 12, 16, 17 and 41: how a client comes to be registered."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.frog.frames import Auth, Chal, Err, Find, Frame, Hangup, Joined, Try, Welcome
from suites.frog.client.under_test import ClientUnderTest
from suites.frog.wire import SUBPROTOCOL, an_id, message


@clauses("FROG-4-01", "FROG-51-01")
async def test_it_offers_the_subprotocol(client: ClientUnderTest, trial: Trial) -> None:
    """frog.v1 is among what the upgrade offers."""
    await client.start()
    line = await client.accept()
    trial.expect(line.carrier.subprotocol == SUBPROTOCOL, f"{SUBPROTOCOL} offered", line.asked_for)


@clauses("FROG-4-04")
@axis("selected", {"none": None, "other": "frog.v2", "other-case": "FROG.V1"})
async def test_without_the_subprotocol_it_hangs_up(client: ClientUnderTest, trial: Trial, selected: str | None) -> None:
    """A server that does not select frog.v1 is left, and is told nothing."""
    stage = await client.stage(selected=selected)
    await client.start(stage.uri)
    heard = await (await client.accept()).next("the end", "FROG-4-04")
    trial.expect(isinstance(heard, Hangup), "the end without a word", heard)


@clauses("FROG-16-01", "FROG-12.1-01", "FROG-12.1-02", "FROG-16-04", "FROG-46-01", "FROG-41-01", "FROG-9.1-01")
@axis("round", [1, 2])
async def test_it_registers(client: ClientUnderTest, trial: Trial, round: int) -> None:
    """HELLO, JOIN of its own key, and a proof over the URI that it dialled and the id that this server has."""
    line = await client.online()
    answer = client.asking("find", limit=1)
    frame = await line.next("FIND", "FROG-46-01")
    await line.raw(message(f"PEERS {getattr(frame, 'cid', 'X')} 0"))
    trial.expect(await client.answer(answer) == {"peer_keys": []}, "no peers", answer)


@clauses("FROG-12.1-03", "FROG-12.1-02", "FROG-15-11")
async def test_a_server_cannot_name_the_uri(client: ClientUnderTest) -> None:
    """A TRY between HELLO and CHAL changes nothing of what is signed."""
    await client.start()
    line = await client.accept()
    await line.joins()
    await line.send(Try("-", ("wss://elsewhere.example/",)))
    await line.proves()


@clauses("FROG-41-03", "FROG-7.9-02", "FROG-21-02")
async def test_it_asks_for_more_servers(client: ClientUnderTest, trial: Trial) -> None:
    """A registered client should ask whom else there is, as it would ask anything: with a CID and a limit."""
    line = await client.online()
    await trial.next_of(line.stage.asked, "GETSERVERS", "FROG-41-03")


@clauses("FROG-12.1-02", "FROG-16-04", "FROG-12.1-01")
async def test_each_server_gets_its_own_proof(client: ClientUnderTest, trial: Trial) -> None:
    """One after the other turns it away: each proof is over the URI that was dialled then, and the id that is there."""
    uris = [(await client.stage()).uri for _ in range(3)]
    await client.start(*uris)
    met: set[str] = set()
    for _ in range(6):
        line = await client.accept()
        await line.joins()
        await line.proves()
        await line.close()
        met.add(line.stage.uri)
    if len(met) == 1:
        trial.info(f"it came to {met} six times: that it signs what it dialled could not show")


@clauses("FROG-4-06")
@axis("when", ["greeting", "registered"])
async def test_text_ends_the_connection(client: ClientUnderTest, trial: Trial, when: str) -> None:
    """A server's text message closes it."""
    if when == "registered":
        line = await client.online()
    else:
        await client.start()
        line = await client.accept()
        await line.greeted()
    await line.text(f"HELLO FROG/1 {an_id()}\n")
    while not isinstance(heard := await line.next("the end", "FROG-4-06"), Hangup):
        trial.expect(not isinstance(heard, Auth), "nothing of it to be taken", heard)


BAD_CHALLENGES = {
    "short": [f"CHAL {an_id()[:-1]}\n"],
    "long": [f"CHAL {an_id()}0\n"],
    "lower-case": [f"CHAL {an_id().lower()}\n"],
    "two": [f"CHAL {an_id()} {an_id()}\n"],
    "none": ["CHAL\n"],
    "a-sisters": [f"@CHAL {an_id()}\n"],
    "two-commands": [f"CHAL {an_id()}\nTRY - 0\n"],
    "two-halves": ["CHAL ", f"{an_id()}\n"],
    "with-a-payload": [f"CHAL {an_id()} 1\nx"],
    "without-a-line-feed": [f"CHAL {an_id()}"],
}


@clauses("FROG-7.8-01", "FROG-13.1-02", "FROG-5-13", "FROG-4-07", "FROG-5-01")
@axis("challenge", BAD_CHALLENGES)
async def test_a_broken_challenge_is_not_answered(client: ClientUnderTest, trial: Trial, challenge: list[str]) -> None:
    """It is ignored, or the connection is closed; nothing is signed (AMB-49)."""
    await client.start()
    line = await client.accept()
    await line.joins()
    for wire in challenge:
        await line.raw(wire.encode())
    nonce = an_id()
    await line.send(Chal(nonce))
    heard = await line.next("AUTH of the good challenge, or the end", "FROG-7.8-01")
    trial.expect(isinstance(heard, Auth | Hangup), "AUTH or the end", heard)
    if isinstance(heard, Auth):
        signed = line.peer.sign(line_proof(line.stage.uri, nonce, line.peer.key, line.server_id))
        trial.expect(heard.signature == signed, "the proof of the good challenge", heard)


def line_proof(uri: str, nonce: str, key: str, server_id: str) -> bytes:
    return "\n".join(("FROG-AUTH-V1", nonce, uri, key, server_id)).encode()


@clauses("FROG-17-12", "FROG-42-01")
@axis("answer", ["AUTH_FAILED", "RATE_LIMITED", "the-end"])
async def test_without_ok_join_it_is_not_registered(client: ClientUnderTest, trial: Trial, answer: str) -> None:
    """A refused client tells its host nothing of a registration, and asks nothing."""
    await client.start()
    line = await client.accept()
    await line.joins()
    await line.proves()
    if answer == "the-end":
        await line.close()
    else:
        await line.send(Err("-", answer))
    await client.refuses("find", "FROG-17-12", limit=1)
    told = [event for event in client.told.drain() if not isinstance(event, Exception)]
    trial.expect(not any(data.get("registered") for _, data in told), "no registration", told)


@clauses("FROG-17-14", "FROG-13-02", "FROG-5-23", "FROG-4-05", "FROG-6-02")
async def test_it_says_nothing_uncalled_for(client: ClientUnderTest, trial: Trial) -> None:
    """Once registered it does not JOIN again: what comes next is what its host asks for."""
    line = await client.online()
    asked = client.asking("lookup", peer_key=f"{client.peer.network}:{an_id()}")
    heard: Frame | Hangup = await line.next("LOOKUP", "FROG-17-14")
    trial.expect(type(heard).__name__ == "Lookup", "LOOKUP", heard)
    asked.cancel()


UNREADABLE = ["PING", "FOUND", "OK", "SIGNAL X ICE 0", "@LIST G1 7", "PEERS A 1", "ERR -"]


@clauses("FROG-13-02", "FROG-5-12", "FROG-5-13")
@axis("text", UNREADABLE)
async def test_what_it_cannot_read_is_not_answered(client: ClientUnderTest, trial: Trial, text: str) -> None:
    """A client has no errors to send: what comes next is what its host asks for, or the end (AMB-49)."""
    line = await client.online()
    await line.raw(message(text))
    asked = client.asking("find", limit=1)
    heard = await line.next("FIND, or the end", "FROG-13-02")
    trial.expect(isinstance(heard, Find | Hangup), "FIND, or the end", heard, "FROG-13-02")
    asked.cancel()


@clauses("FROG-13.1-02", "FROG-46-01")
async def test_a_repeated_welcome_or_ok_does_no_harm(client: ClientUnderTest, trial: Trial) -> None:
    """What does not belong here is ignored, or ends the connection; nothing else (AMB-49)."""
    line = await client.online()
    await line.send(Welcome(an_id()), Chal(an_id()), Joined())
    asked = client.asking("find", limit=1)
    heard = await line.next("FIND, or the end", "FROG-46-01")
    trial.expect(type(heard).__name__ in ("Find", "Hangup"), "FIND, or the end", heard)
    asked.cancel()
