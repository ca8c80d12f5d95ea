"""Nodes that measure a datagram wrongly."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.bccn.frames import MAX_DATAGRAM, Message, Send
from reference_impl.bccn.node import NodeMachine, State
from targets.mutants.bccn.shelf import shelf


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
