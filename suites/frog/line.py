"""The harness's end of one connection: a client's, to a server under test, or a server's, to a client under test."""

from __future__ import annotations

from harness.errors import TargetUnsupported
from harness.judging.trial import Broken
from reference_impl.frog.codec import Codec, Direction
from reference_impl.frog.frames import Err, Frame, Hangup, Malformed, Stray, Try, Welcome
from reference_impl.io.carrier import HungUp
from suites.common.line import WebSocketLine
from suites.frog.lint import lint

codec = Codec()
OVERLOAD = ("RATE_LIMITED", "SERVER_UNAVAILABLE")


class FrogLine(WebSocketLine[Frame | Hangup]):
    """Messages are linted as they come; a TRY that nobody asked for may come at any time and is not given out."""

    direction: Direction  # of what the target says
    speaks_as = ""  # its role on this connection, where that is not the role under test

    def decoded(self, message: str | bytes) -> Frame:
        lint(message, self.speaks_as or self.other)
        assert isinstance(message, bytes), "`lint` does not let text through"
        frame = codec.decode(message, self.direction)
        if isinstance(frame, Malformed | Stray):
            raise Broken("FROG-5-23", "a FROG message", str(frame))
        return frame

    def ended(self, end: HungUp) -> Hangup:
        return Hangup(end.code)

    def shown(self, message: str | bytes, heard: Frame | Hangup | Broken) -> str:
        return message if isinstance(message, str) else message.partition(b"\n")[0].decode("latin-1")

    async def answer_to(self, asked: str, what: str, clause: str) -> Frame | Hangup:
        """The answer to a question with that id, or the end, which stays the last thing; what came before waits as it was."""
        kept: list[Frame | Hangup] = []
        while not isinstance(heard := await self.next(what, clause), Hangup):
            if asked in (getattr(heard, name, "") for name in ("cid", "fcid", "id")):
                self.inbox.put_back(kept)
                return heard
            kept.append(heard)
        self.inbox.put_back([*kept, heard])
        return heard

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            wire = codec.encode(frame)
            await self.say(wire, wire.partition(b"\n")[0].decode(), wire)

    async def raw(self, wire: bytes) -> None:
        """One binary message as it is."""
        await self.say(wire, repr(wire[:120]), wire)


class ServerLine(FrogLine):
    """A connection to the server under test."""

    other = "server"
    direction = Direction.TO_CLIENT
    greeted_us = False

    def decoded(self, message: str | bytes) -> Frame:
        """Before it has a role on this connection, its errors may be of either family (AMB-09)."""
        if not self.greeted_us and isinstance(message, bytes) and message.startswith(b"@ERR "):
            message = message.removeprefix(b"@")
        frame = super().decoded(message)
        self.greeted_us = self.greeted_us or isinstance(frame, Welcome)
        return frame

    async def any_next(self, what: str, clause: str) -> Frame | Hangup:
        """The next message or the end, but for a TRY that nobody asked for."""
        while isinstance(frame := await super().next(what, clause), Try) and frame.cid == "-":
            pass
        return frame

    async def next(self, what: str = "a message", clause: str = "") -> Frame | Hangup:
        """The next message or the end. A server that limits us is not judged."""
        frame = await self.any_next(what, clause)
        if isinstance(frame, Err) and frame.code in OVERLOAD:
            raise TargetUnsupported(f"the server limits us: {frame}; raise its limits, see suites/frog/README.md")
        return frame
