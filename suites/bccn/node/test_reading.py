"""Which datagrams a node delivers (sheet 1.2 to 1.6), each to a node of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harness.cases import axis, clauses
from harness.trial import Broken, Trial
from harness.vectors import Vector, VectorFile, load
from suites.bccn.segment import MOST_UNFENCED, Node, Segment, unique
from suites.bccn.wire import Said, body, datagram, framed, judge_reading, key_of

ENVELOPES, BODIES = load("bccn/envelopes"), load("bccn/bodies")
FORGERIES, EXAMPLES = load("bccn/forgeries"), load("bccn/examples")
Each = Callable[..., Awaitable[None]]


async def judge_all(trial: Trial, each: Each, file: VectorFile) -> None:
    """Each datagram goes to a fresh node, so that no tracker remembers another vector's sender."""

    async def try_one(vector: Vector) -> None:
        segment = Segment(trial)
        try:
            chan = vector.expected.get("chan", "")
            name = chan[1:].removesuffix("/*") if len(chan) > 1 and chan[0] == "!" else ""
            node = await segment.start(key=key_of(vector), **({"name": name} if name else {}))
            judge_reading(vector, only(await node.hears(vector.given("wire"))))
        finally:
            await segment.close()

    await each(file.vectors, try_one)


def only(got: list[Said]) -> Said | None:
    if len(got) > 1:
        raise Broken("BCCN-DLV-01", "one delivery at most", str(got))
    return got[0] if got else None


@clauses(*ENVELOPES.clauses)
async def test_envelope(trial: Trial, each: Each) -> None:
    """A datagram whose envelope is sound is delivered, any other is dropped and the node goes on."""
    await judge_all(trial, each, ENVELOPES)


@clauses(*BODIES.clauses)
async def test_body(trial: Trial, each: Each) -> None:
    """A body of three sound fields is delivered byte for byte, any other is dropped."""
    await judge_all(trial, each, BODIES)


@clauses(*FORGERIES.clauses)
async def test_forgery(trial: Trial, each: Each) -> None:
    """Under a key only the body's own tag is accepted."""
    await judge_all(trial, each, FORGERIES)


@clauses(*EXAMPLES.clauses)
async def test_example(trial: Trial, each: Each) -> None:
    """The specification's examples: the right ones are delivered, those whose len is wrong are dropped."""
    await judge_all(trial, each, EXAMPLES)


@clauses("BCCN-ENV-09")
@axis("buffer", [512, 1024, 1280, 1400, 1401, 1472, 1500, 2048, 4096, 8192, 9000, 16384, 32768, 65000, 65506])
@axis("more", {"one-byte": 1, "many-bytes": 1000})
async def test_a_cut_datagram_does_not_look_whole(node: Node, trial: Trial, buffer: int, more: int) -> None:
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
async def test_large_datagrams_arrive_whole_or_not_at_all(node: Node, trial: Trial, size: int) -> None:
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


@clauses("BCCN-DLV-07", "BCCN-ENV-22")
async def test_a_hundred_malformed_datagrams_do_no_harm(node: Node, trial: Trial) -> None:
    """Malformed input is dropped and the node keeps working."""
    bad = [vector.given("wire") for vector in (*ENVELOPES.vectors, *BODIES.vectors) if vector.result == "invalid"][:100]
    for start in range(0, len(bad), MOST_UNFENCED - 5):
        got = await node.hears(*bad[start : start + MOST_UNFENCED - 5])
        trial.expect(not got, "no delivery", got)
    trial.expect(len(bad) == 100, "a hundred datagrams", len(bad))
    await node.expect_delivered(datagram(unique(), 1, "c", b"x"))


@clauses("BCCN-ENV-22")
async def test_every_beginning_of_a_datagram_is_survived(node: Node, trial: Trial) -> None:
    """A datagram cut anywhere is dropped, and the whole one is still delivered."""
    whole = datagram("cut", 1, "chan", b"payload")
    got = await node.hears(*(whole[:size] for size in range(len(whole))))
    trial.expect(not got, "no delivery of a beginning", got)
    await node.expect_delivered(whole)


@clauses("BCCN-INT-18")
@axis("algo", ["hmac", "crc32", "sig", "unknown"])
async def test_an_unverified_check_is_never_authentication(node: Node, trial: Trial, algo: str) -> None:
    """Without a key a datagram with a check may be delivered or dropped, but is never called authenticated."""
    got = await node.hears(framed(b"a:1:c|x", f":{algo}=a1b2c3d4e5f60718"))
    trial.expect(not any(said.authenticated for said in got), "not called authenticated", got)
    trial.info(f"{algo} without a key: {'delivered, not authenticated' if got else 'dropped'}")
