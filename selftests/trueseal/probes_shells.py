"""The same for the shells: a relay and a client with lines that only write down what is said on them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from pathlib import Path
from typing import Any

from reference_impl.io.tcp import Listener, Stream, dial
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.client_io import CannotPush, Client, Config
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    Ack,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Hangup,
    Heartbeat,
    Push,
    PushOpened,
    PushSession,
    ReceiveOpened,
)
from reference_impl.trueseal.noise import Pattern, public_key
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay_io import Relay
from selftests.trueseal.probes import BEHIND, KEY, LARGE, NEAR, OTHER, header
from selftests.trueseal.probes_io import DEVICE_KEY, RELAY_KEY, WRONG_KEY, honest

P, P2, A, B, DEAD = "push", "another push", "device", "other device", "not reading"
LEAVER = "leaver"
codec = Codec()


class Line:
    """Stands where a conversation does; `stuck` is one whose other end does not read."""

    waiting = 0  # bytes in the queue: there is none

    def __init__(self, name: str, stuck: bool = False) -> None:
        self.name, self.stuck, self.said = name, stuck, list[str]()
        self._carrier = self

    def say(self, message: bytes) -> None:
        self.said.append(f"{len(message)} {message[:60].hex()}")

    async def send(self, message: bytes) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        self.say(message)

    def hang_up(self, code: int) -> None:
        self.said.append("end")

    async def close(self, code: int = 0) -> None:
        self.hang_up(code)

    def cut(self) -> None:
        self.said.append("cut")


def relay_of(made: type[Relay], state_dir: Path) -> Relay:
    return made(relay.RelayMachine(), state_dir, RELAY_KEY)


def client_of(made: type[Client], state_dir: Path) -> Client:
    return made(Config(9, 9, public_key(RELAY_KEY), DEVICE_KEY), client.ClientMachine(), state_dir)


class Lines:
    """A relay's sessions, without a network."""

    def __init__(self, shell: Relay) -> None:
        self.shell, self.lines = shell, dict[str, Line]()
        self.readers = defaultdict(shell.codec.reader)

    def open(self, name: str, device: bytes | None = None, stuck: bool = False) -> None:
        line = self.lines[name] = Line(name, stuck)
        self.shell._lines[name] = line  # type: ignore[assignment]  # it has all that is asked of one
        self.shell.turn(name, PushOpened() if device is None else ReceiveOpened(device))

    def raw(self, name: str, *messages: bytes) -> None:
        for message in messages:
            self.shell.heard(name, self.readers[name], message)

    def hears(self, name: str, *frames: Frame) -> None:
        self.raw(name, *(message for frame in frames for message in codec.encode(frame)))

    def ends(self, name: str) -> None:
        self.shell.turn(name, Hangup())
        self.shell._lines.pop(name)


async def of_relay_shell(shell: Relay) -> list[str]:
    await shell.start()
    told, on = [], Lines(shell)
    on.open(P)
    on.open(P2)
    on.hears(P, Push(OTHER, b"1"), Push(OTHER, b"2"))
    on.raw(P, header(1, 20) + KEY[:20])
    on.hears(P, Push(OTHER, b"3"), Heartbeat(), Heartbeat())
    await asyncio.sleep(0.01)
    on.open(A, KEY)
    on.hears(P, Push(KEY, b"one"), Push(KEY, b"two"))
    await asyncio.sleep(0.01)
    told.append(str(shell.store.load()))  # what is durable as soon as the Acks are out
    on.hears(P, Push(KEY, bytes(4_096 - 37)))
    await asyncio.sleep(0.01)
    on.hears(P, Push(KEY, LARGE))
    on.hears(A, DeliverAck(4), Heartbeat())
    on.raw(P2, header(1, 200) + OTHER + b"a part")
    on.ends(P2)
    on.raw(A, header(3, 1) + b"x")
    await asyncio.sleep(0.15)
    await leaves_at_once(on)
    told.append(str(shell.store.load()))
    on.open(DEAD, WRONG_KEY, stuck=True)
    on.hears(P, Push(WRONG_KEY, b"to the dead"), Push(WRONG_KEY, b"another"))
    on.open(B, OTHER)
    await asyncio.sleep(0.1)
    shell.store.break_down()
    on.hears(P, Push(OTHER, b"not stored"))
    await asyncio.sleep(0.01)
    told += [str((line.name, line.said)) for line in on.lines.values() if not line.stuck]
    for name in list(shell._lines):
        shell._lines.pop(name)
    told += await of_devices(shell)
    on.open(P)
    on.raw(P, header(1, 0x8000_0000))
    await asyncio.sleep(0.01)
    told.append(str(shell._push._over))
    return told


async def leaves_at_once(on: Lines) -> None:
    """A device that acks and is gone."""
    on.hears(P, Push(NEAR, b"for who leaves"))
    await asyncio.sleep(0.01)
    number = on.shell.player.state.durable.next - 1
    on.open(LEAVER, NEAR)
    await asyncio.sleep(0.01)
    on.hears(LEAVER, DeliverAck(number))
    on.ends(LEAVER)
    await asyncio.sleep(0.01)


async def of_devices(shell: Relay) -> list[str]:
    """Who two devices are that connect at once, and whether they still are there a little later."""

    async def connected(key: bytes) -> Sealed:
        secured = honest(Pattern.XX, True, RELAY_KEY)
        secured.noise._handshake.s = type(secured.noise._handshake.s).from_private_bytes(key)
        sealed = Sealed(await dial("127.0.0.1", shell.ports[1]), secured)
        await sealed.shake_hands(initiator=True)
        return sealed

    idle = await dial("127.0.0.1", shell.ports[1])  # shakes no hands, and holds nobody up
    try:
        devices = await asyncio.wait_for(asyncio.gather(connected(DEVICE_KEY), connected(WRONG_KEY)), 2)
    except TimeoutError:
        return ["held up"]
    finally:
        idle.cut()
    await asyncio.sleep(0.1)
    state: Any = shell.player.state
    known = sorted(device.hex() for device in state.sessions.values() if device)
    await asyncio.sleep(0.4)
    left = len(shell._lines)
    for sealed in devices:
        sealed.cut()
    return [str(known), str(left), str(shell.ports[0] != shell.ports[1])]


async def of_client_shell(made: type[Client], state_dir: Path) -> list[str]:
    told: list[str] = []
    dialled: list[str] = []
    reached = asyncio.Event()

    async def counted(stream: Stream) -> None:
        dialled.append("dialled")
        reached.set()
        await stream.close()

    push, receive = Listener(counted), Listener(lambda stream: stream.close())
    config = Config(await push.start(), await receive.start(), public_key(RELAY_KEY), DEVICE_KEY, most_wait_s=0.2)
    shell = made(config, client.ClientMachine(), state_dir, on_event=lambda event: told.append(str(event)))
    shell.start()
    listening, pushing = Line(A), Line(P)
    for channel, line in ((A, listening), (PushSession(1), pushing)):
        shell._lines[channel] = line  # type: ignore[assignment]  # it has all that is asked of one
    shell.turn(A, ReceiveOpened(KEY))
    shell.turn(PushSession(1), PushOpened())
    for id, envelope in enumerate((BEHIND, LARGE, b"", b"ends in zeros\x00\x00")):
        shell.turn(A, Deliver(id, envelope))
    shell.push(KEY, LARGE)
    shell.push(KEY, b"behind it")
    shell.turn(PushSession(1), Heartbeat())
    try:
        shell.push(KEY, bytes(MAX_ENVELOPE + 1))
    except CannotPush:
        told.append("refused")
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(reached.wait(), 2)  # all are asked at once: a dial may be late
    shell.turn(PushSession(1), Ack())
    shell.turn(PushSession(1), Error())
    told += [str(listening.said), str(pushing.said), str(shell.received()), *dialled]
    for key, envelope in ((KEY, b"early"), (OTHER, b"early too")):
        shell.push(key, envelope)
    told.append(str(shell._early))
    await shell.stop()
    await push.stop()
    await receive.stop()
    return told
