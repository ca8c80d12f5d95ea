"""`python -m harness.bench.load`: the reference broker under load, with a commit for a turn of the loop, and for each input.

Each client sends one message, and another for each that it gets: as many are under way as there are clients.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from harness.bench.disk import syncs_per_s
from reference_impl.core import Channel
from reference_impl.io.serving import command_line, serve
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker

CLIENTS, SECONDS = 500, 8.0
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
KEY = bytes(4)
"""A mask that changes nothing: what is measured is the broker, not a client in Python."""


class OneByOne(Broker):
    """As it was before: each input is made durable by itself."""

    def turn(self, channel: Channel, event: object) -> None:
        super().turn(channel, event)
        self.flush()


WAYS = {"one by one": OneByOne, "together": Broker}


class Tally:
    """What all clients of one run saw."""

    def __init__(self, clients: int) -> None:
        self.clients, self.registered, self.running = clients, 0, False
        self.everybody = asyncio.Event()
        self.took: list[float] = []


class Client(asyncio.Protocol):
    """WebSocket by hand, with small text messages only."""

    def __init__(self, number: int, tally: Tally) -> None:
        self._number, self._tally, self._buffer, self._sent = number, tally, b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP"
        self._transport = transport
        transport.write(UPGRADE)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer.startswith(b"HTTP"):
            _, end, rest = self._buffer.partition(b"\r\n\r\n")
            if end:
                self._buffer = rest
                self.say({"type": "register", "token": "token", "name": f"p{self._number}"})
        while (size := self.size()) and len(self._buffer) >= size[0] + size[1]:
            message, self._buffer = self._buffer[size[0] : sum(size)], self._buffer[sum(size) :]
            self.heard(json.loads(message))

    def size(self) -> tuple[int, int] | None:
        """Of the head and of the body of the frame that has begun."""
        if len(self._buffer) < 4 or self._buffer.startswith(b"HTTP"):
            return None
        short = self._buffer[1]
        return (2, short) if short < 126 else (4, int.from_bytes(self._buffer[2:4]))

    def say(self, frame: dict[str, object]) -> None:
        data = json.dumps({"protocol_version": "v1", **frame}).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2)
        self._transport.write(b"\x81" + size + KEY + data)

    def heard(self, frame: dict[str, object]) -> None:
        tally = self._tally
        if frame["type"] == "peers":
            tally.registered += 1
            if tally.registered == tally.clients:
                tally.everybody.set()
            return
        envelope = frame["envelope"]
        assert isinstance(envelope, dict), "a deliver holds an envelope"
        tally.took.append(time.monotonic() - float(envelope["body"]))
        self.say({"type": "ack", "id": frame["delivery_key"]})
        if tally.running:
            self.send()

    def send(self) -> None:
        self._sent += 1
        to = f"p{(self._number * 7 + self._sent) % self._tally.clients}"
        head = {"id": f"{self._number}-{self._sent}", "from": f"p{self._number}", "to": to, "kind": "msg"}
        self.say({**head, "ts": "2026-01-01T00:00:00Z", "source": "bench", "body": time.monotonic(), "hmac": ""})


@dataclass(frozen=True)
class Figures:
    rate: float  # deliveries per second
    middle_s: float  # how long the middle one took
    busy: float  # share of one processor that the broker had; less than 1 where others want it, or the disk is slow
    syncs: float = 0.0  # that the disk can do in a second


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(pid: int, port: int, clients: int) -> Figures:
    tally, loop = Tally(clients), asyncio.get_running_loop()
    peers = []
    for number in range(clients):
        _, peer = await loop.create_connection(lambda n=number: Client(n, tally), "127.0.0.1", port)  # type: ignore[misc]
        peers.append(peer)
    async with asyncio.timeout(60):
        await tally.everybody.wait()
    tally.running, began, spent = True, time.monotonic(), processor_s(pid)
    for peer in peers:
        peer.send()
    await asyncio.sleep(SECONDS)
    tally.running, took = False, time.monotonic() - began
    return Figures(len(tally.took) / took, statistics.median(tally.took), (processor_s(pid) - spent) / took)


def measure(way: str, clients: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __spec__.name, "--serve", way, "--port", "0", "--state-dir", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout, "asked for as a pipe"
            try:
                seen = asyncio.run(load(server.pid, int(server.stdout.readline()), clients))
            finally:
                server.kill()
        return replace(seen, syncs=syncs_per_s(Path(folder)))


def main() -> None:
    parser = command_line("load", __doc__, port=0)
    parser.add_argument("clients", type=int, nargs="?", default=CLIENTS)
    parser.add_argument("--serve", choices=WAYS)
    parser.add_argument("--state-dir", type=Path)
    told = parser.parse_args()
    if told.serve:
        broker = WAYS[told.serve](BrokerMachine(frozenset(["token"])), told.state_dir)
        serve(broker, told, lambda address: address.rpartition(":")[2])
        return
    rates = {}
    for way in WAYS:
        seen = measure(way, told.clients)
        rates[way] = seen.rate
        print(
            f"{told.clients} clients, {way:10} {seen.rate:8,.0f} messages/s, the middle one in {seen.middle_s:.3f} s; "
            f"the broker had {seen.busy:.0%} of a processor: {seen.rate / seen.busy:,.0f} for each second of it; "
            f"the disk syncs {seen.syncs:,.0f}/s"
        )
    print(f"together / one by one   {rates['together'] / rates['one by one']:8.1f}")


if __name__ == "__main__":
    main()
