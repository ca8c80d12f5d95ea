"""Any frame, cut any way: what goes in comes out, and several frames in a row stay several."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from suites.trueseal import wire
from suites.trueseal.codec.under_test import CodecUnderTest

keys = st.binary(min_size=32, max_size=32)
ids = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]))
envelopes = st.binary(max_size=600)


def pushed(key: bytes, envelope: bytes) -> tuple[bytes, dict[str, Any]]:
    return wire.push(key, envelope), {"type": "push", "recipient": key.hex(), "envelope": envelope.hex()}


def delivered(id: int, envelope: bytes) -> tuple[bytes, dict[str, Any]]:
    return wire.deliver(id, envelope), {"type": "deliver", "blob_id": str(id), "envelope": envelope.hex()}


frames = st.one_of(
    st.builds(pushed, keys, envelopes),
    st.builds(delivered, ids, envelopes),
    ids.map(lambda id: (wire.deliver_ack(id), {"type": "deliver_ack", "blob_id": str(id)})),
    st.sampled_from([(wire.frame(tag), {"type": kind}) for tag, kind in ((3, "heartbeat"), (4, "ack"), (5, "error"))]),
)
"""A frame as we pack it, and what it means."""


@clauses("TS-FRM-01", "TS-FRM-03", "TS-PUSH-01", "TS-DLV-01")
@given(frame=frames)
async def test_any_frame_both_ways(codec: CodecUnderTest, trial: Trial, frame: tuple[bytes, dict[str, Any]]) -> None:
    """Whatever the key, the id and the envelope."""
    trial.restart()
    packed, fields = frame
    await codec.must_mean([packed], fields, clause="TS-FRM-01")
    await codec.must_write(fields, packed, "TS-FRM-01")


@clauses("TS-FRM-01")
@given(row=st.lists(frames, min_size=2, max_size=5))
async def test_a_message_is_a_frame(
    codec: CodecUnderTest, trial: Trial, row: list[tuple[bytes, dict[str, Any]]]
) -> None:
    """So many messages, so many frames, in their order."""
    trial.restart()
    await codec.must_mean([packed for packed, _ in row], *(fields for _, fields in row), clause="TS-FRM-01")


@clauses("TS-FRM-06")
@needs("large_frames")
@given(frame=frames, data=st.data())
async def test_any_cut_behind_the_header(
    codec: CodecUnderTest, trial: Trial, frame: tuple[bytes, dict[str, Any]], data: st.DataObject
) -> None:
    """A body that goes on in the next messages, however short they are, is that body; a frame that would fit may be refused."""
    trial.restart()
    packed, fields = frame
    cuts = sorted(set(data.draw(st.lists(st.integers(5, len(packed)), max_size=5))) - {len(packed)})
    pieces = [packed[a:b] for a, b in zip([0, *cuts], [*cuts, len(packed)], strict=True)]
    await codec.may_mean(pieces, fields, clause="TS-FRM-06")
