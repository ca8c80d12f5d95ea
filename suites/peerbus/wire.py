"""Envelopes made by hand, member by member as JSON text, and signed over whatever bytes a case likes.

Nothing here uses the reference's codec: the canonical form is spelled out once more, from section 4 of the specification.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

from suites.common.names import unique
from suites.peerbus.envelopes import SECRET

CONTESTED = "the original signs `<`, `>`, `&`, U+2028 and U+2029 as escapes, the document as they stand"
HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
SIGNED = ("protocol_version", "id", "from", "to", "ts", "source", "kind", "body")
Members = Mapping[str, str]
"""Member names and their values as JSON text."""


def members(to: str, **changes: str) -> dict[str, str]:
    """The eight signed members of a message from alice; changes are JSON text."""
    values = ("v1", unique("m"), "alice", to, "2026-05-18T12:00:00Z", "peer-bus", "msg")
    texts = dict(zip(SIGNED, map(json.dumps, values), strict=False)) | {"body": '{"n":1}'}
    return texts | {name.rstrip("_"): text for name, text in changes.items()}


def object_text(texts: Members, order: Sequence[str] | None = None) -> str:
    """One compact JSON object, its members in that order."""
    return "{" + ",".join(f'"{name}":{texts[name]}' for name in order or list(texts)) + "}"


def canonical(texts: Members) -> str:
    """Section 4: eight members, fixed order, compact; header strings must be in normal form here."""
    return object_text({"body": "null", **texts}, SIGNED)


def escaped(text: str) -> str:
    """How the code profile signs the five characters on which the profiles differ."""
    return "".join(HTML.get(c, c) for c in text)


def mac(text: str, secret: bytes = SECRET) -> str:
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def signed(texts: Members, over: str | None = None) -> dict[str, str]:
    """The envelope with its MAC, over the canonical form or over other bytes."""
    return {**texts, "hmac": json.dumps(mac(canonical(texts) if over is None else over))}


def delivery(texts: Members, key: str | None = None) -> str:
    """A deliver frame around an envelope; by default under the envelope's id."""
    key_text = texts["id"] if key is None else json.dumps(key)
    return f'{{"protocol_version":"v1","type":"deliver","delivery_key":{key_text},"envelope":{object_text(texts)}}}'


def id_of(texts: Members) -> str:
    return str(json.loads(texts["id"]))
