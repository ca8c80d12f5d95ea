"""Reach: a container on this machine's docker engine, with a shim or a plain server inside.

A shim's container is on the network of the host. Its conversation with the harness goes both ways over addresses that
are chosen while it runs: a broker listens on a port of its own choice, a client dials the broker that a case plays, a
node broadcasts on the loopback. Only one network for both makes that the same conversation as with a process, and so
the same verdict. `network = "none"` takes it away from an image that needs none, such as a codec's. A plain server never
gets it: it has a network of its own, from which nothing outside can be talked to, and its ports are published on 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import TargetCrashed, Unavailable
from harness.shim import Hello
from harness.targets.child import Child, Hear, Kept, spawn
from harness.targets.container import USUAL, Container, Limits, Prepare, Recipe, run
from harness.targets.engine import CONTENT, Engine, Network, internal_network, the_engine
from harness.targets.process import ProcessSession
from harness.targets.server import ServerSession, ServerSpec, until_accepted
from harness.targets.session import Instance, Reach, told_of_ports

STATE = "/touchstone"
"""Where the run's volume is inside a container; each `state_dir` of the harness is a folder there."""

SHELF = 64
"""Folders made at a time: the engine takes as long for one as for many."""

NEVER_RAN = "[FATAL tini "
"""How the engine's init begins to say that it could not start the command."""

BUILD_S = 1800
"""How long an image may take to be built."""


@dataclass(frozen=True)
class Image:
    """Which image, and what makes it if it is ours to make."""

    name: str
    build: str = ""  # a folder with a Dockerfile
    arguments: Mapping[str, str] = field(default_factory=dict)
    prepare: Sequence[str] = ()  # a command that makes it, and is quick when there is nothing to do
    cwd: str = "."

    async def made(self, engine: Engine) -> None:
        """It is there, and up to date as far as that is in our hands."""
        if self.prepare:
            await self._prepared()
        if self.build:
            await engine.ask(_built, engine, self)
        await engine.ask(engine.api.inspect_image, self.name)

    async def _prepared(self) -> None:
        self._can_be_prepared()
        said = Kept()
        child = await spawn(self.prepare, self.cwd, None, lambda fd, data: said.add(data))
        done = await child.ends_within(BUILD_S)
        await child.end()
        if not done or child.exited.result():
            raise Unavailable(f"{self.prepare[0]} could not make the image {self.name}: {said.last_line()[:300]}")

    def _can_be_prepared(self) -> None:
        maker = Path(self.cwd, self.prepare[0])
        if "/" in self.prepare[0] and not maker.exists():
            raise Unavailable(f"the image {self.name} is made by {maker.name}, which only a clone of the project has")


class Room:
    """Where shims in containers meet: on an internal network, behind one loopback that all of them share.

    127.0.0.1 is for them what it is for processes on one machine, so it is the same conversation, and there is no way out.
    Who comes joins one that is inside, whoever was the first.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._inside: list[Container] = []
        self._door = asyncio.Lock()

    async def enter(self, engine: Engine, recipe: Recipe, hear: Hear, prepare: Prepare) -> Container:
        async with self._door:
            self._inside = [container for container in self._inside if not container.exited.done()]
            way_in = f"container:{self._inside[-1].id}" if self._inside else self._network.name
            self._inside.append(await run(engine, replace(recipe, network=way_in), hear, prepare, stdin=True))
            return self._inside[-1]


@asynccontextmanager
async def internal_room() -> AsyncIterator[Room]:
    """One for as long as it is held; its containers are gone by then."""
    async with internal_network() as network:
        yield Room(network)


class Docker(Reach):
    """`image:name:tag`, or a manifest. Without servers, what the image runs is a shim."""

    kind = "docker"

    def __init__(
        self,
        image: Image,
        command: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        network: str = "host",
        limits: Limits = USUAL,
        servers: Sequence[ServerSpec] = (),
        identity: tuple[str, str] = ("", ""),
        meeting: Network | None = None,
        room: Room | None = None,
    ) -> None:
        self._image, self._servers, self._identity = image, servers, identity
        self._meeting, self._room = meeting, room
        self._recipe = Recipe(image.name, command, env or {}, network, limits=limits)
        self._made = False
        self._lock = asyncio.Lock()
        self._volume = ""
        self._network: Network | None = None
        self._folders: dict[str, int] = {}  # state_dir -> the folder inside that stands for it
        self._shelved = 0  # so many folders are there

    @property
    def image(self) -> str:
        return self._image.name

    def session(self) -> DockerShim | DockerServer:
        return DockerServer(self, self._identity, self._servers) if self._servers else DockerShim(self)

    def on(self, network: Network) -> Docker:
        """The same target on an internal network, to meet others there: a shim only there, a server there too."""
        it = self._recipe
        return Docker(self._image, it.command, it.env, it.network, it.limits, self._servers, self._identity, network)

    @property
    def is_shim(self) -> bool:
        return not self._servers

    def within(self, room: Room) -> Docker:
        """The same shim in a room with others."""
        it = self._recipe
        return Docker(self._image, it.command, it.env, limits=it.limits, identity=self._identity, room=room)

    # -- for its sessions -----------------------------------------------------------------------------------------

    async def run(self, hear: Hear, **changes: Any) -> Container:
        """A container of this target."""
        async with self._lock:
            engine = await self._ready()
            networks = await self._networks(engine)
        recipe = replace(self._recipe, **networks, volumes={self._volume: STATE}, **changes)
        if self._room:
            return await self._room.enter(engine, recipe, hear, self.make_folders)
        return await run(engine, recipe, hear, self.make_folders, stdin=not self._servers)

    async def _networks(self, engine: Engine) -> dict[str, Any]:
        """A plain server is on a network made for the run, for an internal one publishes no ports."""
        meeting = self._meeting.name if self._meeting else ""
        if not self._servers:
            return {"network": meeting or self._recipe.network}
        if self._network is None:
            self._network = await engine.network(internal=False)
        return {"network": self._network.name, "meeting": meeting}

    async def _ready(self) -> Engine:
        engine = await the_engine()
        if not self._made:
            await self._image.made(engine)
            self._volume = engine.name("state")
            await engine.ask(engine.api.create_volume, self._volume, labels=engine.labels)
            self._made = True
        return engine

    def inside(self, config: dict[str, Any]) -> dict[str, Any]:
        """The configuration as a container sees it: a state_dir is on the volume, and outlives the container."""
        if "state_dir" not in config:
            return config
        number = self._folders.setdefault(config["state_dir"], len(self._folders))
        return {**config, "state_dir": f"{STATE}/{number}"}

    async def make_folders(self, container: Container) -> None:
        """Every folder that stands for a state_dir is on the volume, empty at first, as the harness's own would be."""
        async with self._lock:
            while self._shelved <= len(self._folders):
                numbers = range(self._shelved, self._shelved + SHELF)
                await container.engine.ask(container.engine.api.put_archive, container.id, STATE, _folders(numbers))
                self._shelved += SHELF

    async def close(self) -> None:
        """Its containers were removed with their sessions; now the volume and the network."""
        if not self._made:
            return
        engine = await the_engine()
        await engine.settled()
        engine.soon(engine.api.remove_volume, self._volume, force=True)
        if self._network:
            engine.soon(engine.api.remove_network, self._network.name)
        await engine.settled()
        self._made, self._network, self._shelved = False, None, 0
        self._folders.clear()


class DockerShim(ProcessSession):
    """One container, which speaks the shim protocol on its stdin and stdout."""

    def __init__(self, reach: Docker) -> None:
        super().__init__([])
        self._reach = reach

    async def open(self) -> Hello:
        self._child = child = await self._reach.run(self._hear)
        self._watch = asyncio.create_task(self._until_it_ends(child))
        try:
            return await self.greet()
        except TargetCrashed:
            if NEVER_RAN in (
                said := self.printed.last_line()
            ):  # the manifest's fault or the image's: nothing was tested
                raise Unavailable(f"the image {self._reach.image} cannot run its command: {said}") from None
            raise

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        told = self._reach.inside(config)
        if told is not config and isinstance(self._child, Container):
            await self._reach.make_folders(self._child)
        return await super().start(role, told)


class DockerServer(ServerSession):
    """Each start is a container with a plain server; its ports have the same numbers inside and on 127.0.0.1."""

    def __init__(self, reach: Docker, identity: tuple[str, str], specs: Sequence[ServerSpec]) -> None:
        super().__init__(*identity, specs)
        self._reach = reach

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        instance = await super().start(role, self._reach.inside(config))
        running = self._running[instance.id]
        if isinstance(running.child, Container):  # how others on the same network dial it
            inside = {name: f"{running.child.name}:{port}" for name, port in running.ports.items()}
            instance.details |= told_of_ports("inside", "insides", inside)
        return instance

    async def _spawn(
        self, spec: ServerSpec, command: list[str], env: dict[str, str], hear: Hear, ports: Sequence[int]
    ) -> Child:
        return await self._reach.run(hear, command=command, env=env, ports=ports)

    async def _accepts(self, child: Child, port: int) -> bool:
        """A published port accepts before the server does; the container's own address does not."""
        assert isinstance(child, Container)
        return await until_accepted(await child.address(), port)


def _folders(numbers: range) -> bytes:
    """Empty folders that any user may write to, as an archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number in numbers:
            folder = tarfile.TarInfo(str(number))
            folder.type, folder.mode = tarfile.DIRTYPE, 0o777
            archive.addfile(folder)
    return packed.getvalue()


def _built(engine: Engine, image: Image) -> None:
    """Build a folder, unless the image was built from the same files and arguments."""
    folder = Path(image.cwd) / image.build
    if not (folder / "Dockerfile").is_file():
        raise Unavailable(f"there is no Dockerfile in {folder}: `build` names the folder that has it")
    content = _content(folder, image.arguments)
    for known in engine.api.images(name=image.name):
        if (known["Labels"] or {}).get(CONTENT) == content:
            return
    for step in engine.api.build(
        path=str(folder),
        tag=image.name,
        buildargs=dict(image.arguments),
        labels={CONTENT: content},
        rm=True,
        forcerm=True,
        timeout=BUILD_S,
        decode=True,
    ):
        if "error" in step:
            raise Unavailable(f"the image {image.name} cannot be built: {step['error'].strip().splitlines()[-1]}")


def _content(folder: Path, arguments: Mapping[str, str]) -> str:
    seen = hashlib.sha256(repr(sorted(arguments.items())).encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            seen.update(f"{path.relative_to(folder)}\0{path.stat().st_mode}\0{path.stat().st_size}\0".encode())
            seen.update(path.read_bytes())
    return seen.hexdigest()[:16]
