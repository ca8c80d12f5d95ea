"""1400 bytes and no more (sheet 1.10)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.bccn.node import LEAST_CAP
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import MAX_DATAGRAM, SECRET, datagram

KEYS = {"unsigned": b"", "signed": SECRET}
SRC, CHAN = "me", "c"
CHANS = {"short": CHAN, "long": "c" * 1024}


def payload_for(size: int, key: bytes, src: str = SRC, chan: str = CHAN, seq: int = 1) -> bytes:
    """The payload that makes a datagram of that size."""
    spare = size - len(datagram(src, seq, chan, b"x" * 1000, key))
    payload = b"x" * (1000 + spare)
    return payload[: len(payload) - (len(datagram(src, seq, chan, payload, key)) - size)]


async def assert_nothing_sent(node: NodeUnderTest, clause: str) -> None:
    """The next datagram on the port is that of a good send, with the number that nobody took."""
    await node.expect_unmoved(1, clause)


@clauses("BCCN-SIZ-01", "BCCN-API-13")
@axis("size", [1401, 1402, 1422, 1500, 9000, 65507])
@axis("chan", CHANS)
@axis("key", KEYS)
async def test_more_is_never_sent(port: BroadcastPort, trial: Trial, size: int, chan: str, key: bytes) -> None:
    """A datagram of more than 1400 bytes, all counted, is refused and not sent, however short its payload is."""
    node = await port.node(key=key, seq=1)
    refused = await node.refuses_send(chan, payload_for(size, key, chan=chan), SRC)
    trial.expect(refused, f"a refusal of {size} bytes", "sent")
    await assert_nothing_sent(node, "BCCN-SIZ-01")


@clauses("BCCN-SIZ-02")
@axis("size", [1399, 1400])
@axis("chan", CHANS)
@axis("key", KEYS)
async def test_exactly_the_limit_is_sent(port: BroadcastPort, trial: Trial, size: int, chan: str, key: bytes) -> None:
    """1400 bytes are allowed. It is a ceiling: a binding that caps its payloads refuses long ones, and is reported."""
    node = await port.node(key=key, seq=1)
    payload = payload_for(size, key, chan=chan)
    wanted = datagram(SRC, 1, chan, payload, key)
    assert len(wanted) == size, f"{len(wanted)} bytes built instead of {size}"
    refused = await node.refuses_send(chan, payload, SRC)
    if refused and len(payload) > LEAST_CAP:
        trial.info(f"a payload of {len(payload)} bytes is refused")
        return await assert_nothing_sent(node, "BCCN-SIZ-02")
    trial.expect(not refused, f"{size} bytes to be sent", "a refusal")
    await node.expect_sent(wanted)


@clauses("BCCN-SIZ-03")
@axis("over", {"by-22": 1400, "by-1": 1379})
async def test_the_tag_counts(port: BroadcastPort, trial: Trial, over: int) -> None:
    """What just fits unsigned is too long once the 22 bytes of its tag are added."""
    node = await port.node(key=SECRET, seq=1)
    payload = payload_for(over, b"")
    trial.expect(await node.refuses_send(CHAN, payload, SRC), f"a refusal of {over} + 22 bytes", "sent")
    await assert_nothing_sent(node, "BCCN-SIZ-03")


@clauses("BCCN-SIZ-03")
@needs("call_key")
@axis("over", {"by-22": 1400, "by-1": 1379})
async def test_the_tag_of_a_calls_own_key_counts(port: BroadcastPort, trial: Trial, over: int) -> None:
    """A key that comes with the call makes the datagram longer too."""
    node = await port.node(seq=1)
    refused = await node.refuses_send(CHAN, payload_for(over, b""), SRC, key=SECRET)
    trial.expect(refused, f"a refusal of {over} + 22 bytes", "sent")
    await assert_nothing_sent(node, "BCCN-SIZ-03")


@clauses("BCCN-SIZ-05", "BCCN-SIZ-02", "BCCN-SRC-01", "BCCN-CHN-01")
@axis("key", KEYS)
async def test_the_largest_header_fits(port: BroadcastPort, trial: Trial, key: bytes) -> None:
    """src of 128, seq of 20 and chan of 1024 characters leave 214 bytes of payload unsigned, 192 signed."""
    node = await port.node(key=key, seq=2**64 - 1)
    src, chan, payload = "s" * 128, "c" * 1024, b"x" * (192 if key else 214)
    wanted = datagram(src, 2**64 - 1, chan, payload, key)
    trial.expect(len(wanted) == MAX_DATAGRAM, "the harness to build 1400 bytes", len(wanted))
    await node.send(chan, payload, src)
    await node.expect_sent(wanted)
