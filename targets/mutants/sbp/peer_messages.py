"""Peers that deliver or send a Message wrongly."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Delivered, Error, HostEvent, Input, Message, Pong, Send
from reference_impl.sbp.peer import PeerMachine, PeerStep, Phase, State, fresh_id
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import also


@shelf.breaks("SBP-MSG-04", role="peer")
class DeliversTextOnly(PeerMachine):
    """Cuts data at the first NUL."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return super().deliver(state, channel, replace(frame, data=frame.data.split(b"\x00")[0]))


@shelf.breaks("SBP-TS-01", "SBP-FLAGS-07", role="peer")
class KnowsNoTimestamps(Codec):
    """Takes bit 0 for reserved."""

    def reserved(self, flags: int) -> int:
        return flags


@shelf.breaks("SBP-TS-06", role="peer")
class DropsWhatIsLate(Session):
    """Delivers a Message only if its timestamp is not before the last one."""

    last = -(2**63)

    def read(self, message: str | bytes) -> Input:
        got = super().read(message)
        if isinstance(got, Message) and got.ts is not None:
            if got.ts < self.last:
                return Pong(got.id)
            self.last = got.ts
        return got


@shelf.breaks("SBP-SES-10", role="peer")
class DeliversInPairs(Session):
    """Hands every second Message over before the first."""

    held: HostEvent | None = None

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Message) and self.player.state.phase is Phase.OPEN:
            if self.held is None:
                self.held = Delivered(event.subject, event.data, event.ts)
                return []
            first, self.held = self.held, None
            done = super().turn(channel, event)
            self._on_event(self, first)
            return done
        return super().turn(channel, event)


@shelf.breaks("SBP-SES-10", "SBP-TS-06", role="peer")
class StampedMessagesWait(Session):
    """Sorts Messages with a timestamp, so that those without overtake them."""

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Message) and event.ts is not None:
            asyncio.get_running_loop().call_later(0.02, super().turn, channel, event)
            return []
        return super().turn(channel, event)


@shelf.breaks("SBP-SES-14", "SBP-MSG-03", role="peer")
class PutsSubjectsIntoANamespace(PeerMachine):
    """Delivers a subject of no namespace under app/."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        bare = frame if "/" in frame.subject else replace(frame, subject=f"app/{frame.subject}")
        return super().deliver(state, channel, bare)


@shelf.breaks("SBP-LIM-06", "SBP-MSG-03", role="peer")
class DeliversShortSubjects(PeerMachine):
    """Cuts a subject to 256 letters."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return super().deliver(state, channel, replace(frame, subject=frame.subject[:256]))


@shelf.breaks("SBP-INT-02", "SBP-MSG-01", role="peer")
class BigEndianOverWebSocket(Codec):
    """Reads lengths in network byte order."""

    def length(self, body: bytes) -> int:
        return int.from_bytes(body[:4], "big")


@shelf.breaks("SBP-MSG-02", "SBP-MSG-01", role="peer")
class SendsLettersCounted(Codec):
    """Writes a subject's length in characters."""

    def encode_subject(self, subject: str) -> bytes:
        return len(subject).to_bytes(4, "little") + subject.encode()


@shelf.breaks("SBP-SEM-01", role="peer")
class SendsEventsAsErrors(PeerMachine):
    """Sends an Error beside each Message."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        step = super().send(state, channel, request)
        return also(step, Error(fresh_id(state), 2000, request.subject))


@shelf.breaks("SBP-TS-05", "SBP-TS-03", role="peer")
class NeverSendsTheEpoch(Codec):
    """Leaves a timestamp of zero out."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or None)
