"""Frames of every kind as their members, and what is nearly a frame."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

ids = st.binary(min_size=16, max_size=16)
times = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1).map(str))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
subjects = texts.filter(lambda s: "\0" not in s).map(lambda s: f"app/{s}")  # 164 bytes at most; NUL: see may_be_refused
hexes = st.binary(max_size=60).map(bytes.hex)


def kind(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(name), "id": ids.map(bytes.hex), "ts": times, **fields})


frames = st.one_of(
    kind("ping"),
    kind("pong"),
    kind("close", reason=texts),
    kind("message", subject=subjects, data=hexes),
    kind("ack", ack=ids.map(bytes.hex)),
    kind("error", code=st.integers(0, 65535), message=texts, details=hexes),
)
heads = st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 0, 1, 2, 0x80, 0x81])).map(bytes)
rests = st.one_of(
    st.binary(max_size=40),
    st.builds(lambda n, b: n.to_bytes(4, "little") + b, st.integers(0, 12), st.binary(max_size=16)),
    st.builds(lambda n, b: bytes(8) + bytes([n]) + b, st.integers(0, 5), st.binary(max_size=2)),
)
near_frames = st.builds(lambda *parts: b"".join(parts), heads, ids, rests)
"""Bytes that begin like a frame."""
