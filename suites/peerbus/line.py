"""The harness's end of one peerbus connection."""

from __future__ import annotations

from harness.judging.trial import Broken
from reference_impl.io.carrier import HungUp
from reference_impl.peerbus.frames import Close, Frame, Garbage
from suites.common.line import WebSocketLine
from suites.peerbus.envelopes import codec
from suites.peerbus.lint import lint


class PeerbusLine(WebSocketLine[Frame | Close]):
    """Frames of peerbus; the last is the Close."""

    def decoded(self, message: str | bytes) -> Frame:
        self.lint(message)
        frame = codec.decode(message.encode() if isinstance(message, str) else message)
        if isinstance(frame, Garbage):
            raise Broken("PB-1-03", "a peerbus frame", frame.why)
        return frame

    def lint(self, message: str | bytes) -> None:
        """Raise Broken for what no frame of that role may be."""
        lint(message, self.other)

    def ended(self, end: HungUp) -> Close:
        return Close(end.code)

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            await self.text(codec.encode(frame).decode())

    async def expect_closed(self, clause: str = "") -> Close:
        return await self.expect(Close, clause)
