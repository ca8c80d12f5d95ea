"""What crosses a shim's stdin and stdout, one JSON object per line. `schema.json` is generated from this file."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

PROTOCOL = 1
"""Version of the shim protocol; `hello` states it on both sides."""

MAX_LINE = 4 * 1024 * 1024
"""Bytes; nothing a case asks for is near it, so a longer line is a broken shim, not a large answer."""


class Request(msgspec.Struct, omit_defaults=True, frozen=True, forbid_unknown_fields=True):
    """Harness to shim."""

    id: int
    verb: Literal["hello", "start", "do", "stop"]
    instance: str = ""  # start: the name the harness gives it; do, stop: which one
    role: str = ""  # start: protocol/role, e.g. peerbus/broker
    op: str = ""  # do: the operation
    args: dict[str, Any] = {}  # hello: {"protocol": 1}; start: the configuration; do: the operation's arguments


KINDS = {"result": "object", "refused": "string", "unsupported": "string", "failed": "string"}
"""The four kinds of answer, and the JSON type of each."""


class Answer(msgspec.Struct, omit_defaults=True, frozen=True):
    """Shim to harness, in any order: exactly one of the four is set."""

    id: int
    result: dict[str, Any] | None = None
    refused: str | None = None  # the implementation rejected the input
    unsupported: str | None = None  # the shim or the implementation does not offer it
    failed: str | None = None  # it does, and could not

    def __post_init__(self) -> None:
        if (self.result, self.refused, self.unsupported, self.failed).count(None) != 3:
            raise ValueError(f"an answer has exactly one of {', '.join(KINDS)}")


class Notice(msgspec.Struct, omit_defaults=True, frozen=True):
    """Shim to harness, unasked: something happened at an instance."""

    event: str
    instance: str
    data: dict[str, Any] = {}


class Hello(msgspec.Struct, omit_defaults=True, frozen=True):
    """The result of `hello`: who answers, in which roles, with which capabilities."""

    name: str
    roles: dict[str, list[str]]  # role -> capabilities
    version: str = ""
    language: str = ""
    protocol: int = PROTOCOL


encoder = msgspec.json.Encoder()
_answer = msgspec.json.Decoder(Answer)
_notice = msgspec.json.Decoder(Notice)
_request = msgspec.json.Decoder(Request)


def request_line(request: Request) -> bytes:
    """A request with its line feed; U+2028 and U+2029 escaped, at which some readers of lines would end one."""
    line = encoder.encode(request)
    if b"\xe2\x80" in line:
        line = line.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return line + b"\n"


def decode_request(line: bytes) -> Request:
    return _request.decode(line)


def decode_reply(line: bytes) -> Answer | Notice:
    """An answer carries an id, a notice an event. Nesting that no reader follows is no message."""
    try:
        try:
            return _answer.decode(line)
        except msgspec.ValidationError:
            return _notice.decode(line)
    except RecursionError:  # which is no error of msgspec's
        raise msgspec.DecodeError("nested too deep") from None
    except UnicodeDecodeError:  # nor is that
        raise msgspec.DecodeError("it is not UTF-8") from None


def json_schema() -> dict[str, Any]:
    """Request, Answer and Notice as one JSON Schema document."""
    _, components = msgspec.json.schema_components([Request, Answer, Notice, Hello], ref_template="#/$defs/{name}")
    components["Answer"]["oneOf"] = [
        {"required": [kind], "properties": {kind: {"type": type}}} for kind, type in KINDS.items()
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Touchstone shim protocol {PROTOCOL}",
        "$defs": components,
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in ("Request", "Answer", "Notice")],
    }
