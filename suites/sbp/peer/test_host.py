"""What the host asks for, on the wire."""

from __future__ import annotations

import time
from typing import Any

from harness.cases import axis, clauses
from harness.errors import ShimBroken, TargetRefused
from harness.trial import Broken, Nothing, Trial
from reference_impl.sbp.frames import Close, Hangup, Message, Ping
from suites.sbp import wire
from suites.sbp.peer.meeting import SIDES, Meeting

A_DAY_MS = 86_400_000
SENT = {
    "plain": ("app/x", b"\x01\x02\xff"),
    "no-data": ("app/x", b""),
    "letters": ("app/\u00e9\U0001f600", b"\x00"),
    "bom": ("\ufeffapp/x", b"\xef\xbb\xbf"),
    "64-kib": ("app/x", bytes(range(256)) * 256),
}


@clauses("SBP-SEM-01", "SBP-MSG-01", "SBP-MSG-02", "SBP-MSG-03", "SBP-MSG-04", "SBP-FID-07", "SBP-FID-09")
@clauses("SBP-SES-13")
@axis("side", SIDES)
@axis("sent", SENT)
async def test_a_message_is_sent_as_it_is(meeting: Meeting, trial: Trial, side: str, sent: tuple[str, bytes]) -> None:
    """One Message frame: subject and data as the host gave them, under the id that it was told."""
    line = await meeting.session(side)
    subject, data = sent
    answer = await line.do("send", subject=subject, data=data.hex())
    got = await line.expect(Message, "SBP-SEM-01")
    trial.expect(got.subject == subject, repr(subject), got, "SBP-MSG-03")
    trial.expect(got.data == data, data[:60].hex(), str(got)[:300], "SBP-MSG-04")
    if (id := told_id(trial, answer)) is not None:
        trial.expect(got.id == id, f"the id that `send` answered, {id.hex()}", got, "SBP-FID-07")


def told_id(trial: Trial, answer: dict[str, Any]) -> bytes | None:
    """The id that an operation answered: what the host knows an Ack by."""
    if answer.get("id") is None:
        trial.info("this host is not told the ids of its frames")
        return None
    try:
        return bytes.fromhex(answer["id"])
    except (TypeError, ValueError):
        raise ShimBroken(f"an id travels as hex, this is none: {answer['id']!r}") from None


@clauses("SBP-TS-03", "SBP-TS-05", "SBP-TS-02")
@axis("ts", [0, 1, -1, 1_700_000_000_123, 2**63 - 1, -(2**63)])
async def test_a_timestamp_is_sent_as_it_is(meeting: Meeting, trial: Trial, ts: int) -> None:
    """Sixty-four bits, signed. A host that cannot give one refuses it; a stamp of the peer's own clock is recorded."""
    line = await meeting.session("accept")
    try:
        await line.do("send", subject="app/x", data="", ts=str(ts))
    except TargetRefused:
        trial.info("this host cannot give a timestamp")
        return
    got = await line.expect(Message, "SBP-SEM-01")
    if got.ts is not None and abs(got.ts - time.time() * 1000) < A_DAY_MS:  # none of those above is
        trial.info("this peer stamps its Messages itself, and does not refuse a timestamp")
        return
    trial.expect(got.ts == ts, f"timestamp {ts}", got, "SBP-TS-05" if ts == 0 else "SBP-TS-03")


@clauses("SBP-SES-10", "SBP-FID-09")
@axis("side", SIDES)
async def test_messages_are_sent_in_order(meeting: Meeting, trial: Trial, side: str) -> None:
    """As the host sent them, each under an id of its own."""
    line = await meeting.session(side)
    for n in range(30):
        await line.do("send", subject="app/n", data=f"{n:02x}")
    got = [(await line.expect(Message, "SBP-SEM-01")).data[0] for _ in range(30)]
    trial.expect(got == list(range(30)), "0 to 29", got, "SBP-SES-10")


@clauses("SBP-PING-01", "SBP-PING-03", "SBP-FID-07", "SBP-FID-09")
@axis("side", SIDES)
async def test_a_ping_is_sent(meeting: Meeting, trial: Trial, side: str) -> None:
    """An op and nothing else, under the id that the host was told; its Pong is no fault."""
    line = await meeting.session(side)
    id = told_id(trial, await line.do("ping"))
    ping = await line.expect(Ping, "SBP-PING-01")
    while id is not None and ping.id != id:  # a peer may ping by itself at any time: one of them is the host's
        try:
            ping = await line.expect(Ping, "SBP-FID-07")
        except Nothing:
            raise Broken("SBP-FID-07", f"a Ping under the id that `ping` answered, {id.hex()}", str(ping)) from None
    await line.send(wire.pong())
    await line.stays_open("SBP-PING-01")


@clauses("SBP-CLOSE-01", "SBP-CLOSE-02", "SBP-SES-09")
@axis("side", SIDES)
@axis("reason", {"none": None, "bye": "bye", "letters": "tsch\u00fc\u00df"})
async def test_a_close_is_sent(meeting: Meeting, trial: Trial, side: str, reason: str | None) -> None:
    """A Close with the host's reason, or the peer's own where it gave none; then the end of the transport."""
    line = await meeting.session(side)
    await line.do("close", **({} if reason is None else {"reason": reason}))
    got = await line.expect(Close, "SBP-CLOSE-01")
    trial.expect(reason in (None, got.reason), f"reason {reason!r}", got, "SBP-CLOSE-02")
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
    told = [data["id"].hex() for event, data in await line.host_fence() if event == "acked"]
    if not told:
        trial.info("this host is not told of Acks")
    trial.expect(told in ([], [sent[2].hex()]), f"an Ack of {sent[2].hex()} only", told, "SBP-SEM-02")
