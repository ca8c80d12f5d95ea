"""The corpora of the fuzzers, replayed: no decoder may stumble over what it was once given."""

from __future__ import annotations

import pytest

from selftests.fuzz.decoders import CORPUS, DECODERS


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_has_an_answer_to_everything(name: str) -> None:
    """And reads what it has written as what it was."""
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs, "every decoder has a corpus"
    for path in inputs:
        DECODERS[name](path.read_bytes())


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize(
    "data", [b"", b"\0", b"[" * 5_000, b'{"a":' * 5_000, b"\xff" * 300, bytes(range(256)), b"1" * 5_000]
)
def test_nothing_is_too_strange(name: str, data: bytes) -> None:
    DECODERS[name](data)
