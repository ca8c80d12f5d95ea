"""Peers that announce the wrong thing, or another each time."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Handshake
from reference_impl.sbp.peer import PeerMachine, State
from targets.mutants.sbp.codec_handshake import Payload
from targets.mutants.sbp.shelf import shelf


@shelf.breaks("SBP-HSP-04", role="peer")
class NewIdForEachConnection(PeerMachine):
    """Forgets who it is."""

    numbers = itertools.count(1)

    def greeting(self, state: State) -> Handshake:
        return replace(super().greeting(state), peer_id=f"{self.config.peer_id}-{next(self.numbers)}")


@shelf.breaks("SBP-HSP-04", role="peer")
class ForgetsTheIdItChose(PeerMachine):
    """Chooses another id for each connection, unless it was told one."""

    numbers = itertools.count(1)

    def greeting(self, state: State) -> Handshake:
        known = self.config.peer_id.startswith("peer-under")
        return super().greeting(state) if known else replace(super().greeting(state), peer_id=f"p{next(self.numbers)}")


@shelf.breaks("SBP-HSP-04", role="peer")
class EverybodyIsPeer(PeerMachine):
    """Announces the same id whoever it is."""

    def greeting(self, state: State) -> Handshake:
        known = self.config.peer_id.startswith("peer-under")
        return super().greeting(state) if known else replace(super().greeting(state), peer_id="peer")


@shelf.breaks("SBP-HSP-01", role="peer")
class AnnouncesAnotherProtocol(Payload):
    """Greets under another name."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"protocol": "sbp"}


@shelf.breaks("SBP-HSP-02", role="peer")
class AnnouncesNumericVersion(Payload):
    """Greets with version 1 without quotes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"version": 1}


@shelf.breaks("SBP-HSP-05", role="peer")
class AnnouncesCapsAsText(Payload):
    """Greets with caps joined by commas."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"caps": "a,b"}


@shelf.breaks("SBP-HSP-06", role="peer")
class AnnouncesMetadataAsPairs(Payload):
    """Greets with metadata as an array."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": [["vendor:x", "1"]]}


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesBareKey(Payload):
    """Greets with metadata outside any namespace."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {"hostname": "x"}}


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesAnyKey(Codec):
    """Greets with metadata as it was told, whatever its keys are."""

    def encode_metadata(self, metadata: str) -> Any:
        return json.loads(metadata)


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesAnEmptyNamespace(Payload):
    """Greets with metadata whose key has a second colon, and nothing before its first."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {":host:name": "x"}}


@shelf.breaks("SBP-LIM-04", role="peer")
class GreetsAtLength(Payload):
    """Greets with ten kilobytes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {"vendor:x": "x" * 10_000}}


@shelf.breaks("SBP-EXT-04", "SBP-HS-01", role="peer")
class GreetsInCbor(Codec):
    """Writes its Handshake in CBOR without having said so."""

    def encode_handshake(self, frame: Handshake) -> bytes:
        return b"\xa1\x66peerId\x61x"
