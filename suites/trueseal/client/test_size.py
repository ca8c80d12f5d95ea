"""The size limit, before a byte is sent."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.trueseal.frames import Ack
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest
from suites.trueseal.relay.under_test import Device


@clauses("TS-SIZE-03", "TS-SIZE-04", "TS-SIZE-01")
@axis("over", [1, 2, 100_000])
async def test_an_envelope_over_the_limit_is_refused(client: ClientUnderTest, over: int, trial: Trial) -> None:
    """At once and for good: no connection to the push port, and the next Push is another one."""
    refused = await client.refuses(Device().public, wire.envelope(size=wire.LIMIT + over))
    trial.expect(refused, "a refusal", "it was taken", "TS-SIZE-03")
    await client.expect_handled(await client.receiving(), 1, wire.envelope())  # it has had time to dial
    if client.dialled("push"):
        raise Broken("TS-SIZE-04", "no connection to the push port", "one came")
    await client.expect_pushed_next("TS-SIZE-04")


@clauses("TS-FRM-01")
@axis("size", [wire.FITS + 1, 2 * wire.MAX_PLAINTEXT - 37, 300_000])
@needs("large_frames")
async def test_nothing_comes_between_the_messages_of_a_push(client: ClientUnderTest, size: int) -> None:
    """Heartbeats of the relay, while a large Push is on its way: the frame is whole, and nothing is behind it."""
    recipient, envelope = Device().public, wire.envelope(size=size)
    await client.push(recipient, envelope)
    line = await client.pushing("TS-FRM-01")
    await line.plain(*[wire.BEAT] * 3)
    await client.expect_pushed(line, recipient, envelope, "TS-FRM-01")
    await line.fence("TS-FRM-01")


@clauses("TS-SIZE-01", "TS-SIZE-02")
@axis("under", [0, 1, 31, 32, 37])
@needs("large_frames")
async def test_up_to_the_limit_everything_is_pushed(client: ClientUnderTest, under: int) -> None:
    """Exactly 1,048,576 bytes of envelope are allowed: neither key nor header counts."""
    recipient, envelope = Device().public, wire.envelope(size=wire.LIMIT - under)
    await client.push(recipient, envelope)
    line = await client.pushing("TS-SIZE-01")
    await client.expect_pushed(line, recipient, envelope, "TS-SIZE-01")
    await line.answer(Ack())
