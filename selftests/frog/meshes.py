"""Servers wired to one another in memory, and sisters played by hand with keys of their own."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import Any

from reference_impl.core import Player
from reference_impl.frog.frames import (
    Chal,
    Hangup,
    Heard,
    Hello,
    Join,
    Opened,
    SisterAuth,
    SisterChal,
    SisterHello,
    SisterOk,
)
from reference_impl.frog.host import NETWORK, Dial, DialFailed, Dialled
from reference_impl.frog.identity import ServerProof
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.sisters import Mesh, Seed
from selftests.frog.conversations import SERVER_ID, URI, Peer, Watched, identities

KEY = bytes(range(32, 64))  # of SERVER_ID


@dataclass(frozen=True)
class Sibling:
    """A server played by hand."""

    name: str

    @property
    def seed(self) -> bytes:
        return self.name.encode().ljust(32, b"-")

    @property
    def id(self) -> str:
        return identities.id_of(identities.public_key(self.seed))

    @property
    def uri(self) -> str:
        return f"wss://{self.name}.example.org/"

    def hello(self) -> SisterHello:
        return SisterHello(self.id, self.uri)

    def auth(self, nonce: str, uri: str = URI, server_id: str = SERVER_ID) -> SisterAuth:
        return SisterAuth(*identities.sign(self.seed, ServerProof(nonce, self.uri, self.id, uri, server_id)))


class Circle(Watched):
    """One server beside its oracle, with sisters and peers around it, each on the connection it opened last."""

    def __init__(self, policy: str = "polite", lag: int = 0, seeds: tuple[Sibling, ...] = (), **config: Any) -> None:
        allowed = frozenset(Sibling(name).id for name in ("x", "y", "z"))
        mesh = Mesh(tuple(Seed(sister.uri) for sister in seeds), allowed)
        config = {"mesh": mesh, "remembers": True} | config
        super().__init__(ServerMachine(Config(SERVER_ID, URI, key=KEY, **config)), policy, lag)
        self.lines: dict[Sibling | Peer, int] = {}
        self.opened = 0
        self.wait(0.001)  # seeds are dialled

    def open(self, who: Sibling | Peer, how: Any = None) -> int:
        self.opened += 1
        self.lines[who] = self.opened
        self.tell(self.opened, how or Opened())
        return self.opened

    def say(self, who: Sibling | Peer, frame: Any) -> list[Any]:
        return self.tell(self.lines.get(who) or self.open(who), frame)

    def join(self, peer: Peer) -> None:
        self.open(peer)
        self.say(peer, Hello())
        [challenge] = [frame for frame in self.say(peer, Join(peer.key)) if isinstance(frame, Chal)]
        self.hear()
        self.say(peer, peer.auth(challenge.nonce))

    def sister(self, sister: Sibling, until: int = 3) -> None:
        """She dials; 0 to 3 of her steps behind the greeting."""
        self.open(sister)
        said = self.say(sister, sister.hello())
        [nonce] = [frame.nonce for frame in said if isinstance(frame, SisterChal)]
        self.hear()
        steps = [sister.auth(nonce), SisterChal("0" * 26), SisterOk()]
        for frame in steps[:until]:
            self.say(sister, frame)
            self.hear()

    def dialled(self, sister: Sibling, until: int = 4) -> None:
        """She was dialled; 0 to 4 of her steps."""
        self.open(sister, Dialled(sister.uri))
        self.hear()
        for frame in [sister.hello(), SisterChal("0" * 26), SisterOk()][:until]:
            said = self.say(sister, frame)
            self.hear()
        if until == 4:
            [nonce] = [frame.nonce for frame in said if isinstance(frame, SisterChal)]
            self.say(sister, sister.auth(nonce))
            self.hear()


class Net:
    """Servers by name, joined by pipes that keep order; what clients hear is kept for them."""

    def __init__(self, *names: str, **meshes: Mesh) -> None:
        self.now, self._numbers, self._entropy = 0.0, itertools.count(1), itertools.count(1)
        self.players = {name: self._server(name, meshes.get(name, Mesh())) for name in names}
        self._pipes: dict[tuple[str, Any], tuple[str, Any]] = {}
        self._due: deque[tuple[str, Any, Any]] = deque()
        self.heard: dict[tuple[str, Any], list[Any]] = {}
        self.said: list[tuple[str, str, Any]] = []  # between servers: from, to, frame

    def _server(self, name: str, mesh: Mesh) -> Player[Any]:
        sister = Sibling(name)
        return Player(ServerMachine(Config(sister.id, sister.uri, key=sister.seed, mesh=mesh)), entropy=self._bytes)

    def _bytes(self, count: int) -> bytes:
        return (next(self._entropy) * 0x9E3779B97F4A7C15 % 2 ** (8 * count)).to_bytes(count, "big")

    def run(self, seconds: float = 0.0) -> None:
        """Until nothing moves any more, now and at every deadline on the way."""
        end = self.now + seconds
        while True:
            self._flow()
            times = [at for player in self.players.values() if (at := player.deadline) is not None and at <= end]
            if not times:
                break
            self.now = max(self.now, min(times))
            for name, player in self.players.items():
                if player.deadline is not None and player.deadline <= self.now:
                    self._perform(name, player.tick(self.now).frames)
        self.now = end

    def _flow(self) -> None:
        while self._due:
            name, channel, what = self._due.popleft()
            self._perform(name, self.players[name].receive(channel, Heard(what, self.now)).frames)

    def _perform(self, name: str, frames: tuple[tuple[Any, Any], ...]) -> None:
        for channel, frame in frames:
            if channel == NETWORK:
                self._connect(name, frame)
            elif other := self._pipes.get((name, channel)):
                self.said.append((name, other[0], frame))
                self._due.append((*other, frame))
                if isinstance(frame, Hangup):
                    self._due.append((name, channel, frame))
                    del self._pipes[name, channel], self._pipes[other]
            else:
                self.heard.setdefault((name, channel), []).append(frame)

    def _connect(self, name: str, dial: Dial) -> None:
        other = next((each for each in self.players if Sibling(each).uri == dial.uri), None)
        if other is None:
            self._due.append((name, NETWORK, DialFailed(dial.uri)))
            return
        here, there = next(self._numbers), next(self._numbers)
        self._pipes |= {(name, here): (other, there), (other, there): (name, here)}
        self._due += [(other, there, Opened()), (name, here, Dialled(dial.uri))]

    def client(self, name: str, peer: Peer) -> tuple[str, int]:
        """A registered client of that server."""
        line = name, next(self._numbers)
        self.tell(line, Opened(), Hello(), Join(peer.key))
        [nonce] = [frame.nonce for frame in self.take(line) if isinstance(frame, Chal)]
        self.tell(line, peer.auth(nonce, Sibling(name).uri, Sibling(name).id))
        self.take(line)
        return line

    def tell(self, line: tuple[str, int], *frames: Any) -> None:
        self._due += [(*line, frame) for frame in frames]
        self.run()

    def take(self, line: tuple[str, int]) -> list[Any]:
        return self.heard.pop(line, [])


def chain(*names: str) -> Net:
    """Each dials the next, and both allow it."""
    meshes = {}
    for name, following in zip(names, [*names[1:], None], strict=True):
        allowed = frozenset(Sibling(each).id for each in names)
        meshes[name] = Mesh((Seed(Sibling(following).uri),) if following else (), allowed)
    net = Net(*names, **meshes)
    net.run()
    return net
