"""Nodes and codecs with a limit that the text does not give, or a number that is a little too small."""

from __future__ import annotations

import hmac

from reference_impl.bccn.codec import DECIMAL, TAG_BYTES, Codec
from reference_impl.bccn.frames import MAX_SEQ, Envelope, Peer
from reference_impl.bccn.node import NodeMachine, State
from reference_impl.bccn.node_io import Node
from targets.mutants.bccn.shelf import shelf

# -- buffers -----------------------------------------------------------------------------------------------------------


class Buffered(Node):
    """Base of nodes that receive into a buffer of some size."""

    buffer = 0

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data[: self.buffer], peer


@shelf.breaks("BCCN-ENV-09", "BCCN-SIZ-02", role="node")
class CutsAt1024(Buffered):
    """Receives into a buffer of 1,024 bytes."""

    buffer = 1024


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt1536(Buffered):
    """Receives into a buffer of 1,536 bytes."""

    buffer = 1536


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt9000(Buffered):
    """Receives into a buffer of a jumbo frame."""

    buffer = 9000


@shelf.breaks("BCCN-ENV-09", role="node")
class CutsAt16384(Buffered):
    """Receives into a buffer of 16,384 bytes."""

    buffer = 16_384


@shelf.breaks("BCCN-SIZ-02", "BCCN-DLV-01", role="node")
class LosesWhatFillsIt(Node):
    """Loses a datagram that fills its buffer of 1,024 bytes to the last."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data if len(data) != 1024 else b"", peer


@shelf.breaks("BCCN-SIZ-02", "BCCN-DLV-01", role="node")
class LosesTheLargest(Node):
    """Loses a datagram of exactly 1,400 bytes."""

    def receive(self) -> tuple[bytes, Peer]:
        data, peer = super().receive()
        return data if len(data) != 1400 else b"", peer


@shelf.breaks("BCCN-CNV-11", role="node")
class DispatchesSixteen(Node):
    """Handles sixteen waiting datagrams per dispatch, and loses the rest."""

    left = 0

    def dispatch(self) -> int:
        self.left = 16
        return super().dispatch()

    def _read(self) -> list[object]:
        self.left -= 1
        if self.left >= 0:
            return super()._read()
        self.receive()
        return []


# -- numbers -----------------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-ENV-08", "BCCN-ENV-07", role="codec")
class LenOf16Bits(Codec):
    """Keeps 16 bits of len."""

    def length_is_true(self, length: str, body: bytes) -> bool:
        return len(length) <= 20 and int(length) & 0xFFFF == len(body)


@shelf.breaks("BCCN-ENV-08", "BCCN-ENV-07", role="codec")
class LenOf32Bits(Codec):
    """Keeps 32 bits of len."""

    def length_is_true(self, length: str, body: bytes) -> bool:
        return len(length) <= 20 and int(length) & 0xFFFF_FFFF == len(body)


@shelf.breaks("BCCN-ENV-08", "BCCN-BODY-06", role="codec")
class LenOfThreeDigits(Codec):
    """Refuses a len of four digits."""

    def length_is_true(self, length: str, body: bytes) -> bool:
        return len(length) <= 3 and super().length_is_true(length, body)


@shelf.breaks("BCCN-SEQ-02", role="codec")
class SeqSaturates(Codec):
    """Takes a number that is too large for the largest."""

    def seq(self, text: str) -> int:
        return MAX_SEQ if DECIMAL.fullmatch(text) and len(text) >= 20 and int(text) > MAX_SEQ else super().seq(text)


@shelf.breaks("BCCN-SEQ-02", role="codec")
class SeqOf19Digits(Codec):
    """Reads the first 19 digits of a number."""

    def seq(self, text: str) -> int:
        return super().seq(text[:19] if DECIMAL.fullmatch(text) and int(text) <= MAX_SEQ else text)


class CountsTo(NodeMachine):
    """Base of nodes whose counter is too small."""

    most = MAX_SEQ

    def next_seq(self, state: State) -> int:
        return 0 if state.seq == self.most else super().next_seq(state)


@shelf.breaks("BCCN-SEQ-02", "BCCN-SEQ-04", role="node")
class CountsTo31Bits(CountsTo):
    """Counts to 2 to the 31st."""

    most = (1 << 31) - 1


@shelf.breaks("BCCN-SEQ-02", "BCCN-SEQ-04", role="node")
class CountsTo32Bits(CountsTo):
    """Counts to 2 to the 32nd."""

    most = (1 << 32) - 1


@shelf.breaks("BCCN-SEQ-02", "BCCN-SEQ-04", role="node")
class CountsTo63Bits(CountsTo):
    """Counts to 2 to the 63rd."""

    most = (1 << 63) - 1


# -- keys and tags -----------------------------------------------------------------------------------------------------


class OtherKey(Codec):
    """Base of codecs that change a key."""

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        return super().check(algo, body, self.other(key))

    def other(self, key: bytes) -> bytes:
        raise TypeError(type(self))


@shelf.breaks("BCCN-INT-05", role="codec")
class KeysEndAtNul(OtherKey):
    """Takes a key for a C string."""

    def other(self, key: bytes) -> bytes:
        return key.split(b"\0")[0]


@shelf.breaks("BCCN-INT-05", role="codec")
class KeysAreTrimmed(OtherKey):
    """Strips whitespace off a key."""

    def other(self, key: bytes) -> bytes:
        return key.strip()


@shelf.breaks("BCCN-INT-05", role="codec")
class KeysAreText(OtherKey):
    """Decodes a key as UTF-8."""

    def other(self, key: bytes) -> bytes:
        return key.decode("utf-8", "replace").encode()


@shelf.breaks("BCCN-INT-07", "BCCN-INT-05", role="codec")
class TagsAreNumbers(Codec):
    """Writes the tag as a number, without leading zeros."""

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        tag = super().check(algo, body, key)
        return f"{int(tag, 16):x}" if algo == "hmac" else tag

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        right = hmac.digest(key, envelope.body, "sha256")[:TAG_BYTES].hex() if key else ""
        return envelope.sum == right if envelope.algo == "hmac" and key else super().passes(envelope, key)


@shelf.breaks("BCCN-INT-14", "BCCN-INT-09", role="codec")
class ComparesTagsAsNumbers(Codec):
    """Takes a tag with zeros in front of it, or with its own left out."""

    def same(self, given: str, wanted: str) -> bool:
        return int(given, 16) == int(wanted, 16)


@shelf.breaks("BCCN-INT-09", "BCCN-INT-05", role="codec")
class TagsEndAtAZeroByte(Codec):
    """Compares tags as C strings, up to a zero byte."""

    def same(self, given: str, wanted: str) -> bool:
        return bytes.fromhex(given).split(b"\0")[0] == bytes.fromhex(wanted).split(b"\0")[0]
