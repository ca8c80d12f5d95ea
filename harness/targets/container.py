"""A container as a child process: its streams come multiplexed over one socket, its signals go through the engine."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, cast

from harness.errors import Unavailable
from harness.targets.child import GRACE_S, STDERR, Child, Hear
from harness.targets.engine import Engine, NoAnswer

HEADER = struct.Struct(">BxxxL")
"""Before each piece of an attached stream: which stream (1 stdout, 2 stderr), and how many bytes."""

SIGNALLED = 128
"""An exit status above this says that a signal ended it."""


@dataclass(frozen=True)
class Limits:
    """What one container may use. The root is read-only; /tmp is memory, and counts as such."""

    memory: str = "512m"
    cpus: float = 2.0
    pids: int = 256
    tmp: str = "64m"
    file_mb: int = 256  # the largest file it may write to its volume


USUAL = Limits()


@dataclass(frozen=True)
class Recipe:
    """What to run, and where."""

    image: str
    command: Sequence[str] = ()  # empty: the image's own
    env: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    meeting: str = ""  # a second network
    ports: Sequence[int] = ()  # published on 127.0.0.1 under the same numbers
    volumes: Mapping[str, str] = field(default_factory=dict)  # volume -> path inside
    limits: Limits = USUAL


class Container(Child, asyncio.Protocol):
    """Made by `run`. It has its own pid namespace, so nothing it starts outlives it."""

    def __init__(self, engine: Engine, id: str, name: str, hear: Hear, limits: Limits) -> None:
        super().__init__(hear, "")
        self.engine, self.id, self.name = engine, id, name
        self._limits = limits
        self._stream: asyncio.Transport | None = None
        self._unread = bytearray()
        self._removal: Future[None] | None = None
        self._learning: asyncio.Task[None] | None = None

    # -- what asyncio calls ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stream = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while len(self._unread) >= HEADER.size:
            fd, size = HEADER.unpack_from(self._unread)
            if len(self._unread) < HEADER.size + size:
                break
            piece = bytes(self._unread[HEADER.size : HEADER.size + size])
            del self._unread[: HEADER.size + size]
            self._hear(fd, piece)

    def connection_lost(self, exc: Exception | None) -> None:
        self._learning = asyncio.create_task(self._learn_how_it_ended())

    async def _learn_how_it_ended(self) -> None:
        """The engine closes the streams when the container ends, or when it has closed them all itself."""
        api = self.engine.api
        try:
            code: int = (await self.engine.ask(api.wait, self.id, timeout=GRACE_S))["StatusCode"]
            state = (await self.engine.ask(api.inspect_container, self.id))["State"]
            if state.get("OOMKilled"):
                self._hear(STDERR, f"\nit used more than its {self._limits.memory} of memory".encode())
        except NoAnswer:  # it runs on, in silence
            self.quiet.set()
            return
        except Unavailable:  # it was removed, and that means SIGKILL
            code = SIGNALLED + 9
        if not self.exited.done():
            self.exited.set_result(SIGNALLED - code if SIGNALLED < code < SIGNALLED + 65 else code)
        self.quiet.set()

    # -- what a session calls -------------------------------------------------------------------------------------

    def _stdin(self) -> asyncio.Transport | None:
        return self._stream if self._stream and not self._stream.is_closing() else None

    def close_stdin(self) -> None:
        """Half of the stream: what it still says is heard."""
        if (stream := self._stdin()) and not self._stdin_closed:
            self._stdin_closed = True
            stream.write_eof()

    async def pids(self) -> list[int]:
        """Its first process, by the number that it has on the engine's machine; none where that is not this one."""
        state = await self.engine.ask(self.engine.api.inspect_container, self.id)
        pid = int(state["State"]["Pid"])
        return [pid] if os.path.exists(f"/proc/{pid}/cgroup") else []  # noqa: ASYNC240  # one stat

    def terminate(self) -> None:
        if not self._killed and not self.exited.done():
            self.engine.soon(self.engine.api.kill, self.id, signal="SIGTERM")

    def pause(self) -> None:
        self.engine.soon(self.engine.api.pause, self.id)

    def resume(self) -> None:
        self.engine.soon(self.engine.api.unpause, self.id)

    def kill(self) -> None:
        """SIGKILL and removal are one call."""
        if not self._killed:
            self._killed = True
            self._removal = self.engine.soon(self.engine.api.remove_container, self.id, force=True, v=True)

    def kill_escaped(self) -> None:
        """Nothing leaves a pid namespace."""

    async def end(self) -> None:
        """Until it is dead; the engine tidies up after it meanwhile, and `Engine.settled` waits for that."""
        self.kill()
        assert self._removal, "killing removes"
        removal = asyncio.wrap_future(self._removal)
        either: set[asyncio.Future[Any]] = {self.exited, removal}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._stream:
            self._stream.close()
            await self.ends_within(GRACE_S)

    async def address(self) -> str:
        """Its IP address, on whichever network."""
        state = await self.engine.ask(self.engine.api.inspect_container, self.id)
        return str(next(iter(state["NetworkSettings"]["Networks"].values()))["IPAddress"])


Prepare = Callable[[Container], Awaitable[None]]


async def run(engine: Engine, recipe: Recipe, hear: Hear, prepare: Prepare, *, stdin: bool = False) -> Container:
    """Create, prepare, attach, start, in this order: so nothing that it says is missed."""
    api, name = engine.api, engine.name("box")
    made = await engine.ask(
        api.create_container,
        recipe.image,
        list(recipe.command) or None,
        name=name,
        environment=dict(recipe.env),
        stdin_open=stdin,
        labels=engine.labels,
        ports=list(recipe.ports) or None,
        host_config=_confined(api, recipe),
    )
    container = Container(engine, made["Id"], name, hear, recipe.limits)
    streams = {"stdin": int(stdin), "stdout": 1, "stderr": 1, "stream": 1}
    try:
        await prepare(container)
        if recipe.meeting:
            await engine.ask(api.connect_container_to_network, container.id, recipe.meeting)
        attached = await engine.ask(api.attach_socket, container.id, streams)
        socket = attached._sock.dup()  # the response that it came with may be closed under it
        attached.close()
        await asyncio.get_running_loop().create_unix_connection(lambda: container, sock=socket)
        await engine.ask(api.start, container.id)
    except BaseException:
        await container.end()
        raise
    return container


def _confined(api: Any, recipe: Recipe) -> Any:
    """A read-only root, no capabilities and no way to get any, and limits. The engine keeps no log: we hear it all."""
    limits = recipe.limits
    largest = limits.file_mb * 1024 * 1024
    return api.create_host_config(
        read_only=True,
        tmpfs={"/tmp": f"size={limits.tmp},mode=1777"},
        binds={volume: {"bind": path, "mode": "rw"} for volume, path in recipe.volumes.items()},
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        mem_limit=limits.memory,
        memswap_limit=limits.memory,
        nano_cpus=int(limits.cpus * 1e9),
        pids_limit=limits.pids,
        ulimits=[{"Name": "fsize", "Soft": largest, "Hard": largest}, {"Name": "core", "Soft": 0, "Hard": 0}],
        init=True,  # so that SIGTERM ends a server that is no init itself
        network_mode=recipe.network,
        port_bindings={port: ("127.0.0.1", port) for port in recipe.ports} or None,
        log_config={"Type": "none", "Config": {}},
    )
