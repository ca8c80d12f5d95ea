"""Nodes whose calls do something else than they say: numbers, names, payloads and the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.bccn.frames import UNKNOWN, Close, Delivered, GetName, GetSeq, Input, Send, Sent, SetName
from reference_impl.bccn.node import API, WIRE, NodeMachine, NodeStep, State
from reference_impl.bccn.node_io import Node, NotSent
from reference_impl.core import Channel, Expectation, Step
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-SEQ-04", role="node")
class CountsByTwo(NodeMachine):
    """Adds two per send."""

    def next_seq(self, state: State) -> int:
        return state.seq + 2


@shelf.breaks("BCCN-SEQ-08", role="node")
class DirectedSendsDoNotCount(NodeMachine):
    """Counts plain sends only."""

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        step = super().send(state, channel, event)
        return replace(step, state=state) if event.chan.startswith("!") else step


@shelf.breaks("BCCN-SEQ-07", "BCCN-SEQ-04", role="node")
class CountsInFloats(NodeMachine):
    """Keeps the counter in a double."""

    def next_seq(self, state: State) -> int:
        return int(float(state.seq) + 1) % 2**64

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(replace(state, seq=min(int(float(state.seq)), 2**64 - 1)), event)


@shelf.breaks("BCCN-API-01", role="node")
class PayloadOf255AtMost(NodeMachine):
    """Cuts a payload to 255 bytes."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(state, replace(event, payload=event.payload[:255]))


@shelf.breaks("BCCN-API-01", "BCCN-BODY-01", role="node")
class PayloadEndsWithALineFeed(NodeMachine):
    """Sends a line feed behind the payload."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(state, replace(event, payload=event.payload + b"\n"))


@shelf.breaks("BCCN-API-02", "BCCN-API-08", "BCCN-CNV-13", role="node")
class UnknownIsEmpty(NodeMachine):
    """Says "unknown" where it does not know its name."""

    def source(self, state: State, event: Send) -> str:
        return super().source(state, event).replace(UNKNOWN, "unknown")


@shelf.breaks("BCCN-API-03", role="node")
class RecvDrains(Node):
    """Reads all that waits and yields the last."""

    def recv(self, timeout: float | None = 0.0) -> Delivered | None:
        last = None
        while (got := super().recv(timeout)) is not None:
            last = got
        return last


@shelf.breaks("BCCN-API-05", role="node")
class CloseKeepsThePort(Node):
    """Sends and hears no more after close, but holds the port."""

    def close(self) -> None:
        self.detach()
        self.player.receive(API, Close())


@shelf.breaks("BCCN-API-05", role="node")
class SendsIntoTheVoid(NodeMachine):
    """Lets a send after close succeed."""

    def refuse_closed(self, state: State, channel: Channel, _: Input) -> NodeStep:
        return self.done(state, "BCCN-API-05")


@shelf.breaks("BCCN-API-07", role="node")
class NamesAreToldInPart(NodeMachine):
    """Tells the first 64 characters of its name."""

    def get_name(self, state: State, channel: Channel, event: GetName) -> NodeStep:
        return super().get_name(replace(state, name=state.name[:64]), channel, event)


@shelf.breaks("BCCN-API-11", "BCCN-API-12", role="node")
class TellsTheLastNumber(NodeMachine):
    """Tells the number that was sent last, not the next."""

    def get_seq(self, state: State, channel: Channel, event: GetSeq) -> NodeStep:
        return super().get_seq(replace(state, seq=max(0, state.seq - 1)), channel, event)


@shelf.breaks("BCCN-SEQ-05", role="node")
class BeginsBelowZero(NodeMachine):
    """Begins with the number -1."""

    def initial(self) -> State:
        return replace(super().initial(), seq=-1)


@shelf.breaks("BCCN-API-08", role="node")
class BeginsWithAName(NodeMachine):
    """Guesses a name where none was given."""

    def initial(self) -> State:
        return replace(super().initial(), name="localhost")


@shelf.breaks("BCCN-API-09", role="node")
class EmptyNameIsIgnored(NodeMachine):
    """Keeps the old name when it is told to have none."""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        return super().set_name(state, channel, replace(event, name=event.name or state.name))


@shelf.breaks("BCCN-API-10", role="node")
class NameIsNotTheDefault(NodeMachine):
    """Sends as "?" where no src is given, whatever its name."""

    def source(self, state: State, event: Send) -> str:
        return event.src or UNKNOWN


@shelf.breaks("BCCN-API-12", role="node")
class CountsBeforehand(NodeMachine):
    """Counts before it sends."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(replace(state, seq=self.next_seq(state)), event)


@shelf.breaks("BCCN-API-13", role="node")
class RefusalsCount(Node):
    """Takes a number for a send that it refuses."""

    def send(self, src: str | None, chan: str, payload: bytes, key: bytes = b"") -> None:
        try:
            super().send(src, chan, payload, key)
        except NotSent:
            self.seq += 1
            raise


@shelf.breaks("BCCN-API-14", role="node")
class NameReplacesSrc(NodeMachine):
    """Sends under its own name whatever src is given."""

    def source(self, state: State, event: Send) -> str:
        return state.name if state.name != UNKNOWN else event.src or UNKNOWN


@shelf.breaks("BCCN-API-14", role="node")
class ChannelsAreTidied(NodeMachine):
    """Sends channels in lower case."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(state, replace(event, chan=event.chan.lower()))


@shelf.breaks("BCCN-DUP-13", role="node")
class DuplicatesHaveNumbersOfTheirOwn(NodeMachine):
    """In duplicate-send mode the second datagram has the next number."""

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        step = super().send(state, channel, event)
        if self.config.copies == 1 or step.state == state:
            return step
        again = Expectation("BCCN-DUP-13", Sent(self.datagram(step.state, event)), WIRE)
        sent: tuple[Any, ...] = (step.owes[0], again, *step.owes[2:])
        return Step(replace(step.state, seq=self.next_seq(step.state)), sent)
