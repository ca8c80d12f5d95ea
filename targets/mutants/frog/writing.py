"""Writers whose messages are not of the format, or not of the shape that their command has."""

from __future__ import annotations

from typing import Any

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Found, Frame, Peers, SisterServers, Try
from reference_impl.frog.grammar import Form
from reference_impl.frog.identifiers import KEY_SIZE, decode, encode
from targets.mutants.frog.shelf import in_client, in_codec, in_server


@in_codec("FROG-5-23", "FROG-5-05")
class WritesCarriageReturns(Codec):
    """Ends its headers with CR LF."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words[:-1], f"{words[-1]}\r"], payload)


@in_codec("FROG-5-23", "FROG-5-01")
class LeavesTheLineFeedOut(Codec):
    """Writes no line feed behind a header without payload."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(words, payload) if payload else super().framed(words, payload)[:-1]


@in_codec("FROG-5-23", "FROG-5-18")
class WritesAnEmptyLine(Codec):
    """Writes an empty line behind every command without payload."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(words, payload if "SIGNAL" in words[0] else b"\n")


@in_codec("FROG-6-02", "FROG-5-23")
class WritesATrailingSpace(Codec):
    """Writes a space behind each field, the last one too."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words, ""], payload)


@in_codec("FROG-6-02", "FROG-5-23")
class WritesASpaceBehindAnEmptyList(Codec):
    """Joins a list to its count by a space even if there is nothing in it."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        empty = words[0] in ("TRY", "PEERS", "@SERVERS", "@PEERS") and words[-1] == "0"
        return super().framed([*words, ""] if empty else words, payload)


@in_codec("FROG-6-02", "FROG-5-09")
class WritesTwoSpacesBeforeALength(Codec):
    """Writes the length of a payload in columns."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words[:-1], f"{words[-1]:>6}"] if "SIGNAL" in words[0] else words, payload)


@in_codec("FROG-6-04", "FROG-5-15")
class WritesLengthsWithZeros(Codec):
    """Writes the length of a payload in five digits."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words[:-1], words[-1].zfill(5)] if "SIGNAL" in words[0] else words, payload)


@in_codec("FROG-6-01", "FROG-5-23")
class WritesLowerCase(Codec):
    """Writes commands without a field in lower case."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([words[0].lower(), *words[1:]] if words[0] in ("LEAVE", "OK", "@OK") else words, payload)


@in_codec("FROG-5-16", "FROG-5-23")
class CountsCharacters(Codec):
    """Writes the length of a payload in characters, where it is UTF-8."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        length = str(len(payload.decode("utf-8", "surrogateescape")))
        return super().framed([*words[:-1], length] if "SIGNAL" in words[0] else words, payload)


@in_codec("FROG-51-01", "FROG-5-23")
class WritesAMinorVersion(Codec):
    """Says HELLO FROG/1.0."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([f"{word}.0" if word == "FROG/1" else word for word in words], payload)


@in_codec("FROG-13.1-05", "FROG-21-03")
class TryWithoutItsCount(Codec):
    """Leaves the count of an empty TRY out."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(words[:-1] if words[0] == "TRY" and words[-1] == "0" else words, payload)


@in_server("FROG-21-03", "FROG-13.1-05")
class TryCountsOneMore(Codec):
    """Writes one more than there are URIs in a TRY."""

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Any:
        count, *rest = super().listing(form, entries)
        return [str(int(count) + 1) if form.frame is Try else count, *rest]


@in_codec("FROG-22-02", "FROG-13.1-05")
class PeersWithoutTheirCount(Codec):
    """Leaves the count of PEERS out."""

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Any:
        return [text for n, text in enumerate(super().listing(form, entries)) if n or form.frame is not Peers]


@in_codec("FROG-22-02", "FROG-13.1-05")
class PeersAlwaysCountSeven(Codec):
    """Writes 7 for the count of a PEERS that is not empty."""

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Any:
        count, *rest = super().listing(form, entries)
        return ["7" if form.frame is Peers and rest else count, *rest]


@in_codec("FROG-13.2-02")
class ServersCountFields(Codec):
    """Writes the number of fields of @SERVERS, not of pairs."""

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Any:
        count, *rest = super().listing(form, entries)
        return [str(len(rest)) if form.frame is SisterServers else count, *rest]


@in_codec("FROG-23-05", "FROG-13.1-02")
class FoundWithTheRouteFirst(Codec):
    """Writes the route before the key in FOUND."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words[:2], words[3], words[2]] if words[0] == "FOUND" else words, payload)


@in_codec("FROG-16-02", "FROG-13.1-02")
class HelloWithoutItsId(Codec):
    """Leaves the server's id out of HELLO."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(words[:2] if words[0] == "HELLO" else words, payload)


@in_codec("FROG-13.1-02", "FROG-38-01")
class ErrorsWithWords(Codec):
    """Writes a word of explanation behind the code of an error."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words, "sorry"] if words[0] in ("ERR", "@ERR") else words, payload)


@in_codec("FROG-38-01", "FROG-13.1-02")
class ErrorsWithTheCodeFirst(Codec):
    """Writes the code of an error before its id."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([words[0], *words[:0:-1]] if words[0] in ("ERR", "@ERR") else words, payload)


@in_server("FROG-38-05")
class CodesOfItsOwn(Codec):
    """Says NOT_FOUND for a peer or a route that is not there."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        missing = words[0] == "ERR" and words[-1] in ("PEER_NOT_FOUND", "ROUTE_NOT_FOUND")
        return super().framed([*words[:-1], "NOT_FOUND"] if missing else words, payload)


@in_codec("FROG-38-05", "FROG-5-23")
class CodesInLowerCase(Codec):
    """Writes codes in lower case."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words[:-1], words[-1].lower()] if words[0] in ("ERR", "@ERR") else words, payload)


@in_server("FROG-38-04", "FROG-15-04", "FROG-15-07")
class ZeroForNoId(Codec):
    """Writes 0 where an error has no id."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(["ERR", "0", *words[2:]] if words[:2] == ["ERR", "-"] else words, payload)


@in_server("FROG-17-01", "FROG-7.8-01")
class ChallengesAreCut(Codec):
    """Writes 25 characters of a nonce."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(["CHAL", words[1][:25]] if words[0] == "CHAL" else words, payload)


@in_server("FROG-23-05", "FROG-24-10")
class RouteIdsInLowerCase(Codec):
    """Writes a route id in lower case into FOUND, as it keeps it."""

    def encode(self, frame: Frame) -> bytes:
        wire = super().encode(frame)
        return (
            wire.replace(frame.route_id.encode(), frame.route_id.lower().encode()) if isinstance(frame, Found) else wire
        )


@in_client("FROG-5-23", "FROG-13.1-01")
class JoinsWithItsFingerprint(Codec):
    """Leaves the network out of JOIN."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed(["JOIN", words[1].partition(":")[2]] if words[0] == "JOIN" else words, payload)


@in_client("FROG-6-02", "FROG-13.1-01")
class LeavesInAHurry(Codec):
    """Says when it leaves."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return super().framed([*words, "NOW"] if words == ["LEAVE"] else words, payload)


@in_client("FROG-9.1-04", "FROG-5-23")
class SendsSpki(Codec):
    """Sends its key in the structure that certificates have it in."""

    def framed(self, words: list[str], payload: bytes) -> bytes:
        if words[0] != "AUTH":
            return super().framed(words, payload)
        spki = bytes.fromhex("302a300506032b6570032100") + decode(words[1], KEY_SIZE)
        return super().framed(["AUTH", encode(spki), words[2]], payload)
