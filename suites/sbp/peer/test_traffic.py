"""An open session: what flows, what is answered, and what is left alone."""

from __future__ import annotations

from typing import Any

from harness.catalogue.cases import axis, clauses, needs
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Trial
from reference_impl.sbp.frames import Ack, Error, Pong
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import SIDES, PeerUnderTest
from suites.sbp.wire import A

TS = 1_700_000_000_123
GOLDEN = [v for v in load("sbp/golden").vectors if v.expected["frame"]["kind"] != "close"]


@clauses("SBP-INT-02", "SBP-MSG-01", "SBP-MSG-02", "SBP-MSG-07", "SBP-TS-01", "SBP-HS-01")
@axis("side", SIDES)
@axis("vector", {v.name: v for v in GOLDEN})
async def test_a_golden_frame_means_the_same_over_websocket(
    peer: PeerUnderTest, trial: Trial, side: str, vector: Vector
) -> None:
    """The bytes of the sheet are taken as they are, whatever carries them."""
    raw, fields = vector.given("wire"), vector.expected["frame"]
    line = await peer.line(side)
    if fields["kind"] == "handshake":
        line.peer_id = fields["peer_id"]
        await line.send(raw)
        await line.expect_handshake()
    else:
        await line.greet()
        await line.send(raw)
    if line.hosted and fields["kind"] in ("handshake", "message"):
        await line.established()
    if line.hosted and fields["kind"] == "message":
        told = await line.expect_event("message", "SBP-INT-02")
        expect_message(trial, told, fields["subject"], bytes.fromhex(fields["data"]), fields["ts"], "SBP-INT-02")
    if fields["kind"] not in ("ack", "pong", "error"):  # whether these are welcome here is free
        await line.stays_open("SBP-INT-02")


def expect_message(
    trial: Trial, told: dict[str, Any], subject: str, data: bytes, ts: str | None = None, clause: str = "SBP-MSG-04"
) -> None:
    """The host got this Message; its timestamp may be left out, never changed."""
    observed = f"{told['subject']!r} {told['data'][:60].hex()}"
    trial.expect((told["subject"], told["data"]) == (subject, data), f"{subject!r} {data[:60].hex()}", observed, clause)
    if told["ts"] is not None:
        trial.expect(str(told["ts"]) == ts, f"timestamp {ts}", told["ts"], "SBP-TS-06")


DATA = {
    "empty": b"",
    "nul": b"\x00",
    "ff": b"\xff",
    "crlf": b"\r\n\x00\r\n",
    "no-utf8": b"\xc3\x28\xed\xa0\x80",
    "a-frame": wire.ping(A),
    "json": b'{"a": 1}',
    "256-kib": bytes(range(256)) * 1024,
}


@clauses("SBP-MSG-04", "SBP-MSG-01")
@axis("side", SIDES)
@axis("data", DATA)
async def test_data_arrives_as_it_was_sent(session: PeerLine, trial: Trial, data: bytes) -> None:
    """Opaque: every byte, also none."""
    await session.send(wire.message("app/data", data))
    expect_message(trial, await session.expect_event("message"), "app/data", data)


SUBJECTS = {
    "two-byte-letter": "app/\u00e9",
    "four-byte-letter": "app/\U0001f600",
    "bom": "app/\ufeffx",
    "decomposed": "app/e\u0301",
    "256-bytes": "app/" + "x" * 252,
    "256-bytes-of-letters": "app/" + "\u00e9" * 126,
}


@clauses("SBP-MSG-03", "SBP-SES-13", "SBP-LIM-05", "SBP-MSG-02")
@axis("subject", SUBJECTS)
async def test_a_subject_arrives_as_it_was_sent(session: PeerLine, trial: Trial, subject: str) -> None:
    """Nothing is stripped, folded or cut, up to 256 bytes."""
    await session.send(wire.message(subject, b"\x01"))
    expect_message(trial, await session.expect_event("message"), subject, b"\x01", clause="SBP-MSG-03")


@clauses("SBP-SES-14", "SBP-LIM-06", "SBP-MSG-03")
@axis("subject", {"rpc": "rpc/x", "event": "event/x", "stream": "stream/x", "bare": "x", "long": "app/" + "x" * 400})
async def test_other_subjects_are_carried_or_refused(session: PeerLine, trial: Trial, subject: str) -> None:
    """Namespaces and longer subjects are the receiver's choice, and recorded; but it changes none."""
    await session.send(wire.message(subject), wire.ping())
    heard = await session.maybe_next()
    if not isinstance(heard, Pong):
        trial.info(f"{subject[:40]} is {'refused' if heard else 'taken, or not: nothing is said to it'}")
    elif session.hosted and (told := [data for event, data in await session.host_fence() if event == "message"]):
        expect_message(trial, told[0], subject, b"", clause="SBP-MSG-03")


@clauses("SBP-SES-10", "SBP-TS-06")
@axis("side", SIDES)
async def test_messages_are_handled_in_the_order_of_arrival(session: PeerLine, trial: Trial) -> None:
    """A timestamp orders nothing: decreasing, negative and far-future ones, and none, are delivered as they came."""
    stamped = [TS - n for n in range(30)] + [-1, 2**63 - 1, 0, -(2**63), 5, 4, 3]
    times = [ts for stamp in stamped for ts in (stamp, None)]  # those with one and those without are not two queues
    await session.send(*(wire.message("app/order", n.to_bytes(2, "big"), ts=ts) for n, ts in enumerate(times)))
    for n, ts in enumerate(times):
        told = await session.expect_event("message", "SBP-SES-10")
        expect_message(trial, told, "app/order", n.to_bytes(2, "big"), None if ts is None else str(ts), "SBP-SES-10")


@clauses("SBP-TS-01", "SBP-FLAGS-07")
@axis("side", SIDES)
async def test_every_kind_may_have_a_timestamp(line: PeerLine) -> None:
    """Bit 0 is supported on each kind, even by a peer that never sets it."""
    await line.greet(ts=TS)
    await line.send(wire.ping(ts=TS), wire.message("app/x", b"\x01", ts=-1))
    await line.stays_open("SBP-TS-01")


@clauses("SBP-SES-06", "SBP-FID-08", "SBP-FID-09", "SBP-PING-01", "SBP-PING-03")
@axis("side", SIDES)
async def test_each_ping_has_its_pong(session: PeerLine, trial: Trial) -> None:
    """As many Pongs as Pings, each under a fresh id, with a timestamp or without."""
    await session.send(*(wire.ping(ts=TS if n % 2 else None) for n in range(20)))
    pongs = [await session.expect(Pong, "SBP-SES-06") for _ in range(20)]
    more = await session.wire_fence()
    trial.expect(not more, "twenty Pongs", f"{len(pongs)} and then {more}", "SBP-SES-06")


@clauses("SBP-FID-02", "SBP-FID-03", "SBP-FID-09", "SBP-FID-08")
async def test_ids_are_random(session: PeerLine, trial: Trial) -> None:
    """A thousand ids: none twice, and no bit that stands still."""
    await session.send(*(wire.ping() for _ in range(1000)))
    raw = [(await session.expect(Pong, "SBP-SES-06")).id for _ in range(1000)]
    trial.restart()  # a thousand Pongs are no evidence: a few ids are
    trial.said("peer", "harness", "frame", f"1000 Pongs, the first ids: {' '.join(id.hex() for id in raw[:4])}")
    trial.expect(len(set(raw)) == 1000, "a thousand ids", len(set(raw)), "SBP-FID-09")
    ids = [int.from_bytes(id, "big") for id in raw]
    for bit in range(128):
        ones = sum(id >> bit & 1 for id in ids)
        place, clause = f"bit {bit % 8} of byte {15 - bit // 8}", "SBP-FID-03" if ones in (0, 1000) else "SBP-FID-02"
        # Six standard deviations: a fair coin fails this once in a thousand million.
        trial.expect(400 <= ones <= 600, "each bit set in 400 to 600 of 1000 ids", f"{place} in {ones} of them", clause)


@clauses("SBP-SES-08", "SBP-SEM-01")
@axis("side", SIDES)
async def test_no_ack_unless_asked_for(session: PeerLine, trial: Trial) -> None:
    """A Message is taken silently."""
    await session.send(*(wire.message("app/quiet", bytes([n])) for n in range(10)))
    said = await session.wire_fence()
    trial.expect(not [f for f in said if isinstance(f, Ack)], "no Ack", said)


@clauses("SBP-ACK-03", "SBP-FID-07", "SBP-ACK-04", "SBP-ACK-01", "SBP-FID-08", "SBP-FID-09", "SBP-SEM-02")
@needs("receipt")
@axis("side", SIDES)
async def test_a_receipt_names_each_message(peer: PeerUnderTest, trial: Trial, side: str) -> None:
    """In receipt mode there is one Ack for each Message, with its id and under an id of its own."""
    line = await peer.session(side, receipt=True)
    ids = [wire.new_id() for _ in range(20)]
    acks = await receipts(line, ids)
    named = sorted(of for of in acks if of in ids)  # Acks of the Handshake or a Ping are allowed too
    trial.expect(named == sorted(ids), "each Message acknowledged once", f"{len(named)} of 20", "SBP-ACK-03")
    strange = [of.hex() for of in acks if of not in line.sent]
    trial.expect(not strange, "Acks of frames that were sent", strange, "SBP-ACK-03")


async def receipts(line: PeerLine, ids: list[bytes]) -> list[bytes]:
    """What the peer acknowledges when these Messages come, in its order; ends the session.

    Only when all have come is the session ended: a peer need not pay its debts behind a frame that ends it.
    """
    await line.send(*(wire.message("app/receipt", b"", id) for id in ids))
    acks: list[bytes] = []
    while not set(ids) <= set(acks):
        acks.append((await line.expect(Ack, "SBP-ACK-03")).of)
    return acks + [frame.of for frame in await line.wire_fence() if isinstance(frame, Ack)]


@clauses("SBP-SES-10", "SBP-ACK-03")
@needs("receipt")
async def test_receipts_come_in_the_order_of_arrival(peer: PeerUnderTest, trial: Trial) -> None:
    """Frames are handled one after the other."""
    line = await peer.session("accept", receipt=True)
    ids = [wire.new_id() for _ in range(20)]
    acks = await receipts(line, ids)
    if [of for of in acks if of in ids] != ids:
        trial.info("receipts overtake one another")


STRAY = {
    "pong": wire.pong,
    "ack-of-nothing": lambda id: wire.ack(bytes(16), id),
    "ack-of-an-ack": lambda id: wire.ack(id, id),
}


@clauses("SBP-SES-07")
@axis("side", SIDES)
@axis("frame", STRAY)
async def test_a_stray_answer_is_left_alone(session: PeerLine, trial: Trial, frame: Any) -> None:
    """A Pong or an Ack that nobody waits for: usually ignored, and recorded if not."""
    await session.send(frame(wire.new_id()))
    said = await session.wire_fence()
    if said or not session.survived:
        trial.info(f"not ignored: {'; '.join(map(str, said)) or 'the session ends'}")


@clauses("SBP-CTRL-04", "SBP-CMP-01")
@axis("side", SIDES)
@axis("op", [4, 5, 16, 255])
async def test_a_reserved_op_is_not_one_of_ours(session: PeerLine, trial: Trial, op: int) -> None:
    """It is ignored, refused or the end: but it gets no Pong, and it is no Handshake and no Close."""
    await session.send(wire.control(op, b"" if op < 16 else b'{"peerId":"x"}'))
    said = await session.wire_fence()
    trial.expect(not [f for f in said if isinstance(f, Pong)], "no Pong", said, "SBP-CMP-01")
    if not session.survived or said:
        trial.info(f"op {op}: {'; '.join(map(str, said)) or 'the session ends'}")


ERRORS = {
    "application": (wire.error(2000, "app"), True),
    "application-max": (wire.error(0xFFFF, "app"), True),
    "details": (wire.error(2001, "app", b"\xff\x00\xc3\x28" * 8), True),
    "no-message": (wire.error(2002), True),
    "feature": (wire.error(1003, "what"), False),
    "violation": (wire.error(1000, "you"), False),
    "zero": (wire.error(0, "odd"), False),
}


@clauses("SBP-SES-11", "SBP-ERR-05", "SBP-ERR-02")
@axis("side", SIDES)
@axis("error", ERRORS)
async def test_an_error_is_no_error(session: PeerLine, trial: Trial, error: tuple[bytes, bool]) -> None:
    """An Error is taken, details and all, and never answered with one; the application's ends nothing."""
    await session.send(error[0])
    said = await session.wire_fence()
    trial.expect(not said, "no answer", said, "SBP-ERR-05")
    if not session.survived and error[1]:
        trial.warn("SBP-SES-11", "an Error of the application ends the session")


@clauses("SBP-CLOSE-01", "SBP-SES-09")
@axis("side", SIDES)
@axis("reason", {"none": b"", "bye": b"bye", "letters": "tsch\u00fc\u00df".encode()})
async def test_a_close_is_taken(session: PeerLine, trial: Trial, reason: bytes) -> None:
    """With a reason or without, a Close is no fault: no Error answers it."""
    await session.send(wire.close(reason))
    said = await session.maybe_next()
    trial.expect(not isinstance(said, Error), "the end, or silence", said, "SBP-CLOSE-01")
    await session.close()
    if session.hosted and await session.maybe_event("closed") is None:
        trial.info("this host is not told of the end")


@clauses("SBP-CLOSE-02", "SBP-CMP-01")
async def test_a_reason_that_is_no_utf8(peer: PeerUnderTest, session: PeerLine, trial: Trial) -> None:
    """Nothing is said about it: taken, or an Error. The peer serves others on."""
    await session.send(wire.close(b"\xff\xfe"))
    said = await session.maybe_next()
    trial.info("rejected" if isinstance(said, Error) else "taken")
    await (await peer.session("accept")).stays_open("SBP-CMP-01")


@clauses("SBP-SES-01", "SBP-MSG-04")
async def test_a_fragmented_message_is_one_frame(session: PeerLine, trial: Trial) -> None:
    """A frame is a whole WebSocket message, however it was cut on the way."""
    raw = wire.message("app/pieces", bytes(range(40)))
    await session.binary([raw[:1], raw[1:18], raw[18:30], raw[30:]])
    if session.hosted:
        expect_message(
            trial, await session.expect_event("message"), "app/pieces", bytes(range(40)), clause="SBP-SES-01"
        )
    await session.stays_open("SBP-SES-01")


@clauses("SBP-MSG-04", "SBP-SES-01")
async def test_a_second_frame_in_a_message_is_data(session: PeerLine, trial: Trial) -> None:
    """There is no length of a frame: what follows the subject is data, whatever it looks like."""
    inner = wire.message("app/inner", b"\x02")
    await session.send(wire.message("app/outer", b"\x01") + inner)
    told = await session.expect_event("message")
    expect_message(trial, told, "app/outer", b"\x01" + inner)
    rest = [e for e in await session.host_fence() if e[0] == "message"]
    if rest:
        raise Broken("SBP-MSG-04", "one Message", str(rest))
