"""Canonical server URIs (section 8): is a text the one spelling of a server's address?

Nothing is ever normalised: a URI is canonical as it stands, or it is refused with a reason (FROG-8-22).
"""

from __future__ import annotations

import ipaddress
import re

import idna

MAX_URI = 200  # bytes (FROG-8-21)
DEFAULT_PORT = {"ws": "80", "wss": "443"}  # FROG-8-12

_SPLIT = re.compile(r"(wss?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # letters, digits, hyphen (AMB-URI-7)
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that makes a reader think of IPv4 (AMB-URI-5)
_SEGMENT = re.compile(
    r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*"
)  # RFC 3986 pchar, upper-case escapes (FROG-8-18)
_ESCAPE = re.compile(r"%([0-9A-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def is_canonical(uri: str) -> bool:
    return why_not(uri) is None


def why_not(uri: str) -> str | None:
    """What keeps this text from being a canonical server URI; None if nothing does."""
    if not uri.isascii():
        return "it is not ASCII"  # FROG-8-20
    if len(uri) > MAX_URI:
        return f"it is longer than {MAX_URI} bytes"
    split = _SPLIT.fullmatch(uri)
    if split is None:
        return "it does not begin with ws:// or wss://"  # FROG-8-01, FROG-8-02
    scheme, authority, path, query, fragment = split.groups()
    if query is not None:
        return "it has a query"  # FROG-8-10
    if fragment is not None:
        return "it has a fragment"  # FROG-8-11
    return _authority_fault(scheme, authority) or _path_fault(path)


def _authority_fault(scheme: str, authority: str) -> str | None:
    if "@" in authority:
        return "it has userinfo"  # FROG-8-09
    if authority.startswith("["):
        literal, closed, rest = authority[1:].partition("]")
        fault = _ipv6_fault(literal) if closed else "its IP literal is not closed"
    else:
        host, colon, port = authority.partition(":")
        rest, fault = colon + port, _host_fault(host)
    if fault is None and rest:
        fault = _port_fault(scheme, rest)
    return fault


def _port_fault(scheme: str, rest: str) -> str | None:
    """What stands behind the host: a colon and a port (FROG-8-12, FROG-8-13)."""
    port = rest[1:]
    if rest[0] != ":" or not _PORT.fullmatch(port) or int(port) > 65_535:
        return f"{rest!r} is no port"
    return "it names its default port" if port == DEFAULT_PORT[scheme] else None


def _ipv6_fault(literal: str) -> str | None:
    """RFC 5952, with the dotted form for IPv4-mapped addresses as its section 5 recommends (FROG-8-08, AMB-URI-4)."""
    try:
        address = ipaddress.IPv6Address(literal)
    except ValueError:
        return "its IPv6 address is none"
    if address.scope_id is not None:
        return "its IPv6 address has a zone"  # AMB-URI-3
    mapped = address.ipv4_mapped
    canonical = f"::ffff:{mapped}" if mapped else address.compressed
    return None if literal == canonical else "its IPv6 address is not in the form of RFC 5952"


def _host_fault(host: str) -> str | None:
    """A DNS name or an IPv4 address."""
    if host.endswith("."):
        return "its host ends with a dot"  # FROG-8-05
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        return _ipv4_fault(host)
    return next((fault for label in labels if (fault := _label_fault(label))), None)


def _ipv4_fault(host: str) -> str | None:
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return "its host looks like an IPv4 address and is none"
    return None


def _label_fault(label: str) -> str | None:
    if not _LABEL.fullmatch(label):
        return f"{label!r} is no lower-case DNS label"  # FROG-8-03
    if label.startswith("xn--"):
        try:
            if idna.alabel(idna.ulabel(label)) != label.encode():
                return f"{label!r} is not the A-label of its name"
        except idna.IDNAError:
            return f"{label!r} is no A-label"  # FROG-8-04, AMB-URI-8
    return None


def _path_fault(path: str) -> str | None:
    if not path.startswith("/"):
        return "it has no path"  # FROG-8-14, FROG-8-15
    for segment in path[1:].split("/"):
        if not _SEGMENT.fullmatch(segment):
            return f"{segment!r} is no path segment"
        if any(chr(int(escape, 16)) in _UNRESERVED for escape in _ESCAPE.findall(segment)):
            return f"{segment!r} escapes what needs no escape"  # FROG-8-19, and every escaped dot-segment (FROG-8-17)
        if segment in (".", ".."):
            return "it has a dot-segment"  # FROG-8-16
    return None
