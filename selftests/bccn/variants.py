"""Nodes that conform and yet take every freedom: the suites must not fail them. `python:selftests.bccn.variants:Odd`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from harness.errors import TargetRefused, TargetUnsupported
from harness.shim.roles import RoleShim
from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import MAX_SEQ, UNKNOWN, Called, Delivered, Dropped, Send, SetName, StartHeartbeat
from reference_impl.bccn.node import Beat, Choices, Config, NodeMachine, NodeStep, State, UnknownKey
from reference_impl.bccn.node_io import Node
from reference_impl.bccn.tracker import Last, Tracker
from reference_impl.core import Channel
from targets.reference.bccn import CodecRole, NodeRole

LATE_S = 0.02


def like_a_wildcard(name: str) -> bool:
    return "*" in name or name.endswith("/")


class OddMachine(NodeMachine):
    """Tracks before it matches, tells unknown senders apart by nothing, and takes no name like a wildcard."""

    def __init__(self, config: Config, codec: Codec, addressing: Addressing, tracker: Tracker) -> None:
        super().__init__(replace(config, choices=Choices(UnknownKey.SRC, True)), codec, addressing, tracker)

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        if like_a_wildcard(event.name):
            return self.refuse(state, "BCCN-SRC-09", "the name looks like a wildcard")
        return super().set_name(state, channel, event)


class OddTracker(Tracker):
    """Believes in restarts only from afar, and forgets who has sent no heartbeat, whether it ever did or not."""

    def __init__(self, sanity: int, ttl: float, beat_ttl: float) -> None:
        super().__init__(2**48, ttl, beat_ttl)

    def is_forgotten(self, last: Last, at: float) -> bool:
        return at - last.at > min(self.ttl, self.beat_ttl)


class LateTwin(Node):
    """Sends the second of two equal datagrams of one call a while later."""

    before = b""

    def transmit(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        if data == self.before:
            loop.call_later(LATE_S, super().transmit, data)
        else:
            super().transmit(data)
        self.before = data
        loop.call_soon(setattr, self, "before", b"")


class OddNode(NodeRole):
    """Matches patterns exactly, runs callbacks later than it delivers, the last one first, and its heartbeats say something."""

    capabilities = tuple({*NodeRole.capabilities} - {"patterns", "sanity", "reasons"})  # type: ignore[assignment]
    machine, node, tracker = OddMachine, LateTwin, OddTracker
    late = 2 * LATE_S

    def _told(self, event: Delivered | Called | Dropped) -> None:
        if isinstance(event, Called):
            self.late = max(LATE_S, self.late - 0.001)
            asyncio.get_running_loop().call_later(self.late, super()._told, event)
        elif isinstance(event, Delivered):
            super()._told(event)

    async def do_heartbeat(self, interval: float) -> dict[str, Any]:
        result = self._call(lambda node: node.start_heartbeat(interval, b"up|since:1"))
        self._wake()
        return result

    async def do_listen(self, pattern: str) -> dict[str, Any]:
        if {"*", ">"} & set(pattern):
            raise TargetRefused("patterns are exact here")
        return await super().do_listen(pattern)


class OddCodec(CodecRole):
    """Matches no name like a wildcard."""

    async def do_match(self, name: str, target: str) -> dict[str, Any]:
        if like_a_wildcard(name):
            raise TargetRefused("no such name")
        return await super().do_match(name, target)


class BareNode(NodeRole):
    """Has the fundamental calls alone."""

    capabilities = ()  # type: ignore[assignment]


class CappedMachine(NodeMachine):
    """Sends no payload of more than 600 bytes; takes any name, and nothing is sent while it has an impossible one."""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        return self.done(replace(state, name=event.name or UNKNOWN), "BCCN-API-10")

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        try:
            self.codec.src(state.name)
        except Malformed as error:
            return self.refuse(state, "BCCN-SRC-04", str(error))
        if len(event.payload) > 600:
            return self.refuse(state, "BCCN-SIZ-02", "the payload is too long")
        return super().send(state, channel, event)


class CappedNode(NodeRole):
    machine = CappedMachine


class OtherAddressing(Addressing):
    """Where a target can be read in two ways, it takes the other one; "?" and its family are nobody (BCCN-DIR-15)."""

    def is_for(self, name: str, chan: str) -> bool:
        other = self.is_open(name, chan) and not self.means_nobody(self.target(chan))
        return super().is_for(name, chan) != other


class OtherMachine(NodeMachine):
    """Tells unknown senders apart by nothing, counts what is its own, beats an interval later and with words, and never wraps."""

    def __init__(self, config: Config, codec: Codec, addressing: Addressing, tracker: Tracker) -> None:
        super().__init__(replace(config, choices=Choices(UnknownKey.SRC, False)), codec, addressing, tracker)

    def start_heartbeat(self, state: State, channel: Channel, event: StartHeartbeat) -> NodeStep:
        beat = Beat(event.interval, event.at + event.interval, b"all is well")
        return self.done(replace(state, beat=beat), "BCCN-CNV-08")

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        if state.seq == MAX_SEQ:
            return self.refuse(state, "BCCN-SEQ-08", "the counter is at its end")
        return super().send(state, channel, event)


class OtherNode(NodeRole):
    machine, addressing = OtherMachine, OtherAddressing


class KeepingMachine(NodeMachine):
    """Tells unknown senders apart by their address, and counts what is for others."""

    def __init__(self, config: Config, codec: Codec, addressing: Addressing, tracker: Tracker) -> None:
        super().__init__(replace(config, choices=Choices(UnknownKey.ADDRESS, True)), codec, addressing, tracker)


class KeepingTracker(Tracker):
    """Forgets nobody."""

    def is_forgotten(self, last: Last, at: float) -> bool:
        return False


class KeepingNode(NodeRole):
    machine, tracker = KeepingMachine, KeepingTracker


class TerseNode(NodeRole):
    """Its `send` takes no src, and what it delivers has no mode but for the "!" of its channel."""

    def _delivery(self, event: Delivered) -> dict[str, Any]:
        return {name: said for name, said in super()._delivery(event).items() if name != "mode"}

    async def do_send(self, chan: str, payload: str, src: str | None = None, key: str = "") -> dict[str, Any]:
        if src:
            raise TargetUnsupported("send takes no src here")
        return await super().do_send(chan, payload, src, key)


class NumberlessNode(NodeRole):
    """Does not tell the number of what it delivers."""

    def _delivery(self, event: Delivered) -> dict[str, Any]:
        return {name: said for name, said in super()._delivery(event).items() if name != "seq"}


class Numberless(RoleShim):
    def __init__(self) -> None:
        super().__init__("numberless", "0", {"bccn/node": NumberlessNode})


class Capped(RoleShim):
    def __init__(self) -> None:
        super().__init__("capped", "0", {"bccn/node": CappedNode})


class Other(RoleShim):
    def __init__(self) -> None:
        super().__init__("other", "0", {"bccn/node": OtherNode})


class Keeping(RoleShim):
    def __init__(self) -> None:
        super().__init__("keeping", "0", {"bccn/node": KeepingNode})


class Terse(RoleShim):
    def __init__(self) -> None:
        super().__init__("terse", "0", {"bccn/node": TerseNode})


class Odd(RoleShim):
    def __init__(self) -> None:
        super().__init__("odd", "0", {"bccn/codec": OddCodec, "bccn/node": OddNode})


class Bare(RoleShim):
    def __init__(self) -> None:
        super().__init__("bare", "0", {"bccn/node": BareNode})
