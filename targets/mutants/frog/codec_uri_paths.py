"""Codecs that take a URI whose path is not canonical, or refuse one that is."""

from __future__ import annotations

import re
from urllib.parse import unquote

from targets.mutants.frog.codec_uri_hosts import UriNames
from targets.mutants.frog.shelf import in_codec

UNRESERVED = re.compile("%(4[1-9A-F]|5[0-9A]|6[1-9A-F]|7[0-9AE]|3[0-9]|2D|5F)")


@in_codec("FROG-8-14")
class PathsMayBeMissing(UriNames):
    """Takes a URI without a path."""

    def mended(self, uri: str) -> str | None:
        return f"{uri}/" if re.fullmatch("wss?://[^/?#]+", uri) else uri


@in_codec("FROG-8-15")
class OnlyTheDefaultPath(UriNames):
    """Refuses every path but the default one."""

    def mended(self, uri: str) -> str | None:
        return uri if uri.count("/") == 3 and uri.endswith("/") else None


@in_codec("FROG-8-15")
class PathsInLowerCase(UriNames):
    """Refuses an upper-case letter in a path."""

    def mended(self, uri: str) -> str | None:
        return None if re.search("[A-Z]", re.sub("%[0-9A-F]{2}", "", uri)) else uri


@in_codec("FROG-8-16")
class TakesDotSegments(UriNames):
    """Takes . and .. as segments of a path."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"(?<=/)\.\.?(?=/|$)", "x", uri)


@in_codec("FROG-8-16")
class RefusesADotInFront(UriNames):
    """Refuses every segment that begins with a dot."""

    def mended(self, uri: str) -> str | None:
        return None if "/." in uri else uri


@in_codec("FROG-8-17")
class TakesEscapedDotSegments(UriNames):
    """Takes dot-segments that are escaped, if only in part."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"(?<=/)(?:\.|%2E){1,2}(?=/|$)", "x", uri) if "%2E" in uri else uri


@in_codec("FROG-8-18")
class EscapesInLowerCase(UriNames):
    """Takes an escape in lower case."""

    def mended(self, uri: str) -> str | None:
        return re.sub("%[0-9A-Fa-f]{2}", lambda match: match[0].upper(), uri)


@in_codec("FROG-8-18")
class RefusesEscapes(UriNames):
    """Refuses every escape."""

    def mended(self, uri: str) -> str | None:
        return None if "%" in uri else uri


@in_codec("FROG-8-19")
class NeedlessEscapes(UriNames):
    """Takes an escaped letter or digit."""

    def mended(self, uri: str) -> str | None:
        return UNRESERVED.sub(lambda match: unquote(match[0]), uri)


@in_codec("FROG-8-19")
class EscapedTildes(UriNames):
    """Takes an escaped tilde, as some libraries write it."""

    def mended(self, uri: str) -> str | None:
        return uri.replace("%7E", "~")


@in_codec("FROG-8-20")
class PathsBeyondAscii(UriNames):
    """Takes letters beyond ASCII in a path."""

    def mended(self, uri: str) -> str | None:
        scheme, _, rest = uri.partition("://")
        host, _, path = rest.partition("/")
        return f"{scheme}://{host}/{re.sub('[^ -~]', 'x', path)}" if "/" in rest else uri


@in_codec("FROG-8-21")
class UrisOf201(UriNames):
    """Takes a URI of 201 bytes."""

    def mended(self, uri: str) -> str | None:
        return uri[:-2] + uri[-1] if len(uri) == 201 else uri


@in_codec("FROG-8-21")
class UrisOf199(UriNames):
    """Refuses a URI of 200 bytes."""

    def mended(self, uri: str) -> str | None:
        return uri if len(uri) < 200 else None


@in_codec("FROG-8-21")
class LengthOfThePath(UriNames):
    """Counts 200 bytes from the path on."""

    def mended(self, uri: str) -> str | None:
        path = re.sub("^wss?://[^/]*", "", uri)
        return re.sub("^(wss?://[^/]*/).*", r"\1", uri) if len(uri) > 200 >= len(path) else uri
