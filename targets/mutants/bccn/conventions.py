"""Nodes whose convention layer has one fault each."""

from __future__ import annotations

import os
import select
from dataclasses import replace
from typing import Any

from reference_impl.bccn.frames import GetName, Input, Named, SetName, SetSeq
from reference_impl.bccn.node import NodeMachine, NodeStep, State
from reference_impl.bccn.node_io import Node
from targets.mutants.bccn.keys import without_key
from targets.mutants.bccn.shelf import Identity, shelf

# -- shorthands of send ------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-CNV-05", role="node")
class SendAllHasAStar(Node):
    """Sends to everybody on "!*"."""

    def send_all(self, payload: bytes, key: bytes = b"") -> None:
        self.send(None, "!*", payload, key)


@shelf.breaks("BCCN-CNV-05", "BCCN-INT-08", role="node")
class SendAllIsUnsigned(Node):
    """Does not sign what goes to everybody."""

    def send_all(self, payload: bytes, key: bytes = b"") -> None:
        with without_key(self.machine):
            super().send_all(payload, key)


@shelf.breaks("BCCN-CNV-06", role="node")
class SendToLosesTheStar(Node):
    """Sends to the head of a family instead of to the family."""

    def send_to(self, target: str, payload: bytes, key: bytes = b"") -> None:
        super().send_to(target.removesuffix("/*"), payload, key)


@shelf.breaks("BCCN-CNV-06", role="node")
class SendToNobodyIsATopic(Node):
    """Sends what has no destination on a plain channel."""

    def send_to(self, target: str, payload: bytes, key: bytes = b"") -> None:
        if target:
            super().send_to(target, payload, key)
        else:
            self.send(None, "nobody", payload, key)


@shelf.breaks("BCCN-CNV-07", role="node")
class TopicsHaveAPrefix(Node):
    """Sends on topic/<topic>."""

    def send_topic(self, topic: str, payload: bytes, key: bytes = b"") -> None:
        super().send_topic(f"topic/{topic}", payload, key)


@shelf.breaks("BCCN-SEQ-08", role="node")
class TopicsDoNotCount(Node):
    """Takes no number for what it sends on a topic."""

    def send_topic(self, topic: str, payload: bytes, key: bytes = b"") -> None:
        super().send_topic(topic, payload, key)
        self.seq -= 1


# -- heartbeats --------------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-CNV-08", role="node")
class HeartbeatsAreAnonymous(NodeMachine):
    """Sends heartbeats on a channel without its name."""

    def heartbeat_chan(self, state: State) -> str:
        return "heartbeat"


@shelf.breaks("BCCN-CNV-08", role="node")
class HeartbeatsKeepTheFirstName(NodeMachine):
    """Sends heartbeats on the channel of the name that it had at the first one."""

    first = ""

    def heartbeat_chan(self, state: State) -> str:
        self.first = self.first or super().heartbeat_chan(state)
        return self.first


@shelf.breaks("BCCN-CNV-09", role="node")
class OneHeartbeatOnly(NodeMachine):
    """Sends one heartbeat, and no more."""

    def heartbeat(self, state: State, at: float) -> NodeStep:
        step = super().heartbeat(state, at)
        return replace(step, state=replace(step.state, beat=None))


@shelf.breaks("BCCN-CNV-09", role="node")
class HeartbeatsComeInThrees(NodeMachine):
    """Sends each heartbeat three times over."""

    def heartbeat(self, state: State, at: float) -> NodeStep:
        steps = [step := super().heartbeat(state, at)]
        steps += [step := super(HeartbeatsComeInThrees, self).heartbeat(step.state, at) for _ in range(2)]
        return replace(step, owes=tuple(debt for each in steps for debt in each.owes))


@shelf.breaks("BCCN-CNV-10", role="node")
class HeartbeatsTellAStory(NodeMachine):
    """Sends a kilobyte with each heartbeat."""

    def heartbeat(self, state: State, at: float) -> NodeStep:
        beat = state.beat and replace(state.beat, payload=b"x" * 1024)
        return super().heartbeat(replace(state, beat=beat), at)


@shelf.breaks("BCCN-SEQ-08", role="node")
class HeartbeatsCountByThemselves(NodeMachine):
    """Counts heartbeats apart from sends."""

    beats = 1

    def heartbeat(self, state: State, at: float) -> NodeStep:
        step = super().heartbeat(replace(state, seq=self.beats), at)
        self.beats += 1
        return replace(step, state=replace(step.state, seq=state.seq))


@shelf.breaks("BCCN-SEQ-08", role="node")
class HeartbeatsDoNotCount(NodeMachine):
    """Sends a heartbeat under the number of the send that comes next."""

    def heartbeat(self, state: State, at: float) -> NodeStep:
        step = super().heartbeat(state, at)
        return replace(step, state=replace(step.state, seq=state.seq))


@shelf.breaks("BCCN-INT-08", "BCCN-CNV-08", role="node")
class HeartbeatsAreUnsigned(NodeMachine):
    """Does not sign heartbeats."""

    def heartbeat(self, state: State, at: float) -> NodeStep:
        with without_key(self):
            return super().heartbeat(state, at)


# -- reading and naming ------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-CNV-11", role="node")
class DispatchHandlesOne(Node):
    """Handles one waiting datagram per dispatch."""

    def dispatch(self) -> int:
        self.tick()
        if not select.select([self._socket], [], [], 0)[0]:
            return 0
        for event in self._read():
            self._on_event(event)
        return 1

    def _pump(self) -> None:
        while select.select([self._socket], [], [], 0)[0]:  # what it reads by itself it reads as it should
            self.dispatch()
        super()._pump()


@shelf.breaks("BCCN-CNV-12", role="node")
class NameWithoutAPid(Identity):
    """Is called host/program."""

    def name(self) -> str:
        return super().name().rpartition("/")[0]


# -- forks -------------------------------------------------------------------------------------------------------------


class Forking(Node):
    """Knows whether it is in a child."""

    def __init__(self, *args: Any, **ports: Any) -> None:
        super().__init__(*args, **ports)
        self._parent = os.getpid()

    @property
    def in_child(self) -> bool:
        return os.getpid() != self._parent


@shelf.breaks("BCCN-CNV-14", role="node")
class ChildrenDoNotCountAnew(Forking):
    """Ignores set_seq in a child."""

    def _call(self, event: Input) -> list[Any]:
        return [] if isinstance(event, SetSeq) and self.in_child else super()._call(event)


@shelf.breaks("BCCN-CNV-15", role="node")
class ANewNameBeginsAtOne(Forking):
    """Begins to count anew in a child that takes a name."""

    def _call(self, event: Input) -> list[Any]:
        answer = super()._call(event)
        if isinstance(event, SetName) and self.in_child:
            self.seq = 1
        return answer


@shelf.breaks("BCCN-CNV-17", role="node")
class ForkRenames(Forking):
    """Takes another name in a child by itself."""

    def _call(self, event: Input) -> list[Any]:
        answer = super()._call(event)
        if isinstance(event, GetName) and self.in_child:
            return [Named(f"{told.name}/{os.getpid()}") if isinstance(told, Named) else told for told in answer]
        return answer


@shelf.breaks("BCCN-CHN-09", role="node")
class BangIsStripped(Node):
    """Sends a topic that begins with "!" under the rest of its name."""

    def send_topic(self, topic: str, payload: bytes, key: bytes = b"") -> None:
        super().send_topic(topic.lstrip("!") or "bang", payload, key)
