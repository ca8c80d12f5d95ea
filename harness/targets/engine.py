"""The docker engine of this machine: what a run makes on it carries the run's label, and is removed with the run.

Every container, network and volume has two labels: the run's id and its owner, the process that will remove it. It does
so when a session or target is closed, and again when it exits. What a process that was killed left behind is swept away
by the next one: an owner that is gone wants nothing back.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import importlib
import ipaddress
import itertools
import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import Unavailable

T = TypeVar("T")

LABEL, OWNER, CONTENT = "touchstone", "touchstone.owner", "touchstone.content"
DEFAULT_HOST = "unix:///var/run/docker.sock"

ENGINE_S = 60
"""How long the engine may take for one call; paid only when it hangs."""


class NoAnswer(Unavailable):
    """The engine is there and thinks, or what it was asked to wait for has not come."""


class Engine:
    """One connection to the engine, and one run's id. Calls block, so they are made on threads of its own."""

    def __init__(self, api: Any) -> None:
        self.api, self.run = api, uuid.uuid4().hex[:8]
        self.labels = {LABEL: self.run, OWNER: owner()}
        self._threads = ThreadPoolExecutor(8, "docker")
        self._names = itertools.count(1)
        self._under_way: set[Future[None]] = set()
        atexit.register(self.clean)

    def name(self, what: str) -> str:
        """A name that no other run and nothing else of this one has."""
        return f"touchstone-{self.run}-{what}{next(self._names)}"

    async def ask(self, call: Callable[..., T], *args: Any, **fields: Any) -> T:
        """One call; what goes wrong is the environment's fault, in one sentence."""

        def asked() -> T:
            with in_a_sentence():
                return call(*args, **fields)

        return await asyncio.get_running_loop().run_in_executor(self._threads, asked)

    def soon(self, call: Callable[..., Any], *args: Any, **fields: Any) -> Future[None]:
        """Make a call that nobody waits for: most remove something, and what they cannot is swept at the next start."""

        def tried() -> None:
            with contextlib.suppress(Unavailable), in_a_sentence():
                call(*args, **fields)

        future = self._threads.submit(tried)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    async def settled(self) -> None:
        """Until all of those calls are done, and what was to be removed is gone."""
        await asyncio.gather(*map(asyncio.wrap_future, list(self._under_way)))

    # -- what there is of ours ------------------------------------------------------------------------------------

    def clean(self) -> None:
        """Remove what this run has made: the last thing the process does, however it came to its end."""
        if self.labels[OWNER] == owner():  # and not a fork of it
            with contextlib.suppress(Unavailable), in_a_sentence():
                self._remove_if(lambda labels: labels.get(LABEL) == self.run)

    def sweep(self) -> None:
        """Remove what runs of the past have left."""
        self._remove_if(lambda labels: is_gone(labels.get(OWNER, "")))

    def _remove_if(self, condemned: Callable[[dict[str, str]], bool]) -> None:
        ours = {"label": LABEL}
        containers = [c for c in self.api.containers(all=True, filters=ours) if condemned(c["Labels"])]
        for container in containers:
            _gone(self.api.remove_container, container["Id"], force=True, v=True)
        for network in self.api.networks(filters=ours):
            if condemned(network["Labels"]):
                _gone(self.api.remove_network, network["Id"])
        for volume in self.api.volumes(filters=ours)["Volumes"] or []:
            if condemned(volume["Labels"]):
                _gone(self.api.remove_volume, volume["Name"], force=True)

    # -- networks -------------------------------------------------------------------------------------------------

    async def network(self, *, internal: bool) -> Network:
        """A bridge of the run's own. One that is not internal can publish ports, and still reaches nothing outside."""
        name = self.name("net")
        await self.ask(
            self.api.create_network,
            name,
            driver="bridge",
            internal=internal,
            options={"com.docker.network.bridge.enable_ip_masquerade": "false"},
            labels=self.labels,
        )
        made = await self.ask(self.api.inspect_network, name)
        return Network(name, made["IPAM"]["Config"][0]["Subnet"])


@dataclass(frozen=True)
class Network:
    """Where several containers of one case meet."""

    name: str
    subnet: str

    @property
    def broadcast(self) -> str:
        """The one broadcast address that an internal network delivers: 255.255.255.255 goes nowhere (seen)."""
        return str(ipaddress.ip_network(self.subnet).broadcast_address)


@asynccontextmanager
async def internal_network() -> AsyncIterator[Network]:
    """A network for one block that reaches nothing but the containers on it: `reach.on(network)` puts them there."""
    engine = await the_engine()
    network = await engine.network(internal=True)
    try:
        yield network
    finally:
        await engine.settled()  # the containers on it are on their way out
        await asyncio.wrap_future(engine.soon(engine.api.remove_network, network.name))


# -- connecting ---------------------------------------------------------------------------------------------------


async def the_engine() -> Engine:
    """The engine that DOCKER_HOST names, or the local one; the first use sweeps it."""

    def connected() -> Engine:
        with _connecting:
            return _connected(os.environ.get("DOCKER_HOST") or DEFAULT_HOST)

    return await asyncio.to_thread(connected)


_connecting = threading.Lock()


@functools.cache
def _connected(host: str) -> Engine:
    if not host.startswith("unix://"):
        raise Unavailable(f"DOCKER_HOST is {host}: containers are reached on this machine only, by a unix:// socket")
    try:
        engine = Engine(sdk().APIClient(base_url=host, version="auto", timeout=ENGINE_S))
    except sdk().errors.DockerException as error:
        if "Permission denied" in str(error):
            why = f"you may not use the docker engine at {host}: join its group (docker) or use sudo"
        else:
            why = f"no docker engine answers at {host}: start dockerd; docker/engine installs one"
        raise Unavailable(why) from None
    with in_a_sentence():
        engine.sweep()
    return engine


os.register_at_fork(after_in_child=_connected.cache_clear)  # the threads of an engine stay with the parent


@functools.cache
def sdk() -> Any:
    """The Python package docker; imported by name, for a folder of that name must not pass for it."""
    try:
        importlib.import_module("docker.errors")
    except ImportError:
        raise Unavailable("docker targets need the Python package docker: pip install 'touchstone[docker]'") from None
    return importlib.import_module("docker")


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """What docker or the way to it says, as the environment's fault."""
    import requests  # docker's, so it is there when docker is

    try:
        yield
    except sdk().errors.ImageNotFound as error:
        name = str(error.explanation).rpartition("image: ")[2]
        raise Unavailable(f"there is no image {name} on the docker engine: docker build or docker pull it") from None
    except sdk().errors.APIError as error:
        words = str(error.explanation or error).strip().splitlines()
        raise Unavailable(f"the docker engine says: {words[0] if words else error}") from None
    except requests.exceptions.Timeout:
        raise NoAnswer("the docker engine did not answer in time") from None
    except (requests.exceptions.RequestException, sdk().errors.DockerException, OSError) as error:
        raise Unavailable(f"the docker engine does not answer: {error}".splitlines()[0]) from None


def _gone(call: Callable[..., Any], *args: Any, **fields: Any) -> None:
    with contextlib.suppress(Unavailable), in_a_sentence():  # somebody else was quicker
        call(*args, **fields)


# -- whose it is --------------------------------------------------------------------------------------------------


def owner() -> str:
    """This process, so that no later one can be taken for it: boot, pid namespace, pid, start time."""
    return "/".join((_boot(), _pid_namespace(), str(os.getpid()), _started(os.getpid())))


def is_gone(whose: str) -> bool:
    """Is the owner surely dead? Of one in another pid namespace nothing is known, so it is left alone."""
    boot, namespace, pid, started = (whose.split("/") + [""] * 4)[:4]
    if not (boot and started and pid.isdigit()):
        return False
    return boot != _boot() or (namespace == _pid_namespace() and _started(int(pid)) != started)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _pid_namespace() -> str:
    return os.readlink("/proc/self/ns/pid").strip("pid:[]")


def _started(pid: int) -> str:
    """Ticks after boot at which a process started (field 22 of its stat); empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
