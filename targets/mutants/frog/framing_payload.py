"""Readers that get a payload or its length wrong."""

from __future__ import annotations

import re
from dataclasses import replace

from reference_impl.frog.codec import Codec, Direction
from reference_impl.frog.frames import MAX_PAYLOAD, Frame, NoFrame, Signal, SignalFrom, SisterSignal
from reference_impl.frog.grammar import Form
from targets.mutants.frog.shelf import in_codec


def unbounded(codec: Codec, frame: Frame) -> bytes:
    """The encoding of a signal of any size."""
    if not isinstance(frame, Signal | SignalFrom | SisterSignal):
        return codec.encode(frame)
    header = codec.encode(replace(frame, payload=b"")).removesuffix(b" 0\n")
    return b"%s %d\n%s" % (header, len(frame.payload), frame.payload)


@in_codec("FROG-5-14", "FROG-13.1-01")
class LengthMayBeMissing(Codec):
    """Takes a payload whose length is not said."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, rest or [str(len(payload))], payload)


@in_codec("FROG-5-15", "FROG-6-04")
class LengthsMayBeginWithZero(Codec):
    """Takes 05 for a length of five."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, [re.sub("^0+(?=[0-9])", "", text) for text in rest], payload)


@in_codec("FROG-5-15", "FROG-6-05")
class LengthsMayHaveASign(Codec):
    """Takes +5 for a length of five."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, [text.removeprefix("+") for text in rest], payload)


@in_codec("FROG-5-15")
class LengthsInAnyNotation(Codec):
    """Takes 0x5 and 5.0 for a length of five."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, [re.sub(r"^0x(?=[0-9]+$)|\.0+$", "", text) for text in rest], payload)


@in_codec("FROG-5-16")
class LengthIsNotCompared(Codec):
    """Takes a payload of whatever length it is."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        numeric = rest[:1] and rest[0].isdigit() and self.length(rest[0]) <= MAX_PAYLOAD
        return payload if numeric and len(payload) <= MAX_PAYLOAD else super().payload(form, texts, rest, payload)


@in_codec("FROG-5-16")
class CutsThePayload(Codec):
    """Cuts a payload at its declared length."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        shorter = len(rest) == 1 and re.fullmatch("0|[1-9][0-9]{0,4}", rest[0]) and int(rest[0]) < len(payload)
        return super().payload(form, texts, rest, payload[: int(rest[0])] if shorter else payload)


@in_codec("FROG-5-16", "FROG-4-07")
class SkipsALineFeedBehindThePayload(Codec):
    """Takes one line feed more than declared behind a payload."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        one_more = rest == [str(len(payload) - 1)] and payload.endswith(b"\n")
        return super().payload(form, texts, rest, payload[:-1] if one_more else payload)


@in_codec("FROG-6-07", "FROG-5-16")
class LengthsWrapAt32Bits(Codec):
    """Keeps 32 bits of a length."""

    def length(self, text: str) -> int:
        return int(text) % 2**32 if len(text) <= 30 else super().length(text)


@in_codec("FROG-5-17", "FROG-26-10")
class PayloadsOfAnyLength(Codec):
    """Has no limit for payloads."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return payload if rest == [str(len(payload))] else super().payload(form, texts, rest, payload)

    def encode(self, frame: Frame) -> bytes:
        return unbounded(Codec(), frame)


@in_codec("FROG-5-17", "FROG-26-10")
class PayloadLimitOffByOne(Codec):
    """Takes a payload of 65537 bytes."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        one_more = rest == [str(MAX_PAYLOAD + 1)] and len(payload) == MAX_PAYLOAD + 1
        return payload if one_more else super().payload(form, texts, rest, payload)

    def encode(self, frame: Frame) -> bytes:
        one_more = isinstance(frame, Signal | SignalFrom | SisterSignal) and len(frame.payload) == MAX_PAYLOAD + 1
        return unbounded(Codec(), frame) if one_more else super().encode(frame)


@in_codec("FROG-5-20", "FROG-39-02")
class PayloadsEndAt65535(Codec):
    """Refuses a payload of 65536 bytes, whose length does not fit into 16 bits."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        if len(payload) == MAX_PAYLOAD:
            raise self.misfit(form, texts, "a payload that does not fit", severe=True)
        return super().payload(form, texts, rest, payload)


@in_codec("FROG-5-20")
class MessagesEndAt65536(Codec):
    """Has a buffer of 65536 bytes for the whole message, header and all."""

    def decode(self, wire: bytes, way: Direction) -> Frame | NoFrame:
        if len(wire) > MAX_PAYLOAD:
            return self.reject("a message that does not fit", wire).instead
        return super().decode(wire, way)


@in_codec("FROG-5-21", "FROG-5-16")
class PayloadsAreNeverEmpty(Codec):
    """Refuses a payload of no bytes."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        if rest == ["0"] and not payload:
            raise self.misfit(form, texts, "no payload")
        return super().payload(form, texts, rest, payload)


@in_codec("FROG-5-18", "FROG-13.3-01")
class IgnoresAStrayPayload(Codec):
    """Does not look at what follows a command without payload."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, texts, payload if form.payload else b"")


@in_codec("FROG-13.3-01", "FROG-5-18")
class AnyCommandMayHaveAPayload(Codec):
    """Takes a length and a payload on a command that has none."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        declared = not form.payload and not form.lists and payload and texts[-1:] == [str(len(payload))]
        return super().fill(form, texts[:-1] if declared else texts, b"" if declared else payload)


@in_codec("FROG-5-19", "FROG-26-01")
class HeaderEndsAtTheLastLineFeed(Codec):
    """Looks for the payload behind the last line feed of a message."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        header, payload = super().split(wire)
        return header, payload.rpartition(b"\n")[2]


@in_codec("FROG-5-20", "FROG-39-02")
class LengthsOfFifteenBits(Codec):
    """Refuses a payload of 32768 bytes and more, whose length is negative in 16 bits."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        if len(payload) >= 32_768:
            raise self.misfit(form, texts, "a negative length", severe=True)
        return super().payload(form, texts, rest, payload)
