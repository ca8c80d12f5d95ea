"""Brokers that declare the document's authority and do not relay the very bytes that they were given."""

from __future__ import annotations

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Envelope
from reference_impl.peerbus.signing import Profile
from targets.mutants.peerbus.shelf import broken_document_broker as broken
from targets.reference.peerbus import DocumentCodec


def texts(envelope: Envelope) -> dict[bytes, bytes]:
    """The members as they were spelled; the names are texts with their quotes."""
    return dict(jsontext.members(envelope.wire))


def written(members: dict[bytes, bytes]) -> bytes:
    return b"{" + b",".join(name + b":" + text for name, text in members.items()) + b"}"


@broken("PB-3-11", "PB-3-31")
class RelaysAsTheOriginalWrites(DocumentCodec):
    """Relays the nine fields written anew: `<` as an escape, blanks gone, members in the order of section 3."""

    def kept(self, envelope: Envelope) -> bytes:
        return Codec(Profile.CODE).encode_envelope(envelope)


@broken("PB-3-31")
class RelaysMembersInOrder(DocumentCodec):
    """Relays the values as they were spelled, their names sorted."""

    def kept(self, envelope: Envelope) -> bytes:
        return written(dict(sorted(texts(envelope).items())))


@broken("PB-3-31")
class RelaysMissingMembersToo(DocumentCodec):
    """Adds to what it relays the fields that were left out, empty."""

    def kept(self, envelope: Envelope) -> bytes:
        missing = {b'"%s"' % name: text for name, text in ((b"ts", b'""'), (b"source", b'""'), (b"body", b"null"))}
        return written(texts(envelope) | {name: text for name, text in missing.items() if name not in texts(envelope)})


@broken("PB-3-11")
class RelaysBodiesEscaped(DocumentCodec):
    """Writes `<`, `>` and `&` of a body as escapes, and all else as it came."""

    def kept(self, envelope: Envelope) -> bytes:
        body = envelope.body
        for sign in b"<>&":
            body = body.replace(bytes([sign]), b"\\u%04x" % sign)
        return super().kept(envelope).replace(envelope.body, body)


@broken("PB-3-11")
class RelaysBodiesCompact(DocumentCodec):
    """Takes the blanks out of a body."""

    def kept(self, envelope: Envelope) -> bytes:
        return super().kept(envelope).replace(envelope.body, jsontext.compact(envelope.body))


@broken("PB-2.4-08", "PB-3-31")
class RewritesBroadcasts(DocumentCodec):
    """Relays direct messages as they came, and writes the copies of a broadcast anew, as the original does."""

    def kept(self, envelope: Envelope) -> bytes:
        return super().kept(envelope) if envelope.to != "*" else Codec(Profile.CODE).encode_envelope(envelope)
