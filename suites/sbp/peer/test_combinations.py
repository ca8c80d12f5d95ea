"""A Message as it can come: every pair of size, spelling of the subject, timestamp, cutting, side and mode at least once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.catalogue.cases import clauses
from harness.judging.trial import Each, Trial
from reference_impl.sbp.frames import Ack
from suites.common.covering import Row, covering
from suites.sbp import wire
from suites.sbp.peer.test_traffic import expect_message
from suites.sbp.peer.under_test import SIDES, PeerUnderTest

SIZES = [0, 1, 125, 126, 127, 1024, 1500, 1536, 4096, 65_507, 65_535, 65_536, 1_000_000]
SUBJECTS = {
    "plain": "app/x",
    "two-byte": "app/\u00e9",
    "four-byte": "app/\U0001f600",
    "bom": "app/\ufeffx",
    "decomposed": "app/e\u0301",
    "longest": "app/" + "\u00e9" * 126,
}
TIMES: dict[str, int | None] = {"none": None, "zero": 0, "before": -1, "last": 2**63 - 1, "first": -(2**63)}
FILLS = {"zeros": b"\x00", "ones": b"\xff", "no-utf8": b"\xc3", "text": b"a"}


def at(*places: int) -> Callable[[bytes], list[bytes]]:
    """In pieces that begin there."""
    return lambda raw: [raw[a:b] for a, b in zip((0, *places), (*places, len(raw)), strict=True)]


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda raw: [raw],
    "header": at(1, 2),
    "id": at(10),
    "length": at(18, 20),
    "last-byte": lambda raw: [raw[:-1], raw[-1:]],
    "with-empty-pieces": lambda raw: [b"", raw[:5], b"", raw[5:], b""],
}
PARAMETERS: Mapping[str, Sequence[object] | Mapping[str, object]] = {
    "side": SIDES, "mode": ["plain", "receipt"], "size": SIZES, "subject": SUBJECTS, "ts": TIMES, "fill": FILLS, "cut": CUTS,
}  # fmt: skip


@dataclass(frozen=True)
class Combination:
    row: Row
    clauses: tuple[str, ...] = ("SBP-MSG-04", "SBP-SES-01")

    @property
    def name(self) -> str:
        return ".".join(self.row.values())


@clauses("SBP-MSG-04", "SBP-SES-01", "SBP-ACK-03", "SBP-MSG-03")
async def test_a_message_comes_through(trial: Trial, each: Each) -> None:
    """However it is spelled, stamped, filled and cut, it is one Message, and it is acknowledged where that was asked for."""

    async def judge(one: Combination) -> None:
        peer, row = PeerUnderTest(trial), one.row
        if row["mode"] == "receipt":
            await trial.need("receipt")
        subject, data, ts = SUBJECTS[row["subject"]], FILLS[row["fill"]] * int(row["size"]), TIMES[row["ts"]]
        try:
            line = await peer.session(row["side"], **({"receipt": True} if row["mode"] == "receipt" else {}))
            raw = wire.message(subject, data, ts=ts)
            await line.binary(CUTS[row["cut"]](raw))
            told = await line.expect_event("message", "SBP-MSG-04")
            expect_message(trial, told, subject, data, None if ts is None else str(ts))
            while row["mode"] == "receipt" and (await line.expect(Ack, "SBP-ACK-03")).of != raw[2:18]:
                pass  # of the Handshake, which may be acknowledged too
        finally:
            await peer.close()

    await each(map(Combination, covering(PARAMETERS)), judge, axis="combination")
