"""The two kinds of session: who proves what to whom, on which port, and for how long."""

from __future__ import annotations

import asyncio
import secrets

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.io.carrier import HungUp
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import Ack, Error, Hangup, Heartbeat
from reference_impl.trueseal.noise import LENGTH, Noise, Pattern, Secured
from reference_impl.trueseal.noise_io import Sealed
from suites.trueseal import wire
from suites.trueseal.line import Laden, understood, waited_for
from suites.trueseal.relay.under_test import LOWERED, Device, DeviceLine, PushLine, RelayUnderTest, device_with

SOAK_S = 1.0
"""An idle Receive Session is watched for so long; under --slow thirty times."""


def of(length: int) -> bytes:
    """Random bytes behind their length: a Noise message in form only."""
    return LENGTH.pack(length) + secrets.token_bytes(length)


async def second_message(trial: Trial, stream: Stream, size: int, clause: str) -> bytes:
    """The relay's answer to a first message, with its length in front."""
    said, what = b"", f"a second message of {size} bytes"
    while len(said) < LENGTH.size + size:
        said += await waited_for(trial, stream.receive(), what, clause)
    trial.expect(said[: LENGTH.size] == LENGTH.pack(size), what, said[: LENGTH.size].hex(), clause)
    return said


@clauses("TS-SES-01", "TS-SES-02", "TS-SES-03")
async def test_a_push_session_is_nk(relay: RelayUnderTest, trial: Trial) -> None:
    """48 bytes each way, behind their length; then both sides have the same session."""
    stream, noise = await relay.stream("push"), relay.anonymous()
    secured = Secured(noise)
    await stream.send(secured.opening())
    said = await second_message(trial, stream, 48, "TS-SES-01")
    understood(secured, said, "TS-SES-01")
    trial.expect(noise.finished, "a finished handshake", said.hex(), "TS-SES-02")


@clauses("TS-SES-06")
async def test_a_receive_session_is_xx(relay: RelayUnderTest, trial: Trial) -> None:
    """32 bytes, then 96 with the relay's static key inside, then 64."""
    stream, device = await relay.stream("receive"), Device()
    noise = Noise(Pattern.XX, initiator=True, entropy=secrets.token_bytes, static=device.private)
    secured = Secured(noise)
    await stream.send(secured.opening())
    third = understood(secured, await second_message(trial, stream, 96, "TS-SES-06"), "TS-SES-06")
    trial.expect(noise.remote_static == relay.public_key, relay.public_key.hex(), noise.remote_static, "TS-SES-06")
    await stream.send(third)
    sealed = Sealed(stream, secured)
    await sealed.send(wire.BEAT)
    answer = await waited_for(trial, sealed.receive(), "a Heartbeat", "TS-SES-06")
    trial.expect(answer == wire.BEAT, "a Heartbeat", answer.hex(), "TS-SES-06")


@clauses("TS-SES-11", "TS-SES-01")
async def test_the_push_port_refuses_xx(relay: RelayUnderTest) -> None:
    """A first message of 32 bytes is no NK."""
    stream = await relay.stream("push")
    noise = Noise(Pattern.XX, initiator=True, entropy=secrets.token_bytes, static=Device().private)
    await stream.send(Secured(noise).opening())
    await relay.expect_refused(stream, "TS-SES-11")


@clauses("TS-SES-11", "TS-SES-06")
async def test_the_receive_port_refuses_nk(relay: RelayUnderTest, trial: Trial) -> None:
    """Whatever the relay answers to it, no NK session comes of it."""
    stream = await relay.stream("receive")
    sealed = Sealed(stream, Secured(relay.anonymous()))
    try:
        async with asyncio.timeout(trial.patience_s):
            await sealed.shake_hands(initiator=True)
    except (HungUp, TimeoutError):
        return
    raise Broken("TS-SES-11", "no NK session on the receive port", "the handshake succeeded")


@clauses("TS-SES-02")
async def test_another_relay_key_is_nobody(relay: RelayUnderTest) -> None:
    """A handshake for another key cannot be completed: no second message comes."""
    stream = await relay.stream("push")
    other = Noise(Pattern.NK, initiator=True, entropy=secrets.token_bytes, remote_static=Device().public)
    await stream.send(Secured(other).opening())
    await relay.expect_refused(stream, "TS-SES-02")


@clauses("TS-SES-01", "TS-SES-06")
@axis("port", ["push", "receive"])
@axis("payload", ["unknown-tag", "push", "text"])
async def test_a_payload_in_a_handshake_is_ignored(relay: RelayUnderTest, port: str, payload: str) -> None:
    """It is read, and nothing comes of it: neither the end of the session nor a blob."""
    device = Device()
    carried = {"unknown-tag": wire.frame(7), "push": wire.push(device.public, wire.blob()), "text": b"hello"}
    clause = "TS-SES-01" if port == "push" else "TS-SES-06"
    pattern, key = (Pattern.NK, None) if port == "push" else (Pattern.XX, Device().private)
    relays = relay.public_key if port == "push" else None
    noise = Laden(pattern, initiator=True, entropy=secrets.token_bytes, static=key, remote_static=relays)
    noise.carries = carried[payload]
    line = PushLine(relay, await relay.sealed(await relay.stream(port), noise, clause), port)
    await line.expect_silence(clause)
    await relay.expect_only(await relay.device(device), clause=clause)


@clauses("TS-SES-01", "TS-SES-04", "TS-SES-06")
@axis("port", ["push", "receive"])
async def test_a_session_of_many_messages(relay: RelayUnderTest, port: str) -> None:
    """Three hundred each way: the counter of a Noise session has more than a byte."""
    line = await relay.pusher() if port == "push" else await relay.device()
    for _ in range(300):
        await line.fence("TS-SES-01" if port == "push" else "TS-SES-06")


@clauses("TS-SES-06")
@axis("bit", [0, 250, 400, 511])
async def test_a_tampered_proof_is_dropped(relay: RelayUnderTest, bit: int, trial: Trial) -> None:
    """One bit of XX's third message: no session, and nothing of the inbox is shown."""
    device = Device()
    await (await relay.pusher()).stores(device, wire.blob())
    stream = await relay.stream("receive")
    secured = Secured(Noise(Pattern.XX, initiator=True, entropy=secrets.token_bytes, static=device.private))
    await stream.send(secured.opening())
    third = bytearray(understood(secured, await second_message(trial, stream, 96, "TS-SES-06"), "TS-SES-06"))
    third[LENGTH.size + bit // 8] ^= 1 << bit % 8
    await stream.send(bytes(third))
    await relay.expect_refused(stream, "TS-SES-06")


@clauses("TS-SES-01", "TS-SES-06")
@axis("port", ["push", "receive"])
@axis("message", {"empty": of(0), "one": of(1), "random-48": of(48), "random-300": of(300), "largest": of(65_535)})
async def test_noise_that_is_none(relay: RelayUnderTest, port: str, message: bytes) -> None:
    """Random bytes instead of a handshake, and silence behind a length: others are served all the same."""
    for said in (message * 3, message[:-1]):
        await (await relay.stream(port)).send(said)
        await relay.alive("TS-SES-01" if port == "push" else "TS-SES-06")


@clauses("TS-SES-01", "TS-SES-06")
@axis("session", ["push", "receive"])
async def test_a_tampered_frame_is_not_read(relay: RelayUnderTest, session: str, trial: Trial) -> None:
    """What does not authenticate is neither Acked nor stored."""
    device = Device()
    line = await relay.pusher() if session == "push" else await relay.device()
    await line.forged(wire.push(device.public, wire.blob()))
    await relay.expect_only(await relay.device(device))
    heard = line.inbox.drain()
    trial.expect(not any(isinstance(frame, Ack) for frame in heard), "no Ack", heard)


@clauses("TS-SES-04", "TS-PUSH-02")
@axis("count", [1, 2, 100])
async def test_pushes_to_many_in_one_session(relay: RelayUnderTest, count: int) -> None:
    """Each to another device, all in one session."""
    pusher = await relay.pusher()
    pairs = [(Device(), wire.blob()) for _ in range(count)]
    for device, envelope in pairs:
        await pusher.push(device, envelope)
    await pusher.expect_answers(*[Ack] * count, clause="TS-SES-04")
    for device, envelope in (pairs[0], pairs[-1], pairs[count // 2]):
        line = await relay.device(device)
        await line.expect_delivery(envelope, "TS-SES-04")
        await line.close()


@clauses("TS-SES-07")
async def test_the_static_key_names_the_inbox(relay: RelayUnderTest) -> None:
    """The same key in another session has the same inbox, another key has another."""
    device, envelope = Device(), wire.blob()
    await (await relay.pusher()).stores(device, envelope)
    await relay.expect_only(await relay.device(), clause="TS-SES-07")
    for _ in range(2):
        line = await relay.device(Device(device.private))
        await line.expect_delivery(envelope, "TS-SES-07")
        await line.close()


@clauses("TS-SES-10", "TS-SES-08")
async def test_an_idle_receive_session_stays(relay: RelayUnderTest, trial: Trial) -> None:
    """Silent for a while, in which others come and go; then its blob arrives."""
    device = await relay.device()
    loop = asyncio.get_running_loop()
    until = loop.time() + SOAK_S * (30 if trial.slow else 1)
    while loop.time() < until:
        await relay.alive()
        await asyncio.sleep(0.2)  # the time itself is what is tried
    await relay.expect_only(device, clause="TS-SES-10")


@clauses("TS-SES-10", "TS-SES-08")
async def test_a_device_stays_while_push_sessions_end(relay: RelayUnderTest) -> None:
    """Five of them, each with a blob for it, politely and not: its next blob arrives as those did."""
    device = await relay.device()
    for politely in (True, False, True, False, True):
        pusher, envelope = await relay.pusher(), wire.blob()
        await pusher.stores(device.device, envelope)
        await device.expect_delivery(envelope, "TS-SES-08")
        await pusher.close() if politely else pusher.cut()
    await relay.expect_only(device, clause="TS-SES-08")


@clauses("TS-SES-10", "TS-SES-04", "TS-SES-08")
async def test_many_sessions_at_once(relay: RelayUnderTest) -> None:
    """A hundred devices are connected; each gets its own."""
    lines = [await relay.device() for _ in range(100)]
    envelopes = [wire.blob() for _ in lines]
    pusher = await relay.pusher()
    for line, envelope in zip(lines, envelopes, strict=True):
        await pusher.push(line.device, envelope)
    for line, envelope in zip(lines, envelopes, strict=True):
        await line.expect_delivery(envelope, "TS-SES-10")


@clauses("TS-SES-03", "TS-SES-12")
async def test_whoever_pushes_stays_unknown(relay: RelayUnderTest) -> None:
    """A device pushes to another while its own inbox has something: its Push Session is told nothing of it."""
    sender, recipient = Device(), Device()
    await (await relay.pusher()).stores(sender, wire.blob())
    pusher = await relay.pusher()
    await pusher.stores(recipient, wire.blob())
    await pusher.expect_silence("TS-SES-03")


@clauses("TS-TYP-04", "TS-ACK-01", "TS-ERR-03")
async def test_a_push_in_a_receive_session(relay: RelayUnderTest, trial: Trial) -> None:
    """Whether it is taken is recorded: what is Acked there is stored, and what is answered with an Error is not."""
    line, device, envelope = await relay.device(), Device(), wire.blob()
    heard = await answers_in(line, wire.push(device.public, envelope))
    receiver = await relay.device(device)
    if Ack in heard:
        await relay.expect_only(receiver, envelope, clause="TS-ACK-01")
    elif Error in heard:
        await relay.expect_only(receiver, clause="TS-ERR-03")
    trial.info(f"heard {sorted(kind.__name__ for kind in heard)}")


@clauses("TS-PUSH-07", "TS-PUSH-08", "TS-TYP-04")
@axis("size", [0, 31])
async def test_a_short_push_in_a_receive_session(relay: RelayUnderTest, size: int, trial: Trial) -> None:
    """No Ack, and nothing of it is stored, neither there nor for the device that says it."""
    device = device_with(lambda key: key[-1] == 0)
    line = await relay.device(device)
    heard = await answers_in(line, wire.frame(wire.PUSH, device.public[:size]))
    trial.expect(Ack not in heard, "no Ack", heard, "TS-PUSH-07")
    await line.close()
    await relay.expect_only(await relay.device(device), clause="TS-PUSH-08")
    trial.info(f"heard {sorted(kind.__name__ for kind in heard)}")


@clauses("TS-SIZE-06", "TS-SIZE-07", "TS-TYP-04")
async def test_an_oversized_push_in_a_receive_session(strict_relay: RelayUnderTest, trial: Trial) -> None:
    """No Ack, and nothing of it is stored."""
    line = await strict_relay.device()
    heard = await answers_in(line, wire.push(line.device.public, wire.blob(LOWERED + 1)))
    trial.expect(Ack not in heard, "no Ack", heard, "TS-SIZE-06")
    await line.close()
    await strict_relay.expect_only(await strict_relay.device(line.device), clause="TS-SIZE-07")
    trial.info(f"heard {sorted(kind.__name__ for kind in heard)}")


async def answers_in(line: DeviceLine, message: bytes) -> set[type]:
    """What kinds of frames come before a Heartbeat behind the message is answered, or the session ends."""
    await line.plain(message, *[wire.BEAT] * 2)
    heard: list[type] = []
    while heard.count(Heartbeat) < 2 and Hangup not in heard:
        heard.append(type(await line.next("a Heartbeat or the end", "TS-TYP-04", beats=True)))
    return set(heard)
