"""How addresses of servers are written: templates with a hole for each port, and what a person gives in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

ONLY = ""
"""The name of a server's port where it has but one."""

TCP = "tcp"
"""The scheme that a plain TCP address may have or leave out."""

SECURED = {"wss": "ws"}
DEFAULT_PORTS = {"ws": 80, "wss": 443}

ADDRESS = r"(?:\w[\w+.-]*://[^\s,]+|[\w.-]+:\d+|\[[\da-fA-F:.]+\]:\d+)"


def hole(port: str) -> str:
    """What stands for a port's number in a template: {port} for the only one, {push_port} for the one named push."""
    return f"{port}_port" if port else "port"


def holes_of(template: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", template)


def filled(template: str, holes: Mapping[str, str]) -> str:
    """The template with each {hole} replaced; other braces stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda m: holes.get(m[1], m[0]), template)


def by_port(address: str | Mapping[str, str]) -> dict[str, str]:
    """An address, or one for each of several ports, by the port's name."""
    return {ONLY: address} if isinstance(address, str) else dict(address)


def written(text: str) -> dict[str, str] | None:
    """`ws://host:80/path`, `host:80`, or several by name, `push=host:81,receive=host:82`; None for what is no address."""
    if re.fullmatch(ADDRESS, text):
        return {ONLY: text}
    parts = [part.partition("=") for part in text.split(",")]
    named = {port: address for port, _, address in parts if port.isidentifier() and re.fullmatch(ADDRESS, address)}
    return named if len(named) == len(parts) else None


def endpoint(address: str) -> tuple[str, int]:
    """The host and port that an address means; raises ValueError where it has none."""
    wrong = ValueError(f"{address} is no host and port")
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:  # a port beyond 65535, half a bracket
        raise wrong from None
    if not parts.hostname or not port:
        raise wrong
    return parts.hostname, port


def fitted(template: str, port: str, written: str) -> str | None:
    """What a person wrote, as the protocol's template has it; None where that is another kind of address."""
    host, number = endpoint(written)
    if "://" in written:
        return under(template, written)
    return filled(template, {"host": f"[{host}]" if ":" in host else host, hole(port): str(number)})


def under(template: str, address: str) -> str | None:
    """An address with the scheme of the template, which it may leave out; None where it has another one."""
    wanted, said = scheme(template), scheme(address)
    if said and SECURED.get(said, said) != (wanted or TCP):
        return None
    rest = address.removeprefix(f"{said}://")
    kept = said if said in SECURED else wanted
    return f"{kept}://{rest}" if kept else rest


def scheme(address: str) -> str:
    """What stands before `://`, if anything does."""
    return address.partition("://")[0] if "://" in address else ""
