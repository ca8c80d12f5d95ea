"""Codecs that take a URI whose scheme or authority is not canonical, or refuse one that is."""

from __future__ import annotations

import ipaddress
import re

import idna

from targets.mutants.frog.shelf import in_codec
from targets.reference.frog import Names


class UriNames(Names):
    """Looks at another text than the one it was given: `mended`, and None where it will not have it."""

    def valid(self, kind: str, text: str) -> bool:
        if kind != "uri":
            return super().valid(kind, text)
        mended = self.mended(text)
        return mended is not None and super().valid(kind, mended)

    def mended(self, uri: str) -> str | None:
        return uri


@in_codec("FROG-8-01")
class HttpIsFine(UriNames):
    """Takes the schemes http and https."""

    def mended(self, uri: str) -> str | None:
        return re.sub("^http(s?)://", r"ws\1://", uri)


@in_codec("FROG-8-01")
class RelativeIsFine(UriNames):
    """Takes a URI without a scheme."""

    def mended(self, uri: str) -> str | None:
        return re.sub("^(?:wss:)?//?(?=[^/])", "wss://", uri) if not uri.startswith("ws") else uri


@in_codec("FROG-8-02")
class SchemesInAnyCase(UriNames):
    """Takes a scheme in upper case."""

    def mended(self, uri: str) -> str | None:
        return re.sub("^(?i:wss?)(?=://)", lambda m: m[0].lower(), uri)


@in_codec("FROG-8-03")
class HostsInAnyCase(UriNames):
    """Takes a host in upper case."""

    def mended(self, uri: str) -> str | None:
        return re.sub("(?<=://)[^/[]*", lambda m: m[0].lower(), uri)


@in_codec("FROG-8-04", "FROG-8-20")
class TakesULabels(UriNames):
    """Takes a name with letters beyond ASCII."""

    def mended(self, uri: str) -> str | None:
        def a_label(match: re.Match[str]) -> str:
            try:
                return idna.encode(match[0]).decode()
            except idna.IDNAError:
                return match[0]

        return re.sub(r"(?<=://)[^/:\[]+", a_label, uri) if not uri.isascii() else uri


@in_codec("FROG-8-04")
class RefusesALabels(UriNames):
    """Refuses an internationalised name in the only form that it has."""

    def mended(self, uri: str) -> str | None:
        return None if "xn--" in uri else uri


@in_codec("FROG-8-05")
class HostsMayEndWithADot(UriNames):
    """Takes a name with its last dot."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"(?<=[a-z])\.(?=[:/])", "", uri, count=1)


@in_codec("FROG-8-08")
class Ipv6InAnyForm(UriNames):
    """Takes an IPv6 address as long as it is one."""

    def mended(self, uri: str) -> str | None:
        def compressed(match: re.Match[str]) -> str:
            try:
                return ipaddress.IPv6Address(match[0]).compressed
            except ValueError:
                return match[0]

        return re.sub(r"(?<=\[)[^]]*", compressed, uri)


@in_codec("FROG-8-08")
class Ipv6InUpperCase(UriNames):
    """Takes an IPv6 address in upper case."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"(?<=\[)[^]]*", lambda match: match[0].lower(), uri)


@in_codec("FROG-8-08")
class ShortensOneGroup(UriNames):
    """Takes a double colon for a single group of zeros."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"(?<=\[)[^]]*", lambda m: m[0].replace("::", ":0:") if m[0].count(":") == 7 else m[0], uri)


@in_codec("FROG-8-09")
class SkipsUserinfo(UriNames):
    """Takes a name and a password before the host."""

    def mended(self, uri: str) -> str | None:
        return re.sub("(?<=://)[^/@]+@", "", uri)


@in_codec("FROG-8-09")
class EmptyUserinfoIsNone(UriNames):
    """Takes an @ with nothing before it."""

    def mended(self, uri: str) -> str | None:
        return uri.replace("://@", "://", 1)


@in_codec("FROG-8-10")
class SkipsTheQuery(UriNames):
    """Takes a query."""

    def mended(self, uri: str) -> str | None:
        return re.sub(r"\?[^#]+", "", uri)


@in_codec("FROG-8-10")
class AnEmptyQueryIsNone(UriNames):
    """Takes a question mark at the end."""

    def mended(self, uri: str) -> str | None:
        return uri.removesuffix("?")


@in_codec("FROG-8-11")
class SkipsTheFragment(UriNames):
    """Takes a fragment."""

    def mended(self, uri: str) -> str | None:
        return re.sub("#.+", "", uri)


@in_codec("FROG-8-11")
class AnEmptyFragmentIsNone(UriNames):
    """Takes a hash sign at the end."""

    def mended(self, uri: str) -> str | None:
        return uri.removesuffix("#")


@in_codec("FROG-8-12")
class DefaultPortsMayBeSaid(UriNames):
    """Takes the default port of the scheme."""

    def mended(self, uri: str) -> str | None:
        return re.sub("^(wss://[^/]*):443(?=/)|^(ws://[^/]*):80(?=/)", r"\1\2", uri)


@in_codec("FROG-8-12")
class DefaultsOfEitherScheme(UriNames):
    """Refuses 80 and 443 whatever the scheme."""

    def mended(self, uri: str) -> str | None:
        return None if re.match(r"wss?://[^/]*:(80|443)/", uri) else uri


@in_codec("FROG-8-13")
class PortZero(UriNames):
    """Takes port 0."""

    def mended(self, uri: str) -> str | None:
        return re.sub(":0(?=/)", ":1", uri, count=1)


@in_codec("FROG-8-13")
class PortsOfFiveDigits(UriNames):
    """Takes every port of up to five digits."""

    def mended(self, uri: str) -> str | None:
        return re.sub("(?<=:)[6-9][0-9]{4}(?=/)", "65535", uri, count=1)


@in_codec("FROG-8-13")
class PortsMayBeginWithZero(UriNames):
    """Takes a port with leading zeros."""

    def mended(self, uri: str) -> str | None:
        return re.sub("(?<=:)0+(?=[1-9][0-9]*/)", "", uri, count=1)


@in_codec("FROG-8-13")
class PortsMayBeEmpty(UriNames):
    """Takes a colon without a port."""

    def mended(self, uri: str) -> str | None:
        return re.sub("^(wss?://[^/]*):(?=/)", r"\1", uri)
