"""The peer beside its oracle: frames, garbage and the host's wishes as Hypothesis likes.

There is no expected frame in this file: whatever the peer says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from harness.cases import axis, clauses
from harness.trial import Trial
from harness.watch import LoopMachine, explore
from reference_impl.sbp.frames import Close, Send, SendPing
from suites.sbp import wire
from suites.sbp.peer.line import codec
from suites.sbp.peer.meeting import SIDES, Meeting
from suites.sbp.peer.watched import PeerWatch

TIMES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
SUBJECTS = st.sampled_from(["app/x", "app/\u00e9", "app/\ufeff", "app/" + "y" * 252])
DATA = st.binary(max_size=30)
ENDS = st.sampled_from(
    [
        b"",
        b"\x00\x00",
        wire.frame(0, b"", bytes(16)),
        wire.frame(4, b"", b"\x01" * 16),
        wire.frame(1, b"\x06\x00\x00\x00app/x", b"\x02" * 16),
        wire.frame(1, b"\x01\x00\x00\x00\xff", b"\x03" * 16),
        wire.ack(bytes(15), b"\x04" * 16),
        wire.control(1, b"\x00", b"\x05" * 16),
        wire.frame(3, b"\xe8\x03", b"\x06" * 16),
    ]
)
GARBAGE = st.builds(
    lambda head, rest: bytes(head) + wire.new_id() + rest,
    st.tuples(st.integers(0, 5), st.sampled_from([0, 0, 1, 2, 0x80])),
    st.binary(max_size=20),
).filter(lambda raw: not isinstance(codec.decode(raw), Close))
"""Anything but a Close, behind which nothing more is said."""


class Sbp(LoopMachine):
    """One session after another with the same peer; a session that has ended is followed by a new one."""

    def __init__(self, trial: Trial, side: str, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop, self.trial, self.side = loop, trial, side
        trial.restart()
        self.meeting = Meeting(trial)
        self.watch: PeerWatch | None = None
        self.established = False

    @property
    def watching(self) -> PeerWatch:
        assert self.watch, "a rule's precondition says so"
        return self.watch

    @precondition(lambda self: self.watch is None)
    @rule(receipt=st.booleans())
    def open(self, receipt: bool) -> None:
        config = {"receipt": True} if receipt and self.wait(self._offers_receipts()) else {}
        self.watch = self.wait(PeerWatch.begin(self.trial, self.meeting, self.side, **config))
        self.established = False

    async def _offers_receipts(self) -> bool:
        return "receipt" in await self.trial.target.capabilities("sbp/peer")

    @precondition(lambda self: self.watch and not self.established)
    @rule(ts=TIMES, hints=st.booleans())
    def greet(self, ts: int | None, hints: bool) -> None:
        more = {"caps": ["zz:x"], "metadata": {"vendor:y": "1"}, "future": 1} if hints else {}
        self._say(wire.handshake(self.watching.line.peer_id, ts=ts, **more))
        self.established = True

    @precondition(lambda self: self.watch and not self.established)
    @rule(
        raw=st.sampled_from(
            [
                wire.handshake("x", version="2"),
                wire.handshake("x", protocol="y"),
                wire.control(0, b"{}"),
                wire.control(0, b"\xff"),
                wire.ping(),
                wire.message("app/early"),
                wire.ack(bytes(16)),
                wire.error(2000),
                wire.control(7),
            ]
        )
    )
    def begin_badly(self, raw: bytes) -> None:
        self._say(raw[:2] + wire.new_id() + raw[18:])

    @precondition(lambda self: self.established)
    @rule(subject=SUBJECTS, data=DATA, ts=TIMES)
    def message(self, subject: str, data: bytes, ts: int | None) -> None:
        self._say(wire.message(subject, data, ts=ts))

    @precondition(lambda self: self.established)
    @rule(ts=TIMES, count=st.integers(1, 3))
    def ping(self, ts: int | None, count: int) -> None:
        for _ in range(count):
            self._say(wire.ping(ts=ts))

    @precondition(lambda self: self.established)
    @rule(
        raw=st.sampled_from(
            [
                wire.pong(),
                wire.ack(bytes(16)),
                wire.error(2000, "e", b"\xff"),
                wire.error(1, ""),
                wire.control(77, b"x"),
            ]
        )
    )
    def say_what_may_be_ignored(self, raw: bytes) -> None:
        self._say_last(raw[:2] + wire.new_id() + raw[18:])

    @precondition(lambda self: self.established)
    @rule()
    def greet_again(self) -> None:
        self._say_last(wire.handshake("someone-else"))

    @precondition(lambda self: self.established and self.watch.line.hosted)
    @rule(subject=SUBJECTS, data=DATA)
    def host_sends(self, subject: str, data: bytes) -> None:
        self.wait(self._ask(Send(subject, data)))

    @precondition(lambda self: self.established and self.watch.line.hosted)
    @rule()
    def host_pings(self) -> None:
        self.wait(self._ask(SendPing()))

    @precondition(lambda self: self.watch)
    @rule(raw=GARBAGE)
    def garbage(self, raw: bytes) -> None:
        self._say_last(raw)

    @precondition(lambda self: self.watch)
    @rule(raw=ENDS)
    def malformed(self, raw: bytes) -> None:
        self._say_last(raw[:2] + wire.new_id() + raw[18:] if len(raw) >= 18 else raw)

    @precondition(lambda self: self.watch)
    @rule()
    def text(self) -> None:
        self.wait(self._text())

    @precondition(lambda self: self.established)
    @rule()
    def fence(self) -> None:
        """Ends the session: all that was said on it is judged."""
        self.wait(self._fence())

    @invariant()
    def nothing_is_out_of_line(self) -> None:
        if self.watch:
            self.watch.judge_waiting()
            if self.watch.over:
                self.watch, self.established = None, False

    def teardown(self) -> None:
        self.wait(self._end())

    async def _end(self) -> None:
        try:
            if self.watch:
                await self._fence()
        finally:
            await self.meeting.close()

    async def _fence(self) -> None:
        watch = self.watching
        await watch.end()
        self.watch, self.established = None, False

    async def _ask(self, request: Send | SendPing) -> None:
        await self.watching.ask(request)
        await self.watching.settle()

    async def _text(self) -> None:
        await self.watching.say_text("text")
        await self.watching.settle()

    def _say(self, raw: bytes) -> None:
        self.wait(self._said(raw))

    def _say_last(self, raw: bytes) -> None:
        """A peer may end the session for this, or not: end it, so that what comes next does not depend on its choice."""
        self._say(raw)
        if self.watch:
            self.wait(self._fence())

    async def _said(self, raw: bytes) -> None:
        await self.watching.say(raw)
        await self.watching.settle()


@clauses("SBP-CMP-02", "SBP-SES-10", "SBP-FLAGS-06", "SBP-HSP-10", "SBP-HS-03", "SBP-FID-08", "SBP-FID-09")
@clauses("SBP-ACK-03", "SBP-SES-08", "SBP-SEM-01", "SBP-HS-02", "SBP-MSG-04")
@axis("side", SIDES)
async def test_the_peer_follows_its_machine(trial: Trial, side: str) -> None:
    """Whatever comes, the peer says what the machine owes, and nothing else."""
    await trial.target.need("sbp/peer", side)
    loop = asyncio.get_running_loop()
    await explore(functools.partial(Sbp, trial, side, loop), steps=20, examples=100 if trial.slow else 12)
