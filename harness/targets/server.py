"""Reach: a plain server process, unchanged: a command line with holes, and a sign that it is ready."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import TargetCrashed, TargetTimeout, TargetUnsupported, Unavailable
from harness.shim import Hello
from harness.targets.child import GRACE_S, Child, Hear, Kept, how_it_ended, spawn
from harness.targets.ports import reserved_port
from harness.targets.session import Instance, Reach, Session

READY_POLL_S = 0.01
"""There is no event for "a port is open": ask again this often, bounded by answer_s."""


@dataclass(frozen=True)
class ServerSpec:
    """How to run one role as a plain server. Holes: {port}, {state_dir} and every other key of the configuration."""

    role: str
    command: Sequence[str]
    address: str = "127.0.0.1:{port}"
    ready_log: str = ""  # a pattern on stdout or stderr; empty: the port answers
    env: Mapping[str, str] = field(default_factory=dict)
    capabilities: Sequence[str] = ()
    cwd: str | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.ready_log)
        except re.error as error:
            raise Unavailable(f"ready_log {self.ready_log!r} of {self.role} is not a pattern: {error}") from None


@dataclass(eq=False)
class Running:
    """One server process and whether its log has said that it is ready."""

    child: Child
    ready: asyncio.Event


class ServerSession(Session):
    """Each start is a process; there is nothing to `do` but talk to its port."""

    grace_s: float = GRACE_S

    def __init__(self, name: str, version: str, specs: Sequence[ServerSpec]) -> None:
        super().__init__()
        self._hello = Hello(name, {spec.role: list(spec.capabilities) for spec in specs}, version)
        self._specs = {spec.role: spec for spec in specs}
        self._running: dict[str, Running] = {}
        self._output = Kept()

    async def open(self) -> Hello:
        return self._hello

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        raise TargetUnsupported(f"a plain server has no shim to {verb} with")

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        self.check_alive()
        spec = self._specs.get(role)
        if spec is None:
            raise TargetUnsupported(f"role {role}")
        with reserved_port() as port:
            holes = {"port": str(port), **{key: as_text(value) for key, value in config.items()}}
            instance = Instance(self, f"s{port}", role, {"address": filled(spec.address, holes), "port": port})
            self._running[instance.id] = running = await self._run(spec, holes)
            self.instances[instance.id] = instance
            try:
                await self._until_ready(running, spec, port)
            except BaseException:
                await self.stop(instance)
                raise
        running.child.exited.add_done_callback(lambda code: self._exited(instance, code.result()))
        return instance

    async def _run(self, spec: ServerSpec, holes: Mapping[str, str]) -> Running:
        ready, log = asyncio.Event(), Kept()

        def hear(fd: int, data: bytes) -> None:
            self._output.add(data)
            if spec.ready_log and not ready.is_set():
                log.add(data)
                if re.search(spec.ready_log, log.text()):
                    ready.set()

        command = [filled(word, holes) for word in spec.command]
        env = {key: filled(value, holes) for key, value in spec.env.items()}
        return Running(await self._spawn(spec, command, env, hear, int(holes["port"])), ready)

    async def _spawn(self, spec: ServerSpec, command: list[str], env: dict[str, str], hear: Hear, port: int) -> Child:
        return await spawn(command, spec.cwd, env, hear)

    async def _accepts(self, child: Child, port: int) -> bool:
        """Until its port answers."""
        return await until_accepted("127.0.0.1", port)

    async def _until_ready(self, running: Running, spec: ServerSpec, port: int) -> None:
        ready = asyncio.create_task(running.ready.wait() if spec.ready_log else self._accepts(running.child, port))
        try:
            either: set[asyncio.Future[Any]] = {running.child.exited, ready}
            await asyncio.wait(either, timeout=self.answer_s, return_when=asyncio.FIRST_COMPLETED)
            if running.child.exited.done():
                await self._drained(running.child)
                raise TargetCrashed(self._how(running.child.exited.result()) + " before it was ready")
            if not ready.done():
                raise TargetTimeout(f"the server was not ready within {self.answer_s:g} s")
        finally:
            ready.cancel()

    async def _drained(self, child: Child) -> None:
        """What it printed last may still be on its way; a grandchild that keeps its stdout open is not waited for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.grace_s):
                await child.quiet.wait()

    def _how(self, code: int) -> str:
        return f"the server ended with {how_it_ended(code)}"

    def _exited(self, instance: Instance, code: int) -> None:
        """One that was not asked to: its port answers nobody, so the session is over."""
        if instance.id in self._running:
            self.broken(TargetCrashed(self._how(code)))

    async def stop(self, instance: Instance) -> None:
        self.instances.pop(instance.id, None)
        if running := self._running.pop(instance.id, None):
            running.child.terminate()
            await running.child.ends_within(self.grace_s)
            await running.child.end()

    async def kill(self) -> None:
        self.broken(TargetCrashed("the harness killed it"))
        for running in self._running.values():
            running.child.kill()
        await self.close()

    async def close(self) -> None:
        for instance in list(self.instances.values()):
            await self.stop(instance)
        self.broken(TargetCrashed("the session is closed"))

    def evidence(self) -> str:
        return self._output.text()


class Server(Reach):
    kind = "server"

    def __init__(self, name: str, version: str, specs: Sequence[ServerSpec]) -> None:
        self._arguments = (name, version, specs)

    def session(self) -> ServerSession:
        return ServerSession(*self._arguments)


async def until_accepted(host: str, port: int) -> bool:
    while not await accepts(host, port):  # noqa: ASYNC110  # nobody tells when a port opens
        await asyncio.sleep(READY_POLL_S)
    return True


async def accepts(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


def filled(template: str, holes: Mapping[str, str]) -> str:
    """The template with each {hole} replaced; other braces stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda m: holes.get(m[1], m[0]), template)


def as_text(value: Any) -> str:
    """A configuration value on a command line: lists are joined by commas."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
