"""A server under test, seen by its clients."""

from __future__ import annotations

from typing import Any, Self

from harness.judging.clock import Clock, clock_of
from harness.judging.trial import Broken, Trial
from harness.targets import Instance
from reference_impl.frog.frames import (
    Chal,
    Err,
    Found,
    Frame,
    GetServers,
    Hangup,
    Hello,
    Join,
    Joined,
    Lookup,
    Signal,
    SignalFrom,
    Welcome,
)
from reference_impl.io.websocket import WebSocket
from suites.common.connect import dial_websocket
from suites.frog.line import ServerLine
from suites.frog.wire import SUBPROTOCOL, Peer, cid, message, network, proof

ROLE = "frog/server"
SEED = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"  # section 50.2
TIMERS = {
    "auth_challenge_ttl_ms": 30_000,
    "route_ttl_ms": 180_000,
    "lookup_timeout_ms": 3_000,
    "find_timeout_ms": 1_500,
}
BOUNDS = ["connections", "connections_per_ip", "peers", "peers_per_network", "challenges", "routes", "queue"]
RATES = ["connections", "joins", "failed_auths", "getservers", "finds", "lookups", "signals"]
USUAL: dict[str, Any] = {
    "seed": SEED,
    "uri": "",
    **TIMERS,
    **{f"max_{bound}": 0 for bound in BOUNDS},
    **{f"rate_{rate}": 0 for rate in RATES},
    "sisters": [],
    "seeds": [],
    **{"discover": 0, "redial_ms": 500, "lookup_ttl": 5, "find_ttl": 3, "lookup_fanout": 7, "find_fanout": 7},
    **{"rate_floods": 0, "max_sisters": 0},
}
STATES = ("new", "hello-ok", "auth-pending", "registered")


class PeerLine(ServerLine):
    """A client's connection to the server under test, and who the client is."""

    def __init__(self, server: ServerUnderTest, carrier: WebSocket, label: str, peer: Peer) -> None:
        super().__init__(server.trial, carrier, label)
        self.server, self.peer = server, peer
        self.server_id = self.nonce = ""

    @property
    def key(self) -> str:
        return self.peer.key

    # -- on the way to a registration -----------------------------------------------------------------------------

    async def hello(self) -> Welcome:
        await self.send(Hello())
        welcome = await self.expect(Welcome, "FROG-16-02")
        self.server_id = welcome.server_id
        return welcome

    async def join(self) -> str:
        """JOIN; the nonce of the challenge."""
        await self.send(Join(self.key))
        self.nonce = (await self.expect(Chal, "FROG-17-01")).nonce
        return self.nonce

    async def auth(self, **changes: str) -> None:
        """AUTH over the right string, or over one with other lines; `public_key` and `signature` are the message's own."""
        key = changes.pop("public_key", self.peer.public_key)
        signature = changes.pop("signature", "") or self.peer.sign(self.proof(**changes))
        await self.raw(message(f"AUTH {key} {signature}"))

    def proof(self, **changes: str) -> bytes:
        lines = {"nonce": self.nonce, "uri": self.server.uri, "peer_key": self.key, "server_id": self.server_id}
        return proof(**(lines | changes))

    async def register(self) -> None:
        await self.hello()
        await self.join()
        await self.auth()
        await self.expect(Joined, "FROG-17-11")

    # -- requests -------------------------------------------------------------------------------------------------

    async def route(self, other: PeerLine) -> str:
        """The id of a new route to a peer that is there."""
        asked = cid("L")
        await self.send(Lookup(asked, other.key))
        found = await self.expect(Found, "FROG-23-05")
        wanted = Found(asked, other.key, found.route_id)
        self.trial.expect(found == wanted, str(wanted), found, "FROG-23-05")
        return found.route_id

    async def find(self, limit: int = 7) -> tuple[str, ...]:
        asked = cid("F")
        await self.raw(message(f"FIND {asked} {limit}"))
        peers = await self.next("PEERS", "FROG-22-02")
        keys: tuple[str, ...] = getattr(peers, "peer_keys", ())
        self.trial.expect(getattr(peers, "cid", "") == asked, f"PEERS {asked}", peers, "FROG-22-02")
        return keys

    async def expect_miss(self, key: str, clause: str) -> None:
        """A lookup that finds nobody."""
        asked = cid("L")
        await self.send(Lookup(asked, key))
        await self.expect_error(asked, ("PEER_NOT_FOUND", "LOOKUP_TIMEOUT"), clause)

    async def signals(self, route: str, other: PeerLine, payload: bytes = b"x", kind: str = "ICE") -> None:
        """A signal arrives as it was sent, and as the next thing that the other side hears."""
        await self.send(Signal(route, kind, payload))
        got = await other.expect(SignalFrom, "FROG-26-03")
        wanted = SignalFrom(route, self.key, kind, payload)
        self.trial.expect(got == wanted, str(wanted), got, "FROG-26-03")

    async def expect_state(self, state: str, clause: str) -> None:
        """What that state alone allows is answered as it should be; moves on to the next state."""
        try:
            match state:
                case "new":
                    await self.hello()
                case "hello-ok":
                    await self.join()
                case "auth-pending":
                    await self.auth()
                    await self.expect(Joined, clause)
                case _:
                    await self.find(1)
        except Broken as broken:
            raise Broken(clause, f"the state {state} as before: {broken.expected}", broken.observed) from None

    # -- refusals -------------------------------------------------------------------------------------------------

    async def expect_error(self, id: str, codes: str | tuple[str, ...], clause: str) -> Err:
        """The next message is this error, and nothing else will do."""
        codes = (codes,) if isinstance(codes, str) else codes
        err = await self.next(f"ERR {id} {' or '.join(codes)}", clause)
        if not isinstance(err, Err) or err.code not in codes:
            raise Broken(clause, f"ERR {id} {' or '.join(codes)}", str(err))
        if err.id != id:
            raise Broken("FROG-38-02" if id != "-" else "FROG-38-04", f"ERR {id} {err.code}", str(err))
        return err

    async def expect_refusal(
        self, clause: str, codes: tuple[str, ...], ids: tuple[str, ...] = ("-",), silent: bool = False
    ) -> bool:
        """An error with one of these codes and ids, and then perhaps the end; is it still open?

        `silent`: broken framing, after which the end may come without an error, and no id has to be echoed. Otherwise
        a missing id is a warning where the first of `ids` should have been echoed.
        """
        heard = await self.next(f"ERR {ids[0]} {codes[0]}", clause)
        if isinstance(heard, Hangup):
            if not silent:
                raise Broken(clause, f"ERR {ids[0]} {codes[0]}", "the end without an error")
            return False
        if not isinstance(heard, Err) or heard.code not in codes:
            raise Broken(clause, f"ERR {ids[0]} {' or '.join(codes)}", str(heard))
        if heard.id not in ids:
            raise Broken("FROG-38-04", f"ERR {' or '.join(ids)} {heard.code}", str(heard))
        if heard.id != ids[0] and not silent:
            self.trial.warn("FROG-15-06", f"the error's id is {heard.id}, not {ids[0]}")
        return await self.fence()

    async def fence(self) -> bool:
        """All that was sent here is processed; false where that ended the connection. In no state is a GETSERVERS unanswered."""
        asked = cid("G")
        await self.send(GetServers(asked, 1))
        heard = await self.answer_to(asked, "an answer to GETSERVERS, or the end", "FROG-20-01")
        return not isinstance(heard, Hangup)

    async def expect_silence(self, clause: str = "") -> None:
        """Nothing was said here, and the connection is open."""
        open = await self.fence()
        waiting = self.inbox.drain()
        if not open or waiting:
            raise Broken(clause or self.trial.own_clause, "nothing", str(waiting[0] if waiting else "the end"))

    async def expect_closed(self, clause: str) -> list[Frame]:
        """The end; what was said before it."""
        said: list[Frame] = []
        while not isinstance(heard := await self.next("the end of the connection", clause), Hangup):
            said.append(heard)
        return said


class ServerUnderTest:
    """The server of one case: connects clients, and ends them when the case ends."""

    instance: Instance

    def __init__(self, trial: Trial, **config: Any) -> None:
        self.trial, self.config = trial, USUAL | config
        self.lines: list[PeerLine] = []
        self.network = network()

    async def start(self) -> Self:
        """The one that cases of this configuration share."""
        self.instance = await self.begun()
        return self

    async def begun(self) -> Instance:
        return await self.trial.target.instance(ROLE, self.config)

    @property
    def uri(self) -> str:
        """What clients sign."""
        told = self.config["uri"] or self.instance.details.get("uri")
        return str(told or self.instance.address)

    async def connect(self, peer: Peer | None = None, label: str = "") -> PeerLine:
        """A connection that has said nothing yet."""
        carrier = await dial_websocket(self.trial, self.instance.address, subprotocols=(SUBPROTOCOL,))
        line = PeerLine(self, carrier, label or f"peer{len(self.lines) + 1}", peer or Peer(self.network))
        self.lines.append(line)
        return line

    async def peer(self, peer: Peer | None = None) -> PeerLine:
        """A registered peer of the case's own network."""
        line = await self.connect(peer)
        await line.register()
        return line

    async def peers(self, count: int = 2) -> list[PeerLine]:
        return [await self.peer() for _ in range(count)]

    async def in_state(self, state: str, peer: Peer | None = None) -> PeerLine:
        """A connection in one of the STATES."""
        line = await self.connect(peer)
        if state == "registered":
            await line.register()
        elif state != "new":
            await line.hello()
            if state == "auth-pending":
                await line.join()
        return line

    async def close(self) -> None:
        for line in self.lines:
            await line.leave()


class TimedServer(ServerUnderTest):
    """A server of the case's own, on a clock that the case may push; without one it lives faster, or we wait."""

    FASTER = 20

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial, seed=Peer("X").seed.hex())
        self._scale, self._clock = 1.0, Clock()

    async def start(self) -> Self:
        capabilities = await self.trial.target.capabilities(ROLE)
        if "clock" not in capabilities and "timers" in capabilities:
            self._scale = 1 / self.FASTER
            self.config |= {name: max(1, int(ms * self._scale)) for name, ms in TIMERS.items()}
        await super().start()
        self._clock = Clock() if self._scale < 1 else await clock_of(self.trial, self.instance)
        return self

    async def wait(self, seconds: float) -> None:
        """That many seconds of the specification's time."""
        self.trial.said("harness", "server", "note", f"{seconds:g} s pass")
        await self._clock.advance(seconds * self._scale)
