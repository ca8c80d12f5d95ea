"""Codecs that take what is no JSON object for one."""

from __future__ import annotations

import re
from collections.abc import Callable

from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Frame, Garbage
from targets.mutants.peerbus.shelf import shelf


def in_strings(text: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The text with a change to each of its JSON strings."""
    return re.sub(rb'"(?:[^"\\]|\\.)*"', lambda match: change(match[0]), text)


class Lenient(Codec):
    """Base of codecs that repair a text before they read it."""

    def repair(self, text: bytes) -> bytes:
        return text

    def decode(self, text: bytes) -> Frame | Garbage:
        return super().decode(self.repair(text))


@shelf.breaks("PB-1-03", role="codec")
class TrailingCommas(Lenient):
    """Takes a comma before a closing bracket."""

    def repair(self, text: bytes) -> bytes:
        return re.sub(rb",(\s*[}\]])", rb"\1", text)


@shelf.breaks("PB-1-03", role="codec")
class TextBehindTheObject(Lenient):
    """Ignores what stands behind the last bracket."""

    def repair(self, text: bytes) -> bytes:
        return text[: text.rfind(b"}") + 1]


@shelf.breaks("PB-1-03", role="codec")
class NumbersOutsideJson(Lenient):
    """Takes NaN for a number."""

    def repair(self, text: bytes) -> bytes:
        return text.replace(b"NaN", b"0")


@shelf.breaks("PB-1-03", role="codec")
class NumberAsString(Lenient):
    """Takes a number for a string."""

    def repair(self, text: bytes) -> bytes:
        return re.sub(rb'("(?:id|hmac|protocol_version)":)(\d+)', rb'\1"\2"', text)


@shelf.breaks("PB-1-03", role="codec")
class ControlsInStrings(Lenient):
    """Takes raw control characters inside strings."""

    def repair(self, text: bytes) -> bytes:
        return in_strings(text, lambda string: re.sub(rb"[\x00-\x1f]", b"?", string))
