"""Nodes that get the socket wrong: where they send, what they hear and how much of it."""

from __future__ import annotations

import socket
from dataclasses import replace

from reference_impl.bccn.frames import MAX_DATAGRAM, Garbage, Message, Peer, Reason
from reference_impl.bccn.node import NodeMachine
from reference_impl.bccn.node_io import Node
from reference_impl.core import Expectation
from targets.mutants.bccn.shelf import shelf


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
