"""Relays that do not last: `python -m selftests.trueseal.bad_relays KIND PUSH_PORT RECEIVE_PORT STATE_DIR PRIVATE_KEY`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from reference_impl.core import Channel
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.codec import Reader
from reference_impl.trueseal.noise import Pattern
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay
from suites.trueseal import wire


class Fragile(Relay):
    """Dies from a Heartbeat with a body."""

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        if message[:1] == bytes([wire.HEARTBEAT]) and message != wire.BEAT:
            os.kill(os.getpid(), signal.SIGKILL)
        super().heard(channel, reader, message)


class Mute(Relay):
    """Accepts, and says nothing."""

    async def shaken(self, stream: Stream, pattern: Pattern) -> Sealed | None:
        return await asyncio.get_running_loop().create_future()


class Stuck(Mute):
    """Begins a handshake message, and never finishes it."""

    async def shaken(self, stream: Stream, pattern: Pattern) -> Sealed | None:
        await stream.receive()
        await stream.send((48).to_bytes(2, "big") + bytes(10))
        return await super().shaken(stream, pattern)


async def main(kind: str, push_port: str, receive_port: str, state_dir: str, key: str) -> None:
    made = {"fragile": Fragile, "mute": Mute, "stuck": Stuck}[kind]
    relay = made(RelayMachine(), Path(state_dir), bytes.fromhex(key))
    await relay.start(push_port=int(push_port), receive_port=int(receive_port))
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
