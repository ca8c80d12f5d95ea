"""Heartbeats: each is answered by one, in either kind of session, and none is the beginning of an endless exchange."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.errors import TargetRefused
from harness.judging.trial import Broken, Trial
from reference_impl.trueseal.frames import DeliverAck, Hangup, Heartbeat
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest, ReceiveLine
from suites.trueseal.relay.under_test import Device


@clauses("TS-HB-02", "TS-HB-01", "TS-HB-03", "TS-HB-05")
@axis("count", [1, 5, 40])
async def test_heartbeats_are_answered(client: ClientUnderTest, count: int, trial: Trial) -> None:
    """As many answers as Heartbeats, and no more: a delivery behind them shows it.

    Who beats unasked may send any number, and take as many of ours for answers.
    """
    line = await client.receiving()
    unasked = await beats_before_an_ack(client, line, 1)
    await line.plain(*[wire.BEAT] * count)
    for _ in range(count - unasked):
        await line.expect_beat("TS-HB-02")
    extra = await beats_before_an_ack(client, line, 2)
    if unasked:
        trial.info("it beats unasked: answers beyond the first cannot be told from that")
    else:
        trial.expect(not extra, f"{count} answers", f"{extra} more", "TS-HB-05")


async def beats_before_an_ack(client: ClientUnderTest, line: ReceiveLine, id: int) -> int:
    """How many Heartbeats come before a delivery is acked."""
    await line.deliver(id, envelope := wire.envelope())
    beats = 0
    while isinstance(frame := await line.next("a DeliverAck", "TS-HB-01", beats=True), Heartbeat):
        beats += 1
    client.trial.expect(isinstance(frame, DeliverAck), "a DeliverAck", frame, "TS-HB-01")
    client.trial.expect(await client.message() == envelope, "the message", frame, "TS-HB-01")
    return beats


@clauses("TS-HB-02")
async def test_a_heartbeat_in_a_push_session_is_answered(client: ClientUnderTest) -> None:
    """Before the Ack, for which the client waits."""
    recipient, envelope = Device().public, wire.envelope()
    await client.push(recipient, envelope)
    line = await client.pushing()
    await client.expect_pushed(line, recipient, envelope)
    await line.fence("TS-HB-02")
    await line.plain(wire.frame(wire.ACK))
    await line.expect_hangup("TS-SES-05")


@clauses("TS-HB-03", "TS-HB-05")
@needs("heartbeat")
async def test_a_heartbeat_of_its_own(client: ClientUnderTest, trial: Trial) -> None:
    """Five bytes; our answer to it is not the beginning of an endless exchange."""
    line = await client.receiving()
    await client.expect_handled(line, 1, wire.envelope())
    try:
        await client.host.do("heartbeat")
    except TargetRefused as refused:
        raise Broken("TS-HB-01", "a Heartbeat on a session that is up", str(refused)) from None
    await line.expect_beat("TS-HB-03")
    await line.plain(wire.BEAT)
    await client.expect_handled(line, 2, wire.envelope(), "TS-HB-05")
    extra = [frame for frame in line.inbox.drain() if isinstance(frame, Heartbeat)]
    trial.info(f"{len(extra)} answers to our answer")


@clauses("TS-HB-02")
@needs("heartbeat")
async def test_a_heartbeat_without_an_answer_is_forgotten_with_its_session(client: ClientUnderTest) -> None:
    """Its session ends before we answer; the first Heartbeat in the next one is no answer to it, and is answered."""
    line = await client.receiving()
    await client.expect_handled(line, 1, wire.envelope())
    await client.host.do("heartbeat")
    await line.expect_beat("TS-HB-03")
    await line.close()
    await (await client.receiving()).fence("TS-HB-02")


@clauses("TS-HB-02")
@needs("heartbeat")
async def test_an_answer_comes_in_the_session_of_its_heartbeat(client: ClientUnderTest) -> None:
    """Both sessions are open: ours is answered where it was said, also while one of its own waits in the other."""
    line, recipient, envelope = await client.receiving(), Device().public, wire.envelope()
    await client.push(recipient, envelope)
    pushing = await client.pushing()
    await client.expect_pushed(pushing, recipient, envelope)
    await line.fence("TS-HB-02")
    await pushing.fence("TS-HB-02")
    await client.expect_handled(line, 1, wire.envelope())
    await client.host.do("heartbeat")
    await line.expect_beat("TS-HB-03")
    await pushing.fence("TS-HB-02")


@clauses("TS-HB-04")
async def test_a_heartbeat_with_a_body(client: ClientUnderTest, trial: Trial) -> None:
    """An answer, silence and the end are all seen; it is no message."""
    line = await client.receiving()
    await line.plain(wire.frame(wire.HEARTBEAT, b"\x00"))
    await line.deliver(1, sentinel := wire.envelope())
    heard = await line.next("a DeliverAck or the end", "TS-HB-04")
    if isinstance(heard, Hangup):
        line = await client.receiving()
        await line.deliver(1, sentinel)
        await line.expect_ack(1)
    trial.expect(await client.message() == sentinel, "the message behind it alone", heard, "TS-HB-04")
    trial.info("ended" if isinstance(heard, Hangup) else "passed over or answered")
