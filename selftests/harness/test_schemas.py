"""The JSON Schemas say what is really written and heard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import harness.shim
from harness.judging import result as results
from harness.judging.result import Event, encode
from harness.shim import schema
from harness.shim.messages import Request, decode_reply, decode_request, encoder, request_line

SHIM = """
import asyncio
from harness.errors import TargetRefused
from harness.shim import Hello, Shim, serve_stdio


class Example(Shim):
    async def hello(self):
        return Hello("example", {"peerbus/broker": ["restart"]}, "1.0", "python")

    async def start(self, instance, role, config, emit):
        print("a log line on stdout")
        emit("message", {"body": "x"})
        return {"address": "ws://127.0.0.1:1"}

    async def do(self, instance, op, args):
        if op == "refuse":
            raise TargetRefused("lone surrogate \\ud800")
        return {"what": {object(): 1}} if op == "unwritable" else {"body": "x"}


asyncio.run(serve_stdio(Example()))
"""

REQUESTS = [
    Request(1, "hello", args={"protocol": 1}),
    Request(2, "start", instance="i1", role="peerbus/broker", args={"tokens": ["a"]}),
    Request(3, "do", instance="i1", op="echo", args={"body": "x"}),
    Request(4, "do", instance="i1", op="refuse"),
    Request(5, "do", instance="i1", op="unwritable"),
    Request(6, "stop", instance="i1"),
]


@pytest.fixture(scope="module")
def conversation() -> list[bytes]:
    """What a shim made with `serve_stdio` really says to those requests."""
    asked = b"".join(encoder.encode(request) + b"\n" for request in REQUESTS)
    run = subprocess.run([sys.executable, "-c", SHIM], input=asked, capture_output=True, timeout=60, check=True)
    assert b"a log line on stdout" in run.stderr
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def shim_schema() -> Draft202012Validator:
    path = Path(harness.shim.__file__).parent / "schema.json"
    document = json.loads(path.read_text())
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def test_the_shim_schema_in_the_repository_is_current() -> None:
    """`python -m harness.shim.schema > harness/shim/schema.json` makes it so."""
    path = Path(harness.shim.__file__).parent / "schema.json"
    assert path.read_text() == schema.text()


def test_requests_are_of_the_schema(shim_schema: Draft202012Validator) -> None:
    """Every verb that the harness says."""
    for request in REQUESTS:
        shim_schema.validate(json.loads(encoder.encode(request)))


def test_answers_and_events_are_of_the_schema(shim_schema: Draft202012Validator, conversation: list[bytes]) -> None:
    """Each request is answered once, in its way; what cannot be written is a failed answer, not silence."""
    said = [json.loads(line) for line in conversation]
    for message in said:
        shim_schema.validate(message)
    kinds = {message["id"]: (set(message) - {"id"}).pop() for message in said if "id" in message}
    assert kinds == {1: "result", 2: "result", 3: "result", 4: "refused", 5: "failed", 6: "unsupported"}
    assert [message["event"] for message in said if "event" in message] == ["message"]


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1},
        {"id": 1, "result": {}, "failed": "x"},
        {"id": "1", "result": {}},
        {"id": 1, "result": []},
        {"id": 1, "refused": None},
        {"event": "x"},
        {"instance": "i1"},
        [],
        "hello",
    ],
    ids=str,
)
def test_harness_and_schema_reject_the_same_messages(message: Any, shim_schema: Draft202012Validator) -> None:
    """An author who validates against the schema meets no surprise."""
    assert not shim_schema.is_valid(message)
    with pytest.raises(ValueError, match=r"Expected|missing|exactly one"):
        decode_reply(json.dumps(message).encode())


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "result": {}},
        {"id": 1, "result": {}, "refused": None, "unsupported": None, "failed": None},
        {"id": 1, "unsupported": "", "comment": "fields may be added"},
        {"event": "x", "instance": "i1"},
    ],
    ids=str,
)
def test_harness_and_schema_accept_the_same_messages(message: Any, shim_schema: Draft202012Validator) -> None:
    """Languages that write every field may."""
    assert shim_schema.is_valid(message)
    decode_reply(json.dumps(message).encode())


@pytest.fixture(scope="module")
def result_schema() -> Draft202012Validator:
    document = results.json_schema()
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def test_every_line_of_a_stream_is_of_the_result_schema(
    events: list[Event], result_schema: Draft202012Validator
) -> None:
    """Header, cases of every verdict, footer."""
    for event in events:
        result_schema.validate(json.loads(encode(event)))


@pytest.mark.parametrize(("field", "value"), [("verdict", "great"), ("case", 1), ("type", "weather"), ("axes", [])])
def test_the_result_schema_has_teeth(
    events: list[Event], result_schema: Draft202012Validator, field: str, value: Any
) -> None:
    """A line that the decoder would not take is not of the schema either."""
    line = json.loads(encode(events[1])) | {field: value}
    assert not result_schema.is_valid(line)
    with pytest.raises(ValueError, match=r"Invalid|Expected"):
        results.decode(json.dumps(line))


def test_a_request_is_one_line_to_every_reader() -> None:
    """Some end a line at U+2028 or U+2029, which JSON allows in strings; the value stays the same."""
    asked = Request(1, "do", instance="i", op="echo", args={"body": "a\u2028b\u2029c\u2027\u202a"})
    line = request_line(asked)
    assert len(line.decode().splitlines()) == 1
    assert decode_request(line) == asked
