"""Server and clients on real sockets, on a clock that the tests push."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator

import pytest

from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client import Config as ClientConfig
from reference_impl.frog.client_io import Client, News, RequestRefused
from reference_impl.frog.codec import Codec, Direction
from reference_impl.frog.frames import (
    SUBPROTOCOL,
    Auth,
    Chal,
    Err,
    Find,
    Found,
    Frame,
    GetServers,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    Lookup,
    Peers,
    Signal,
    SignalFrom,
    Try,
    Welcome,
)
from reference_impl.frog.host import Reported, Signalled, Status
from reference_impl.frog.identity import ClientProof
from reference_impl.frog.known import Backoff
from reference_impl.frog.limits import Bounds
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.server_io import Server
from reference_impl.io.carrier import HungUp, NoConnection
from reference_impl.io.websocket import Listener, Settings, WebSocket, dial
from selftests.frog.conversations import SERVER_ID, Peer, identities

WAIT_S = 5.0
OFFER = Settings(subprotocols=(SUBPROTOCOL,))
codec = Codec()


class PushedClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Line:
    """A raw connection to a server, as a client of our own."""

    def __init__(self, carrier: WebSocket, uri: str) -> None:
        self.carrier, self.uri = carrier, uri

    @classmethod
    async def to(cls, server: Server) -> Line:
        return cls(await dial(server.uri, OFFER), server.uri)

    async def say(self, frame: Frame) -> None:
        await self.carrier.send(codec.encode(frame))

    async def hears(self) -> Frame:
        message = await asyncio.wait_for(self.carrier.receive(), WAIT_S)
        assert isinstance(message, bytes)
        frame = codec.decode(message, Direction.TO_CLIENT)
        assert isinstance(frame, Frame)
        return frame

    async def asks(self, frame: Frame) -> Frame:
        await self.say(frame)
        return await self.hears()

    async def joins(self, peer: Peer, auth: Auth | None = None) -> Frame:
        welcome = await self.asks(Hello())
        assert welcome == Welcome(SERVER_ID)
        challenge = await self.asks(Join(peer.key))
        assert isinstance(challenge, Chal)
        return await self.asks(auth or peer.auth(challenge.nonce, self.uri))

    async def is_closed(self) -> bool:
        with pytest.raises(HungUp):
            await asyncio.wait_for(self.carrier.receive(), WAIT_S)
        return True


@pytest.fixture
async def clock() -> PushedClock:
    return PushedClock()


@pytest.fixture
async def server(clock: PushedClock) -> AsyncIterator[Server]:
    server = Server(ServerMachine(Config(SERVER_ID, "", bounds=Bounds(queue=50))), clock=clock)
    await server.start()
    yield server
    await server.stop()


async def test_two_peers_meet_over_a_real_server(server: Server) -> None:
    """The session of section 47, with the largest payload there is."""
    a, b, one, other = await Line.to(server), await Line.to(server), Peer("a"), Peer("b")
    assert await a.joins(one) == Joined()
    assert await b.joins(other) == Joined()
    assert await a.asks(Find("F1", 3)) == Peers("F1", (other.key,))
    found = await a.asks(Lookup("L1", other.key))
    assert isinstance(found, Found)
    await a.say(Signal(found.route_id, "OFFER", bytes(range(256)) * 256))
    assert await b.hears() == SignalFrom(found.route_id, one.key, "OFFER", bytes(range(256)) * 256)
    await b.say(Signal(found.route_id, "ANSWER", b""))
    assert await a.hears() == SignalFrom(found.route_id, other.key, "ANSWER")
    assert await a.asks(Leave()) == Left()
    assert await a.is_closed()


async def test_routes_and_challenges_live_by_the_clock(server: Server, clock: PushedClock) -> None:
    a, b, late = await Line.to(server), await Line.to(server), await Line.to(server)
    await a.joins(Peer("a"))
    await b.joins(Peer("b"))
    found = await a.asks(Lookup("L1", Peer("b").key))
    assert isinstance(found, Found)
    await late.asks(Hello())
    challenge = await late.asks(Join(Peer("c").key))
    assert isinstance(challenge, Chal)
    clock.now += 31
    assert await late.asks(Peer("c").auth(challenge.nonce, late.uri)) == Err("-", "AUTH_FAILED")
    clock.now += 150
    assert await a.asks(Signal(found.route_id, "ICE")) == Err(found.route_id, "ROUTE_EXPIRED")
    clock.now += 300
    server.timer.check()
    assert await a.asks(Signal(found.route_id, "ICE")) == Err(found.route_id, "ROUTE_NOT_FOUND")


async def test_text_closes_and_deregisters(server: Server) -> None:
    a, b = await Line.to(server), await Line.to(server)
    await a.joins(Peer("a"))
    await b.joins(Peer("b"))
    await b.carrier.send("LEAVE\n")
    assert await b.is_closed()
    assert await a.asks(Lookup("L1", Peer("b").key)) == Err("L1", "PEER_NOT_FOUND")


@pytest.mark.parametrize("offered", [(), ("frog.v2",), ("chat",)])
async def test_without_the_subprotocol_there_is_no_connection(server: Server, offered: tuple[str, ...]) -> None:
    with pytest.raises(NoConnection):
        await dial(server.uri, Settings(subprotocols=offered))


async def test_the_subprotocol_is_found_in_a_list(server: Server) -> None:
    line = await dial(server.uri, Settings(subprotocols=("x", SUBPROTOCOL, "y")))
    assert line.subprotocol == SUBPROTOCOL


async def test_fragments_make_one_message(server: Server) -> None:
    line = await Line.to(server)
    await line.carrier.send([bytes([byte]) for byte in b"HELLO FROG/1\n"])
    assert await line.hears() == Welcome(SERVER_ID)


async def test_who_does_not_read_is_cut_off_and_nobody_else_waits(server: Server) -> None:
    a, b = await Line.to(server), await Line.to(server)
    await a.joins(Peer("a"))
    await b.joins(Peer("b"))
    found = await a.asks(Lookup("L1", Peer("b").key))
    assert isinstance(found, Found)
    for _ in range(400):
        await a.say(Signal(found.route_id, "ICE", bytes(65536)))
    while isinstance(answer := await a.asks(Find("F1", 1)), Err):
        pass
    while answer != Peers("F1") and not isinstance(answer, Err):
        answer = await a.asks(Find("F1", 1))
    assert len(server.player.state.peers) == 1


# -- the client --------------------------------------------------------------------------------------------------------


class Host:
    """A client and what it tells."""

    def __init__(self, peer: Peer, *bootstrap: str, clock: PushedClock | None = None) -> None:
        config = ClientConfig(bootstrap, peer.network, peer.seed, backoff=Backoff(0.02, 0.1))
        self.news: asyncio.Queue[News] = asyncio.Queue()
        self.client = Client(ClientMachine(config), on_news=self.news.put_nowait, clock=clock or time.monotonic)
        self.client.start()

    async def hears(self, kind: type[News]) -> News:
        while not isinstance(news := await asyncio.wait_for(self.news.get(), WAIT_S), kind):
            pass
        return news


async def test_clients_find_one_another(server: Server) -> None:
    one, other = Host(Peer("a"), server.uri), Host(Peer("b"), server.uri)
    for host in (one, other):
        assert await host.hears(Status) == Status(True, server.uri)
    assert await one.client.find(7) == (Peer("b").key,)
    assert await one.client.getservers(7) == ()
    route = await one.client.lookup(Peer("b").key)
    one.client.signal(route, "OFFER", b"sdp")
    assert await other.hears(Signalled) == Signalled(route, Peer("a").key, "OFFER", b"sdp")
    await other.client.leave()
    one.client.signal(route, "ICE", b"c")
    assert await one.hears(Reported) == Reported(route, "ROUTE_EXPIRED")
    with pytest.raises(RequestRefused, match="PEER_NOT_FOUND"):
        await one.client.lookup(Peer("b").key)
    await one.client.stop()
    await other.client.stop()


async def test_a_client_comes_back_after_a_restart() -> None:
    server = Server(ServerMachine(Config(SERVER_ID, "")))
    port = await server.start()
    host = Host(Peer("a"), server.uri)
    assert await host.hears(Status) == Status(True, server.uri)
    server.kill()
    assert await host.hears(Status) == Status(False)
    again = Server(ServerMachine(Config(SERVER_ID, server.uri)))
    await again.start(port=port)
    assert await host.hears(Status) == Status(True, server.uri)
    await host.client.stop()
    await again.stop()


class Stage:
    """A server that a test plays by hand."""

    def __init__(self) -> None:
        self._dials: asyncio.Queue[WebSocket] = asyncio.Queue()
        self._over = asyncio.Event()
        self._listener = Listener(self._handle, OFFER)
        self.uri = ""

    async def _handle(self, carrier: WebSocket) -> None:
        self._dials.put_nowait(carrier)
        await self._over.wait()

    async def __aenter__(self) -> Stage:
        self.uri = f"ws://127.0.0.1:{await self._listener.start()}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        await self._listener.stop()

    async def dialled(self) -> WebSocket:
        return await asyncio.wait_for(self._dials.get(), WAIT_S)

    @property
    def untouched(self) -> bool:
        return self._dials.empty()


async def heard(carrier: WebSocket) -> Frame:
    message = await asyncio.wait_for(carrier.receive(), WAIT_S)
    assert isinstance(message, bytes)
    frame = codec.decode(message, Direction.TO_SERVER)
    assert isinstance(frame, Frame)
    return frame


async def test_a_client_is_sent_elsewhere_and_waits_for_its_clock(clock: PushedClock) -> None:
    """A busy server says HELLO, TRY, and closes (section 49); the next dial comes after the backoff, to the other one."""
    async with Stage() as busy, Stage() as free:
        host = Host(Peer("a"), busy.uri, clock=clock)
        carrier = await busy.dialled()
        assert await heard(carrier) == Hello()
        await carrier.send(codec.encode(Welcome(SERVER_ID)))
        assert await heard(carrier) == Join(Peer("a").key)
        await carrier.send(codec.encode(Try("-", (free.uri,))))
        await carrier.close()
        while host.client.player.state.uri:  # noqa: ASYNC110  # until the client has seen the end, which it tells nobody
            await asyncio.sleep(0)
        host.client.timer.check()
        assert free.untouched
        clock.now += 1
        host.client.timer.check()
        carrier = await free.dialled()
        assert await heard(carrier) == Hello()
        await carrier.send(codec.encode(Welcome(SERVER_ID)))
        assert await heard(carrier) == Join(Peer("a").key)
        await carrier.send(codec.encode(Chal("0" * 26)))
        auth = await heard(carrier)
        assert isinstance(auth, Auth)
        proof = ClientProof("0" * 26, free.uri, Peer("a").key, SERVER_ID)
        assert identities.verify(auth.public_key, auth.signature, proof)
        await carrier.send(codec.encode(Joined()))
        assert isinstance(await heard(carrier), GetServers)
        await host.client.stop()


async def test_a_server_without_the_subprotocol_is_not_greeted() -> None:
    """FROG-4-04."""
    got: asyncio.Queue[object] = asyncio.Queue()

    async def handle(carrier: WebSocket) -> None:
        with pytest.raises(HungUp):
            got.put_nowait(await carrier.receive())
        got.put_nowait("closed")

    listener = Listener(handle)
    host = Host(Peer("a"), f"ws://127.0.0.1:{await listener.start()}/")
    assert await asyncio.wait_for(got.get(), WAIT_S) == "closed"
    await host.client.stop()
    await listener.stop()


async def test_a_thousand_clients_and_a_quick_lookup(server: Server) -> None:
    """LOOKUP under 5 ms at the median, with 1,000 registered."""
    lines = []
    for n in range(1000):
        lines.append(await Line.to(server))
        await lines[-1].joins(Peer(f"p{n}"))
    times = []
    for n in range(300):
        began = time.perf_counter()
        assert isinstance(await lines[n].asks(Lookup("L1", Peer(f"p{999 - n}").key)), Found)
        times.append(time.perf_counter() - began)
    assert statistics.median(times) < 0.005
