"""Codecs that get Crockford's Base32 wrong."""

from __future__ import annotations

import base64
import re

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Frame
from reference_impl.frog.grammar import Form
from reference_impl.frog.identifiers import ALPHABET
from targets.mutants.frog.shelf import in_codec
from targets.reference.frog import Names

LOOKALIKES = str.maketrans("ILO", "110")
ENCODED = ("public_key", "signature")
SYMBOLS = (*ENCODED, "fingerprint", "server_id", "route_id", "nonce")


@in_codec("FROG-7.2-01", "FROG-7.3-01")
class OtherAlphabet(Names):
    """Writes the Base32 of RFC 4648."""

    def encode(self, raw: bytes) -> str:
        return base64.b32encode(raw).decode().rstrip("=")


@in_codec("FROG-7.2-01")
class TakesTheLetterU(Names):
    """Takes U for a symbol, of the value of V."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text.replace("U", "V"), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.replace("U", "V") if kind in SYMBOLS else text)


@in_codec("FROG-7.2-02")
class MapsLookalikes(Names):
    """Reads I and L as 1 and O as 0."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text.translate(LOOKALIKES), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.translate(LOOKALIKES) if kind in SYMBOLS else text)


@in_codec("FROG-7.2-02")
class ReadsLookalikes(Codec):
    """Reads I and L as 1 and O as 0 in keys, signatures and route ids."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        names = [field.name for field in form.fields]
        read = [*texts]
        for n, name in enumerate(names[: len(texts)]):
            read[n] = texts[n].translate(LOOKALIKES) if name in SYMBOLS else texts[n]
        return super().fill(form, read, payload)


@in_codec("FROG-7.2-03")
class FoldsCase(Names):
    """Reads lower case as upper case."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text.upper(), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.upper() if kind in SYMBOLS else text)


@in_codec("FROG-7.2-03", "FROG-17-07", "FROG-17-08")
class ReadsProofsInLowerCase(Codec):
    """Reads the key and signature of AUTH in lower case too."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, [t.upper() for t in texts] if form.words[0].endswith("AUTH") else texts, payload)


@in_codec("FROG-7.2-03", "FROG-17-02")
class FoldsFingerprints(Codec):
    """Reads the fingerprint of a peer key in lower case too."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, [re.sub("(?<=:).*", lambda m: m[0].upper(), text) for text in texts], payload)


@in_codec("FROG-7.2-04")
class SkipsHyphens(Names):
    """Leaves hyphens out of what it decodes."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text.replace("-", ""), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.replace("-", "") if kind in SYMBOLS else text)


@in_codec("FROG-7.2-04")
class TakesPadding(Names):
    """Takes padding behind a text."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text.rstrip("="), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text.rstrip("=") if kind in ENCODED else text)


@in_codec("FROG-7.2-04")
class TakesACheckSymbol(Names):
    """Takes one of Crockford's check symbols behind a text."""

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(re.sub("[*~$=U]$", "", text), size)

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, re.sub("[*~$=U]$", "", text) if kind in SYMBOLS else text)


@in_codec("FROG-7.3-01")
class ZeroBitsInFront(Names):
    """Encodes a number: the bits that are missing are zeros at the beginning."""

    def encode(self, raw: bytes) -> str:
        length, number = -(-len(raw) * 8 // 5), int.from_bytes(raw, "big")
        return "".join(ALPHABET[number >> 5 * place & 31] for place in range(length - 1, -1, -1))


@in_codec("FROG-7.3-01")
class LittleEndian(Names):
    """Encodes the last byte first."""

    def encode(self, raw: bytes) -> str:
        return super().encode(raw[::-1])

    def decode(self, text: str, size: int) -> bytes:
        return super().decode(text, size)[::-1]


@in_codec("FROG-7.3-01")
class LosesALeadingZero(Names):
    """Leaves leading zeros out, as numbers have none."""

    def encode(self, raw: bytes) -> str:
        return super().encode(raw).lstrip("0")


@in_codec("FROG-7.3-02")
class WritesPadding(Names):
    """Fills a text up to eight characters with padding."""

    def encode(self, raw: bytes) -> str:
        text = super().encode(raw)
        return text + "=" * (-len(text) % 8)
