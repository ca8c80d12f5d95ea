"""A mesh of real processes, of one make and of two, and clients that meet across it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from harness.targets import resolve
from harness.targets.ports import reserved_port
from reference_impl.frog.client import ClientMachine, Config
from reference_impl.frog.client_io import Client, News, RequestRefused
from reference_impl.frog.host import Signalled, Status
from reference_impl.frog.server_io import address
from selftests.examples.toolchains import toolchain
from selftests.frog.conversations import Peer, identities
from suites.frog.server.under_test import ROLE, USUAL

WAIT_S = 20.0


@asynccontextmanager
async def served(port: int, *sisters: int) -> AsyncIterator[Process]:
    """A server with these as its sisters, once it listens."""
    words = ["-m", "harness.cli", "serve", "frog", "--port", str(port), "--redial-ms", "100"]
    words += [word for sister in sisters for word in ("--sister", address("127.0.0.1", sister))]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=PIPE)
    try:
        assert process.stdout
        assert b"frog server" in await asyncio.wait_for(process.stdout.readline(), WAIT_S)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class Guest:
    """A client of one of them, and what it hears."""

    def __init__(self, peer: Peer, uri: str) -> None:
        self.peer, self.news = peer, asyncio.Queue[News]()
        config = Config((uri,), peer.network, peer.seed)
        self.client = Client(ClientMachine(config), on_news=self.news.put_nowait)

    async def __aenter__(self) -> Guest:
        self.client.start()
        while not (isinstance(news := await self.hears(), Status) and news.registered):
            pass
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.stop()

    async def hears(self) -> News:
        return await asyncio.wait_for(self.news.get(), WAIT_S)

    async def finds(self, other: Guest) -> str:
        """A route, once the servers have met: until then nobody knows the other, at once or after the time of a lookup."""
        async with asyncio.timeout(WAIT_S):
            while True:
                try:
                    return await self.client.lookup(other.peer.key)
                except RequestRefused as refused:
                    if refused.code not in ("PEER_NOT_FOUND", "LOOKUP_TIMEOUT"):
                        raise
                    await asyncio.sleep(0.05)


async def the_example(uris: Sequence[str]) -> None:
    """A is at the first, B at the last; only the one between knows both. Offer, answer and candidates pass along the route."""
    async with Guest(Peer("a", "BLUTELLA"), uris[0]) as a, Guest(Peer("b", "BLUTELLA"), uris[-1]) as b:
        route = await a.finds(b)
        assert await a.client.find(7) == (b.peer.key,)
        assert set(await a.client.getservers(7)) == {uris[1]}  # whom its server has dialled, and so verified
        for sender, other, kind, payload in (
            (a, b, "OFFER", bytes(2841)),
            (b, a, "ANSWER", bytes(range(256)) * 256),
            (a, b, "ICE", b""),
            (b, a, "ICE", b"\n"),
        ):
            sender.client.signal(route, kind, payload)
            assert await other.hears() == Signalled(route, sender.peer.key, kind, payload)


async def test_three_processes_pass_the_example_of_section_48() -> None:
    """As `touchstone serve frog --sister ...` starts them, each told of its neighbours."""
    async with AsyncExitStack() as stack:
        ports = [stack.enter_context(reserved_port()) for _ in range(3)]
        for port, sisters in zip(ports, ([ports[1]], [ports[0], ports[2]], [ports[1]]), strict=True):
            await stack.enter_async_context(served(port, *sisters))
        await the_example([address("127.0.0.1", port) for port in ports])


@asynccontextmanager
async def chain(makes: Sequence[str]) -> AsyncIterator[list[str]]:
    """The URIs of servers of these makes: each dials the next, and lets the one before federate."""
    seeds = [secrets.token_bytes(32) for _ in makes]
    ids = [identities.id_of(identities.public_key(seed)) for seed in seeds]
    uris: list[str] = []
    async with AsyncExitStack() as stack:
        for at in reversed(range(len(makes))):
            target = resolve(makes[at])
            stack.push_async_callback(target.close)
            config = USUAL | {
                "seed": seeds[at].hex(),
                "sisters": ids[at - 1 : at] if at else [],
                "seeds": [f"{ids[at + 1]}@{uris[0]}"] if uris else [],
            }
            uris.insert(0, (await target.instance(ROLE, config)).address)
        yield uris


@pytest.mark.parametrize(
    "makes",
    [
        ("reference-process", "examples/frog-go", "reference-process"),
        ("examples/frog-go", "reference-process", "examples/frog-go"),
        ("examples/frog-go", "reference-process", "reference-process", "examples/frog-go"),
    ],
    ids="-".join,
)
async def test_a_mixed_mesh_passes_the_example_of_section_48(makes: Sequence[str]) -> None:
    """Servers that have never met: the reference, and one that was written from the text alone, in a chain."""
    toolchain("examples/frog-go")
    async with chain(makes) as uris:
        await the_example(uris)
