"""Codecs that keep too few bits of a length, or lose a byte where nobody looks."""

from __future__ import annotations

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Frame, Signal, SignalFrom, SisterSignal
from reference_impl.frog.grammar import Form
from targets.mutants.frog.shelf import in_codec


@in_codec("FROG-6-07", "FROG-5-17")
class LengthsWrapAt17Bits(Codec):
    """Keeps 17 bits of a length, enough for the largest."""

    def length(self, text: str) -> int:
        return int(text) % 2**17 if len(text) <= 30 else super().length(text)


@in_codec("FROG-6-07", "FROG-5-17")
class LengthsWrapAt64Bits(Codec):
    """Keeps 64 bits of a length."""

    def length(self, text: str) -> int:
        return int(text) % 2**64 if len(text) <= 30 else super().length(text)


@in_codec("FROG-6-07", "FROG-5-17")
class LengthsOfFiveDigits(Codec):
    """Reads the last five digits of a length."""

    def length(self, text: str) -> int:
        return int(text[-5:])


@in_codec("FROG-5-19")
class PayloadsLoseALeadingLineFeed(Codec):
    """Takes a line feed at the beginning of a payload for a part of the header's end."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, rest, payload).removeprefix(b"\n")


@in_codec("FROG-5-20")
class WritesSignalsOf65535(Codec):
    """Writes a payload of 65,536 bytes without its last, and says so."""

    def encode(self, frame: Frame) -> bytes:
        if isinstance(frame, Signal | SignalFrom | SisterSignal) and len(frame.payload) == 65_536:
            head = super().encode(frame).partition(b"\n")[0].removesuffix(b"65536")
            return head + b"65535\n" + frame.payload[:-1]
        return super().encode(frame)
