"""What the host asks for, on the wire."""

from __future__ import annotations

import time
from typing import Any

from harness.catalogue.cases import axis, clauses
from harness.errors import ShimBroken, TargetRefused
from harness.judging.trial import Broken, Nothing, Trial
from reference_impl.sbp.frames import Close, Hangup, Message, Ping
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import SIDES

A_DAY_MS = 86_400_000
SENT = {
    "plain": ("app/x", b"\x01\x02\xff"),
    "no-data": ("app/x", b""),
    "letters": ("app/\u00e9\U0001f600", b"\x00"),
    "bom": ("app/\ufeffx", b"\xef\xbb\xbf"),
    "bom-first": ("\ufeffapp/x", b"\xef\xbb\xbf"),
    "decomposed": ("app/e\u0301", b"e\xcc\x81"),
    "blank-behind": ("app/x \t", b" \r\n"),
    "64-kib": ("app/x", bytes(range(256)) * 256),
    "more-than-64-kib": ("app/x", bytes(range(256)) * 256 + b"\x01"),
}


@clauses("SBP-SEM-01", "SBP-MSG-01", "SBP-MSG-02", "SBP-MSG-03", "SBP-MSG-04", "SBP-FID-07", "SBP-FID-09")
@clauses("SBP-SES-13")
@axis("side", SIDES)
@axis("sent", SENT)
async def test_a_message_is_sent_as_it_is(session: PeerLine, trial: Trial, sent: tuple[str, bytes]) -> None:
    """One Message frame: subject and data as the host gave them, under the id that it was told."""
    subject, data = sent
    try:
        answer = await session.do("send", subject=subject, data=data.hex())
    except TargetRefused:
        trial.expect(not subject.startswith("app/"), "a Message", "a refusal", "SBP-SEM-01")
        trial.info("this host keeps to the namespaces (SBP-SES-14)")
        return
    got = await session.expect(Message, "SBP-SEM-01")
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
async def test_a_timestamp_is_sent_as_it_is(session: PeerLine, trial: Trial, ts: int) -> None:
    """Sixty-four bits, signed. A host that cannot give one refuses it; a stamp of the peer's own clock is recorded."""
    try:
        await session.do("send", subject="app/x", data="", ts=str(ts))
    except TargetRefused:
        trial.info("this host cannot give a timestamp")
        return
    got = await session.expect(Message, "SBP-SEM-01")
    if got.ts is not None and abs(got.ts - time.time() * 1000) < A_DAY_MS:  # none of those above is
        trial.info("this peer stamps its Messages itself, and does not refuse a timestamp")
        return
    trial.expect(got.ts == ts, f"timestamp {ts}", got, "SBP-TS-05" if ts == 0 else "SBP-TS-03")


@clauses("SBP-SES-10", "SBP-FID-09")
@axis("side", SIDES)
async def test_messages_are_sent_in_order(session: PeerLine, trial: Trial) -> None:
    """As the host sent them, each under an id of its own."""
    for n in range(30):
        await session.do("send", subject="app/n", data=f"{n:02x}")
    got = [(await session.expect(Message, "SBP-SEM-01")).data[0] for _ in range(30)]
    trial.expect(got == list(range(30)), "0 to 29", got, "SBP-SES-10")


@clauses("SBP-PING-01", "SBP-PING-03", "SBP-FID-07", "SBP-FID-09")
@axis("side", SIDES)
async def test_a_ping_is_sent(session: PeerLine, trial: Trial) -> None:
    """An op and nothing else, under the id that the host was told; its Pong is no fault."""
    id = told_id(trial, await session.do("ping"))
    ping = await session.expect(Ping, "SBP-PING-01")
    while id is not None and ping.id != id:  # a peer may ping by itself at any time: one of them is the host's
        try:
            ping = await session.expect(Ping, "SBP-FID-07")
        except Nothing:
            raise Broken("SBP-FID-07", f"a Ping under the id that `ping` answered, {id.hex()}", str(ping)) from None
    await session.send(wire.pong())
    await session.stays_open("SBP-PING-01")


@clauses("SBP-CLOSE-01", "SBP-CLOSE-02", "SBP-SES-09")
@axis("side", SIDES)
@axis("reason", {"none": None, "bye": "bye", "letters": "tsch\u00fc\u00df"})
async def test_a_close_is_sent(session: PeerLine, trial: Trial, reason: str | None) -> None:
    """A Close with the host's reason, or the peer's own where it gave none; then the end of the transport."""
    await session.do("close", **({} if reason is None else {"reason": reason}))
    got = await session.expect(Close, "SBP-CLOSE-01")
    trial.expect(reason in (None, got.reason), f"reason {reason!r}", got, "SBP-CLOSE-02")
    end = await session.next("the end of the transport", "SBP-SES-09")
    trial.expect(isinstance(end, Hangup), "the end of the transport", end, "SBP-SES-09")


@clauses("SBP-SEM-02", "SBP-FID-07")
@axis("side", SIDES)
async def test_an_ack_is_of_one_frame(session: PeerLine, trial: Trial) -> None:
    """The Ack of the third Message says nothing about the first two."""
    for n in range(3):
        await session.do("send", subject="app/ack", data=f"{n:02x}")
    sent = [(await session.expect(Message, "SBP-SEM-01")).id for _ in range(3)]
    await session.send(wire.ack(sent[2]))
    told = [data["id"].hex() for event, data in await session.host_fence() if event == "acked"]
    if not told:
        trial.info("this host is not told of Acks")
    trial.expect(told in ([], [sent[2].hex()]), f"an Ack of {sent[2].hex()} only", told, "SBP-SEM-02")
