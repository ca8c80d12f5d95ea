"""The shim of reference_impl.bccn. A mutant replaces one of the class attributes of a role."""

from __future__ import annotations

import asyncio
import json
import os
import select
from typing import Any

from harness.errors import TargetFailed, TargetRefused
from harness.shim import Clock, Emit
from harness.shim.roles import Role
from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import Called, Delivered, Dropped, Garbage, Message
from reference_impl.bccn.node import Config, NodeMachine
from reference_impl.bccn.node_io import Node, NotSent, own_name
from reference_impl.bccn.tracker import DAY_S, SANITY, Tracker


def spelled(message: Message) -> dict[str, Any]:
    """A message as the shim says it: numbers as strings (JSON has no 64 bits), bytes as hex."""
    return {
        "src": message.src,
        "seq": str(message.seq),
        "chan": message.chan,
        "payload": message.payload.hex(),
        "authenticated": message.authenticated,
    }


class CodecRole(Role):
    """Datagrams to messages and back."""

    capabilities = ("envelope", "match", "algo:crc32")
    codec: type[Codec] = Codec
    addressing: type[Addressing] = Addressing

    def __init__(self) -> None:
        self._codec, self._addressing = self.codec(), self.addressing()

    async def do_encode(
        self, src: str, seq: str, chan: str, payload: str, key: str = "", algo: str = ""
    ) -> dict[str, Any]:
        message = Message(src, int(seq), chan, bytes.fromhex(payload))
        try:
            return {"wire": self._codec.encode(message, bytes.fromhex(key), algo).hex()}
        except Malformed as error:
            raise TargetRefused(str(error)) from None

    async def do_decode(self, wire: str, key: str = "") -> dict[str, Any]:
        read = self._codec.decode(bytes.fromhex(wire), bytes.fromhex(key))
        if isinstance(read, Garbage):
            raise TargetRefused(read.why)
        return spelled(read) | {"mode": self._addressing.mode(read.chan)}

    async def do_parse_envelope(self, wire: str, key: str = "") -> dict[str, Any]:
        try:
            envelope = self._codec.envelope(bytes.fromhex(wire))
        except Malformed as error:
            raise TargetRefused(str(error)) from None
        verified = self._codec.passes(envelope, bytes.fromhex(key)) if key else None
        return {
            "magic": envelope.magic,
            "body": envelope.body.hex(),
            "algo": envelope.algo,
            "sum": envelope.sum,
            "verified": verified,
        }

    async def do_match(self, name: str, target: str) -> dict[str, Any]:
        return {"matches": self._addressing.matches(name, target)}


class NodeRole(Role):
    """One node on one port; `manual` leaves reading to the operations recv and dispatch."""

    capabilities = (
        "recv",
        "fd",
        "close",
        "call_key",
        "conventions",
        "patterns",
        "heartbeat",
        "heartbeat_expiry",
        "sanity",
        "clock",
        "duplicate_send",
        "fork",
        "identity",
        "reasons",
    )
    codec: type[Codec] = Codec
    addressing: type[Addressing] = Addressing
    tracker: type[Tracker] = Tracker
    machine: type[NodeMachine] = NodeMachine
    node: type[Node] = Node

    def __init__(self) -> None:
        self._node: Node | None = None
        self._clock = Clock()

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        ttl = float(config.get("ttl", DAY_S))
        beat_ttl = float(config.get("heartbeat_interval", ttl)) * int(config.get("heartbeats_missed", 1))
        machine = self.machine(
            Config(key=bytes.fromhex(config.get("key", "")), copies=2 if config.get("duplicate_send") else 1),
            self.codec(),
            self.addressing(),
            self.tracker(int(config.get("sanity", SANITY)), ttl, beat_ttl),
        )
        self._emit = emit
        self._node = self.node(
            machine, config["broadcast"], int(config["port"]), on_event=self._told, clock=self._clock
        )
        if config.get("name"):
            await self.do_set_name(config["name"])
        if not config.get("manual"):
            self._node.attach()
        return {}

    def _told(self, event: Delivered | Called | Dropped) -> None:
        match event:
            case Delivered():
                self._emit("delivered", self._delivery(event))
            case Called():
                self._emit("called", {"pattern": event.pattern, **spelled(event.message)})
            case Dropped():
                self._emit("dropped", {"reason": event.reason})

    def _delivery(self, event: Delivered) -> dict[str, Any]:
        return spelled(event.message) | {"mode": event.mode, "peer": list(event.peer)}

    @property
    def running(self) -> Node:
        assert self._node, "started before use"
        return self._node

    # -- name and counter -----------------------------------------------------------------------------------------

    async def do_set_name(self, name: str | None) -> dict[str, Any]:
        return self._call(lambda node: setattr(node, "name", name))

    async def do_get_name(self) -> dict[str, Any]:
        return {"name": self.running.name}

    async def do_set_seq(self, seq: str) -> dict[str, Any]:
        return self._call(lambda node: setattr(node, "seq", int(seq)))

    async def do_get_seq(self) -> dict[str, Any]:
        return {"seq": str(self.running.seq)}

    async def do_own_name(self) -> dict[str, Any]:
        return {"name": own_name()}

    # -- sending --------------------------------------------------------------------------------------------------

    async def do_send(self, chan: str, payload: str, src: str | None = None, key: str = "") -> dict[str, Any]:
        return self._call(lambda node: node.send(src, chan, bytes.fromhex(payload), bytes.fromhex(key)))

    async def do_send_all(self, payload: str) -> dict[str, Any]:
        return self._call(lambda node: node.send_all(bytes.fromhex(payload)))

    async def do_send_to(self, target: str, payload: str) -> dict[str, Any]:
        return self._call(lambda node: node.send_to(target, bytes.fromhex(payload)))

    async def do_send_topic(self, topic: str, payload: str) -> dict[str, Any]:
        return self._call(lambda node: node.send_topic(topic, bytes.fromhex(payload)))

    async def do_heartbeat(self, interval: float) -> dict[str, Any]:
        result = self._call(lambda node: node.start_heartbeat(interval))
        self._wake()
        return result

    def _call(self, call: Any) -> dict[str, Any]:
        try:
            call(self.running)
        except NotSent as error:
            raise TargetRefused(str(error)) from None
        return {}

    # -- receiving ------------------------------------------------------------------------------------------------

    async def do_recv(self) -> dict[str, Any]:
        event = self.running.recv()
        return {"message": self._delivery(event) if event else None}

    async def do_dispatch(self) -> dict[str, Any]:
        return {"count": self.running.dispatch()}

    async def do_listen(self, pattern: str) -> dict[str, Any]:
        self.running.listen(pattern)
        return {}

    async def do_readable(self) -> dict[str, Any]:
        """Does select say that the descriptor is readable?"""
        return {"readable": bool(select.select([self.running.fileno()], [], [], 0)[0])}

    async def do_advance_clock(self, seconds: float) -> dict[str, Any]:
        self._clock.ahead += seconds
        self._wake()
        return {}

    def _wake(self) -> None:
        """Timers were set under another time, or there is a new one."""
        if self.running.attached:
            self.running.attach()

    # -- forks and the end ----------------------------------------------------------------------------------------

    async def do_fork(self, chan: str, payload: str, name: str = "", seq: str = "") -> dict[str, Any]:
        """A child of this process takes over, says who it is, takes the name and number it is told, and sends once."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._in_child(writer, chan, payload, name, seq)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            said = await asyncio.to_thread(pipe.read)
        await asyncio.to_thread(os.waitpid, child, 0)
        if not said:
            raise TargetFailed("the child died")
        result: dict[str, Any] = json.loads(said)
        return result

    def _in_child(self, writer: int, chan: str, payload: str, name: str, seq: str) -> None:
        try:
            node = self.running
            said = {"name": node.name, "seq": str(node.seq), "pid": str(os.getpid())}
            if name:
                node.name = name.replace("{pid}", said["pid"])
            if seq:
                node.seq = int(seq)
            node.send(None, chan, bytes.fromhex(payload))
            os.write(writer, json.dumps(said).encode())
        finally:
            os._exit(0)

    async def do_close(self) -> dict[str, Any]:
        self.running.close()
        return {}

    async def stop(self) -> None:
        if self._node:
            self._node.close()

    def kill(self) -> None:
        if self._node:
            self._node.close()


ROLES = {"bccn/codec": CodecRole, "bccn/node": NodeRole}
