"""Nodes with one fault each."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from reference_impl.bccn.codec import Malformed
from reference_impl.bccn.frames import (
    MAX_DATAGRAM,
    UNKNOWN,
    Close,
    Delivered,
    Garbage,
    GetName,
    GetSeq,
    Heard,
    Input,
    Message,
    Mode,
    Peer,
    Reason,
    Send,
    Sent,
    SetName,
)
from reference_impl.bccn.node import API, WIRE, NodeMachine, NodeStep, State
from reference_impl.bccn.node_io import Node, NotSent
from reference_impl.bccn.tracker import Last
from reference_impl.core import Channel, Expectation, Step
from targets.mutants.bccn.shelf import shelf


@contextmanager
def without_key(machine: NodeMachine) -> Iterator[None]:
    """A while in which the node has forgotten its key."""
    config = machine.config
    machine.config = replace(config, key=b"")
    try:
        yield
    finally:
        machine.config = config


# -- transport ---------------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-TRN-01", role="node")
class SaysEverythingTwice(NodeMachine):
    """Sends two datagrams per notification without being told to."""

    def copies(self, data: bytes) -> tuple[Expectation, ...]:
        return super().copies(data) * 2


@shelf.breaks("BCCN-TRN-02", role="node")
class SendsToOneHost(Node):
    """Sends to one host instead of to everybody."""

    def transmit(self, data: bytes) -> None:
        self._socket.sendto(data, ("127.0.0.3", self.address[1]))


@shelf.breaks("BCCN-TRN-03", role="node")
class BroadcastIsNotEnabled(Node):
    """Does not ask the kernel for permission to broadcast."""

    def open_socket(self, broadcast: str, port: int) -> socket.socket:
        made = super().open_socket(broadcast, port)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 0)
        return made


@shelf.breaks("BCCN-TRN-04", role="node")
class BindsSomePort(Node):
    """Lets the kernel choose the port it listens on."""

    def open_socket(self, broadcast: str, port: int) -> socket.socket:
        return super().open_socket(broadcast, 0)


@shelf.breaks("BCCN-TRN-05", role="node")
class Acknowledges(Node):
    """Answers every datagram."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        self._socket.sendto(b"ok", peer)
        return data, peer


@shelf.breaks("BCCN-TRN-06", role="node")
class KeepsThePortToItself(Node):
    """Does not let another node share the port."""

    def open_socket(self, broadcast: str, port: int) -> socket.socket:
        made = super().open_socket(broadcast, port)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        return made


@shelf.breaks("BCCN-TRN-08", "BCCN-API-06", role="node")
class DescriptorOfNothing(Node):
    """Hands out a descriptor that never becomes readable."""

    def fileno(self) -> int:
        self._idle = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return self._idle.fileno()


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt1500(Node):
    """Receives into a buffer of 1500 bytes."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data[:1500], peer


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt65000(Node):
    """Receives into a buffer of 65000 bytes."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data[:65000], peer


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt1400(Node):
    """Receives into a buffer of the largest datagram it would send."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data[:MAX_DATAGRAM], peer


@shelf.breaks("BCCN-ENV-22", role="node")
class DeafAfterATinyDatagram(Node):
    """Stops listening when a datagram is shorter than a magic."""

    def interpret(self, data: bytes) -> Message | Garbage:
        if len(data) < 6:
            self.detach()
        return super().interpret(data)


@shelf.breaks("BCCN-DLV-07", role="node")
class DeafAfterNoise(Node):
    """Stops listening when a datagram is malformed."""

    def interpret(self, data: bytes) -> Message | Garbage:
        read = super().interpret(data)
        if isinstance(read, Garbage) and read.reason is Reason.BODY:
            self.detach()
        return read


@shelf.breaks("BCCN-SIZ-04", "BCCN-ENV-09", role="node")
class LargePayloadsAreCut(Node):
    """Delivers the first 1000 bytes of a payload that makes more than 1400."""

    def interpret(self, data: bytes) -> Message | Garbage:
        read = super().interpret(data)
        return replace(read, payload=read.payload[:1000]) if isinstance(read, Message) and len(data) > 1400 else read


# -- authentication ----------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-INT-12", role="node")
class AddressBeforeAuthentication(Node):
    """Looks whom a datagram is for before it looks who it is from."""

    def interpret(self, data: bytes) -> Message | Garbage:
        try:
            _, _, chan, _ = self.machine.codec.body(self.machine.codec.envelope(data).body)
            if not self.machine.addressing.is_for(self.name, chan):
                return Garbage(Reason.ADDRESS, "not for me")
        except Malformed:
            pass
        return super().interpret(data)


@shelf.breaks("BCCN-INT-13", role="node")
class ForgeriesAreRemembered(Node):
    """Tracks the numbers of datagrams that fail authentication."""

    def interpret(self, data: bytes) -> Message | Garbage:
        read = super().interpret(data)
        if isinstance(read, Garbage) and read.reason is Reason.AUTH:
            src, seq, _, _ = self.machine.codec.body(self.machine.codec.envelope(data).body)
            state = self.player.state
            self.player.state = replace(state, senders=state.senders.set(src, Last(seq, time.monotonic())))
        return read


@shelf.breaks("BCCN-INT-09", "BCCN-INT-10", role="node")
class RecvDoesNotVerify(Node):
    """Verifies what it reads by itself, but not what it is asked for."""

    asked = False

    def recv(self, timeout: float | None = 0.0) -> Delivered | None:
        self.asked = True
        got = super().recv(timeout)
        self.asked = False
        return got

    def interpret(self, data: bytes) -> Message | Garbage:
        read = super().interpret(data)
        if self.asked and isinstance(read, Garbage) and read.reason is Reason.AUTH:
            return Message(*self.machine.codec.body(self.machine.codec.envelope(data).body))
        return read


# -- delivery ----------------------------------------------------------------------------------------------------------


class OtherDelivery(NodeMachine):
    """Changes what is delivered."""

    def other(self, delivered: Delivered) -> Delivered:
        return delivered

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        owes = tuple(
            replace(e, template=self.other(e.template)) if isinstance(e.template, Delivered) else e for e in step.owes
        )
        return replace(step, owes=owes)


@shelf.breaks("BCCN-DLV-01", "BCCN-CNV-01", role="node")
class ListenersAreNotCalled(NodeMachine):
    """Does not pass plain messages to listeners."""

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        return () if not message.chan.startswith("!") else super().callees(state, message)


@shelf.breaks("BCCN-DLV-01", role="node")
class DeliversTwice(NodeMachine):
    """Delivers each plain message twice."""

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        return step if event.message.chan.startswith("!") else replace(step, owes=step.owes * 2)


@shelf.breaks("BCCN-DLV-02", "BCCN-CHN-06", role="node")
class AllByPattern(NodeMachine):
    """Passes ALL only to listeners whose pattern matches it."""

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        return tuple(p for p in state.listeners if self.addressing.interested(p, message.chan))


@shelf.breaks("BCCN-DLV-04", role="node")
class PeerWithoutPort(OtherDelivery):
    """Tells the sender's IP, but not its port."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, peer=(delivered.peer[0], 0))


@shelf.breaks("BCCN-DLV-04", role="node")
class PeerIsAlwaysHere(OtherDelivery):
    """Tells its own address as the sender's."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, peer=("127.0.0.1", delivered.peer[1]))


@shelf.breaks("BCCN-DLV-05", role="node")
class ModeIsAlwaysPlain(OtherDelivery):
    """Does not tell ALL and DIRECTED from PLAIN."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, mode=Mode.PLAIN)


@shelf.breaks("BCCN-DLV-06", "BCCN-TRN-05", role="node")
class ComplainsAboutOthersMail(NodeMachine):
    """Broadcasts an error when a directed message is for somebody else."""

    def drop(self, state: State, reason: Reason) -> NodeStep:
        step = super().drop(state, reason)
        if reason is not Reason.ADDRESS:
            return step
        return replace(step, owes=(*step.owes, Expectation("BCCN-DLV-06", Sent(b"BCCN1[14]?:1:error|no-me"), WIRE)))


@shelf.breaks("BCCN-SRC-07", role="node")
class UnknownSendersAreDropped(NodeMachine):
    """Drops what comes from "?"."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        if event.message.src == UNKNOWN:
            return self.drop(state, Reason.ADDRESS)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-SRC-09", role="node")
class WildcardNamesAreNotHeard(NodeMachine):
    """Drops what comes from a name that it would not take itself."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        src = event.message.src
        return self.drop(state, Reason.BODY) if "*" in src or src.endswith("/") else super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-17", role="node")
class FirstNameForEver(NodeMachine):
    """Matches directed messages with the first name it was given."""

    first = ""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        self.first = self.first or event.name
        return super().set_name(state, channel, event)

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        step = super().hear(replace(state, name=self.first or UNKNOWN), channel, event)
        return replace(step, state=replace(step.state, name=state.name))


@shelf.breaks("BCCN-DIR-20", role="node")
class SenderIsMatchedToo(NodeMachine):
    """Takes a message whose own src matches its target."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        if self.addressing.is_for(event.message.src, event.message.chan):
            return self.track(state, event)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-13", "BCCN-DLV-06", role="node")
class HearsEverything(NodeMachine):
    """Delivers directed messages whoever they are for."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        return self.track(state, event)


# -- calls -------------------------------------------------------------------------------------------------------------


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


@shelf.breaks("BCCN-SIZ-01", "BCCN-SIZ-03", role="node")
class SizeWithoutLimit(NodeMachine):
    """Sends datagrams of any size."""

    def fits(self, data: bytes) -> bool:
        return True


@shelf.breaks("BCCN-SIZ-01", role="node")
class OneByteTooMany(NodeMachine):
    """Sends 1401 bytes."""

    def fits(self, data: bytes) -> bool:
        return len(data) <= MAX_DATAGRAM + 1


@shelf.breaks("BCCN-SIZ-02", "BCCN-SIZ-05", role="node")
class OneByteTooFew(NodeMachine):
    """Refuses 1400 bytes."""

    def fits(self, data: bytes) -> bool:
        return len(data) < MAX_DATAGRAM


@shelf.breaks("BCCN-SIZ-03", "BCCN-SIZ-01", role="node")
class TagIsNotCounted(NodeMachine):
    """Leaves the tag out of the size."""

    def fits(self, data: bytes) -> bool:
        return len(data) - (22 if b":hmac=" in data[:30] else 0) <= MAX_DATAGRAM


@shelf.breaks("BCCN-SIZ-03", role="node")
class TagOfACallsKeyIsNotCounted(NodeMachine):
    """Measures a datagram before it is signed with the key of the call."""

    def datagram(self, state: State, event: Send) -> bytes:
        super().datagram(state, replace(event, key=b""))
        message = Message(self.source(state, event), state.seq, event.chan, event.payload)
        return self.codec.encode(message, event.key or self.config.key)


@shelf.breaks("BCCN-SIZ-05", role="node")
class HeaderOf1024AtMost(NodeMachine):
    """Refuses a header of more than 1024 bytes."""

    def fits(self, data: bytes) -> bool:
        return super().fits(data) and data.find(b"|") <= 1100


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


@shelf.breaks("BCCN-API-04", role="node")
class KeyOfOpenIsNotUsed(NodeMachine):
    """Signs with the key of a call, but not with that of open."""

    def datagram(self, state: State, event: Send) -> bytes:
        with without_key(self):
            return super().datagram(state, event)


@shelf.breaks("BCCN-INT-19", role="node")
class KeyOfACallIsNotUsed(NodeMachine):
    """Does not sign with the key of a call."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(state, replace(event, key=b""))


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
