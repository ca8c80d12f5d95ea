"""Good envelopes, signed by the reference's codec; `wire` makes those that it would never write."""

from __future__ import annotations

import zlib
from dataclasses import replace

from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Envelope
from suites.common.names import unique

SECRET = b"0123456789abcdef0123456789abcdef"
codec = Codec()


def unique_id() -> str:
    """A message's id, whose place in the alphabet says nothing about when it was sent."""
    serial = unique("m")
    return f"{zlib.crc32(serial.encode()):08x}-{serial}"


def message(sender: str, to: str, body: bytes = b'{"n":1}', id: str = "", /, **fields: str) -> Envelope:
    """A signed envelope in normal form."""
    kind = "broadcast" if to == "*" else "msg"
    envelope = Envelope(id or unique_id(), sender, to, "2026-05-18T12:00:00Z", "peer-bus", kind, body)
    return signed(replace(envelope, **fields)) if fields else signed(envelope)  # type: ignore[arg-type]  # all of them are text


def signed(envelope: Envelope) -> Envelope:
    return replace(envelope, hmac=codec.signing.sign(envelope, SECRET))


def forged(envelope: Envelope) -> Envelope:
    """The same message with a MAC that is not its own."""
    return replace(envelope, hmac="00" * 32)
