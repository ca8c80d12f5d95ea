"""Which datagrams a node delivers (sheet 1.2 to 1.6), each to a node of its own."""

from __future__ import annotations

from functools import partial

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.bccn.node.under_test import MOST_UNFENCED, NodeUnderTest, Ports
from suites.bccn.reading import Reading, judge_reading, key_of
from suites.bccn.wire import body, datagram, framed
from suites.common.names import unique

ENVELOPES, BODIES = load("bccn/envelopes"), load("bccn/bodies")
FORGERIES, EXAMPLES = load("bccn/forgeries"), load("bccn/examples")


async def reads(ports: Ports, vector: Vector) -> None:
    """Each datagram goes to a fresh node, so that no tracker remembers another vector's sender."""
    chan = vector.expected.get("chan", "")
    name = chan[1:].removesuffix("/*") if len(chan) > 1 and chan[0] == "!" else ""
    async with ports() as port:
        node = await port.node(key_of(vector), name)
        judge_reading(vector, only(await node.hears(vector.given("wire"))))


def only(got: list[Reading]) -> Reading | None:
    if len(got) > 1:
        raise Broken("BCCN-DLV-01", "one delivery at most", str(got))
    return got[0] if got else None


@clauses(*ENVELOPES.clauses)
async def test_envelope(ports: Ports, each: Each) -> None:
    """A datagram whose envelope is sound is delivered, any other is dropped and the node goes on."""
    await each(ENVELOPES, partial(reads, ports))


@clauses(*BODIES.clauses)
async def test_body(ports: Ports, each: Each) -> None:
    """A body of three sound fields is delivered byte for byte, any other is dropped."""
    await each(BODIES, partial(reads, ports))


@clauses(*FORGERIES.clauses)
async def test_forgery(ports: Ports, each: Each) -> None:
    """Under a key only the body's own tag is accepted."""
    await each(FORGERIES, partial(reads, ports))


@clauses(*EXAMPLES.clauses)
async def test_example(ports: Ports, each: Each) -> None:
    """The specification's examples: the right ones are delivered, those whose len is wrong are dropped."""
    await each(EXAMPLES, partial(reads, ports))


@clauses("BCCN-ENV-09")
@axis(
    "buffer",
    [512, 576, 1024, 1280, 1400, 1401, 1472, 1500, 1518, 1536, 2048, 4096, 8192, 9000, 16384, 32768, 65000, 65506],
)
@axis("more", {"one-byte": 1, "many-bytes": 1000})
async def test_a_cut_datagram_does_not_look_whole(node: NodeUnderTest, buffer: int, more: int) -> None:
    """A len that is true only for the first N bytes of a datagram is a lie, whatever the size of the receive buffer."""
    src = unique()
    length = buffer - len(f"BCCN1[{buffer}]")
    content = body(src, 1, "c")
    lie = f"BCCN1[{length}]".encode() + content + b"x" * min(length - len(content) + more, 65_507 - buffer + length)
    lie = lie[:65_507]
    await node.expect_dropped(lie)
    await node.expect_delivered(datagram(src, 1, "c", b"x"), "BCCN-INT-13")


@clauses("BCCN-SIZ-04", "BCCN-ENV-09")
@axis("size", [1400, 1401, 1473, 1501, 2049, 9001, 65507])
async def test_large_datagrams_arrive_whole_or_not_at_all(node: NodeUnderTest, trial: Trial, size: int) -> None:
    """What happens to more than 1400 bytes is free, but nothing is ever delivered cut."""
    src = unique()
    payload = b"x" * (size - len(framed(body(src, 1, "c", b"x" * (size - 60)))) + size - 60)
    data = datagram(src, 1, "c", payload)
    trial.expect(len(data) == size, f"the harness to build {size} bytes", len(data))
    got = await node.hears(data)
    whole = all(said.payload == payload for said in got)
    trial.expect(whole, "the whole payload or nothing", [len(said.payload) for said in got], "BCCN-ENV-09")
    if size == 1400:
        trial.expect(len(got) == 1, "1400 bytes are within the limit: delivered", got, "BCCN-BODY-07")
    trial.info(f"{size} bytes: {'delivered' if got else 'dropped'}")


@clauses("BCCN-SIZ-02", "BCCN-DLV-01")
@axis("size", [255, 256, 511, 512, 513, 575, 576, 577, 1023, 1024, 1025, 1279, 1280, 1281, 1399, 1400])
async def test_every_size_within_the_limit_is_delivered(node: NodeUnderTest, trial: Trial, size: int) -> None:
    """Whatever buffer a node reads into, a datagram that fills it is no less a datagram."""
    src = unique()
    data = next(data for more in range(size) if len(data := datagram(src, 1, "c", b"x" * more)) == size)
    said = await node.expect_delivered(data)
    trial.expect(data.endswith(b"|" + said.payload), "the whole payload", len(said.payload))


@clauses("BCCN-DLV-07", "BCCN-ENV-22")
async def test_a_hundred_malformed_datagrams_do_no_harm(node: NodeUnderTest, trial: Trial) -> None:
    """Malformed input is dropped and the node keeps working."""
    bad = [vector.given("wire") for vector in (*ENVELOPES.vectors, *BODIES.vectors) if vector.result == "invalid"][:100]
    for start in range(0, len(bad), MOST_UNFENCED - 5):
        got = await node.hears(*bad[start : start + MOST_UNFENCED - 5])
        trial.expect(not got, "no delivery", got)
    trial.expect(len(bad) == 100, "a hundred datagrams", len(bad))
    await node.expect_delivered(datagram(unique(), 1, "c", b"x"))


@clauses("BCCN-ENV-22")
async def test_every_beginning_of_a_datagram_is_survived(node: NodeUnderTest, trial: Trial) -> None:
    """A datagram cut anywhere is dropped, and the whole one is still delivered."""
    whole = datagram("cut", 1, "chan", b"payload")
    got = await node.hears(*(whole[:size] for size in range(len(whole))))
    trial.expect(not got, "no delivery of a beginning", got)
    await node.expect_delivered(whole)


@clauses("BCCN-INT-18")
@axis("algo", ["hmac", "crc32", "sig", "unknown"])
async def test_an_unverified_check_is_never_authentication(node: NodeUnderTest, trial: Trial, algo: str) -> None:
    """Without a key a datagram with a check may be delivered or dropped, but is never called authenticated."""
    got = await node.hears(framed(b"a:1:c|x", f":{algo}=a1b2c3d4e5f60718"))
    trial.expect(not any(said.authenticated for said in got), "not called authenticated", got)
    trial.info(f"{algo} without a key: {'delivered, not authenticated' if got else 'dropped'}")
