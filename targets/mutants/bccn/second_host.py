"""Nodes that tell their host or their listeners what is not so, or keep something of one call for the next."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.bccn.codec import Codec
from reference_impl.bccn.frames import UNKNOWN, Called, Delivered, Envelope, Garbage, Heard, Message, Reason, Send, Sent
from reference_impl.bccn.node import API, LISTENERS, WIRE, NodeMachine, NodeStep, State
from reference_impl.bccn.node_io import Node
from reference_impl.core import Channel, Expectation
from targets.mutants.bccn.delivery import OtherDelivery
from targets.mutants.bccn.shelf import shelf

# -- what is told ------------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-SEQ-07", "BCCN-DLV-04", role="node")
class TellsNumbersAsDoubles(OtherDelivery):
    """Tells its host a number with the precision of a double."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, message=replace(delivered.message, seq=int(float(delivered.message.seq))))


@shelf.breaks("BCCN-SEQ-02", "BCCN-SEQ-07", role="node")
class TellsSignedNumbers(OtherDelivery):
    """Tells its host a number of 64 bits as a signed one."""

    def other(self, delivered: Delivered) -> Delivered:
        seq = delivered.message.seq
        return replace(delivered, message=replace(delivered.message, seq=seq - (1 << 64) if seq >> 63 else seq))


class TellsListenersOtherwise(NodeMachine):
    """Base of nodes whose recv is right and whose listeners get something else."""

    def calling(self, pattern: str, message: Message, mode: object) -> Expectation:
        return super().calling(pattern, self.other(message), mode)  # type: ignore[arg-type]

    def other(self, message: Message) -> Message:
        raise TypeError(type(self))


@shelf.breaks("BCCN-DLV-01", "BCCN-BODY-07", role="node")
class ListenersGetTrimmedPayloads(TellsListenersOtherwise):
    """Strips whitespace off the payload that a listener gets."""

    def other(self, message: Message) -> Message:
        return replace(message, payload=message.payload.strip())


@shelf.breaks("BCCN-DLV-01", "BCCN-BODY-07", role="node")
class ListenersGetText(TellsListenersOtherwise):
    """Decodes the payload that a listener gets."""

    def other(self, message: Message) -> Message:
        return replace(message, payload=message.payload.decode("utf-8", "replace").encode())


@shelf.breaks("BCCN-SEQ-07", "BCCN-DLV-01", role="node")
class ListenersGetDoubles(TellsListenersOtherwise):
    """Tells listeners a number with the precision of a double."""

    def other(self, message: Message) -> Message:
        return replace(message, seq=int(float(message.seq)))


# -- what should not be told -------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DLV-06", "BCCN-DIR-13", role="node")
class ListenersHearOthersMail(NodeMachine):
    """Calls listeners for what is directed at somebody else."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        step = super().hear(state, channel, event)
        if self.addressing.is_for(state.name, event.message.chan):
            return step
        calls = (Expectation("", Called(pattern, event.message), LISTENERS) for pattern in state.listeners)
        return replace(step, owes=(*step.owes, *calls))


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-13", role="node")
class ListenersHearRepeats(NodeMachine):
    """Calls listeners for a message as often as it comes."""

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        if any(isinstance(debt.template, Delivered) for debt in step.owes):
            return step
        calls = (Expectation("", Called(p, event.message), LISTENERS) for p in self.callees(state, event.message))
        return replace(step, owes=(*step.owes, *calls))


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class ListenersHearForgeries(Node):
    """Calls listeners for what fails authentication."""

    def interpret(self, data: bytes) -> Message | Garbage:
        read = super().interpret(data)
        if isinstance(read, Garbage) and read.reason is Reason.AUTH:
            forged = Message(*self.machine.codec.body(self.machine.codec.envelope(data).body))
            for pattern in self.machine.callees(self.player.state, forged):
                self._on_event(Called(pattern, forged))
        return read


class Trusting(Codec):
    """Base of codecs that take some bodies unsigned, or wrongly signed, although there is a key."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return super().passes(envelope, key) or (bool(key) and self.trusts(*self.body(envelope.body)))

    def is_authenticated(self, envelope: Envelope, key: bytes) -> bool:
        return super().is_authenticated(envelope, key) and super().passes(envelope, key)

    def trusts(self, src: str, seq: int, chan: str, payload: bytes) -> bool:
        raise TypeError(type(self))


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class TrustsTheNameless(Trusting):
    """Needs no tag from a sender that does not know its name yet."""

    def trusts(self, src: str, seq: int, chan: str, payload: bytes) -> bool:
        return src == UNKNOWN


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class TrustsWhatGoesToAll(Trusting):
    """Needs no tag on what goes to everybody."""

    def trusts(self, src: str, seq: int, chan: str, payload: bytes) -> bool:
        return chan == "!"


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class TrustsHeartbeats(Trusting):
    """Needs no tag on a heartbeat."""

    def trusts(self, src: str, seq: int, chan: str, payload: bytes) -> bool:
        return chan == f"heartbeat/{src}"


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class TrustsTheEmpty(Trusting):
    """Needs no tag where there is no payload to protect."""

    def trusts(self, src: str, seq: int, chan: str, payload: bytes) -> bool:
        return not payload


@shelf.breaks("BCCN-BODY-06", "BCCN-CHN-07", role="node")
class DropsTheEmptyDirected(NodeMachine):
    """Drops what is directed at it and has no payload."""

    def track(self, state: State, event: Heard) -> NodeStep:
        empty = event.message.chan.startswith("!") and not event.message.payload
        return self.drop(state, Reason.BODY) if empty else super().track(state, event)


# -- what a call leaves behind -----------------------------------------------------------------------------------------


@shelf.breaks("BCCN-API-10", "BCCN-API-02", role="node")
class TheSrcOfACallSticks(NodeMachine):
    """Sends under the src of the call before where none is given."""

    last = ""

    def source(self, state: State, event: Send) -> str:
        self.last = event.src or self.last
        return self.last or super().source(state, event)


@shelf.breaks("BCCN-INT-19", "BCCN-ENV-17", role="node")
class TheKeyOfACallSticks(NodeMachine):
    """Signs with the key of the call before where none is given."""

    last = b""

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        self.last = event.key or self.last
        return super().send(state, channel, replace(event, key=self.last))


@shelf.breaks("BCCN-API-01", "BCCN-BODY-06", role="node")
class AnEmptyPayloadIsTheLast(NodeMachine):
    """Sends the payload of the call before where it is given an empty one."""

    last = b""

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        self.last = event.payload or self.last
        return super().send(state, channel, replace(event, payload=self.last))


@shelf.breaks("BCCN-DUP-13", "BCCN-INT-10", role="node")
class TheSecondCopyIsUnsigned(NodeMachine):
    """Signs the first of two copies only."""

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        step = super().send(state, channel, event)
        sent = [debt for debt in step.owes if debt.channel == WIRE]
        if len(sent) < 2:
            return step
        plain = Message(self.source(state, event), state.seq, event.chan, event.payload)
        copy = replace(sent[0], template=Sent(self.codec.encode(plain)))
        return replace(step, owes=(sent[0], copy, *(debt for debt in step.owes if debt.channel == API)))
