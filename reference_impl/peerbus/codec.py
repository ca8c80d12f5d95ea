"""Bytes to frames and back, for WebSocket text messages and for byte streams (sections 1 to 3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.frames import Ack, Deliver, Envelope, Frame, Garbage, Peers, Register
from reference_impl.peerbus.signing import Profile, Signing

MAX_LINE = 1_048_575  # bytes of a line's content, its LF not counted (PB-1-07)
SURROGATE = re.compile("[\ud800-\udfff]")  # lone ones, and each invalid byte under surrogateescape
WIRE_NAME = {"sender": "from"}
ENVELOPE_FIELDS = tuple(WIRE_NAME.get(f.name, f.name) for f in fields(Envelope) if f.name not in ("wire", "body"))


class NotAFrame(ValueError):
    """The text is JSON but no peerbus frame: a member has the wrong type."""


class Codec:
    """The wire format as one object, so that a target with other rules can be built from it."""

    signing_rules: type[Signing] = Signing

    def __init__(self, profile: Profile = Profile.CODE, signing: Signing | None = None) -> None:
        self.profile = profile
        self.signing = signing or self.signing_rules(profile)

    # -- decoding -------------------------------------------------------------------------------------------------

    def decode(self, text: bytes) -> Frame | Garbage:
        """One message's frame. Everything that is none is Garbage, never an exception."""
        try:
            members = self.members(text)
            kind = self.control_type(members)
            return self.control(kind, members) if kind else self.envelope(members, text)
        except (jsontext.NotJson, NotAFrame) as error:
            return Garbage(str(error))

    def members(self, text: bytes) -> dict[str, bytes]:
        """The object's members, the last of a repeated one; `null` reads as an object without any."""
        if text.strip(b" \t\r\n") == b"null":
            return {}
        return {self.key(raw): value for raw, value in jsontext.members(text)}

    def key(self, raw: bytes) -> str:
        """A member's name; the code profile matches names without regard to case."""
        name = _string(raw)
        return name.casefold() if self.profile is Profile.CODE else name

    def control_type(self, members: dict[str, bytes]) -> str | None:
        """The control type, or None for an envelope: also for an unknown or non-string type (PB-2-03, PB-3-14)."""
        raw = members.get("type", b"")
        name = _string(raw) if raw[:1] == b'"' else ""
        return name if name in ("register", "ack", "peers", "deliver") else None

    def control(self, kind: str, members: dict[str, bytes]) -> Frame:
        version = _text(members, "protocol_version")
        if kind == "register":
            return Register(_text(members, "token"), _text(members, "name"), version)
        if kind == "ack":
            return Ack(_text(members, "id"), version)
        if kind == "peers":
            return Peers(_names(members.get("names", b"null")), version)
        inner = members.get("envelope", b"null")
        return Deliver(_text(members, "delivery_key"), self.envelope(self.members(inner), inner), version)

    def envelope(self, members: dict[str, bytes], text: bytes) -> Envelope:
        """Missing members read as empty; unknown ones are ignored."""
        values = {name: _text(members, name) for name in ENVELOPE_FIELDS}
        values["sender"] = values.pop("from")
        return Envelope(**values, body=members.get("body", b"null"), wire=text)

    # -- encoding -------------------------------------------------------------------------------------------------

    def encode(self, frame: Frame) -> bytes:
        """One message: a JSON object without line feeds (PB-1-03, PB-1-04, PB-1-08)."""
        match frame:
            case Register():
                return self._control("register", frame.protocol_version, token=frame.token, name=frame.name)
            case Ack():
                return self._control("ack", frame.protocol_version, id=frame.id)
            case Peers():
                return self.encode_peers(frame)
            case Deliver():
                return self.encode_deliver(frame)
            case Envelope():
                return self.encode_envelope(frame)

    def encode_peers(self, frame: Peers) -> bytes:
        names = b",".join(self.signing.string(name) for name in frame.names)
        return self._control("peers", frame.protocol_version)[:-1] + b',"names":[' + names + b"]}"

    def encode_deliver(self, frame: Deliver) -> bytes:
        head = self._control("deliver", frame.protocol_version, delivery_key=frame.delivery_key)
        return head[:-1] + b',"envelope":' + self.relayed(frame.envelope) + b"}"

    def relayed(self, envelope: Envelope) -> bytes:
        """The envelope inside a deliver frame."""
        return self.kept(envelope)

    def kept(self, envelope: Envelope) -> bytes:
        """What a broker stores: the code profile serialises again, the document profile keeps the very bytes."""
        if self.profile is Profile.DOCUMENT and envelope.wire:
            return envelope.wire.strip(b" \t\r\n")
        return self.encode_envelope(envelope)

    def encode_envelope(self, envelope: Envelope) -> bytes:
        """All nine fields, also the empty ones (PB-3-01, PB-3-02)."""
        return self.signing.canonical(envelope)[:-1] + b',"hmac":' + self.signing.string(envelope.hmac) + b"}"

    def _control(self, kind: str, version: str, **values: str) -> bytes:
        texts = {"protocol_version": version, "type": kind, **values}
        return b"{" + b",".join(b'"%s":%s' % (k.encode(), self.signing.string(v)) for k, v in texts.items()) + b"}"

    # -- byte streams ---------------------------------------------------------------------------------------------

    def encode_line(self, frame: Frame) -> bytes:
        """The byte-stream form: the object and one LF (PB-1-05); a body may have come with line feeds (PB-1-08)."""
        return jsontext.compact(self.encode(frame)) + b"\n"

    def lines(self) -> LineDecoder:
        return LineDecoder(self)


class LineDecoder:
    """Frames out of a byte stream, however it is cut; an over-long line is one Garbage and costs no memory."""

    longest = MAX_LINE

    def __init__(self, codec: Codec) -> None:
        self._codec, self._buffer, self._skipping = codec, bytearray(), False

    def feed(self, data: bytes) -> Iterator[Frame | Garbage]:
        searched = len(self._buffer)  # what waits holds no LF: a line that comes in crumbs is searched once
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            if not self._skipping:
                yield self.line(line)
            self._skipping = False
        if len(self._buffer) > self.longest:
            if not self._skipping:
                yield self.line(bytes(self._buffer))
            self._skipping = True
            self._buffer.clear()

    def line(self, line: bytes) -> Frame | Garbage:
        """One line is one object (PB-1-06)."""
        return Garbage("line too long") if len(line) > self.longest else self._codec.decode(line)


def _string(raw: bytes) -> str:
    """A JSON string's value; lone surrogates and bytes that are no UTF-8 become U+FFFD."""
    if b"\\" not in raw and raw.isascii():
        return raw[1:-1].decode()
    value: str = json.loads(raw.decode("utf-8", "surrogateescape"))
    return SURROGATE.sub("\ufffd", value)


def _text(members: dict[str, bytes], name: str) -> str:
    """A string member; absent and null read as empty, any other type makes the frame unparsable."""
    raw = members.get(name, b"null")
    if raw == b"null":
        return ""
    if raw[:1] != b'"':
        raise NotAFrame(f"{name} is not a string")
    return _string(raw)


def _names(raw: bytes) -> tuple[str, ...]:
    """An array of strings, read element by element: a value may be deeper or longer than a decoding parser takes."""
    if raw == b"null":
        return ()
    elements = jsontext.elements(raw)
    if not all(element == b"null" or element[:1] == b'"' for element in elements):
        raise NotAFrame("names is not an array of strings")
    return tuple("" if element == b"null" else _string(element) for element in elements)
