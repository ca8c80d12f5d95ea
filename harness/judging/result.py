"""The result schema, version 1: what a run writes and every report reads.

A run is one NDJSON stream, `runs/<run_id>/events.ndjson`: one `Header`, one `CaseResult` per judged case, one `Footer`.
A stream without a footer is a partial run and still readable. Subscribers, Spark and `replay` know this file and nothing else
of the harness. Fields are only ever added, with defaults; a change of meaning raises `SCHEMA`.
"""

from __future__ import annotations

import datetime
import enum
import json
from typing import Any

import msgspec

SCHEMA = 1


class Verdict(enum.StrEnum):
    """What a case says about a target."""

    PASS = "pass"
    FAIL = "fail"  # a MUST is broken
    WARN = "warn"  # a SHOULD is not followed, or a contested clause is read differently
    INFO = "info"  # unspecified behaviour, recorded
    UNSUPPORTED = "unsupported"  # the target does not offer what the case needs
    ERROR = "error"  # the harness's own fault, never blamed on the target
    TIMEOUT = "timeout"  # the target went silent where it owed something to the harness
    CRASHED = "crashed"  # the target died


#: Verdicts that make a run non-conformant, unless a known-failure list expects them.
BAD = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT, Verdict.CRASHED})


TRIES = "tries"
"""The measure of a race: how often it is tried again before it counts as not seen."""


class Expected(enum.StrEnum):
    """What the target's manifest said about this case beforehand."""

    PASS = "pass"  # nothing: the case is expected to pass
    KNOWN_FAILING = "known-failing"
    KNOWN_FLAKY = "known-flaky"


class TimelineEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened between the harness and a target, as both sides saw it."""

    t: float  # seconds since the case began
    sender: str
    receiver: str
    kind: str  # frame, event, request, answer, note
    text: str  # decoded, for people; at most a few hundred characters
    raw: str = ""  # hex of the first bytes on the wire, where there are any
    size: int = 0  # bytes on the wire


class TargetInfo(msgspec.Struct, frozen=True):
    """Identity (which implementation) beside reach (how we got to it)."""

    name: str
    version: str = ""
    language: str = ""
    homepage: str = ""
    reach: str = ""  # in-process, process, server, docker, remote


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a case did not pass: the clause, what was allowed, what came."""

    message: str
    clause: str = ""
    reading: str = ""
    expected: str = ""
    observed: str = ""


class Header(msgspec.Struct, frozen=True, tag="header", tag_field="type"):
    run_id: str
    started_at: str  # RFC 3339, UTC
    kind: str  # check, mutants, machines and tours (mutants against these alone), generated, matrix
    seed: int
    targets: list[TargetInfo]
    protocols: list[str]
    planned: int = 0  # cases at least: a group of vectors counts as one; 0 where it was not known beforehand
    command: str = ""
    harness_version: str = ""
    commit: str = ""
    python: str = ""
    platform: str = ""
    schema: int = SCHEMA


class CaseResult(msgspec.Struct, frozen=True, tag="case", tag_field="type"):
    """One judged case. In an interop pair `target` is the client side and `peer` the server side."""

    run_id: str
    case: str  # protocol/role/group/case[axis=value]
    protocol: str
    role: str
    group: str
    verdict: Verdict
    target: str
    requirements: list[str]
    axes: dict[str, str] = {}
    reach: str = ""
    target_version: str = ""
    peer: str = ""  # the other implementation of a pair, empty for a check against the harness
    peer_version: str = ""
    scenario: str = ""
    fault_profile: str = ""
    repetition: int = 0
    expected: Expected = Expected.PASS
    failure: Failure | None = None
    note: str = ""  # why it is contested, unsupported, informational, known to fail
    timeline: list[TimelineEntry] = []
    measures: dict[str, float] = {}  # e.g. latency_ms
    seed: int = 0
    example: str = ""  # the shrunk example of a property or state machine
    started_at: str = ""
    duration_s: float = 0.0
    worker: str = ""
    replay: str = ""
    culprit: str = (
        ""  # of a pair: client, server, both, pair, reference or unknown, by putting the reference on either side
    )
    reading_along: str = ""  # the other opinion: who said the first illegal frame, and which clause it breaks
    schema: int = SCHEMA

    @property
    def surprising(self) -> bool:
        """Does this result make the run fail, the manifest's expectations considered?"""
        if self.expected is Expected.KNOWN_FLAKY:
            return self.verdict is Verdict.ERROR
        if self.expected is Expected.KNOWN_FAILING:
            return self.verdict is Verdict.ERROR or self.verdict not in BAD
        return self.verdict in BAD


class Footer(msgspec.Struct, frozen=True, tag="footer", tag_field="type"):
    run_id: str
    finished_at: str
    duration_s: float
    counts: dict[str, int]
    exit_code: int
    stale: list[str] = []  # expectation patterns that matched nothing
    unseen: list[str] = []  # reasons of known races that showed in none of their cases
    interrupted: bool = False  # somebody ended the run: it is not all
    measures: dict[str, float] = {}  # of the run as a whole, e.g. how many mutants there were and how many were killed
    schema: int = SCHEMA


Event = Header | CaseResult | Footer

_encoder = msgspec.json.Encoder(enc_hook=str)  # a subclass of str, as evidence sometimes is, is a text too
_decoder = msgspec.json.Decoder(Event)


def now() -> str:
    """This moment, as the schema writes one."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def encode(event: Event) -> bytes:
    """One line of the stream, without its line feed; what UTF-8 cannot carry is written as an escape."""
    try:
        return shown(_encoder.encode(event))
    except UnicodeEncodeError:
        return shown(_encoder.encode(msgspec.convert(_spelled(msgspec.to_builtins(event)), type(event))))


def shown(text: bytes) -> bytes:
    """The same JSON for who looks at it in a terminal: what that would obey, or what would turn the line around, is an escape."""
    if text.isascii():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text.decode()).encode()


def _spelled(value: Any) -> Any:
    """The same value, lone surrogates in its strings spelled out."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_spelled(item) for item in value]
    if isinstance(value, dict):
        return {_spelled(key): _spelled(item) for key, item in value.items()}
    return value


def decode(line: bytes | str) -> Event:
    """The event on one line; raises msgspec.MsgspecError when it is none of this schema."""
    try:
        event: Event = _decoder.decode(line)
    except RecursionError:  # which is no error of msgspec's
        raise msgspec.DecodeError("nested too deep") from None
    except UnicodeDecodeError:  # nor is that
        raise msgspec.DecodeError("it is not UTF-8") from None
    return event


def json_schema() -> dict[str, Any]:
    """The schema as JSON Schema, for readers in other languages."""
    return msgspec.json.schema(Event)
