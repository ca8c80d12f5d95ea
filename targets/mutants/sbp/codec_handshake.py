"""Codecs that get the Handshake wrong."""

from __future__ import annotations

import json
from typing import Any

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import BadHandshake, Frame, Handshake, NoFrame
from targets.mutants.sbp.shelf import shelf


class Payload(Codec):
    """Base of those that change the payload they write."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def encode_handshake(self, frame: Handshake) -> bytes:
        return json.dumps(self.changed(json.loads(super().encode_handshake(frame)))).encode()


@shelf.breaks("SBP-HSP-01", role="codec")
class AnotherProtocolName(Payload):
    """Calls the protocol by its tag."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"protocol": "sideband/1"}


@shelf.breaks("SBP-HSP-02", role="codec")
class NumericVersion(Payload):
    """Writes version 1 without quotes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"version": 1}


@shelf.breaks("SBP-HSP-05", role="codec")
class ForgetsCaps(Payload):
    """Does not write caps."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in payload.items() if k != "caps"}


@shelf.breaks("SBP-HSP-06", role="codec")
class ForgetsMetadata(Payload):
    """Does not write metadata."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in payload.items() if k != "metadata"}


@shelf.breaks("SBP-HSP-07", role="codec")
class WritesBareKeys(Codec):
    """Writes metadata under any key."""

    def encode_metadata(self, metadata: str) -> Any:
        return json.loads(metadata)


@shelf.breaks("SBP-HSP-07", role="codec")
class NamespacesMayBeEmpty(Codec):
    """Takes any colon in a key for the end of a namespace."""

    def encode_metadata(self, metadata: str) -> Any:
        keys: dict[str, Any] = json.loads(metadata)
        return keys if all(":" in key for key in keys) else super().encode_metadata(metadata)


@shelf.breaks("SBP-HS-01", role="codec")
class HandshakesInUtf16(Codec):
    """Writes the payload in UTF-16."""

    def encode_handshake(self, frame: Handshake) -> bytes:
        return super().encode_handshake(frame).decode().encode("utf-16")


@shelf.breaks("SBP-HS-01", role="codec")
class ReadsTheFirstJsonValue(Codec):
    """Ignores what follows the object."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        try:
            payload, _ = json.JSONDecoder().raw_decode(data.decode("utf-8"))
        except (ValueError, RecursionError):
            return super().payload(id, data)
        return payload if isinstance(payload, dict) else super().payload(id, data)


@shelf.breaks("SBP-HS-01", role="codec")
class ReadsLatin1Handshakes(Codec):
    """Reads a payload that is no UTF-8 as Latin-1."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return super().payload(id, data.decode("utf-8", "replace").encode())


class Lenient(Codec):
    """Base of those that fill in or convert required members."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return self.fixed(super().payload(id, data))


@shelf.breaks("SBP-HSP-03", role="codec")
class PeerIdIsOptional(Lenient):
    """Calls a peer without an id anonymous."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"peerId": "anonymous"} | payload


@shelf.breaks("SBP-HSP-08", role="codec")
class ConvertsToStrings(Lenient):
    """Takes numbers for their text."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: str(v) if isinstance(v, int) else v for k, v in payload.items()}


class Refuses(Codec):
    """Base of those that refuse what should be ignored."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return False

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        payload = super().payload(id, data)
        if self.dislikes(payload):
            raise Rejected(BadHandshake("disliked", id))
        return payload


@shelf.breaks("SBP-HSP-11", role="codec")
class RefusesUnknownCaps(Refuses):
    """Knows rpc, and no other capability."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload.get("caps") or []) - {"rpc"})


@shelf.breaks("SBP-HSP-12", role="codec")
class RefusesUnknownMetadata(Refuses):
    """Knows no metadata."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("metadata"))


@shelf.breaks("SBP-EXT-01", role="codec")
class RefusesUnknownMembers(Refuses):
    """Knows five members, and no other."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload) - {"protocol", "version", "peerId", "caps", "metadata"})


@shelf.breaks("SBP-REQ-02", "SBP-HSP-01", role="codec")
class WantsCaps(Refuses):
    """Takes caps for required."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return "caps" not in payload


@shelf.breaks("SBP-INT-02", "SBP-CMP-01", role="codec")
class WantsOuterLength(Codec):
    """Expects the length of a frame before it, as on a byte stream."""

    def decode(self, wire: bytes) -> Frame | NoFrame:
        return super().decode(wire[4:])
