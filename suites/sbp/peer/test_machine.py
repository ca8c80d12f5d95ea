"""The peer beside its oracle: frames, garbage and the host's wishes as Hypothesis likes.

There is no expected frame in this file: whatever the peer says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from reference_impl.sbp.frames import Close, Send, SendClose, SendPing
from suites.sbp import wire
from suites.sbp.line import codec
from suites.sbp.peer import inputs
from suites.sbp.peer.inputs import under
from suites.sbp.peer.under_test import SIDES, PeerUnderTest
from suites.sbp.peer.watch import PeerWatch
from suites.sbp.strategies import DATA, IDS, SUBJECTS, TEXTS, TIMES

BEGINNINGS = st.sampled_from(
    [
        *(wire.handshake("x", **changes) for changes in (*inputs.MISMATCHES.values(), *inputs.INCOMPLETE.values())),
        *(wire.control(0, json) for json in (b"{}", b"\xff", b"[]")),
        *(wire.ping(), wire.message("app/early"), wire.ack(bytes(16)), wire.error(2000), wire.control(7)),
    ]
)
HELLOS: st.SearchStrategy[Any] = st.integers(0, 7).flatmap(
    lambda n: BEGINNINGS if n == 7 else st.sampled_from(inputs.HINTS)
)
"""One connection in eight begins badly."""
GARBAGE = st.builds(
    lambda head, rest: bytes(head) + wire.new_id() + rest,
    st.tuples(st.integers(0, 5), st.sampled_from([0, 0, 1, 2, 0x80])),
    st.binary(max_size=20),
).filter(lambda raw: not isinstance(codec.decode(raw), Close))
"""Anything but a Close, behind which nothing more is said."""
ENDS = st.one_of(
    st.sampled_from([*(raw for _, raw in inputs.FATAL.values()), *inputs.FLAGGED.values()]),
    st.sampled_from([raw for _, raw in inputs.REJECTED.values()]),
    GARBAGE,
    st.sampled_from(["text", ""]),
)


class Sbp(LoopMachine):
    """One session after another with the same peer; a session that has ended is followed by a new one.

    Nearly every session is greeted well, and one rule in a dozen ends it: what lies behind a Handshake is where the states are.
    """

    def __init__(
        self, trial: Trial, side: str, reached: Counter[tuple[str, str]], loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(trial, loop)
        self.side, self.reached = side, reached
        self.peer = PeerUnderTest(trial)
        self.watch: PeerWatch | None = None
        self.ids: set[bytes] = set()

    @property
    def watching(self) -> PeerWatch:
        assert self.watch, "a rule's precondition says so"
        return self.watch

    @precondition(lambda self: self.watch is None)
    @rule(receipt=st.booleans(), hello=HELLOS)
    def meet(self, receipt: bool, hello: dict[str, Any] | bytes) -> None:
        self.wait(self._meet(receipt))
        if isinstance(hello, bytes):
            self.say("begin badly", under(wire.new_id(), hello))
        else:
            self.say("greet", wire.handshake(self.watching.line.peer_id, **hello))

    @precondition(lambda self: self.watch)
    @rule(subject=SUBJECTS, data=DATA, ts=TIMES, id=IDS)
    def message(self, subject: str, data: bytes, ts: int | None, id: bytes) -> None:
        self.say("message", wire.message(subject, data, self.own(id), ts))

    @precondition(lambda self: self.watch)
    @rule(several=st.lists(st.tuples(SUBJECTS, st.binary(max_size=3), TIMES), min_size=2, max_size=5))
    def burst(self, several: list[tuple[str, bytes, int | None]]) -> None:
        self.say("burst", *(wire.message(subject, data, ts=ts) for subject, data, ts in several))

    @precondition(lambda self: self.watch)
    @rule(ts=TIMES, id=IDS, count=st.integers(1, 3))
    def ping(self, ts: int | None, id: bytes, count: int) -> None:
        self.say("ping", wire.ping(self.own(id), ts), *(wire.ping(ts=ts) for _ in range(count - 1)))

    @precondition(lambda self: self.watch)
    @rule(ts=TIMES, id=IDS)
    def pong(self, ts: int | None, id: bytes) -> None:
        self.say("pong", wire.pong(self.own(id), ts))

    @precondition(lambda self: self.watch)
    @rule(which=st.integers(0, 9), id=IDS)
    def ack(self, which: int, id: bytes) -> None:
        """Of something that the peer has said or, where there is nothing, of nothing."""
        heard = sorted(self.watching.line.seen)
        self.say("ack", wire.ack(heard[which % len(heard)] if heard and which else bytes(16), self.own(id)))

    @precondition(lambda self: self.watch)
    @rule(
        code=st.one_of(st.sampled_from([0, 999, 1000, 1003, 2000, 65_535]), st.integers(0, 65_535)),
        text=TEXTS,
        details=DATA,
    )
    def error(self, code: int, text: str, details: bytes) -> None:
        self.say("error", wire.error(code, text, details))

    @precondition(lambda self: self.watch)
    @rule(
        raw=st.sampled_from([wire.handshake("someone-else"), wire.control(0, b"{}"), wire.handshake("x", version="2")])
    )
    def greet_again(self, raw: bytes) -> None:
        self.say("greet again", under(wire.new_id(), raw))

    @precondition(lambda self: self.watch)
    @rule(op=st.integers(4, 255), data=st.sampled_from([b"", b"\x00", b'{"peerId":"x"}']))
    def reserved_op(self, op: int, data: bytes) -> None:
        self.say("reserved op", wire.control(op, data))

    @precondition(lambda self: self.watch and self.watch.line.hosted)
    @rule(subject=SUBJECTS, data=DATA)
    def host_sends(self, subject: str, data: bytes) -> None:
        self.count("host sends")
        self.wait(self._ask(Send(subject, data)))

    @precondition(lambda self: self.watch and self.watch.line.hosted)
    @rule()
    def host_pings(self) -> None:
        self.count("host pings")
        self.wait(self._ask(SendPing()))

    @precondition(lambda self: self.watch)
    @rule(end=ENDS)
    def ends(self, end: bytes | str) -> None:
        self.say("ends", end if isinstance(end, str) else under(wire.new_id(), end))

    @precondition(lambda self: self.watch and self.watch.line.hosted)
    @rule(reason=st.one_of(st.none(), TEXTS.filter(bool)))
    def host_closes(self, reason: str | None) -> None:
        self.count("host closes")
        self.wait(self._ask(SendClose(reason)))
        self.watch = None

    # -- how it is done -------------------------------------------------------------------------------------------

    def count(self, letter: str) -> None:
        """How far the rules get: (state, letter) pairs, and steps in open sessions."""
        self.reached[self.watching.phase if self.watch else "none", letter] += 1

    def own(self, id: bytes) -> bytes:
        """That id, if we have not used it: ours are used once, too."""
        fresh = id if id not in self.ids else wire.new_id()
        self.ids.add(fresh)
        return fresh

    def say(self, letter: str, *messages: bytes | str) -> None:
        self.count(letter)
        self.wait(self._say(messages))

    async def _say(self, messages: tuple[bytes | str, ...]) -> None:
        """And find out what it came to, where the text leaves the peer a choice."""
        watch = self.watching
        for message in messages:
            await (watch.say_text(message) if isinstance(message, str) else watch.say(message))
        await watch.settle()
        if watch.torn:
            await watch.end()

    async def _ask(self, request: Send | SendPing | SendClose) -> None:
        await self.watching.ask(request)
        await self.watching.settle()

    async def _meet(self, receipt: bool) -> None:
        config = {"receipt": True} if receipt and "receipt" in await self.trial.capabilities() else {}
        self.watch = await PeerWatch.begin(self.trial, self.peer, self.side, **config)
        self.ids = set()

    async def look(self) -> None:
        await super().look()
        if self.watch and self.watch.over:
            self.watch = None

    async def finish(self) -> None:
        if self.watch:
            await self.watch.end()

    async def free(self) -> None:
        await self.peer.close()


@clauses("SBP-CMP-02", "SBP-SES-10", "SBP-FLAGS-06", "SBP-HSP-10", "SBP-HS-03", "SBP-FID-08", "SBP-FID-09")
@clauses("SBP-ACK-03", "SBP-SES-08", "SBP-SEM-01", "SBP-HS-02", "SBP-MSG-04")
@axis("side", SIDES)
async def test_the_peer_follows_its_machine(trial: Trial, side: str) -> None:
    """Whatever comes, the peer says what the machine owes, and nothing else."""
    await trial.need(side)
    reached: Counter[tuple[str, str]] = Counter()
    try:
        await explore(functools.partial(Sbp, trial, side, reached), steps=20, examples=trial.random_runs(12, slow=100))
    finally:
        trial.measures["steps"] = reached.total()
        trial.measures["steps in open sessions"] = sum(n for (phase, _), n in reached.items() if phase == "open")
        trial.measures["states and letters"] = len(reached)
