"""Readers that get a counted list or the URIs in it wrong."""

from __future__ import annotations

from typing import Any

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Peers, SisterHello, SisterPeers, SisterServers, Try
from reference_impl.frog.grammar import Field, Form
from reference_impl.frog.uri import why_not
from targets.mutants.frog.shelf import in_client, in_codec


def recounted(rest: list[str], width: int = 1) -> list[str]:
    """With the count that the entries have."""
    return [str(len(rest[1:]) // width), *rest[1:]] if rest else rest


@in_codec("FROG-13.1-05")
class TryCountIsNotCompared(Codec):
    """Takes as many URIs of a TRY as there are, whatever its count."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        return super().counted(form, texts, recounted(rest) if form.frame is Try else rest)


@in_codec("FROG-13.1-05")
class PeersCountIsNotCompared(Codec):
    """Takes as many keys of PEERS as there are, whatever its count."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        return super().counted(form, texts, recounted(rest) if form.frame is Peers else rest)


@in_codec("FROG-13.1-05", "FROG-5-11")
class ReadsAsManyAsCounted(Codec):
    """Reads as many entries as the count says, and ignores the others."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        most = 1 + int(rest[0]) * len(form.listed) if rest[:1] and rest[0].isdigit() and len(rest[0]) == 1 else None
        return super().counted(form, texts, rest[:most])


def beyond_seven(codec: Codec, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...] | None:
    """The entries of a list of eight or nine; None where it is none."""
    width = len(form.listed)
    if rest[:1] not in (["8"], ["9"]) or len(rest) != 1 + int(rest[0]) * width:
        return None
    entries = rest[1:]
    if not all(codec.legal(form.listed[n % width], text) for n, text in enumerate(entries)):
        return None
    return tuple(entries) if width == 1 else tuple(zip(*[iter(entries)] * width, strict=True))


@in_codec("FROG-13.1-06")
class TryOfEight(Codec):
    """Takes a TRY with more than seven URIs."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        more = beyond_seven(self, form, texts, rest) if form.frame is Try else None
        return self.tried(list(more)) if more else super().counted(form, texts, rest)


@in_codec("FROG-13.1-07")
class PeersOfEight(Codec):
    """Takes the first seven keys of PEERS with more of them."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        more = beyond_seven(self, form, texts, rest) if form.frame is Peers else None
        return more[:7] if more else super().counted(form, texts, rest)


@in_codec("FROG-13.1-06", "FROG-13.1-02")
class TryOfNone(Codec):
    """Refuses a TRY without URIs."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        if form.frame is Try and rest == ["0"]:
            raise self.misfit(form, texts, "no URI")
        return super().counted(form, texts, rest)


@in_codec("FROG-13.1-07", "FROG-13.1-02")
class PeersOfSeven(Codec):
    """Refuses PEERS with seven keys."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        if form.frame is Peers and rest[:1] == ["7"]:
            raise self.misfit(form, texts, "too many keys")
        return super().counted(form, texts, rest)


@in_codec("FROG-13.2-02")
class CountsFieldsOfServers(Codec):
    """Takes the count of @SERVERS for the number of fields, two for each server."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        fields = form.frame is SisterServers and rest[:1] == [str(len(rest) - 1)]
        return super().counted(form, texts, recounted(rest, 2) if fields else rest)


@in_codec("FROG-13.2-02")
class HalfAPairIsIgnored(Codec):
    """Ignores an id without URI at the end of @SERVERS."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        half = form.frame is SisterServers and len(rest) % 2 == 0
        return super().counted(form, texts, recounted(rest[:-1], 2) if half else rest)


@in_codec("FROG-13.2-03")
class ServersOfEight(Codec):
    """Takes @SERVERS with more than seven pairs."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        more = beyond_seven(self, form, texts, rest) if form.frame is SisterServers else None
        return more or super().counted(form, texts, rest)


@in_codec("FROG-13.2-04")
class SisterPeersCountIsNotCompared(Codec):
    """Takes as many keys of @PEERS as there are, whatever its count."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        return super().counted(form, texts, recounted(rest) if form.frame is SisterPeers else rest)


@in_codec("FROG-13.2-05")
class SisterPeersOfEight(Codec):
    """Takes @PEERS with more than seven keys."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        more = beyond_seven(self, form, texts, rest) if form.frame is SisterPeers else None
        return more or super().counted(form, texts, rest)


@in_codec("FROG-13.2-01", "FROG-34-01")
class TtlOfEight(Codec):
    """Takes @FIND and @LOOKUP with a TTL of 8."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) or (field.name == "ttl" and text == "8")


@in_codec("FROG-34-01")
class TtlOfOneByte(Codec):
    """Takes a TTL up to 255."""

    def legal(self, field: Field, text: str) -> bool:
        byte = field.name == "ttl" and text.isdigit() and len(text) < 4 and int(text) < 256 and text == str(int(text))
        return byte or super().legal(field, text)


@in_codec("FROG-13.2-01")
class TtlIsNeverZero(Codec):
    """Refuses a TTL of 0."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "ttl" and text == "0")


@in_codec("FROG-13.2-01", "FROG-46-02")
class KnowsNoSisterFound(Codec):
    """Wants an origin in @FOUND, as in @PEERS."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.words == ("@FOUND",):
            raise self.misfit(form, texts, "no origin")
        return super().fill(form, texts, payload)


@in_codec("FROG-8-25")
class KeepsEveryUri(Codec):
    """Keeps the URIs of a TRY that are not canonical."""

    def tried(self, uris: list[str]) -> tuple[str, ...]:
        return tuple(uris)


@in_codec("FROG-8-25")
class OneBadUriSpoilsAll(Codec):
    """Ignores every URI of a TRY if one is not canonical."""

    def tried(self, uris: list[str]) -> tuple[str, ...]:
        return () if any(why_not(uri) for uri in uris) else tuple(uris)


@in_client("FROG-8-25")
class MendsUris(Codec):
    """Makes the URIs of a TRY canonical, as far as it can, before it looks at them."""

    def tried(self, uris: list[str]) -> tuple[str, ...]:
        mended = [uri.lower() if uri.count("/") > 2 else f"{uri.lower()}/" for uri in uris]
        return super().tried(mended)


@in_client("FROG-8-25")
class ReadsUrisUpToTheFirstBadOne(Codec):
    """Ignores the URIs behind one that is not canonical."""

    def tried(self, uris: list[str]) -> tuple[str, ...]:
        bad = next((n for n, uri in enumerate(uris) if why_not(uri)), len(uris))
        return tuple(uris[:bad])


@in_codec("FROG-8-24")
class SistersUriIsNotLookedAt(Codec):
    """Takes any URI in @HELLO."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.frame is SisterHello and len(texts) == 2 and not payload and self.legal(form.fields[0], texts[0]):
            return SisterHello(*texts)
        return super().fill(form, texts, payload)


@in_codec("FROG-8-26")
class LeavesBadUrisOutOfServers(Codec):
    """Takes the pairs of @SERVERS whose URI is canonical, as if it were a TRY."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        if form.frame is not SisterServers or rest[:1] != [str(len(rest) // 2)] or len(rest) % 2 == 0:
            return super().counted(form, texts, rest)
        pairs = zip(rest[1::2], rest[2::2], strict=True)
        good = [text for pair in pairs if not why_not(pair[1]) for text in pair]
        return super().counted(form, texts, [str(len(good) // 2), *good])
