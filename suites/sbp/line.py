"""The harness's end of one session: records, lints and decodes what the peer says, on the wire and to its host."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from harness.errors import TargetUnsupported
from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Nothing, Trial, need
from harness.targets import Target
from reference_impl.io.carrier import HungUp
from reference_impl.io.websocket import WebSocket
from reference_impl.sbp import frames
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Error, Frame, Handshake, Hangup, Message, Ping, Pong
from suites.common.host import Event, Host
from suites.common.line import WebSocketLine
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.lint import lint

T = TypeVar("T")
codec = Codec()
PEER_ID = "peer-under-test"
"""What a target is told to call itself."""

STOOD: WeakKeyDictionary[Target, dict[str, bool]] = WeakKeyDictionary()
"""Which fences were tried with a target, and whether they have ever stood."""

SOON_S = 1.0
"""How long we listen for what need not come; only a peer that leaves it out costs us this."""


class PeerLine(WebSocketLine[Frame | Hangup]):
    """A connection with the peer under test, and what the peer tells its host about it where that is seen (`hosted`)."""

    other = "peer"

    def __init__(self, trial: Trial, carrier: WebSocket, host: Host, hosted: bool) -> None:
        super().__init__(trial, carrier)
        self.host, self.hosted = host, hosted
        self.peer_id = unique("harness")
        self.session: Any = None  # the target's name for it, once it is established
        self.events: Inbox[Event] = Inbox()
        self.greeted: Handshake | None = None
        self.pings = self.pongs = 0  # sent, and taken from the inbox
        self.given_out: list[Frame] = []  # by `next`
        self.survived = False  # did the session last until the fence?
        self.sent: set[bytes] = set()
        self.seen: set[bytes] = set()

    @property
    def known_as(self) -> str:
        """What the target calls itself: one that runs already may have another name, and tell it."""
        return str(self.host.instance.details.get("peer_id") or PEER_ID)

    # -- reading --------------------------------------------------------------------------------------------------

    def decoded(self, message: str | bytes) -> Frame:
        for clause, note in lint(message):
            self.trial.warn(clause, note)
        assert isinstance(message, bytes), "`lint` does not let text through"
        frame = codec.decode(message)
        if isinstance(frame, frames.BadFlags | frames.Malformed | frames.BadHandshake):
            raise Broken("SBP-CMP-01", "an SBP frame", frame.why)
        self._expect_own_id(frame)
        return frame

    def ended(self, end: HungUp) -> Hangup:
        return Hangup(end.code)

    def _expect_own_id(self, frame: Frame) -> None:
        """An id is used once; only an Error carries one of ours."""
        ours, again = frame.id in self.sent, frame.id in self.seen
        self.seen.add(frame.id)
        if isinstance(frame, Error):
            return
        need(not ours, "SBP-FID-08", "an id of the peer's own", f"our {frame.id.hex()} in {frame}")
        need(not again, "SBP-FID-09", "a fresh id in each frame", f"{frame.id.hex()} again in {frame}")

    # -- saying ---------------------------------------------------------------------------------------------------

    async def send(self, *wires: bytes) -> None:
        for raw in wires:
            said = codec.decode(raw)
            self.sent.add(raw[2:18])
            self.pings += isinstance(said, Ping)
            await self.say(raw, str(said), raw)

    async def greet(self, **changes: Any) -> Handshake:
        """Both Handshakes; ours goes first, so a peer that waits for it is served too."""
        await self.send(wire.handshake(self.peer_id, **changes))
        return await self.expect_handshake()

    # -- hearing --------------------------------------------------------------------------------------------------

    async def next(self, what: str = "a frame", clause: str = "") -> Frame | Hangup:
        """The next frame, or the end. A peer may ping, and one whose host we do not see may send, at any time."""
        while True:
            heard = await super().next(what, clause)
            self.pongs += isinstance(heard, Pong)
            if not isinstance(heard, Hangup):
                self.given_out.append(heard)
            unasked = isinstance(heard, Ping) or (isinstance(heard, Message) and not self.hosted)
            if not unasked or type(heard).__name__ == what:
                return heard

    async def expect_handshake(self, clause: str = "SBP-HS-02") -> Handshake:
        """The first thing that a peer says."""
        heard = await self.trial.next_of(self.inbox, "a Handshake", clause)
        if not isinstance(heard, Handshake):
            raise Broken(clause, "a Handshake as the first frame", str(heard))
        self.greeted = heard
        return heard

    async def expect_rejection(
        self, clause: str, codes: tuple[int, ...], offending: bytes | None = None, *, error_clause: str = ""
    ) -> Error | None:
        """The end, after an Error with one of the codes; without an `error_clause` that Error may be missing."""
        said = await self.until_end(clause)
        errors = [frame for frame in said if isinstance(frame, Error)]
        other = [
            f for f in said if not isinstance(f, Error | frames.Close) and not (f is said[0] and self.is_greeting(f))
        ]
        if other or len(errors) > 1:
            raise Broken(clause, "at most one Error, then the end", "; ".join(map(str, said)))
        if not errors:
            if error_clause:
                raise Broken(error_clause, f"an Error {codes} before the end", "; ".join(map(str, said)) or "nothing")
            return None
        [error] = errors
        self.trial.measures["error_code"] = error.code
        if error.code not in codes:
            raise Broken(error_clause or clause, f"an Error with code {' or '.join(map(str, codes))}", str(error))
        if offending and error.id != offending:
            self.trial.warn("SBP-ERR-06", f"the Error's id is not the failing frame's {offending.hex()}")
        return error

    def is_greeting(self, frame: Frame) -> bool:
        return isinstance(frame, Handshake) and self.greeted is None

    async def until_end(self, clause: str) -> list[Frame]:
        """All frames up to the end of the transport, which is owed."""
        said: list[Frame] = []
        while not isinstance(frame := await self.next("the end of the transport", clause), Hangup):
            said.append(frame)
        return said

    # -- fences ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _fenced(self, fence: str, clause: str) -> Iterator[None]:
        """One that never stood is a finding of its own, once; from then on silence is all that there is to judge by.

        Where it has stood before, a case that it does not stand in has found something: its clause is the case's.
        """
        stood = STOOD.setdefault(self.trial.target, {})
        try:
            yield
        except Nothing as silence:
            if stood.get(fence):
                raise Broken(clause, silence.expected, silence.observed) from None
            if fence not in stood:
                stood[fence] = False
                raise
        else:
            stood[fence] = True

    async def wire_fence(self) -> list[Frame]:
        """What the peer says to all that was sent so far; ends the session.

        A Ping and a frame that must end the session follow: a Pong, or the end, comes behind everything else. Pongs that no
        Ping asked for are part of what it says.
        """
        sentinel = unique("app/fence")
        await self.send(*([wire.message(sentinel)] if self.hosted else []), wire.ping(), wire.last())
        said: list[Frame] = []
        with self._fenced("wire", self.trial.own_clause):
            while not isinstance(frame := await self._fence_next(), Hangup | None):
                if isinstance(frame, Pong):
                    self.survived = self.pongs >= self.pings
                if not (isinstance(frame, Pong) and self.pongs <= self.pings):
                    said.append(frame)
        if not self.survived:
            self.survived = await self._reached(sentinel)
        return [f for f in said if not isinstance(f, Error | frames.Close) or self._was_before_the_fence(f)]

    async def _reached(self, sentinel: str) -> bool:
        """For a peer that leaves Pongs out: has the Message before the Ping reached its host?"""
        if not self.hosted:
            return not STOOD[self.trial.target].get("pong", True)
        heard: list[Event] = []
        while (
            (told := await self._soon(self.next_event)) and told[1].get("subject") != sentinel and told[0] != "closed"
        ):
            heard.append(told)
        self.events.put_back(heard if told is None or told[0] != "closed" else [*heard, told])
        return told is not None and told[0] != "closed"

    async def _fence_next(self) -> Frame | Hangup | None:
        """The next frame. With the fence's Pong the fence stands: the end behind it is not waited for at full patience."""
        if not self.survived:
            return await self.next("a Pong, or the end of the transport", "SBP-FLAGS-05")
        return await self.maybe_next()

    def _was_before_the_fence(self, frame: Frame) -> bool:
        """With the fence's Pong we know: what came before it was not said to the fence."""
        last = max((n for n, heard in enumerate(self.given_out) if isinstance(heard, Pong)), default=-1)
        return self.survived and any(heard is frame for heard in self.given_out[:last])

    async def maybe_next(self, what: str = "a frame") -> Frame | Hangup | None:
        """The next frame if one comes soon; for what may, but need not come."""
        return await self._soon(functools.partial(self.next, what))

    async def maybe_event(self, name: str) -> dict[str, Any] | None:
        """The next event of that name if one comes soon: a host may have no ear for it."""
        return await self._soon(functools.partial(self.expect_event, name))

    async def _soon(self, come: Callable[[], Awaitable[T]]) -> T | None:
        full, self.trial.patience_s = self.trial.patience_s, min(self.trial.patience_s, SOON_S)
        try:
            return await come()
        except Nothing:
            return None
        finally:
            self.trial.patience_s = full

    async def host_fence(self, clause: str = "") -> list[Event]:
        """What the host is told up to a sentinel Message; the session stays open."""
        subject = unique("app/fence")
        await self.send(wire.message(subject))
        before: list[Event] = []
        with self._fenced("host", clause or self.trial.own_clause):
            while not before or before[-1][1].get("subject") != subject:
                event, data = await self.next_event("SBP-SES-10", f"the Message {subject} at the host")
                if event == "closed":
                    raise Broken(clause or self.trial.own_clause, "the session to go on", f"closed {data}")
                before.append((event, data))
            before.pop()
        return before

    async def stays_open(self, clause: str) -> None:
        """The session goes on: a Pong comes or, where we see the host, a Message reaches it."""
        if self.hosted:
            await self.host_fence(clause)
            return
        await self.send(wire.ping())
        with self._fenced("pong", clause):
            frame = await self.next("a Pong", "SBP-SES-06")
            if not isinstance(frame, Pong):
                raise Broken(clause, "the session to go on", str(frame))

    # -- the host -------------------------------------------------------------------------------------------------

    async def next_event(self, clause: str = "", what: str = "an event at the host") -> Event:
        """The next thing that the target tells its host about this session."""
        if not self.hosted:
            raise TargetUnsupported("this target shows nothing of its host")
        return await self.trial.next_of(self.events, what, clause)

    async def expect_event(self, name: str, clause: str = "") -> dict[str, Any]:
        """The next event of that name; what else the host learns meanwhile is left out."""
        while True:
            event, data = await self.next_event(clause, f"`{name}` at the host")
            if event == name:
                return data
            if event == "closed":
                raise Broken(clause or self.trial.own_clause, f"`{name}` at the host", f"closed {data}")

    async def established(self, clause: str = "SBP-CMP-01") -> dict[str, Any]:
        """A good Handshake is accepted."""
        return await self.expect_event("established", clause)

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        """An operation of the host on this session."""
        if not self.hosted:
            raise TargetUnsupported("this target has no host to ask")
        return await self.host.do(op, session=self.session, **args)
