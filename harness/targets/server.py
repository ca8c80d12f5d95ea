"""Reach: a plain server process, unchanged: a command line with holes, and a sign that it is ready."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from harness.catalogue.addresses import by_port, filled, hole, holes_of
from harness.errors import TargetCrashed, TargetTimeout, TargetUnsupported, Unavailable
from harness.judging.patience import START_S
from harness.shim import Hello
from harness.targets.build import Build
from harness.targets.child import GRACE_S, Child, Hear, Kept, how_it_ended, spawn
from harness.targets.ports import reserved_port
from harness.targets.session import Instance, Reach, Session, told_of_ports

READY_POLL_S = 0.01
"""There is no event for "a port is open": ask again this often, bounded by answer_s."""


@dataclass(frozen=True)
class ServerSpec:
    """How to run one role as a plain server. Holes: its ports, {state_dir} and every other key of the configuration."""

    role: str
    command: Sequence[str]
    address: str | Mapping[str, str] = "127.0.0.1:{port}"  # or one for each port, by name
    ready_log: str = ""  # a pattern on stdout or stderr, whose named groups are told; empty: its ports answer
    env: Mapping[str, str] = field(default_factory=dict)
    capabilities: Sequence[str] = ()
    cwd: str | None = None
    ports: Sequence[str] = ()  # their names; empty: those that the addresses have

    def __post_init__(self) -> None:
        try:
            re.compile(self.ready_log)
        except re.error as error:
            raise Unavailable(f"ready_log {self.ready_log!r} of {self.role} is not a pattern: {error}") from None
        known = [hole(port) for port in self.port_names]
        for text in (*self.command, *self.env.values(), *self.addresses.values()):
            for name in holes_of(text):
                if (name == "port" or name.endswith("_port")) and name not in known:
                    there = ", ".join(f"{{{name}}}" for name in known)
                    raise Unavailable(f"{self.role} has no port for {{{name}}}: use {there}, or add it to `ports`")

    @property
    def addresses(self) -> dict[str, str]:
        return by_port(self.address)

    @property
    def port_names(self) -> list[str]:
        return list(self.ports or self.addresses)

    @property
    def ports_answer(self) -> bool:
        """Must its ports answer before it is ready? A log line without named groups is a sign in their place."""
        return not self.ready_log or bool(re.compile(self.ready_log).groupindex)


class Log:
    """What a server prints until it is ready; the named groups of the pattern are what it tells."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)
        self._kept = Kept()
        self.ready = asyncio.Event()
        self.told: dict[str, str] = {}

    def add(self, data: bytes) -> None:
        if self.ready.is_set() or not self._pattern.pattern:
            return
        self._kept.add(data)
        # Half a line may be enough to be ready, but half a key is none.
        text = self._kept.whole_lines() if self._pattern.groupindex else self._kept.text()
        if found := self._pattern.search(text):
            self.told = {name: value for name, value in found.groupdict().items() if value is not None}
            self.ready.set()


@dataclass(eq=False)
class Running:
    """One server process, its ports by name, and what it is waited for."""

    child: Child
    ports: Mapping[str, int]
    log: Log
    missing: str = ""  # what it has not shown yet


class ServerSession(Session):
    """Each start is a process; there is nothing to `do` but talk to its port."""

    grace_s: float = GRACE_S

    def __init__(self, name: str, version: str, specs: Sequence[ServerSpec]) -> None:
        super().__init__()
        self._hello = Hello(name, {spec.role: list(spec.capabilities) for spec in specs}, version)
        self._specs = {spec.role: spec for spec in specs}
        self._running: dict[str, Running] = {}

    async def open(self) -> Hello:
        return self._hello

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        raise TargetUnsupported(f"a plain server has no shim to {verb} with")

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        self.check_alive()
        spec = self._specs.get(role)
        if spec is None:
            raise TargetUnsupported(f"role {role}")
        with ExitStack() as promised:
            ports = {name: promised.enter_context(reserved_port()) for name in spec.port_names}
            holes = {key: as_text(value) for key, value in config.items()}
            holes |= {hole(name): str(port) for name, port in ports.items()}
            addresses = {name: filled(template, holes) for name, template in spec.addresses.items()}
            instance = Instance(self, "s" + "-".join(map(str, ports.values())), role)
            self._running[instance.id] = running = await self._run(spec, holes, ports)
            self.instances[instance.id] = instance
            try:
                await self._until_ready(running, spec)
            except BaseException:
                await self.stop(instance)
                raise
        instance.details = told_of_ports("address", "addresses", addresses) | told_of_ports("port", "ports", ports)
        instance.details |= running.log.told
        running.child.exited.add_done_callback(lambda code: self._exited(instance, code.result()))
        return instance

    async def _run(self, spec: ServerSpec, holes: Mapping[str, str], ports: Mapping[str, int]) -> Running:
        log = Log(spec.ready_log)

        def hear(fd: int, data: bytes) -> None:
            self.printed.add(data)
            log.add(data)

        command = [filled(word, holes) for word in spec.command]
        env = {key: filled(value, holes) for key, value in spec.env.items()}
        return Running(await self._spawn(spec, command, env, hear, tuple(ports.values())), ports, log)

    async def _spawn(
        self, spec: ServerSpec, command: list[str], env: dict[str, str], hear: Hear, ports: Sequence[int]
    ) -> Child:
        return await spawn(command, spec.cwd, env, hear)

    async def _accepts(self, child: Child, port: int) -> bool:
        """Until its port answers."""
        return await until_accepted("127.0.0.1", port)

    async def _shown(self, running: Running, spec: ServerSpec) -> None:
        """Until it has shown every sign of being ready."""
        if spec.ready_log:
            running.missing = f"nothing that it printed matches {spec.ready_log!r}"
            await running.log.ready.wait()
        for name, port in running.ports.items() if spec.ports_answer else ():
            running.missing = f"its {f'{name} port'.lstrip()} {port} does not answer"
            await self._accepts(running.child, port)

    async def _until_ready(self, running: Running, spec: ServerSpec) -> None:
        what, began = f"{spec.role} ready", time.monotonic()
        waited_s = self.patience.seconds(what, self.answer_s, START_S)
        ready = asyncio.create_task(self._shown(running, spec))
        try:
            either: set[asyncio.Future[Any]] = {running.child.exited, ready}
            await asyncio.wait(either, timeout=waited_s, return_when=asyncio.FIRST_COMPLETED)
            if running.child.exited.done():
                await self._drained(running.child)
                raise TargetCrashed(self._how(running.child.exited.result()) + " before it was ready")
            if not ready.done():
                self.patience.waited_in_vain(what)
                raise TargetTimeout(f"the server was not ready within {waited_s:g} s: {running.missing}")
            ready.result()
            self.patience.paid(what, time.monotonic() - began, formal=True)
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

    def pause(self) -> None:
        for running in self._running.values():
            running.child.pause()

    def resume(self) -> None:
        for running in self._running.values():
            running.child.resume()

    async def close(self) -> None:
        for instance in list(self.instances.values()):
            await self.stop(instance)
        self.broken(TargetCrashed("the session is closed"))


class Server(Reach):
    kind = "server"

    def __init__(self, name: str, version: str, specs: Sequence[ServerSpec], build: Build | None = None) -> None:
        self._arguments, self.build = (name, version, specs), build

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


def as_text(value: Any) -> str:
    """A configuration value on a command line: lists are joined by commas."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
