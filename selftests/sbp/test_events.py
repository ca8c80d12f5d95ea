"""What the suites read: events in any spelling of the contract, Handshakes in any spelling of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.errors import ShimBroken
from harness.judging.trial import Broken
from suites.sbp import wire
from suites.sbp.codec.under_test import same_frame
from suites.sbp.lint import lint
from suites.sbp.peer.events import read_event


@pytest.mark.parametrize("data", [{}, {"data": None, "ts": None}, {"data": "", "more": 1}])
def test_null_is_absent(data: dict[str, Any]) -> None:
    assert read_event("message", {"subject": "app/x", **data}) == (
        "message",
        {"subject": "app/x", "data": b"", "ts": None},
    )
    assert read_event("closed", {"reason": None}) == ("closed", {"reason": ""})


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("message", {"subject": 5}),
        ("message", {"subject": "x", "data": "xyz"}),
        ("message", {"subject": "x", "data": [1]}),
        ("message", {"subject": "x", "ts": 1.5}),
        ("message", {"subject": "x", "ts": "soon"}),
        ("error", {"code": "1000"}),
        ("error", {"code": True}),
        ("acked", {"id": 7}),
        ("closed", {"reason": 1}),
    ],
)
def test_another_type_is_the_shims_fault(event: str, data: dict[str, Any]) -> None:
    with pytest.raises(ShimBroken, match=event):
        read_event(event, data)


def test_an_event_that_we_do_not_know_stays_as_it_is() -> None:
    assert read_event("weather", {"rain": True}) == ("weather", {"rain": True})


@pytest.mark.parametrize("ts", [None, 0x7B, 1_700_000_000_123])
def test_a_handshakes_json_has_many_spellings(ts: int | None) -> None:
    """A timestamp with the byte of a brace in it is still none of the JSON."""
    members = {"protocol": "sideband", "version": "1", "peerId": "p"}
    one = wire.control(0, json.dumps(members).encode(), wire.A, ts)
    other = wire.control(0, json.dumps(dict(reversed(members.items())), indent=2).encode(), wire.A, ts)
    assert same_frame(one, other)
    assert not same_frame(one, other.replace(b'"p"', b'"q"'))
    assert not same_frame(one, b"\x00\x01" + other[2:] if ts is None else other[:18] + bytes(8) + other[26:])


@pytest.mark.parametrize("key", ["bare", "", ":name", ":a:b"])
def test_a_key_without_a_namespace_is_found(key: str) -> None:
    with pytest.raises(Broken, match="namespace"):
        list(lint(wire.handshake(metadata={"vendor:x": "1", key: "2"})))
