"""Rules that hold for every frame an implementation emits, checked on each one as it arrives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.judging.trial import MOST_OBSERVED, Broken, need

REGISTER_KEYS = ("protocol_version", "type", "token", "name")
CURSORS = {"seq", "cursor", "offset", "resume", "position", "since", "last_id", "last_seen"}
"""What a resume position is usually called; any other unknown member is no peer's business."""
ENVELOPE_KEYS = {"protocol_version", "id", "from", "to", "ts", "source", "kind", "body", "hmac"}
CONTROL = ("register", "ack", "peers", "deliver")
Extra = Mapping[str, set[str]]
"""Where a sender's envelope departed from the nine members, by the envelope's id: those beyond them, and those it left out."""
RELAYED = "the document relays the very bytes it was sent, the original writes the nine fields anew"


def lint(message: str | bytes, sender: str, extra: Extra = MappingProxyType({}), verbatim: bool = False) -> None:
    """Raise Broken for a message that no `sender` ("broker" or "client") may emit; `verbatim` brokers relay what is extra."""
    need(isinstance(message, str), "PB-1-02", "a text message", f"binary {message[:40]!r}")
    assert isinstance(message, str)
    value = _one_object(message)
    kind = value.get("type")
    if sender == "broker":
        need(kind in ("peers", "deliver"), "PB-2-01", "a peers or deliver frame", message)
    elif kind is not None:
        need(kind != "deliver", "PB-2.4-02", "never a deliver from a client", message)
        need(kind in ("register", "ack", "peers"), "PB-2-03", "one of the control types", message)
    if kind is None:
        _envelope(value, message)
    else:
        _control(value, str(kind), sender, message)
    if kind == "deliver":
        _deliver(value, message, extra, verbatim)


def _one_object(message: str) -> dict[str, Any]:
    try:
        value = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise Broken("PB-1-03", "exactly one JSON object", f"{message[:200]!r}: {error}") from None
    need(isinstance(value, dict), "PB-1-03", "a JSON object", message)
    need(message.endswith("}"), "PB-1-04", "no byte behind the object", repr(message[-20:]))
    return dict(value)


def _control(value: dict[str, Any], kind: str, sender: str, message: str) -> None:
    need("protocol_version" in value, "PB-2-02", "protocol_version on every control frame", message)
    need(value["protocol_version"] == "v1", "PB-0-02", 'protocol_version "v1"', message)
    if sender == "client":  # what a broker adds to its own frames is its own affair
        need(not CURSORS & set(value), "PB-5-20", "no resume position", message)
    if kind == "peers" and sender == "broker":
        names = value.get("names")
        sound = isinstance(names, list) and all(isinstance(name, str) for name in names)
        need(sound, "PB-2.3-04", "names as an array of strings", message)
    if kind == "peers" and sender == "client":
        need(not value.get("names"), "PB-2.3-01", "a peers request without names", message)
    if kind == "ack":
        need(isinstance(value.get("id"), str), "PB-2.2-01", "an ack with a string id", message)
    if kind == "register":
        sound = all(isinstance(value.get(key), str) for key in REGISTER_KEYS)
        need(sound, "PB-2.1-03", "protocol_version, type, token and name as strings", message)


def _deliver(value: dict[str, Any], message: str, extra: Extra, verbatim: bool) -> None:
    key, envelope = value.get("delivery_key"), value.get("envelope")
    need(isinstance(key, str) and key != "", "PB-2.4-11", "a delivery_key on every deliver", message)
    need(isinstance(envelope, dict), "PB-2.4-01", "exactly one envelope object", message)
    assert isinstance(envelope, dict)
    need("delivery_key" not in envelope, "PB-2.4-05", "the delivery_key outside the envelope", message)
    departed = extra.get(str(envelope.get("id")), set())
    relayed, omitted = set(envelope) & departed - ENVELOPE_KEYS, departed & ENVELOPE_KEYS - set(envelope)
    if (relayed or omitted) and not verbatim:
        clause = "PB-3-01" if relayed else "PB-3-02"
        observed = f"extra {sorted(relayed)}, missing {sorted(omitted)}: {message}"
        raise Broken(clause, "exactly the nine fields", observed[:MOST_OBSERVED], RELAYED)
    known = {key: envelope[key] for key in envelope if key not in relayed}
    _envelope(known | dict.fromkeys(omitted, ""), message)


def _envelope(value: dict[str, Any], message: str) -> None:
    missing, extra = ENVELOPE_KEYS - set(value), set(value) - ENVELOPE_KEYS
    need(not missing, "PB-3-02", "all nine fields, none left out", f"missing {sorted(missing)}: {message}")
    need(not extra, "PB-3-01", "exactly the nine fields", f"extra {sorted(extra)}: {message}")
    strings = ENVELOPE_KEYS - {"body"}
    need(all(isinstance(value[key], str) for key in strings), "PB-3-01", "strings in all fields but body", message)
