"""The shim of reference_impl.peerbus. A mutant replaces one of the class attributes of a role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import TargetRefused
from harness.shim import Emit
from harness.shim.roles import Role, RoleShim
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.client import ClientMachine
from reference_impl.peerbus.client_io import Backoff, Client, NotConnected, TooLong
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Envelope, Garbage
from reference_impl.peerbus.host import Surfaced
from reference_impl.peerbus.jsontext import NotJson
from reference_impl.peerbus.signing import Profile


class CodecRole(Role):
    """Envelopes and their signature, and the byte-stream framing; bytes travel as hex."""

    capabilities = ("profile:code",)
    codec: type[Codec] = Codec

    def __init__(self) -> None:
        self._codec = self.codec()

    async def do_canonical(self, wire: str) -> dict[str, Any]:
        return {"canonical": self._codec.signing.canonical(self._envelope(wire)).hex()}

    async def do_sign(self, wire: str, secret: str) -> dict[str, Any]:
        return {"hmac": self._codec.signing.sign(self._envelope(wire), bytes.fromhex(secret))}

    async def do_verify(self, wire: str, secret: str) -> dict[str, Any]:
        return {"valid": self._codec.signing.verify(self._envelope(wire), bytes.fromhex(secret))}

    async def do_encode_lines(self, wires: list[str]) -> dict[str, Any]:
        """Objects given as JSON text, written to a byte stream."""
        stream = b"".join(self._codec.encode_line(self._frame(wire)) for wire in wires)
        return {"stream": stream.hex()}

    async def do_decode_lines(self, chunks: list[str]) -> dict[str, Any]:
        """A byte stream in pieces; each line is an object, as compact JSON text, or an error (null)."""
        lines = self._codec.lines()
        frames = [frame for chunk in chunks for frame in lines.feed(bytes.fromhex(chunk))]
        return {"objects": [None if isinstance(f, Garbage) else self._codec.encode(f).hex() for f in frames]}

    def _frame(self, wire: str) -> Any:
        frame = self._codec.decode(bytes.fromhex(wire))
        if isinstance(frame, Garbage):
            raise TargetRefused(frame.why)
        return frame

    def _envelope(self, wire: str) -> Envelope:
        frame = self._frame(wire)
        if not isinstance(frame, Envelope):
            raise TargetRefused(f"a {type(frame).__name__} is no envelope")
        return frame


class BrokerRole(Role):
    capabilities = ("restart", "kill", "audit", "profile:code")
    codec: type[Codec] = Codec
    machine: type[BrokerMachine] = BrokerMachine
    broker: type[Broker] = Broker

    def __init__(self) -> None:
        self._broker: Broker | None = None

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        state_dir = Path(config["state_dir"])
        self._broker = self.broker(self.machine(frozenset(config["tokens"])), state_dir, self.codec())
        return {"address": f"ws://127.0.0.1:{await self._broker.start()}"}

    async def do_audit(self) -> dict[str, Any]:
        """The audit chain, oldest first, as [event in hex, hash]."""
        assert self._broker, "started before use"
        return {"chain": [[event.hex(), hash] for event, hash in self._broker.store.chain()]}

    async def stop(self) -> None:
        if self._broker:
            await self._broker.stop()

    def kill(self) -> None:
        if self._broker:
            self._broker.kill()


class ClientRole(Role):
    capabilities = ("cache_size", "backoff_ms", "kill", "profile:code")
    codec: type[Codec] = Codec
    machine: type[ClientMachine] = ClientMachine
    client: type[Client] = Client

    def __init__(self) -> None:
        self._client: Client | None = None

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def surfaced(message: Surfaced) -> None:
            emit(
                "message",
                {
                    "id": message.id,
                    "from": message.sender,
                    "to": message.to,
                    "source": message.source,
                    "kind": message.kind,
                    "body": message.body.decode(),
                },
            )

        try:
            told = self.machine.config_type(
                config["name"], config["token"], config["secret"].encode(), int(config.get("cache_size", 4096))
            )
        except ValueError as error:
            raise TargetRefused(str(error)) from None
        self._client = self.client(
            config["url"],
            self.machine(told, self.codec()),
            on_message=surfaced,
            on_status=lambda connected: emit("status", {"connected": connected}),
            backoff=Backoff(first_s=float(config.get("backoff_ms", 100)) / 1000),
        )
        self._client.start()
        return {}

    @property
    def running(self) -> Client:
        assert self._client, "started before use"
        return self._client

    async def do_send(self, to: str, body: str) -> dict[str, Any]:
        try:
            return {"id": self.running.send(to, body.encode())}
        except (NotConnected, TooLong, NotJson) as error:
            raise TargetRefused(str(error)) from None

    async def do_broadcast(self, body: str) -> dict[str, Any]:
        return await self.do_send("*", body)

    async def do_peers(self) -> dict[str, Any]:
        try:
            return {"names": list(await self.running.peers())}
        except NotConnected as error:
            raise TargetRefused(str(error)) from None

    async def do_consume(self, id: str) -> dict[str, Any]:
        self.running.consume(id)
        return {}

    async def stop(self) -> None:
        if self._client:
            await self._client.stop()

    def kill(self) -> None:
        if self._client:
            self._client.cut()


ROLES = {"peerbus/codec": CodecRole, "peerbus/broker": BrokerRole, "peerbus/client": ClientRole}


# -- the same under the document's authority: the target `reference-document` ------------------------------------------


class DocumentCodec(Codec):
    def __init__(self) -> None:
        super().__init__(Profile.DOCUMENT)


class DocumentBrokerMachine(BrokerMachine):
    def __init__(self, tokens: frozenset[str]) -> None:
        super().__init__(tokens, Profile.DOCUMENT)


class DocumentCodecRole(CodecRole):
    capabilities = ("profile:document",)
    codec = DocumentCodec


class DocumentBrokerRole(BrokerRole):
    capabilities = ("restart", "kill", "audit", "profile:document")
    codec = DocumentCodec
    machine = DocumentBrokerMachine


class DocumentClientRole(ClientRole):
    capabilities = ("cache_size", "backoff_ms", "kill", "profile:document")
    codec = DocumentCodec


class Document(RoleShim):
    def __init__(self) -> None:
        roles = {
            "peerbus/codec": DocumentCodecRole,
            "peerbus/broker": DocumentBrokerRole,
            "peerbus/client": DocumentClientRole,
        }
        super().__init__("reference-document", __version__, roles)
