"""The harness's end of one TrueSeal session: frames over Noise over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from typing import TypeVar

from harness.judging.trial import Broken, Trial
from reference_impl.io.carrier import HungUp
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import FRAMES, Frame, Hangup, Heartbeat, Malformed, NoFrame
from reference_impl.trueseal.noise import Noise, NoiseFailed, Secured
from reference_impl.trueseal.noise_io import Sealed
from suites.common.line import Line
from suites.trueseal import wire
from suites.trueseal.lint import lint

codec = Codec()
T = TypeVar("T")


async def shaken(trial: Trial, sealed: Sealed, initiator: bool, clause: str) -> Sealed:
    """The handshake, which must succeed."""
    await waited_for(trial, sealed.shake_hands(initiator), "a handshake that succeeds", clause)
    return sealed


async def waited_for(trial: Trial, coming: Awaitable[T], what: str, clause: str) -> T:
    """Where no line reads yet. Who never finishes a handshake costs one patience and not one per case."""
    waited_s = trial.patience_s
    try:
        with trial.target.patience.waiting("a handshake message", trial.patience_s) as waited_s:
            return await asyncio.wait_for(coming, waited_s)
    except TimeoutError:
        raise Broken(clause, what, f"nothing within {waited_s:g} s") from None
    except HungUp as end:
        raise Broken(clause, what, str(end)) from None


def understood(secured: Secured, said: bytes, clause: str) -> bytes:
    """What is to be answered to a whole handshake message; one that was made by other rules cannot be read."""
    secured.feed(said)
    try:
        read = secured.read()
    except NoiseFailed as error:
        raise Broken(clause, "a handshake message that can be read", f"{said.hex()}: {error}") from None
    assert read, "a whole message was fed"
    return read[0]


def meaning(reader: Reader, message: bytes) -> Frame | NoFrame | None:
    """What the next message of a direction says; nothing where a frame goes on in the ones behind it.

    A frame that would have fitted goes on in none: it is malformed, though who waits for its end may pass it over (TS-FRM-06).
    """
    goes_on = reader.inside
    event, size = reader.read(message), int.from_bytes(message[1 : wire.HEADER_SIZE], "big")
    if event is None and not goes_on and wire.HEADER_SIZE + size <= wire.MAX_PLAINTEXT:
        return Malformed(f"{len(message)} bytes of a frame of {wire.HEADER_SIZE + size}", message[0])
    return event


class Laden(Noise):
    """A side of a Noise session whose handshake messages carry something."""

    carries = b""

    def write(self, payload: bytes = b"") -> bytes:
        return super().write(payload if self.finished else self.carries)


class TruesealLine(Line[Sealed, Frame | Hangup]):
    """Frames of TrueSeal; the last is the Hangup. The target's own Heartbeats are passed over unless somebody asks for one."""

    _begun, _pieces = b"", 0

    def messages(self, piece: bytes) -> Iterator[bytes]:
        """A frame may go on in the next Noise message; what can be no frame is complete too, and the lint's business."""
        self._pieces = self._pieces + 1 if self._begun else 1
        self._begun += piece
        size = int.from_bytes(self._begun[1:5], "big")
        if len(self._begun) < wire.HEADER_SIZE or not len(self._begun) - wire.HEADER_SIZE < size <= 2 * wire.LIMIT:
            whole, self._begun = self._begun, b""
            yield whole

    def decoded(self, message: bytes) -> Frame:
        lint(message, self.other, self._pieces)
        [frame] = codec.decode(wire.cut(message))
        if not isinstance(frame, FRAMES):
            raise Broken("TS-FRM-01", "a frame", str(frame))
        return frame

    def ended(self, end: HungUp) -> Hangup:
        return Hangup()

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            for message in codec.encode(frame):
                await self.say(message, str(frame), message)

    async def plain(self, *messages: bytes) -> None:
        """Noise messages with these plaintexts, whatever they are."""
        for message in messages:
            await self.say(message, f"plaintext {message[:40].hex()} ({len(message)} bytes)", message)

    async def forged(self, plaintext: bytes, behind: bytes = b"") -> None:
        """A Noise message whose last bit was turned over on its way; perhaps behind an honest one, in the same breath."""
        honest = self.carrier.secured.seal(behind) if behind else b""
        sealed = self.carrier.secured.seal(plaintext)
        shown = f"plaintext {behind[:40].hex()}, then forged" if behind else "forged"
        self.trial.said(self.label, self.other, "frame", f"{shown} {plaintext[:40].hex()}", honest + sealed)
        await self.carrier.stream.send(honest + sealed[:-1] + bytes([sealed[-1] ^ 1]))

    def stop_reading(self) -> None:
        """Stay connected, and be deaf."""
        self._reader.cancel()

    def unasked(self, frame: Frame | Hangup) -> bool:
        """May it come at any time? A target may send Heartbeats of its own."""
        return isinstance(frame, Heartbeat)

    async def next(self, what: str = "a frame", clause: str = "", beats: bool = False) -> Frame | Hangup:
        """The next frame, or the end; without what may come at any time, unless Heartbeats are asked for."""
        while self.unasked(frame := await super().next(what, clause)) and not (beats and isinstance(frame, Heartbeat)):
            pass
        return frame

    async def expect_beat(self, clause: str = "TS-HB-02") -> None:
        """A Heartbeat; what comes before it stays in the inbox."""
        kept: list[Frame | Hangup] = []
        while not isinstance(frame := await super().next("a Heartbeat", clause), Heartbeat):
            if isinstance(frame, Hangup):
                raise Broken(clause, "a Heartbeat on an open connection", "the connection ended")
            kept.append(frame)
        self.inbox.put_back(kept)

    async def fence(self, clause: str = "") -> None:
        """All that was sent on this session is processed: a Heartbeat behind it is answered."""
        await self.plain(wire.BEAT)
        await self.expect_beat(clause or self.trial.own_clause)

    async def expect_hangup(self, clause: str = "") -> None:
        """The target ends the connection, and says nothing more before."""
        await self.expect(Hangup, clause)

    async def expect_silence(self, clause: str = "") -> None:
        """Nothing but the fence's own answer: the session is open, and nothing was said."""
        await self.fence(clause)
        for frame in self.inbox.drain():
            if isinstance(frame, Exception):
                raise frame
            if not self.unasked(frame):
                raise Broken(clause or self.trial.own_clause, "no frame", str(frame))
