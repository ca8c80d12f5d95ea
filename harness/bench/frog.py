"""`python -m harness.bench.frog [CLIENTS]`: what a crowd costs FROG's reference server, and how fast its codec is judged.

Rates and times of one run are compared with one another: a lookup among many with one among two, and with a bare echo over the
same carrier; the codec's cases with those of a target that does nothing.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from harness.bench.__main__ import vector_rate
from harness.bench.null import null
from harness.running.check import check_target
from harness.running.plan import Plan
from harness.targets.inprocess import InProcess
from reference_impl.frog.client import ClientMachine, Config
from reference_impl.frog.client_io import Client, News
from reference_impl.frog.host import Status
from reference_impl.io.carrier import HungUp
from reference_impl.io.websocket import Listener, Settings, WebSocket, dial

LOOKUPS = 300
AT_ONCE = 20  # clients that come at the same time
NETWORK = "BENCH"


async def come(uri: str) -> Client:
    """One more peer, registered."""
    here = asyncio.get_running_loop().create_future()

    def hear(news: News) -> None:
        if isinstance(news, Status) and news.registered and not here.done():
            here.set_result(None)

    client = Client(ClientMachine(Config((uri,), NETWORK, secrets.token_bytes(32))), on_news=hear)
    client.start()
    await here
    return client


async def median_ms(trip: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(LOOKUPS):
        began = time.perf_counter()
        await trip()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


async def lookup_ms(clients: Sequence[Client]) -> float:
    """Of one peer by another, drawn each time."""

    async def trip() -> object:
        asker, wanted = random.sample(clients, 2)
        return await asker.lookup(wanted.machine.peer_key)

    return await median_ms(trip)


async def echo_ms() -> float:
    """A message there and back over the same carrier, in this process."""

    async def echo(carrier: WebSocket) -> None:
        try:
            while True:
                await carrier.send(await carrier.receive())
        except HungUp:
            return

    listener = Listener(echo, Settings())
    carrier = await dial(f"ws://127.0.0.1:{await listener.start('127.0.0.1', 0)}/", Settings())

    async def trip() -> object:
        await carrier.send(b"LOOKUP")
        return await carrier.receive()

    median = await median_ms(trip)
    await carrier.close()
    await listener.stop()
    return median


async def crowd(uri: str, many: int) -> None:
    clients = [await come(uri) for _ in range(2)]
    alone, echo = await lookup_ms(clients), await echo_ms()
    began = time.perf_counter()
    while len(clients) < many:
        clients += await asyncio.gather(*(come(uri) for _ in range(min(AT_ONCE, many - len(clients)))))
    rate = (many - 2) / (time.perf_counter() - began)
    crowded = await lookup_ms(clients)
    print(f"a message there and back    {echo:8.2f} ms, median")
    print(f"LOOKUP among 2              {alone:8.2f} ms")
    print(f"LOOKUP among {many:<6,}         {crowded:8.2f} ms, {crowded / alone:.2f} of that among 2")
    print(f"registrations               {rate:8,.0f} per second")
    await asyncio.gather(*(client.stop() for client in clients))


def codec_rate(folder: Path) -> float:
    """Vectors and swept inputs that are judged in a second, in one process."""
    checked = check_target(Plan(select=["frog/codec/vectors/*", "frog/codec/sweeps/*"], workers=1), folder, [])
    return len(checked.results) / sum(result.duration_s for result in checked.results)


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    command = [sys.executable, "-m", "reference_impl.frog", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout, "asked for as a pipe"
        try:
            told = re.search(r"ws://\S+", server.stdout.readline())
            assert told, "a server says where it is"
            asyncio.run(crowd(told[0], many))
        finally:
            server.terminate()
    with tempfile.TemporaryDirectory() as name:
        codec, nothing = codec_rate(Path(name)), asyncio.run(vector_rate(InProcess(null), Path(name)))
    print(f"vectors through the codec   {codec:8,.0f} per second, {codec / nothing:.2f} of a target that does nothing")


if __name__ == "__main__":
    main()
