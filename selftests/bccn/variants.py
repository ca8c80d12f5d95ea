"""Nodes that conform and yet take every freedom: the suites must not fail them. `python:selftests.bccn.variants:Odd`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from harness.errors import TargetRefused
from harness.shim.roles import RoleShim
from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.frames import Called, Delivered, Dropped, SetName
from reference_impl.bccn.node import Choices, Config, NodeMachine, NodeStep, State, UnknownKey
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
    """Sends the second of two equal datagrams a while later."""

    before = b""

    def transmit(self, data: bytes) -> None:
        if data == self.before:
            asyncio.get_running_loop().call_later(LATE_S, super().transmit, data)
        else:
            super().transmit(data)
        self.before = data


class OddNode(NodeRole):
    """Matches patterns exactly, and runs callbacks later than it delivers, the last one first."""

    capabilities = tuple({*NodeRole.capabilities} - {"patterns", "sanity", "reasons"})  # type: ignore[assignment]
    machine, node, tracker = OddMachine, LateTwin, OddTracker
    late = 2 * LATE_S

    def _told(self, event: Delivered | Called | Dropped) -> None:
        if isinstance(event, Called):
            self.late = max(LATE_S, self.late - 0.001)
            asyncio.get_running_loop().call_later(self.late, super()._told, event)
        elif isinstance(event, Delivered):
            super()._told(event)

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


class Odd(RoleShim):
    def __init__(self) -> None:
        super().__init__("odd", "0", {"bccn/codec": OddCodec, "bccn/node": OddNode})


class Bare(RoleShim):
    def __init__(self) -> None:
        super().__init__("bare", "0", {"bccn/node": BareNode})
