"""Servers that deliver another signal than they were given."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import Kind, Signal, SignalFrom
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Route
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


class Meddling(ServerMachine):
    """Changes what it delivers."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return changed(super().carried(state, channel, frame, route), SignalFrom, lambda d: self.meddled(d, route))

    def meddled(self, delivery: SignalFrom, route: Route) -> SignalFrom:
        return replace(delivery, payload=self.bytes(delivery.payload))

    def bytes(self, payload: bytes) -> bytes:
        return payload


@in_server("FROG-26-01")
class ReencodesText(Meddling):
    """Reads a payload as UTF-8 and writes it again."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.decode("utf-8", "replace").encode()[:65_536]


@in_server("FROG-26-01")
class ReencodesJson(Meddling):
    """Writes a payload that is JSON again, without blanks."""

    def bytes(self, payload: bytes) -> bytes:
        try:
            return json.dumps(json.loads(payload), separators=(",", ":")).encode()
        except (ValueError, RecursionError):
            return payload


@in_server("FROG-26-01")
class MendsLineEnds(Meddling):
    """Makes CR LF of a payload LF."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.replace(b"\r\n", b"\n")


@in_server("FROG-26-01")
class StripsPayloads(Meddling):
    """Cuts blanks off the end of a payload."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.rstrip()


@in_server("FROG-26-01")
class EndsAtNul(Meddling):
    """Delivers a payload as far as its first NUL."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.partition(b"\0")[0]


@in_server("FROG-26-01", "FROG-5-20")
class DeliversFourKibibytes(Meddling):
    """Delivers the first 4096 bytes of a payload."""

    def bytes(self, payload: bytes) -> bytes:
        return payload[:4096]


@in_server("FROG-26-01", "FROG-5-20")
class LosesTheLastByteAt65536(Meddling):
    """Delivers at most 65535 bytes."""

    def bytes(self, payload: bytes) -> bytes:
        return payload[:65_535]


@in_server("FROG-26-03")
class EveryKindIsAnOffer(Meddling):
    """Delivers every signal as an offer."""

    def meddled(self, delivery: SignalFrom, route: Route) -> SignalFrom:
        return replace(delivery, kind=Kind.OFFER)


@in_server("FROG-26-03")
class TheAskedOnlyAnswer(Meddling):
    """Delivers an offer of the peer that was looked up as an answer."""

    def meddled(self, delivery: SignalFrom, route: Route) -> SignalFrom:
        back = delivery.peer_key == route.peer_b and delivery.kind == Kind.OFFER
        return replace(delivery, kind=Kind.ANSWER) if back else delivery


@in_server("FROG-26-03", "FROG-5-21")
class DropsEmptySignals(ServerMachine):
    """Does not deliver a signal without payload."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return super().carried(state, channel, frame, route) if frame.payload else Step(state)


@in_server("FROG-26-03")
class DropsRepetitions(ServerMachine):
    """Does not deliver the same signal twice in a row."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._last: dict[Channel, Signal] = {}

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        again, self._last[channel] = self._last.get(channel) == frame, frame
        return Step(state) if again else super().carried(state, channel, frame, route)


@in_server("FROG-26-04")
class TheSourceIsWhoAsked(Meddling):
    """Names the peer that looked up as the source, also of what comes back."""

    def meddled(self, delivery: SignalFrom, route: Route) -> SignalFrom:
        return replace(delivery, peer_key=route.peer_a)


@in_server("FROG-26-04")
class NamesTheTarget(Meddling):
    """Names the receiver in place of the source."""

    def meddled(self, delivery: SignalFrom, route: Route) -> SignalFrom:
        return replace(delivery, peer_key=route.peer_b if delivery.peer_key == route.peer_a else route.peer_a)


@in_server("FROG-26-01", "FROG-5-20")
class LosesWholeBlocks(Meddling):
    """Loses the last byte of a payload whose length is a multiple of 1024."""

    def bytes(self, payload: bytes) -> bytes:
        return payload[:-1] if payload and len(payload) % 1024 == 0 else payload


@in_server("FROG-26-01")
class ReadsFakeHeaders(Meddling):
    """Takes a payload that begins like a signal for another signal, and delivers what is in that."""

    def bytes(self, payload: bytes) -> bytes:
        header, newline, rest = payload.partition(b"\n")
        return rest if newline and header.startswith((b"SIGNAL ", b"SIGNAL-FROM ", b"HELLO ")) else payload
