"""The shim of reference_impl.frog. A mutant replaces one of the class attributes of a role."""

from __future__ import annotations

import builtins
import secrets
import time
from dataclasses import fields
from typing import Any

from harness.errors import TargetRefused
from harness.shim import Emit
from harness.shim.roles import Role
from reference_impl.frog import identifiers, uri
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client import Config as ClientConfig
from reference_impl.frog.client_io import Client, News, RequestRefused
from reference_impl.frog.codec import Codec, Direction, Unencodable
from reference_impl.frog.frames import Frame, Joined, Left, Malformed, SisterOk, Stray, Welcome
from reference_impl.frog.grammar import BY_FRAME, FORMS
from reference_impl.frog.host import Reported, Signalled, Status
from reference_impl.frog.identifiers import NotCanonical
from reference_impl.frog.identity import ClientProof, Identities, ServerProof
from reference_impl.frog.known import MOST_WAITS, Backoff
from reference_impl.frog.limits import Bounds, Rates, Timers
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.server_io import Server
from reference_impl.frog.sisters import Mesh, Seed

CHECKS = {
    "network": identifiers.is_network,
    "fingerprint": identifiers.is_id,
    "peer_key": identifiers.is_peer_key,
    "server_id": identifiers.is_id,
    "route_id": identifiers.is_id,
    "nonce": identifiers.is_id,
    "cid": identifiers.is_request_id,
    "fcid": identifiers.is_request_id,
    "public_key": identifiers.is_public_key,
    "signature": identifiers.is_signature,
    "uri": uri.is_canonical,
}
WHAT: dict[type, str] = {Joined: "JOIN", Left: "LEAVE", SisterOk: "AUTH"}
FLOODS = ("lookup_ttl", "find_ttl", "lookup_fanout", "find_fanout")


class Names:
    """Identifiers and Base32, as one object that a mutant may replace."""

    def valid(self, kind: str, text: str) -> bool:
        return CHECKS[kind](text)

    def encode(self, raw: bytes) -> str:
        return identifiers.encode(raw)

    def decode(self, text: str, size: int) -> bytes:
        return identifiers.decode(text, size)


class PushedClock:
    """Real time, and as far ahead of it as it was pushed."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class CodecRole(Role):
    """Commands as the members of suites/frog/README.md."""

    capabilities = ("to_server", "to_client", "sister", "verify")
    codec: type[Codec] = Codec
    names: type[Names] = Names
    identities: type[Identities] = Identities

    def __init__(self) -> None:
        self._codec, self._names, self._identities = self.codec(), self.names(), self.identities()

    async def do_decode(self, direction: str, wire: str) -> dict[str, Any]:
        frame = self._codec.decode(bytes.fromhex(wire), Direction(direction))
        if isinstance(frame, Malformed):
            raise TargetRefused(f"{frame.codes[0]} {frame.id} {frame.why}")
        if isinstance(frame, Stray):
            raise TargetRefused(f"BAD_REQUEST - {frame.word} is not said in this direction")
        return {"command": command_of(frame)}

    async def do_encode(self, command: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"wire": self._codec.encode(frame_of(command)).hex()}
        except (Unencodable, TypeError, KeyError) as error:
            raise TargetRefused(str(error)) from None

    async def do_check(self, kind: str, text: str) -> dict[str, Any]:
        return {"valid": self._names.valid(kind, text)}

    async def do_base32_encode(self, bytes: str) -> dict[str, Any]:
        return {"text": self._names.encode(builtins.bytes.fromhex(bytes))}

    async def do_base32_decode(self, text: str, size: int) -> dict[str, Any]:
        return {"bytes": self._decoded(text, size).hex()}

    def _decoded(self, text: str, size: int) -> bytes:
        try:
            return self._names.decode(text, size)
        except NotCanonical as error:
            raise TargetRefused(str(error)) from None

    async def do_identify(self, public_key: str) -> dict[str, Any]:
        return {"id": self._identities.id_of(self._decoded(public_key, identifiers.KEY_SIZE))}

    async def do_client_auth(
        self, seed: str, network: str, nonce: str, server_uri: str, server_id: str
    ) -> dict[str, Any]:
        raw = bytes.fromhex(seed)
        peer_key = f"{network}:{self._identities.id_of(self._identities.public_key(raw))}"
        key, signature = self._identities.sign(raw, ClientProof(nonce, server_uri, peer_key, server_id))
        return {"peer_key": peer_key, "public_key": key, "signature": signature}

    async def do_server_auth(self, seed: str, nonce: str, self_uri: str, peer_uri: str, peer_id: str) -> dict[str, Any]:
        raw = bytes.fromhex(seed)
        self_id = self._identities.id_of(self._identities.public_key(raw))
        key, signature = self._identities.sign(raw, ServerProof(nonce, self_uri, self_id, peer_uri, peer_id))
        return {"server_id": self_id, "public_key": key, "signature": signature}

    async def do_verify_client(self, public_key: str, signature: str, **proof: str) -> dict[str, Any]:
        return {"valid": self._identities.verify(public_key, signature, ClientProof(**proof))}

    async def do_verify_server(self, public_key: str, signature: str, **proof: str) -> dict[str, Any]:
        return {"valid": self._identities.verify(public_key, signature, ServerProof(**proof))}


class ServerRole(Role):
    """A server on a port of its own."""

    capabilities = (
        *("seed", "uri", "timers", "bounds", "queue", "rates", "clock", "restart"),
        *("sister", "dials", "gossip", "floods", "max_sisters"),
    )
    codec: type[Codec] = Codec
    machine: type[ServerMachine] = ServerMachine
    identities: type[Identities] = Identities
    server: type[Server] = Server

    def __init__(self) -> None:
        self._clock = PushedClock()
        self._running: Server | None = None

    @property
    def running(self) -> Server:
        assert self._running, "an instance is started before it is asked"
        return self._running

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        identities = self.identities()
        machine = self.machine(server_config(config, identities), identities)
        self._running = self.server(machine, self.codec(), self._clock)
        port = await self._running.start()
        return {"address": f"ws://127.0.0.1:{port}/"}

    async def do_advance_clock(self, seconds: float) -> dict[str, Any]:
        self._clock.ahead += seconds
        self.running.timer.check()
        self.running.timer.set()
        return {}

    async def stop(self) -> None:
        if self._running:
            await self._running.stop()


class ClientRole(Role):
    """One client; what it was not asked for it tells as events."""

    capabilities = ("cache", "backoff_ms", "clock")
    codec: type[Codec] = Codec
    machine: type[ClientMachine] = ClientMachine
    identities: type[Identities] = Identities
    client: type[Client] = Client

    def __init__(self) -> None:
        self._clock = PushedClock()
        self._running: Client | None = None

    @property
    def running(self) -> Client:
        assert self._running, "an instance is started before it is asked"
        return self._running

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def tell(news: News) -> None:
            emit(*event_of(news))

        machine = self.machine(client_config(config), self.identities())
        self._running = self.client(machine, on_news=tell, codec=self.codec(), clock=self._clock)
        self._running.start()
        return {}

    async def do_find(self, limit: int) -> dict[str, Any]:
        try:
            return {"peer_keys": list(await self.running.find(limit))}
        except RequestRefused as error:
            raise TargetRefused(error.code) from None

    async def do_lookup(self, peer_key: str) -> dict[str, Any]:
        try:
            return {"route_id": await self.running.lookup(peer_key)}
        except RequestRefused as error:
            raise TargetRefused(error.code) from None

    async def do_getservers(self, limit: int) -> dict[str, Any]:
        try:
            return {"uris": list(await self.running.getservers(limit))}
        except RequestRefused as error:
            raise TargetRefused(error.code) from None

    async def do_signal(self, route_id: str, kind: str, payload: str = "") -> dict[str, Any]:
        try:
            self.running.signal(route_id, kind, bytes.fromhex(payload))
        except RequestRefused as error:
            raise TargetRefused(error.code) from None
        return {}

    async def do_leave(self) -> dict[str, Any]:
        await self.running.leave()
        return {}

    async def do_advance_clock(self, seconds: float) -> dict[str, Any]:
        self._clock.ahead += seconds
        self.running.timer.check()
        self.running.timer.set()
        return {}

    async def stop(self) -> None:
        if self._running:
            await self._running.stop()


def server_config(config: dict[str, Any], identities: Identities) -> Config:
    """Zero and what is left out mean the usual."""
    seed = bytes.fromhex(config.get("seed") or secrets.token_hex(32))
    names = ("auth_challenge_ttl_ms", "route_ttl_ms", "lookup_timeout_ms", "find_timeout_ms")
    usual = (getattr(Timers(), timer.name) for timer in fields(Timers))
    times = [
        int(config[name]) / 1000 if config.get(name) else default for name, default in zip(names, usual, strict=True)
    ]
    return Config(
        identities.id_of(identities.public_key(seed)),
        config.get("uri") or "",
        Timers(*times),
        Bounds(*(int(config.get(f"max_{bound.name}") or 0) for bound in fields(Bounds))),
        Rates(*(int(config.get(f"rate_{rate.name}") or 0) for rate in fields(Rates))),
        seed,
        mesh_of(config),
    )


def mesh_of(config: dict[str, Any]) -> Mesh:
    usual = Mesh()
    first = config["redial_ms"] / 1000 if config.get("redial_ms") else usual.redial.first_s
    return Mesh(
        tuple(Seed.of(seed) for seed in config.get("seeds") or ()),
        frozenset(config.get("sisters") or ()),
        bool(config.get("discover")),
        redial=Backoff(first, MOST_WAITS * first),
        **{name: int(config[name]) if name in config else getattr(usual, name) for name in FLOODS},
    )


def client_config(config: dict[str, Any]) -> ClientConfig:
    backoff = Backoff()
    if first := config.get("backoff_ms"):
        backoff = Backoff(first / 1000, MOST_WAITS * first / 1000)
    try:
        seed = bytes.fromhex(config["seed"])
        return ClientConfig(
            tuple(config["bootstrap"]), config["network"], seed, tuple(config.get("cache") or ()), backoff
        )
    except ValueError as error:
        raise TargetRefused(str(error)) from None


def event_of(news: News) -> tuple[str, dict[str, Any]]:
    match news:
        case Status(registered, at):
            return "status", {"registered": registered} | ({"uri": at} if registered else {})
        case Signalled(route_id, peer_key, kind, payload):
            return "signal", {"route_id": route_id, "peer_key": peer_key, "kind": kind, "payload": payload.hex()}
        case Reported(id, code):
            return "error", {"id": id, "code": code}


def command_of(frame: Frame) -> dict[str, Any]:
    """The members of the shim's contract: the fields of the frame under the same names."""
    members = {field.name: getattr(frame, field.name) for field in fields(frame)}
    for name, value in members.items():
        if isinstance(value, bytes):
            members[name] = value.hex()
        elif isinstance(value, tuple):
            members[name] = [list(entry) if isinstance(entry, tuple) else entry for entry in value]
    what = {"what": WHAT[type(frame)]} if type(frame) in WHAT else {}
    return {"command": BY_FRAME[type(frame)].words[0], **what, **members}


def frame_of(command: dict[str, Any]) -> Frame:
    members = dict(command)
    word, what = members.pop("command"), members.pop("what", None)
    kinds = [form.frame for forms in FORMS.values() for form in forms if form.words[0] == word]
    if word == "HELLO":
        kinds = [kind for kind in kinds if (kind is Welcome) == ("server_id" in members)]
    if what is not None:
        kinds = [kind for kind in kinds if WHAT.get(kind) == what]
    if not kinds:
        raise Unencodable(f"there is no command {word}")
    if "payload" in members:
        members["payload"] = bytes.fromhex(members["payload"])
    for name in ("uris", "peer_keys", "servers"):
        if name in members:
            members[name] = tuple(tuple(entry) if isinstance(entry, list) else entry for entry in members[name])
    frame: Frame = kinds[0](**members)
    return frame


ROLES: dict[str, type[Role]] = {"frog/codec": CodecRole, "frog/server": ServerRole, "frog/client": ClientRole}
