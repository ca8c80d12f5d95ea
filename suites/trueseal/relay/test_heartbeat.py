"""Heartbeats: each is answered by one, in either kind of session, at any time."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Ack, Error, Hangup, Heartbeat
from suites.trueseal import wire
from suites.trueseal.line import TruesealLine
from suites.trueseal.relay.under_test import RelayUnderTest

SESSIONS = axis("session", ["push", "receive"])


async def opened(relay: RelayUnderTest, session: str) -> TruesealLine:
    return await relay.pusher() if session == "push" else await relay.device()


@clauses("TS-HB-02", "TS-HB-01", "TS-FRM-04", "TS-HB-03")
@SESSIONS
async def test_a_heartbeat_is_answered(relay: RelayUnderTest, session: str) -> None:
    """Unsolicited, as the first frame of a session, of exactly five bytes."""
    line = await opened(relay, session)
    await line.plain(wire.BEAT)
    await line.expect_beat("TS-HB-02")


@clauses("TS-HB-05", "TS-HB-02")
@SESSIONS
@axis("count", [1, 2, 7, 50])
async def test_as_many_answers_as_heartbeats(relay: RelayUnderTest, session: str, count: int, trial: Trial) -> None:
    """So many at once, and then another one as a fence: one answer each, and no more."""
    line = await opened(relay, session)
    await line.plain(*[wire.BEAT] * count)
    for _ in range(count):
        await line.expect_beat("TS-HB-02")
    await line.fence("TS-HB-02")
    extra = [frame for frame in line.inbox.drain() if isinstance(frame, Heartbeat)]
    trial.expect(not extra, f"{count} answers to {count} Heartbeats", f"{len(extra)} more", "TS-HB-05")


@clauses("TS-HB-02")
async def test_an_answer_comes_in_the_session_of_its_heartbeat(relay: RelayUnderTest) -> None:
    """Of both kinds two are open: each Heartbeat is answered where it was said."""
    lines = [await relay.pusher(), await relay.device(), await relay.device(), await relay.pusher()]
    for line in lines:
        await line.plain(*[wire.BEAT] * 3)
        for _ in range(3):
            await line.expect_beat("TS-HB-02")


@clauses("TS-HB-02", "TS-ACK-06")
async def test_heartbeats_among_pushes(relay: RelayUnderTest) -> None:
    """Neither takes the other's answer; a relay may have Heartbeats of its own among them."""
    device, pusher = await relay.device(), await relay.pusher()
    envelopes = [wire.blob() for _ in range(6)]
    for envelope in envelopes:
        await pusher.push(device.device, envelope)
        await pusher.plain(wire.BEAT)
    acks = beats = 0
    while acks < 6 or beats < 6:
        heard = await pusher.next("an Ack or a Heartbeat", "TS-HB-02", beats=True)
        pusher.trial.expect(isinstance(heard, Ack | Heartbeat), "an Ack or a Heartbeat", heard, "TS-HB-02")
        acks, beats = acks + isinstance(heard, Ack), beats + isinstance(heard, Heartbeat)
    pusher.trial.expect(acks == 6, "six Acks to six pushes", acks, "TS-ACK-06")
    await device.expect_deliveries(envelopes)


@clauses("TS-HB-02")
async def test_a_heartbeat_while_blobs_wait(relay: RelayUnderTest) -> None:
    """A device that has not acked anything is answered, between deliveries or behind them."""
    device, envelopes = await relay.device(), [wire.blob(5_000) for _ in range(20)]
    pusher = await relay.pusher()
    await pusher.push(device.device, *envelopes)
    await device.plain(wire.BEAT)
    await device.expect_beat("TS-HB-02")
    await pusher.expect_answers(*[Ack] * 20)
    await device.expect_deliveries(envelopes)


@clauses("TS-HB-04")
@SESSIONS
async def test_a_heartbeat_with_a_body(relay: RelayUnderTest, session: str, trial: Trial) -> None:
    """An answer, silence and the end are all seen; it is no Push."""
    line = await opened(relay, session)
    await line.plain(wire.frame(wire.HEARTBEAT, b"\x00"), wire.BEAT)
    heard = await line.next("a Heartbeat or the end", "TS-HB-04", beats=True)
    trial.expect(not isinstance(heard, Ack | Error), "no answer to a Push", heard, "TS-HB-04")
    trial.info("ended" if isinstance(heard, Hangup) else "still open")
