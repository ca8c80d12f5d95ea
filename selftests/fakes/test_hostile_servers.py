"""A check against a hostile server, from outside: one sentence that names the bound that was met, bounded time and memory.

Here one case against the worst of them; `python -m selftests.fakes` is the whole shelf with its table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from selftests.fakes.__main__ import FIRST, MOST_MB, seen, shelf

SHELF = {fake.name: fake for fake in shelf()}
WORDS = {
    "announces_a_tebibyte": "it floods: a message of more than 4194304 bytes",
    "answers_at_length": "it floods: a message of more than 4194304 bytes",
    "floods_pings": "it floods: it does not read: more than 1048576 bytes wait for it",
    "drips_its_header": "no answer within",
    "redirects_to_a_file": "no WebSocket connection",
    "closes_stdin": "it closed its stdin",
    "answers_at_the_limit": "it travels as true or false",
    "answers_in_crumbs": "it floods: a message of so many values that they may take more than 33554432 bytes",
    "delivers_crumbs": "expected",
}


def test_the_shelf_has_every_kind() -> None:
    assert len(SHELF) >= 54
    assert set(WORDS) < set(SHELF)


@pytest.mark.parametrize("name", WORDS)
def test_a_hostile_target_costs_little_and_is_told_what_it_did(name: str, tmp_path: Path) -> None:
    """Verdicts blame the target (exit 1), never us, and the run stays under 300 MB."""
    fake = SHELF[name]
    found = seen(replace(fake, role=FIRST[fake.role]), tmp_path, "--patience", "1")
    assert found.exit == 1, found.row()
    assert "error" not in found.tally
    assert WORDS[name] in found.sentence
    assert found.megabytes < MOST_MB


def test_json_that_is_spelled_too_deep_is_the_targets_fault(tmp_path: Path) -> None:
    """The line is flat, what its hex means is not: no `error` of ours."""
    found = seen(replace(SHELF["spells_deep"], role="peerbus/codec/framing/vector"), tmp_path)
    assert found.exit == 1, found.row()
    assert "error" not in found.tally
    assert "nested too deep" in found.sentence
