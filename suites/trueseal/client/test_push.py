"""What a client pushes: to whom, anonymously, until it is answered, and never again after that."""

from __future__ import annotations

import secrets

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Ack, Error, Hangup, Heartbeat, Push
from suites.common.line import ByteLine
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest, PrivateClient
from suites.trueseal.relay.under_test import Device

ENDS = axis("end", ["fin", "reset"])


@clauses("TS-PUSH-01", "TS-PUSH-09", "TS-PUSH-10", "TS-SES-01", "TS-FRM-01")
@axis("size", [150, 300, 5_000, wire.FITS])
async def test_a_blob_is_pushed_as_it_was_handed_over(client: ClientUnderTest, size: int) -> None:
    """The recipient's key, then the very bytes of the Envelope."""
    recipient, envelope = Device().public, wire.envelope(size=size)
    await client.push(recipient, envelope)
    line = await client.pushing()
    await client.expect_pushed(line, recipient, envelope)
    await line.answer(Ack())


@clauses("TS-PUSH-09")
async def test_each_blob_has_its_own_recipient(client: ClientUnderTest) -> None:
    """Blobs to several devices, one after another."""
    for _ in range(4):
        await client.pushes(Device().public, wire.envelope(), Ack(), "TS-PUSH-09")


@clauses("TS-SES-05")
@axis("answer", {"ack": Ack(), "error": Error()})
async def test_the_client_closes_the_session_behind_its_answers(client: ClientUnderTest, answer: Ack | Error) -> None:
    """Nothing more is said in it."""
    await client.push(Device().public, wire.envelope())
    line = await client.pushing()
    await line.expect_push()
    await line.answer(answer)
    await line.expect_hangup("TS-SES-05")


@clauses("TS-PUSH-10", "TS-PUSH-01")
@axis("envelope", wire.ODD_ENVELOPES)
async def test_the_envelope_is_not_looked_into(client: ClientUnderTest, envelope: bytes) -> None:
    """Whatever it holds, it is pushed byte for byte."""
    await client.pushes(Device().public, envelope, Ack(), "TS-PUSH-10")


@clauses("TS-SES-03")
async def test_a_push_session_does_not_show_who_pushes(client: ClientUnderTest, trial: Trial) -> None:
    """48 bytes: an ephemeral key, another one each time, and no static key."""
    firsts = []
    for _ in range(2):
        await client.push(Device().public, wire.envelope())
        stream = await client.arrival("push", "TS-SES-01")
        line = ByteLine(trial, stream)
        first = b""
        while len(first) < 50:
            first += await line.next("NK's first message", "TS-SES-01")
        trial.expect(first[:2] == (48).to_bytes(2, "big"), "a message of 48 bytes", first[:2].hex(), "TS-SES-01")
        trial.expect(client.public not in first, "no static key of the device", first.hex(), "TS-SES-03")
        firsts.append(first[2:34])
        line.cut()
    trial.expect(firsts[0] != firsts[1], "another ephemeral key", firsts[0].hex(), "TS-SES-03")


@clauses("TS-SES-02")
async def test_nothing_is_pushed_to_another_relay(client: ClientUnderTest, trial: Trial) -> None:
    """Whoever has not the relay's key cannot read the first message; random bytes instead of an answer get no Push."""
    await client.push(Device().public, wire.envelope())
    line = ByteLine(trial, await client.arrival("push", "TS-SES-02"))
    first = b""
    while len(first) < 50:
        first += await line.next("NK's first message", "TS-SES-02")
    await line.say((48).to_bytes(2, "big") + secrets.token_bytes(48), "random bytes", b"")
    said = await line.next("the end", "TS-SES-02")
    trial.expect(said == b"", "no byte behind a handshake that failed", said.hex(), "TS-SES-02")


@clauses("TS-ACK-07", "TS-SES-05")
@ENDS
async def test_without_an_ack_it_is_pushed_again(client: ClientUnderTest, end: str) -> None:
    """The session ends before the answer, twice; then it is Acked, and the next Push is another one."""
    recipient, envelope = Device().public, wire.envelope()
    await client.push(recipient, envelope)
    for _ in range(2):
        line = await client.pushing("TS-ACK-07")
        await client.expect_pushed(line, recipient, envelope, "TS-ACK-07")
        await line.close() if end == "fin" else line.cut()
    line = await client.pushing("TS-ACK-07")
    await client.expect_pushed(line, recipient, envelope, "TS-ACK-07")
    await line.answer(Ack())
    await line.expect_hangup("TS-SES-05")
    await client.expect_pushed_next("TS-ACK-07")


@clauses("TS-ACK-07")
async def test_a_relay_that_is_not_there_is_waited_for(client: ClientUnderTest) -> None:
    """Two dials come to nothing; the third has the blob."""
    recipient, envelope = Device().public, wire.envelope()
    await client.push(recipient, envelope)
    for _ in range(2):
        (await client.arrival("push", "TS-ACK-07")).cut()
    line = await client.pushing("TS-ACK-07")
    await client.expect_pushed(line, recipient, envelope, "TS-ACK-07")
    await line.answer(Ack())


@clauses("TS-ERR-04", "TS-ERR-05", "TS-SES-05")
async def test_a_rejected_blob_is_not_pushed_again(client: ClientUnderTest) -> None:
    """An Error, then new sessions for other blobs: never this one."""
    await client.pushes(Device().public, wire.envelope(), Error())
    for _ in range(3):
        await client.expect_pushed_next("TS-ERR-04")


@clauses("TS-ERR-04", "TS-ACK-06", "TS-ACK-07")
async def test_the_answer_is_for_the_oldest_push(client: ClientUnderTest, trial: Trial) -> None:
    """Two blobs; the first that is pushed is rejected, the second gets no answer: only the second comes again."""
    recipient, envelopes = Device().public, [wire.envelope(), wire.envelope()]
    for envelope in envelopes:
        await client.push(recipient, envelope)
    line, rejected = await client.next_push("TS-ACK-06")
    await line.answer(Error())
    line, kept = await client.next_push("TS-ACK-06")  # in the same session or in another one
    trial.expect({rejected.envelope, kept.envelope} == set(envelopes), "both, each once", kept, "TS-ACK-06")
    await line.close()
    line, again = await client.next_push("TS-ACK-07")
    trial.expect(again == kept, "the one without an answer", again, "TS-ACK-07")
    await line.answer(Ack())
    await client.expect_pushed_next("TS-ERR-04")


@clauses("TS-ACK-07", "TS-ERR-04")
@axis("answer", {"ack": Ack(), "error": Error()})
async def test_an_answer_too_many_is_for_no_blob(client: ClientUnderTest, answer: Ack | Error, trial: Trial) -> None:
    """Two answers to one Push: the next blob, pushed behind them, has none, and comes again when its session ends."""
    await client.push(Device().public, wire.envelope())
    line = await client.pushing()
    await line.expect_push()
    await line.answer(answer, answer)
    await line.plain(wire.BEAT)
    while not isinstance(await line.next("an answer, or the end", "TS-HB-02", beats=True), Heartbeat | Hangup):
        pass
    client.follow(line)
    sent = Push(Device().public, wire.envelope())
    await client.push(sent.recipient, sent.envelope)
    for _ in range(2):
        line, pushed = await client.next_push("TS-ACK-07")
        trial.expect(pushed == sent, "the blob without an answer", pushed, "TS-ACK-07")
        await line.close()
    await (await client.next_push("TS-ACK-07"))[0].answer(Ack())
    await client.expect_pushed_next("TS-ACK-07")


@clauses("TS-ACK-06", "TS-ACK-07", "TS-PUSH-09", "TS-PUSH-01")
async def test_an_ack_behind_an_error(client: ClientUnderTest, trial: Trial) -> None:
    """Two blobs to two devices, submitted before a session is up; one is rejected, the other Acked: neither comes again."""
    sent = {Push(Device().public, wire.envelope()) for _ in range(2)}
    for push in sent:
        await client.push(push.recipient, push.envelope)
    got = set()
    for answer in (Error(), Ack()):
        line, push = await client.next_push("TS-ACK-06")
        got.add(push)
        await line.answer(answer)
    trial.expect(got == sent, "each to its own device", got, "TS-PUSH-09")
    for _ in range(2):
        await client.expect_pushed_next("TS-ACK-07")


@clauses("TS-ACK-06", "TS-SES-01")
async def test_many_blobs_each_once(client: ClientUnderTest, trial: Trial) -> None:
    """Twenty, submitted at once, in as many sessions as the client likes: each is pushed once."""
    recipient, envelopes = Device().public, [wire.envelope() for _ in range(20)]
    for envelope in envelopes:
        await client.push(recipient, envelope)
    got = []
    for _ in envelopes:
        line, push = await client.next_push("TS-ACK-06")
        got.append(push.envelope)
        await line.answer(Ack())
    trial.expect(sorted(got) == sorted(envelopes), "each of the twenty once", len(set(got)), "TS-ACK-07")
    await client.expect_pushed_next("TS-ACK-07")


@clauses("TS-ACK-07", "TS-PUSH-10")
@axis("envelope", {"envelope": wire.envelope(), "fields-in-no-order": wire.ODD_ENVELOPES["fields-in-no-order"]})
async def test_the_outbox_survives_a_kill(own_client: PrivateClient, envelope: bytes) -> None:
    """Submitted while no relay answers, killed, started again: it is pushed, byte for byte."""
    recipient = Device().public
    await own_client.push(recipient, envelope)
    await own_client.revive()
    line = await own_client.pushing("TS-ACK-07")
    await own_client.expect_pushed(line, recipient, envelope, "TS-ACK-07")
    await line.answer(Ack())


@clauses("TS-ACK-07")
async def test_an_ack_is_for_one_blob_alone(own_client: PrivateClient) -> None:
    """Of twelve to one device the first that is pushed is Acked; killed, started again: the eleven others come."""
    recipient, envelopes = Device().public, [wire.envelope() for _ in range(12)]
    for envelope in envelopes:
        await own_client.push(recipient, envelope)
    line = await own_client.pushing()
    acked = await line.expect_push()
    await line.answer(Ack())
    await line.plain(wire.BEAT)
    while not isinstance(await line.next("an answer, or the end", "TS-HB-02", beats=True), Heartbeat | Hangup):
        pass  # others that go the same way
    await own_client.revive()
    missing = set(envelopes) - {acked.envelope}
    while missing:
        line, push = await own_client.next_push("TS-ACK-07")
        missing.discard(push.envelope)
        await line.answer(Ack())


@clauses("TS-ERR-05", "TS-ERR-04")
async def test_a_rejection_survives_a_kill(own_client: PrivateClient) -> None:
    """Rejected, the session is over, killed, started again: the next Push is another one."""
    await own_client.push(Device().public, wire.envelope())
    line = await own_client.pushing()
    await line.expect_push()
    await line.answer(Error())
    await line.expect(Hangup, "TS-SES-05")
    await own_client.revive()
    await own_client.expect_pushed_next("TS-ERR-05")


@clauses("TS-ACK-07")
async def test_an_ack_survives_a_kill(own_client: PrivateClient) -> None:
    """Acked, the session is over, killed, started again: the next Push is another one."""
    await own_client.push(Device().public, wire.envelope())
    line = await own_client.pushing()
    await line.expect_push()
    await line.answer(Ack())
    await line.expect(Hangup, "TS-SES-05")
    await own_client.revive()
    await own_client.expect_pushed_next("TS-ACK-07")
