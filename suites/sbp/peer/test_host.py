"""What the host asks for, on the wire."""

from __future__ import annotations

from typing import Any

from harness.cases import axis, clauses
from harness.errors import TargetRefused
from harness.trial import Trial
from reference_impl.sbp.frames import Close, Hangup, Message, Ping
from suites.sbp import wire
from suites.sbp.peer.meeting import SIDES, Meeting

SENT = {
    "plain": ("app/x", b"\x01\x02\xff"),
    "no-data": ("app/x", b""),
    "letters": ("app/\u00e9\U0001f600", b"\x00"),
    "bom": ("\ufeffapp/x", b"\xef\xbb\xbf"),
    "64-kib": ("app/x", bytes(range(256)) * 256),
}


@clauses("SBP-SEM-01", "SBP-MSG-01", "SBP-MSG-02", "SBP-MSG-03", "SBP-MSG-04", "SBP-FID-09", "SBP-SES-13")
@axis("side", SIDES)
@axis("sent", SENT)
async def test_a_message_is_sent_as_it_is(meeting: Meeting, trial: Trial, side: str, sent: tuple[str, bytes]) -> None:
    """One Message frame: subject and data as the host gave them."""
    line = await meeting.session(side)
    subject, data = sent
    await line.do("send", subject=subject, data=data.hex())
    got = await line.expect(Message, "SBP-SEM-01")
    trial.expect(got.subject == subject, repr(subject), got, "SBP-MSG-03")
    trial.expect(got.data == data, data[:60].hex(), str(got)[:300], "SBP-MSG-04")


@clauses("SBP-TS-03", "SBP-TS-05", "SBP-TS-02")
@axis("ts", [0, 1, -1, 1_700_000_000_123, 2**63 - 1, -(2**63)])
async def test_a_timestamp_is_sent_as_it_is(meeting: Meeting, trial: Trial, ts: int) -> None:
    """Sixty-four bits, signed; a peer that stamps its frames itself is free to."""
    line = await meeting.session("accept")
    try:
        await line.do("send", subject="app/x", data="", ts=str(ts))
    except TargetRefused:
        trial.info("this host cannot give a timestamp")
        return
    got = await line.expect(Message, "SBP-SEM-01")
    trial.expect(got.ts == ts, str(ts), got, "SBP-TS-05" if ts == 0 else "SBP-TS-03")


@clauses("SBP-SES-10", "SBP-FID-09")
@axis("side", SIDES)
async def test_messages_are_sent_in_order(meeting: Meeting, trial: Trial, side: str) -> None:
    """As the host sent them, each under an id of its own."""
    line = await meeting.session(side)
    for n in range(30):
        await line.do("send", subject="app/n", data=f"{n:02x}")
    got = [(await line.expect(Message, "SBP-SEM-01")).data[0] for _ in range(30)]
    trial.expect(got == list(range(30)), "0 to 29", got, "SBP-SES-10")


@clauses("SBP-PING-01", "SBP-PING-03", "SBP-FID-09")
@axis("side", SIDES)
async def test_a_ping_is_sent(meeting: Meeting, trial: Trial, side: str) -> None:
    """An op and nothing else; its Pong is no fault."""
    line = await meeting.session(side)
    await line.do("ping")
    await line.expect(Ping, "SBP-PING-01")
    await line.send(wire.pong())
    await line.stays_open("SBP-PING-01")


@clauses("SBP-CLOSE-01", "SBP-CLOSE-02", "SBP-SES-09")
@axis("side", SIDES)
@axis("reason", {"none": None, "bye": "bye", "letters": "tsch\u00fc\u00df"})
async def test_a_close_is_sent(meeting: Meeting, trial: Trial, side: str, reason: str | None) -> None:
    """A Close with the host's reason, then the end of the transport."""
    line = await meeting.session(side)
    await line.do("close", **({} if reason is None else {"reason": reason}))
    got = await line.expect(Close, "SBP-CLOSE-01")
    trial.expect((got.reason or None) == reason, f"reason {reason!r}", got, "SBP-CLOSE-02")
    end = await line.next("the end of the transport", "SBP-SES-09")
    trial.expect(isinstance(end, Hangup), "the end of the transport", end, "SBP-SES-09")


@clauses("SBP-SEM-02", "SBP-FID-07")
@axis("side", SIDES)
async def test_an_ack_is_of_one_frame(meeting: Meeting, trial: Trial, side: str) -> None:
    """The Ack of the third Message says nothing about the first two."""
    line = await meeting.session(side)
    for n in range(3):
        await line.do("send", subject="app/ack", data=f"{n:02x}")
    sent = [(await line.expect(Message, "SBP-SEM-01")).id for _ in range(3)]
    await line.send(wire.ack(sent[2]))
    told: list[Any] = [data.get("id") for event, data in await line.host_fence() if event == "acked"]
    if not told:
        trial.info("this host is not told of Acks")
    trial.expect(told in ([], [sent[2].hex()]), f"an Ack of {sent[2].hex()} only", told, "SBP-SEM-02")
