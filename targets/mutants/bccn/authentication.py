"""Nodes that verify too late, too little or with consequences."""

from __future__ import annotations

import time
from dataclasses import replace

from reference_impl.bccn.codec import Malformed
from reference_impl.bccn.frames import Delivered, Garbage, Message, Reason
from reference_impl.bccn.node_io import Node
from reference_impl.bccn.tracker import Last
from targets.mutants.bccn.shelf import shelf


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
