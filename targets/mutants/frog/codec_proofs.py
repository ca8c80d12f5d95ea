"""Codecs that take a key or a signature in another form than its one text."""

from __future__ import annotations

import contextlib
import re

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Frame
from reference_impl.frog.grammar import Field, Form
from reference_impl.frog.identifiers import ALPHABET, KEY_SIZE, SIGNATURE_SIZE, NotCanonical, decode, encode, is_encoded
from targets.mutants.frog.shelf import in_codec, in_server
from targets.reference.frog import Names


def tolerant(text: str, size: int) -> bytes:
    """The bytes of a text, whatever its spare bits."""
    spare = len(text) * 5 - size * 8
    try:
        return decode(text[:-1] + ALPHABET[ALPHABET.index(text[-1]) >> spare << spare], size)
    except (ValueError, IndexError):
        raise NotCanonical("no such symbol") from None


@in_codec("FROG-7.3-03")
class IgnoresSpareBits(Names):
    """Does not look at the unused bits at the end."""

    def decode(self, text: str, size: int) -> bytes:
        return tolerant(text, size) if len(text) == -(-size * 8 // 5) else super().decode(text, size)


@in_codec("FROG-7.3-03")
class IgnoresSpareBitsOfSignatures(Names):
    """Looks at the unused bits of keys only."""

    def valid(self, kind: str, text: str) -> bool:
        if kind != "signature" or len(text) != 103:
            return super().valid(kind, text)
        return super().valid(kind, text[:-1] + "0") and text[-1] in ALPHABET


def mended(texts: list[str], place: int, size: int) -> list[str]:
    """The texts of an AUTH, one of them made canonical."""
    if len(texts) != 2 or len(texts[place]) != -(-size * 8 // 5):
        return texts
    with contextlib.suppress(NotCanonical):
        texts[place] = encode(tolerant(texts[place], size))
    return texts


@in_server("FROG-17-07", "FROG-7.3-03")
class MendsKeys(Codec):
    """Takes a key whose unused bits are not zero."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, mended([*texts], 0, KEY_SIZE) if form.words == ("AUTH",) else texts, payload)


@in_server("FROG-17-08", "FROG-7.3-03")
class MendsSignatures(Codec):
    """Takes a signature whose unused bits are not zero."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, mended([*texts], 1, SIGNATURE_SIZE) if form.words == ("AUTH",) else texts, payload)


@in_server("FROG-17-08", "FROG-7.2-04")
class CutsSignatures(Codec):
    """Reads 103 characters of a signature, and not what is behind them."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        cut = [texts[0], texts[1][:103]] if form.words == ("AUTH",) and len(texts) == 2 else texts
        return super().fill(form, cut, payload)


@in_server("FROG-17-07", "FROG-9.1-04")
class TakesSpki(Codec):
    """Takes a key in the structure that certificates have it in."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        if form.words == ("AUTH",) and len(texts) == 2 and is_encoded(44)(texts[0]):
            texts = [encode(decode(texts[0], 44)[-KEY_SIZE:]), texts[1]]
        return super().fill(form, texts, payload)


@in_codec("FROG-9.2-01")
class KeysOf53(Names):
    """Takes a key with one character more."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text[:52] if kind == "public_key" and len(text) == 53 else text)


@in_codec("FROG-9.2-01", "FROG-13.1-01")
class KeysByTheirLength(Codec):
    """Takes every text of 51 or 52 symbols for a key."""

    def legal(self, field: Field, text: str) -> bool:
        named = field.name == "public_key" and re.fullmatch("[0-9A-HJKMNP-TV-Z]{51,52}", text)
        return bool(named) or super().legal(field, text)


@in_codec("FROG-9.3-01")
class SignaturesOf104(Names):
    """Takes a signature of 104 characters, a multiple of eight."""

    def valid(self, kind: str, text: str) -> bool:
        return super().valid(kind, text[:103] if kind == "signature" and len(text) == 104 else text)


@in_codec("FROG-9.3-01", "FROG-13.1-01")
class SignaturesByTheirLength(Codec):
    """Takes every text of 102 or 103 symbols for a signature."""

    def legal(self, field: Field, text: str) -> bool:
        named = field.name == "signature" and re.fullmatch("[0-9A-HJKMNP-TV-Z]{102,103}", text)
        return bool(named) or super().legal(field, text)


@in_codec("FROG-9.1-04")
class KeysInStructures(Names):
    """Takes a key in the structure that certificates have it in."""

    def valid(self, kind: str, text: str) -> bool:
        spki = kind == "public_key" and re.fullmatch("[0-9A-HJKMNP-TV-Z]{71}", text)
        return bool(spki) or super().valid(kind, text)
