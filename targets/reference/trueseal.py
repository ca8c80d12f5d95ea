"""The shim of reference_impl.trueseal. A mutant replaces one of the class attributes of a role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import TargetRefused
from harness.shim import Emit
from harness.shim.roles import Role
from reference_impl.io.sqlite import StoreFailed
from reference_impl.trueseal.client import ClientMachine
from reference_impl.trueseal.client_io import CannotPush, Client, Config, NoSession, Told
from reference_impl.trueseal.codec import Codec, Unencodable
from reference_impl.trueseal.frames import (
    KEY_SIZE,
    MAX_ENVELOPE,
    NO_FRAMES,
    Ack,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Heartbeat,
    Push,
    Pushed,
    Received,
    Rejected,
)
from reference_impl.trueseal.noise import Noise, NoiseFailed, Pattern
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay


class CodecRole(Role):
    """Frames as the members of suites/trueseal/README.md; bytes travel as hex, ids as decimal text."""

    capabilities = ("large_frames", "noise")
    codec: type[Codec] = Codec
    noise: type[Noise] = Noise

    def __init__(self) -> None:
        self._codec = self.codec()

    async def do_encode(self, frame: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"messages": [message.hex() for message in self._codec.encode(frame_of(frame))]}
        except (Unencodable, ValueError, KeyError) as error:
            raise TargetRefused(str(error)) from None

    async def do_decode(self, messages: list[str]) -> dict[str, Any]:
        frames = []
        for event in self._codec.decode(map(bytes.fromhex, messages)):
            if isinstance(event, NO_FRAMES):
                raise TargetRefused(str(event))
            frames.append(fields_of(event))
        return {"frames": frames}

    async def do_noise(
        self,
        pattern: str,
        side: str,
        ephemeral: str,
        script: list[list[str]],
        static: str | None = None,
        remote_static: str | None = None,
        prologue: str | None = None,
    ) -> dict[str, Any]:
        """One side of a session, step by step."""
        noise = self.noise(
            Pattern[pattern],
            initiator=side == "initiator",
            entropy=lambda size: bytes.fromhex(ephemeral),
            static=bytes.fromhex(static) if static else None,
            remote_static=bytes.fromhex(remote_static) if remote_static else None,
            prologue=bytes.fromhex(prologue or ""),
        )
        try:
            results = [
                (noise.write if verb == "write" else noise.read)(bytes.fromhex(data)).hex() for verb, data in script
            ]
        except NoiseFailed as error:
            raise TargetRefused(str(error)) from None
        return {"results": results, "hash": noise.hash.hex()}


class RelayRole(Role):
    capabilities = ("restart", "kill", "limit", "large_frames", "store_failure")
    codec: type[Codec] = Codec
    machine: type[RelayMachine] = RelayMachine
    relay: type[Relay] = Relay

    def __init__(self) -> None:
        self._relay: Relay | None = None

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        try:
            machine = self.machine(int(config.get("limit") or MAX_ENVELOPE))
        except ValueError as error:
            raise TargetRefused(str(error)) from None
        key, state_dir = key_of(config["private_key"]), Path(config["state_dir"])
        self._relay = self.relay(machine, state_dir, key, self.codec())
        await self._relay.start()
        push, receive = self._relay.ports
        return {"addresses": {"push": f"127.0.0.1:{push}", "receive": f"127.0.0.1:{receive}"}}

    async def do_break_store(self) -> dict[str, Any]:
        assert self._relay, "started before use"
        self._relay.store.break_down()
        return {}

    async def stop(self) -> None:
        if self._relay:
            await self._relay.stop()

    def kill(self) -> None:
        if self._relay:
            self._relay.kill()


class ClientRole(Role):
    capabilities = ("restart", "kill", "retry_ms", "large_frames", "heartbeat")
    codec: type[Codec] = Codec
    machine: type[ClientMachine] = ClientMachine
    client: type[Client] = Client

    def __init__(self) -> None:
        self._client: Client | None = None

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        told = Config(
            int(config["push_port"]),
            int(config["receive_port"]),
            relay_key=key_of(config["relay_key"]),
            private_key=key_of(config["private_key"]),
            first_wait_s=float(config.get("retry_ms") or 100) / 1000,
        )

        def tell(event: Told) -> None:
            match event:
                case Received(envelope):
                    emit("received", {"envelope": envelope.hex()})
                case Pushed(blob):
                    emit("pushed", {"id": blob})
                case Rejected(blob):
                    emit("rejected", {"id": blob})

        self._client = self.client(told, self.machine(), Path(config["state_dir"]), on_event=tell, codec=self.codec())
        self._client.start()
        return {}

    @property
    def running(self) -> Client:
        assert self._client, "started before use"
        return self._client

    async def do_push(self, recipient: str, envelope: str) -> dict[str, Any]:
        try:
            return {"id": self.running.push(key_of(recipient), bytes.fromhex(envelope))}
        except (CannotPush, StoreFailed) as error:
            raise TargetRefused(str(error)) from None

    async def do_received(self) -> dict[str, Any]:
        return {"envelopes": [envelope.hex() for envelope in self.running.received()]}

    async def do_heartbeat(self) -> dict[str, Any]:
        try:
            self.running.heartbeat()
        except NoSession as error:
            raise TargetRefused(str(error)) from None
        return {}

    async def stop(self) -> None:
        if self._client:
            await self._client.stop()

    def kill(self) -> None:
        if self._client:
            self._client.kill()


def key_of(text: str) -> bytes:
    key = bytes.fromhex(text)
    if len(key) != KEY_SIZE:
        raise TargetRefused(f"a key of {len(key)} bytes instead of {KEY_SIZE}")
    return key


def frame_of(fields: dict[str, Any]) -> Frame:
    match fields["type"]:
        case "push":
            return Push(bytes.fromhex(fields["recipient"]), bytes.fromhex(fields["envelope"]))
        case "deliver":
            return Deliver(int(fields["blob_id"]), bytes.fromhex(fields["envelope"]))
        case "deliver_ack":
            return DeliverAck(int(fields["blob_id"]))
        case "heartbeat":
            return Heartbeat()
        case "ack":
            return Ack()
        case "error":
            return Error()
    raise TargetRefused(f"there is no frame {fields['type']}")


def fields_of(frame: Frame) -> dict[str, Any]:
    match frame:
        case Push(recipient, envelope):
            return {"type": "push", "recipient": recipient.hex(), "envelope": envelope.hex()}
        case Deliver(blob_id, envelope):
            return {"type": "deliver", "blob_id": str(blob_id), "envelope": envelope.hex()}
        case DeliverAck(blob_id):
            return {"type": "deliver_ack", "blob_id": str(blob_id)}
        case Heartbeat():
            return {"type": "heartbeat"}
        case Ack():
            return {"type": "ack"}
        case Error():
            return {"type": "error"}


ROLES = {"trueseal/codec": CodecRole, "trueseal/relay": RelayRole, "trueseal/client": ClientRole}
