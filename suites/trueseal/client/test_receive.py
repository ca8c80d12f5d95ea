"""What a client does with a delivery: persist, ack, and hand it to the application once."""

from __future__ import annotations

import secrets

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Ack, DeliverAck, Hangup
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest, PrivateClient
from suites.trueseal.relay.under_test import Device

IDS = {"0": 0, "1": 1, "asymmetric": 0x0102030405060708, "2^63": 2**63, "2^64-2": 2**64 - 2, "2^64-1": 2**64 - 1}


@clauses("TS-DLV-04", "TS-DACK-01", "TS-DACK-03", "TS-DLV-03", "TS-SES-06")
@axis("id", IDS)
async def test_a_delivery_is_surfaced_and_acked(client: ClientUnderTest, id: int) -> None:
    """Without the 8 bytes of its id, which come back verbatim."""
    line = await client.receiving()
    await client.expect_handled(line, id, wire.envelope())


@clauses("TS-DLV-04")
@axis("size", [150, 300, 5_000, wire.FITS])
async def test_an_envelope_of_any_size_is_surfaced(client: ClientUnderTest, size: int) -> None:
    """Byte for byte."""
    line = await client.receiving()
    await client.expect_handled(line, 77, wire.envelope(size=size))


@clauses("TS-SIZE-01")
@needs("large_frames")
async def test_the_largest_envelope_is_surfaced(client: ClientUnderTest) -> None:
    """Exactly 1,048,576 bytes, in seventeen Noise messages."""
    line = await client.receiving()
    await client.expect_handled(line, 1, wire.envelope(size=wire.LIMIT), "TS-SIZE-01")


@clauses("TS-FRM-06", "TS-DLV-04")
@needs("large_frames")
async def test_a_large_delivery_while_something_is_pushed(client: ClientUnderTest) -> None:
    """Its messages come before, between and behind those of a Push Session: each session is read by itself."""
    line, large, recipient, small = (
        await client.receiving(),
        wire.envelope(size=150_000),
        Device().public,
        wire.envelope(),
    )
    first, second, third = wire.cut(wire.deliver(8, large))
    await line.plain(first)
    await client.push(recipient, small)
    pushing = await client.pushing("TS-FRM-06")
    await client.expect_pushed(pushing, recipient, small, "TS-FRM-06")
    await line.plain(second)
    await pushing.answer(Ack())
    await pushing.expect(Hangup, "TS-SES-05")
    await line.plain(third)
    got = await client.message("TS-FRM-06")
    client.trial.expect(got == large, f"the message of {len(large)} bytes", f"{len(got)} bytes", "TS-FRM-06")
    await line.expect_ack(8, "TS-FRM-06")


@clauses("TS-DLV-04", "TS-DLV-03")
@axis("size", [65_536, wire.LIMIT])
@needs("large_frames")
async def test_a_large_message_is_held(own_client: PrivateClient, size: int, trial: Trial) -> None:
    """Acked, killed, started again: all of its bytes are there."""
    line, envelope = await own_client.receiving(), wire.envelope(size=size)
    await own_client.expect_handled(line, 1, envelope)
    await own_client.revive()
    held = await own_client.received()
    trial.expect(held == [envelope], f"one message of {size} bytes", [len(each) for each in held], "TS-DLV-03")


@clauses("TS-DACK-03", "TS-DLV-03")
async def test_each_delivery_has_its_own_ack(client: ClientUnderTest, trial: Trial) -> None:
    """Ten at once: each id is acked, and each message surfaced."""
    line = await client.receiving()
    sent = {secrets.randbits(64): wire.envelope() for _ in range(10)}
    for id, envelope in sent.items():
        await line.deliver(id, envelope)
    got = [await client.message() for _ in sent]
    trial.expect(sorted(got) == sorted(sent.values()), "each message once", len(set(got)), "TS-DLV-04")
    acked = {(await line.expect(DeliverAck, "TS-DLV-03")).blob_id for _ in sent}
    trial.expect(acked == set(sent), f"acks of {sorted(sent)}", sorted(acked), "TS-DACK-03")


@clauses("TS-DLV-09", "TS-DLV-03")
async def test_a_duplicate_is_acked_and_not_surfaced(client: ClientUnderTest, trial: Trial) -> None:
    """The same delivery twice in a session: one message, two acks."""
    line, envelope = await client.receiving(), wire.envelope()
    await client.expect_handled(line, 5, envelope)
    await line.deliver(5, envelope)
    await line.expect_ack(5, "TS-DLV-09")
    await client.expect_handled(line, 6, wire.envelope(), "TS-DLV-09")


@clauses("TS-DLV-09", "TS-SES-06")
async def test_a_duplicate_in_the_next_session(client: ClientUnderTest) -> None:
    """The ack was lost with its session: delivered again, acked again, surfaced no more."""
    line, envelope = await client.receiving(), wire.envelope()
    await client.expect_handled(line, 2**63, envelope)
    line.cut()
    again = await client.receiving("TS-SES-06")
    await again.deliver(2**63, envelope)
    await again.expect_ack(2**63, "TS-DLV-09")
    await client.expect_handled(again, 7, wire.envelope(), "TS-DLV-09")


@clauses("TS-DLV-09")
async def test_an_envelope_under_another_id(client: ClientUnderTest, trial: Trial) -> None:
    """Whoever pushed it may have done so twice: acked, and surfaced or not, as the client knows duplicates."""
    line, envelope, sentinel = await client.receiving(), wire.envelope(), wire.envelope()
    await client.expect_handled(line, 1, envelope)
    await line.deliver(2, envelope)
    await line.expect_ack(2)
    await line.deliver(3, sentinel)
    got = [await client.message()]
    if got[0] == envelope:
        got.append(await client.message())
    trial.expect(got[-1] == sentinel, "the sentinel next", got, "TS-DLV-09")
    trial.info(f"surfaced {'again' if len(got) == 2 else 'once'}")


@clauses("TS-DLV-03", "TS-DACK-02")
async def test_what_was_acked_survives_a_kill(own_client: PrivateClient, trial: Trial) -> None:
    """Killed the moment the ack is there: the next client holds the message without a new delivery."""
    line, envelope = await own_client.receiving(), wire.envelope()
    await line.deliver(9, envelope)
    await line.expect_ack(9)
    await own_client.revive()
    held = await own_client.received()
    trial.expect(envelope in held, "the message that was acked", f"{len(held)} others", "TS-DLV-03")


@clauses("TS-DLV-09", "TS-DACK-02")
async def test_a_duplicate_in_the_next_life(own_client: PrivateClient, trial: Trial) -> None:
    """Acked, killed, delivered again: acked again, held once, surfaced no more."""
    line, envelope = await own_client.receiving(), wire.envelope()
    await own_client.expect_handled(line, 9, envelope)
    await own_client.revive()
    again = await own_client.receiving()
    await again.deliver(9, envelope)
    await again.expect_ack(9, "TS-DLV-09")
    await own_client.expect_handled(again, 10, wire.envelope(), "TS-DLV-09")
    held = await own_client.received()
    trial.expect(held.count(envelope) == 1, "the message once", held.count(envelope), "TS-DLV-09")


@clauses("TS-DLV-03", "TS-DACK-02")
@axis("moment", [0, 1, 3, 8])
async def test_a_kill_in_a_stream_of_deliveries(own_client: PrivateClient, moment: int, trial: Trial) -> None:
    """Killed behind so many acks: the next client holds whatever was acked."""
    line, sent = await own_client.receiving(), {100 + n: wire.envelope() for n in range(30)}
    for id, envelope in sent.items():
        await line.deliver(id, envelope)
    acked = [(await line.expect(DeliverAck, "TS-DLV-03")).blob_id for _ in range(moment)]
    await own_client.kill()
    await line.over()
    acked += [frame.blob_id for frame in line.inbox.drain() if isinstance(frame, DeliverAck)]
    await own_client.revive()
    held, wanted = await own_client.received(), [sent[id] for id in acked]
    trial.expect(all(envelope in held for envelope in wanted), "all that was acked", f"{len(held)} held", "TS-DLV-03")
