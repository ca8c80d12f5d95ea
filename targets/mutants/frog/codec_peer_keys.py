"""Codecs that have another idea of a network or a peer key."""

from __future__ import annotations

import re

from reference_impl.frog.codec import Codec
from reference_impl.frog.grammar import Field
from targets.mutants.frog.shelf import in_codec
from targets.reference.frog import Names

NETWORKS = ("network", "peer_key")
KEYS = ("peer_key", "source", "target")


def with_network(pattern: str, text: str) -> bool:
    """Is it a peer key, but for a network like that?"""
    return re.fullmatch(rf"(?:{pattern}):[0-9A-HJKMNP-TV-Z]{{26}}", text) is not None


@in_codec("FROG-7.1-02")
class NetworksOf17(Names):
    """Takes a network of 17 characters."""

    def valid(self, kind: str, text: str) -> bool:
        if kind == "network" and re.fullmatch("[A-Z0-9_]{17}", text):
            return True
        return super().valid(kind, text) or (kind == "peer_key" and with_network("[A-Z0-9_]{17}", text))


@in_codec("FROG-7.1-02", "FROG-17-02")
class ReadsLongNetworks(Codec):
    """Takes a peer key whose network has up to 32 characters."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name in KEYS and with_network("[A-Z0-9_]{17,32}", text))


@in_codec("FROG-7.1-02", "FROG-17-02")
class ReadsLowerCaseNetworks(Codec):
    """Takes a peer key whose network is in lower case."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name in KEYS and with_network("[A-Za-z0-9_]{1,16}", text))


@in_codec("FROG-7.1-02", "FROG-17-02")
class ReadsHyphensInNetworks(Codec):
    """Takes a hyphen in a network, as in a CID."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name in KEYS and with_network("[A-Z0-9_-]{1,16}", text))


@in_codec("FROG-7.1-02", "FROG-7.5-01", "FROG-17-02")
class ReadsEmptyNetworks(Codec):
    """Takes a peer key without a network."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name in KEYS and with_network("", text))


@in_codec("FROG-7.1-02")
class NetworksInLowerCase(Names):
    """Takes a network in lower case."""

    def valid(self, kind: str, text: str) -> bool:
        network, colon, rest = text.partition(":")
        return super().valid(kind, network.upper() + colon + rest if kind in NETWORKS else text)


@in_codec("FROG-7.1-01")
class NetworksOf15(Names):
    """Refuses a network of 16 characters."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text) and not (kind in NETWORKS and len(text.partition(":")[0]) == 16)


@in_codec("FROG-7.1-01", "FROG-17-02")
class NetworksBeginWithALetter(Codec):
    """Refuses a network that begins with a digit or an underscore."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name in KEYS and not text[0].isalpha())


@in_codec("FROG-7.1-01")
class NetworksOfTwoAtLeast(Names):
    """Refuses a network of one character."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text) and not (kind in NETWORKS and len(text.partition(":")[0]) == 1)


@in_codec("FROG-7.4-01")
class FingerprintsOf25(Names):
    """Takes a fingerprint of 25 characters, which hold 125 bits."""

    def valid(self, kind: str, text: str) -> bool:
        short = kind in ("fingerprint", "peer_key") and len(text.rpartition(":")[2]) == 25
        return super().valid(kind, f"{text}0" if short else text)


@in_codec("FROG-7.4-01", "FROG-17-02")
class FingerprintsByTheirBeginning(Codec):
    """Takes a fingerprint with more characters behind the 26th."""

    def legal(self, field: Field, text: str) -> bool:
        network, _, fingerprint = text.partition(":")
        return super().legal(field, f"{network}:{fingerprint[:26]}" if field.name in KEYS else text)


@in_codec("FROG-7.5-01")
class ColonsDoNotMatter(Names):
    """Takes more than one colon in a peer key."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, re.sub(":+", ":", text) if kind == "peer_key" else text)


@in_codec("FROG-7.5-01", "FROG-17-02")
class NetworksEndAtTheLastColon(Codec):
    """Takes a colon inside of a network."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name in KEYS and with_network("[A-Z0-9_:]{1,16}", text))
