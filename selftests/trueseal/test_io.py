"""Relay and client on real sockets: a conversation, a kill and a restart, whoever does not read, whoever is not trusted."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reference_impl.io.carrier import HungUp
from reference_impl.io.tcp import Listener, Stream, dial
from reference_impl.trueseal.client import ClientMachine
from reference_impl.trueseal.client_io import CannotPush, Client, Config, Told
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    Ack,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Heartbeat,
    Push,
    Pushed,
    Received,
)
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay

WAIT_S = 10
RELAY, ALICE, BOB = (secrets.token_bytes(32) for _ in range(3))
codec = Codec()


class Peer:
    """Our end of one session with a relay."""

    def __init__(self, sealed: Sealed) -> None:
        self.sealed, self._reader = sealed, Reader(codec)

    async def say(self, *frames: Frame) -> None:
        for frame in frames:
            for message in codec.encode(frame):
                await self.sealed.send(message)

    async def hears(self, *frames: Frame) -> None:
        assert [await self.next() for _ in frames] == list(frames)

    async def next(self) -> Any:
        async with asyncio.timeout(WAIT_S):
            while (event := self._reader.read(await self.sealed.receive())) is None:
                pass
            return event

    async def is_hung_up_on(self) -> None:
        with pytest.raises(HungUp):
            await self.next()


async def session(pattern: Pattern, port: int, device: bytes = ALICE) -> Peer:
    keys = {"remote_static": public_key(RELAY)} if pattern is Pattern.NK else {"static": device}
    noise = Noise(pattern, initiator=True, entropy=secrets.token_bytes, **keys)
    sealed = Sealed(await dial("127.0.0.1", port), Secured(noise))
    async with asyncio.timeout(WAIT_S):
        await sealed.shake_hands(initiator=True)
    return Peer(sealed)


async def pushing(relay: Relay) -> Peer:
    return await session(Pattern.NK, relay.ports[0])


async def receiving(relay: Relay, device: bytes = ALICE) -> Peer:
    return await session(Pattern.XX, relay.ports[1], device)


@asynccontextmanager
async def running(state_dir: Path, limit: int = 1_048_576) -> AsyncIterator[Relay]:
    relay = Relay(RelayMachine(limit), state_dir, RELAY)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.stop()


def to(device: bytes, envelope: bytes) -> Push:
    return Push(public_key(device), envelope)


# -- the relay ---------------------------------------------------------------------------------------------------------


async def test_what_was_acked_survives_a_kill(tmp_path: Path) -> None:
    """At once after the Ack; ids stay, acks stay, and nothing is delivered that was acked."""
    relay = Relay(RelayMachine(), tmp_path, RELAY)
    await relay.start()
    push = await pushing(relay)
    await push.say(to(ALICE, b"one"), to(ALICE, b"two"), to(BOB, b"three"))
    await push.hears(Ack(), Ack(), Ack())
    device = await receiving(relay)
    await device.hears(Deliver(1, b"one"), Deliver(2, b"two"))
    await device.say(DeliverAck(1), Heartbeat())
    await device.hears(Heartbeat())
    relay.kill()
    await push.is_hung_up_on()
    async with running(tmp_path) as again:
        await (await receiving(again)).hears(Deliver(2, b"two"))
        await (await pushing(again)).say(to(ALICE, b"four"))
        late = await receiving(again, BOB)
        await late.hears(Deliver(3, b"three"))


async def test_a_drop_brings_it_again(tmp_path: Path) -> None:
    """FIN or RST, three times."""
    async with running(tmp_path) as relay:
        push = await pushing(relay)
        await push.say(to(ALICE, b"again"))
        await push.hears(Ack())
        for end in (Sealed.close, Sealed.close, Sealed.cut):
            device = await receiving(relay)
            await device.hears(Deliver(1, b"again"))
            if ended := end(device.sealed):
                await ended


@pytest.mark.parametrize("size", [0, 1, 65_482, 65_483, 1_048_576])
async def test_any_size_goes_through_to_whoever_waits(tmp_path: Path, size: int) -> None:
    envelope = secrets.token_bytes(size)
    async with running(tmp_path) as relay:
        device, push = await receiving(relay), await pushing(relay)
        await push.say(to(ALICE, envelope))
        await push.hears(Ack())
        await device.hears(Deliver(1, envelope))


async def test_answers_come_in_the_order_of_the_pushes(tmp_path: Path) -> None:
    async with running(tmp_path, limit=10) as relay:
        push = await pushing(relay)
        await push.say(to(ALICE, b"1"), to(ALICE, bytes(11)), to(ALICE, bytes(10)))
        await push.sealed.send(bytes.fromhex("0100000001ff"))
        await push.say(Heartbeat(), to(ALICE, b"2"))
        await push.hears(Ack(), Error(), Ack(), Error(), Heartbeat(), Ack())


@pytest.mark.parametrize("pattern", Pattern)
async def test_byte_by_byte(tmp_path: Path, pattern: Pattern) -> None:
    """The handshake and what follows, one byte to a segment."""
    async with running(tmp_path) as relay:
        stream = await dial("127.0.0.1", relay.ports[list(Pattern).index(pattern)])
        keys = {"remote_static": public_key(RELAY)} if pattern is Pattern.NK else {"static": ALICE}
        secured = Secured(Noise(pattern, initiator=True, entropy=secrets.token_bytes, **keys))
        sealed = Sealed(OneByOne(stream), secured)
        async with asyncio.timeout(WAIT_S):
            await sealed.shake_hands(initiator=True)
        peer = Peer(sealed)
        await peer.say(Heartbeat())
        await peer.hears(Heartbeat())


class OneByOne(Stream):
    """Sends each byte by itself, and lets the loop come round in between."""

    def __init__(self, stream: Stream) -> None:
        self.__dict__.update(stream.__dict__)

    async def send(self, data: bytes) -> None:
        for at in range(len(data)):
            await super().send(data[at : at + 1])
            await asyncio.sleep(0)


async def test_who_does_not_read_holds_nobody_up(tmp_path: Path) -> None:
    """Eight megabytes wait for a device that is connected and deaf; pushes are Acked, another device is served."""
    async with running(tmp_path) as relay:
        await receiving(relay, ALICE)
        other, push = await receiving(relay, BOB), await pushing(relay)
        for _ in range(8):
            await push.say(to(ALICE, bytes(1_048_576)))
            await push.hears(Ack())
        await push.say(to(BOB, b"still there"))
        assert await other.next() == Deliver(9, b"still there")


async def test_who_reads_on_gets_all_that_stayed_in_the_store(tmp_path: Path) -> None:
    """Nine megabytes for a device that does not read at first: a bounded queue, no envelope in memory, none lost."""
    envelopes = [bytes([n]) * (300_000 if n % 3 else 7) for n in range(45)]
    async with running(tmp_path) as relay:
        device, push = await receiving(relay, ALICE), await pushing(relay)
        for envelope in envelopes:
            await push.say(to(ALICE, envelope))
            await push.hears(Ack())
        assert max(line.waiting for line in relay._lines.values()) < relay.most_waiting + 400_000
        held = relay.player.state.durable.inbox(public_key(ALICE)).envelopes()
        assert sum(len(envelope) for _, _, envelope in held) == 15 * 7
        for _ in envelopes:
            frame = await device.next()
            assert frame.envelope == envelopes[frame.blob_id - 1]
            await device.say(DeliverAck(frame.blob_id))
        await device.say(Heartbeat())
        await device.hears(Heartbeat())
        assert not [*relay.player.state.durable.inbox(public_key(ALICE)).envelopes()]


async def test_a_store_that_fails_is_neither_ack_nor_error(tmp_path: Path) -> None:
    async with running(tmp_path) as relay:
        push = await pushing(relay)
        await push.say(to(ALICE, b"kept"))
        await push.hears(Ack())
        relay.store.break_down()
        await push.say(to(ALICE, b"lost"))
        await push.is_hung_up_on()
        assert [*relay.player.state.durable.inbox(public_key(ALICE)).new.values()] == [b"kept"]


async def test_the_wrong_handshake_is_dropped(tmp_path: Path) -> None:
    """Each listener takes its own pattern only, and the relay lives on."""
    async with running(tmp_path) as relay:
        for pattern, port in zip(Pattern, reversed(relay.ports), strict=True):
            with pytest.raises(HungUp):
                await session(pattern, port)
        await pushing(relay)


async def test_limits_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not shake hands is dropped, and whoever comes on top of the last session is turned away."""
    monkeypatch.setattr(Relay, "handshake_s", 0.05)
    monkeypatch.setattr(Relay, "most_sessions", 1)
    async with running(tmp_path) as relay:
        silent = await dial("127.0.0.1", relay.ports[0])
        with pytest.raises(HungUp):
            async with asyncio.timeout(WAIT_S):
                await silent.receive()
        await pushing(relay)
        with pytest.raises(HungUp):
            await receiving(relay)


# -- the client --------------------------------------------------------------------------------------------------------


class Device:
    """A client and what it told."""

    def __init__(self, relay: Relay, state_dir: Path, key: bytes, relay_key: bytes | None = None) -> None:
        self.events: asyncio.Queue[Told] = asyncio.Queue()
        state_dir.mkdir(exist_ok=True)
        config = Config(*relay.ports, relay_key or public_key(RELAY), key, first_wait_s=0.02, most_wait_s=0.1)
        self.client = Client(config, ClientMachine(), state_dir, on_event=self.events.put_nowait)
        self.client.start()

    async def hears(self, *events: Told) -> None:
        async with asyncio.timeout(WAIT_S):
            assert [await self.events.get() for _ in events] == list(events)


async def test_two_devices(tmp_path: Path) -> None:
    async with running(tmp_path) as relay:
        alice, bob = Device(relay, tmp_path / "a", ALICE), Device(relay, tmp_path / "b", BOB)
        blob = alice.client.push(public_key(BOB), b"hello")
        await alice.hears(Pushed(blob))
        await bob.hears(Received(b"hello"))
        assert bob.client.received() == [b"hello"]
        bob.client.heartbeat()
        await alice.client.stop()
        await bob.client.stop()


async def test_a_client_waits_for_its_relay_and_outlives_its_own_death(tmp_path: Path) -> None:
    """What was submitted while nobody listened is pushed by the next client, to the next relay on the same ports."""
    async with running(tmp_path) as relay:
        ports = relay.ports
        alice = Device(relay, tmp_path / "a", ALICE)
    blob = alice.client.push(public_key(BOB), b"patience")
    alice.client.kill()
    again = Device(relay, tmp_path / "a", ALICE)
    relay = Relay(RelayMachine(), tmp_path, RELAY)
    await relay.start("127.0.0.1", *ports)
    await again.hears(Pushed(blob))
    bob = Device(relay, tmp_path / "b", BOB)
    await bob.hears(Received(b"patience"))
    for one in (again, bob):
        await one.client.stop()
    await relay.stop()


async def test_too_large_is_the_hosts_error(tmp_path: Path) -> None:
    async with running(tmp_path) as relay:
        alice = Device(relay, tmp_path / "a", ALICE)
        with pytest.raises(CannotPush):
            alice.client.push(public_key(BOB), bytes(1_048_577))
        await alice.client.stop()


async def test_a_relay_with_another_key_learns_nothing(tmp_path: Path) -> None:
    """The client ends XX before the message that shows its key (TS-SES-06)."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def impostor(stream: Stream) -> None:
        secured = Secured(Noise(Pattern.XX, initiator=False, entropy=secrets.token_bytes, static=BOB))
        secured.feed(await stream.receive())
        read = secured.read()
        assert read
        await stream.send(read[0])
        try:
            await heard.put(await stream.receive())
        except HungUp:
            await heard.put(b"")

    listener = Listener(impostor)
    port = await listener.start()
    (tmp_path / "a").mkdir()
    client = Client(Config(port, port, public_key(RELAY), ALICE), ClientMachine(), tmp_path / "a")
    client.start()
    assert await asyncio.wait_for(heard.get(), WAIT_S) == b""
    await client.stop()
    await listener.stop()
