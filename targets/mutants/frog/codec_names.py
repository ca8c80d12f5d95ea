"""Codecs that have another idea of an id: of a server, a route, a challenge or a request."""

from __future__ import annotations

from reference_impl.frog.codec import Codec
from reference_impl.frog.grammar import Field
from targets.mutants.frog.shelf import in_codec
from targets.reference.frog import Names


@in_codec("FROG-7.6-01")
class ServerIdsOfAnyLength(Names):
    """Takes a server id of more than 26 characters, up to a whole hash."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text[:26] if kind == "server_id" and len(text) <= 52 else text)


@in_codec("FROG-7.6-02")
class ServerIdsWithANetwork(Names):
    """Takes a network before a server id."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text) or (kind == "server_id" and super().valid("peer_key", text))


@in_codec("FROG-7.6-02", "FROG-13.2-01")
class ReadsServerIdsWithANetwork(Codec):
    """Takes a network before a server id in any command."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text.rpartition(":")[2] if field.name == "server_id" else text)


@in_codec("FROG-7.6-03")
class ServerIdsWithAMark(Names):
    """Takes an @ before a server id."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.removeprefix("@") if kind == "server_id" else text)


@in_codec("FROG-7.6-03", "FROG-13.2-01")
class MarksCountAsSymbols(Codec):
    """Takes an @ for the first of the 26 characters of a server id."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text.replace("@", "0", 1) if field.name == "server_id" else text)


@in_codec("FROG-7.7-01")
class RouteIdsLikeCids(Names):
    """Takes every CID for a route id."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid("cid" if kind == "route_id" else kind, text)


@in_codec("FROG-7.7-01")
class ReadsShortRouteIds(Codec):
    """Takes a route id of 25 characters."""

    def legal(self, field: Field, text: str) -> bool:
        short = field.name == "route_id" and len(text) == 25
        return super().legal(field, f"{text}0" if short else text)


@in_codec("FROG-7.8-01")
class NoncesOf25(Names):
    """Takes a nonce of 25 characters."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, f"{text}0" if kind == "nonce" and len(text) == 25 else text)


@in_codec("FROG-7.8-01")
class ReadsAnyNonce(Codec):
    """Takes a challenge of whatever length."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name == "nonce" and text.isalnum() and text.isupper())


@in_codec("FROG-7.9-01")
class CidsOf33(Names):
    """Takes a CID of 33 characters."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text[:32] if kind == "cid" and len(text) == 33 else text)


@in_codec("FROG-7.9-01", "FROG-15-07")
class ReadsLowerCaseCids(Codec):
    """Takes a CID in lower case."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text.upper() if field.name == "cid" else text)


@in_codec("FROG-7.9-01")
class CidsOf31(Codec):
    """Refuses a CID of 32 characters, for which its buffer has no room."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "cid" and len(text) == 32)


@in_codec("FROG-7.9-01")
class CidsBeginWithALetter(Codec):
    """Refuses a CID that begins with a hyphen or an underscore."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "cid" and text[0] in "-_" and len(text) > 1)


@in_codec("FROG-7.9-02", "FROG-15-07")
class TheDashIsACid(Names):
    """Takes a single dash for a CID."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text) or (kind == "cid" and text == "-")


@in_codec("FROG-7.9-02", "FROG-15-07")
class ReadsTheDashAsCid(Codec):
    """Takes a request whose CID is a dash."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name == "cid" and text == "-")


@in_codec("FROG-7.10-01")
class FcidsInLowerCase(Names):
    """Takes an FCID in lower case."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.upper() if kind == "fcid" else text)


@in_codec("FROG-7.10-01")
class ReadsLongFcids(Codec):
    """Takes an FCID of up to 64 characters."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text[:32] if field.name == "fcid" and len(text) <= 64 else text)


@in_codec("FROG-7.10-02")
class ReadsTheDashAsFcid(Codec):
    """Takes a sister's request whose FCID is a dash."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name == "fcid" and text == "-")


@in_codec("FROG-7.10-02")
class TheDashIsAnFcid(Names):
    """Takes a single dash for an FCID."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text) or (kind == "fcid" and text == "-")
