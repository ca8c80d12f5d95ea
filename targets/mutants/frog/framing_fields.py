"""Readers that take a command with other words, fields or numbers than it has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from reference_impl.frog.codec import Codec, Direction
from reference_impl.frog.frames import Find, Frame, NoFrame, SisterHello
from reference_impl.frog.grammar import BY_WORD, Field, Form
from targets.mutants.frog.shelf import in_client, in_codec, in_server


def numbers(form: Form, texts: list[str], change: Callable[[str], str]) -> list[str]:
    """The texts, those of numbers changed."""
    whole = [*texts]
    for n, (field, text) in enumerate(zip(form.fields, texts, strict=False)):
        whole[n] = change(text) if field.number else text
    return whole


@in_codec("FROG-5-11", "FROG-13.1-01")
class IgnoresExtraFields(Codec):
    """Reads the fields that it knows and no more."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        known = texts if form.lists else texts[: len(form.fields) + form.payload]
        return super().fill(form, known, payload)


@in_codec("FROG-5-11", "FROG-5-16")
class IgnoresFieldsBehindTheLength(Codec):
    """Takes more fields behind the payload's length."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        return super().payload(form, texts, rest[:1], payload)


@in_codec("FROG-6-06")
class TakesMetadata(Codec):
    """Skips fields with an equals sign behind the command's own."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        own = len(form.fields)
        return super().fill(form, texts[:own] + [text for text in texts[own:] if "=" not in text], payload)


@in_codec("FROG-6-06")
class TakesComments(Codec):
    """Cuts a comment off the header."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.partition(b" #")[0])


@in_codec("FROG-5-12")
class WordsByTheirBeginning(Codec):
    """Takes a longer word for the command that it begins with."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        known = [word for word in BY_WORD[way] if words[0].startswith(word)]
        return super().command([max(known, key=len, default=words[0]), *words[1:]], payload, way)


@in_codec("FROG-5-12")
class KnowsOtherNames(Codec):
    """Knows QUIT, BYE and PING as names of LEAVE."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        word = "LEAVE" if words[0] in ("QUIT", "BYE", "PING") else words[0]
        return super().command([word, *words[1:]], payload, way)


@in_codec("FROG-5-13")
class EveryDirectionIsMine(Codec):
    """Takes a command of whichever direction."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        fitting = way if words[0] in BY_WORD[way] else next((d for d in Direction if words[0] in BY_WORD[d]), way)
        return super().command(words, payload, fitting)


@in_client("FROG-5-13")
class AtSignsDoNotMatter(Codec):
    """Takes a sister's CHAL or ERR for a server's."""

    def heard_by_client(self, wire: bytes) -> Frame | NoFrame:
        return super().heard_by_client(wire.removeprefix(b"@"))


@in_codec("FROG-6-01")
class WordsInAnyCase(Codec):
    """Does not look at the case of a command."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        return super().command([words[0].upper(), *words[1:]], payload, way)


@in_codec("FROG-51-01", "FROG-13-01")
class AnyVersionWillDo(Codec):
    """Takes HELLO of every version."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        if words[0] == "HELLO" and words[1:2] and words[1].startswith("FROG/"):
            words = ["HELLO", "FROG/1", *words[2:]]
        return super().command(words, payload, way)


@in_codec("FROG-13-01", "FROG-13.1-01")
class HelloNeedsNoVersion(Codec):
    """Takes HELLO without a version."""

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        return super().command(["HELLO", "FROG/1"] if words == ["HELLO"] else words, payload, way)


@in_codec("FROG-13.1-01", "FROG-13-01")
class LimitsHaveADefault(Codec):
    """Takes FIND and GETSERVERS without a limit."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        short = form.words[0] in ("FIND", "GETSERVERS") and len(texts) == 1
        return super().fill(form, [*texts, "7"] if short else texts, payload)


@in_codec("FROG-13.1-03")
class KindsInAnyCase(Codec):
    """Takes a kind in lower case."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        kinds = [text.upper() if text in ("offer", "answer", "ice") else text for text in texts]
        return super().fill(form, kinds, payload)


@in_codec("FROG-13.1-03")
class AnyKindWillDo(Codec):
    """Takes every word for a kind."""

    def legal(self, field: Field, text: str) -> bool:
        return field.name == "kind" or super().legal(field, text)


@in_codec("FROG-6-04")
class LimitsMayBeginWithZero(Codec):
    """Takes 07 for a limit of seven."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, numbers(form, texts, lambda text: re.sub("^0+(?=[0-9])", "", text)), payload)


@in_codec("FROG-6-04")
class CountsMayBeginWithZero(Codec):
    """Takes 01 for a count of one."""

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        return super().counted(form, texts, [re.sub("^0+(?=[0-9])", "", text) for text in rest[:1]] + rest[1:])


@in_codec("FROG-6-05")
class LimitsMayHaveASign(Codec):
    """Takes +3 for a limit of three."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, numbers(form, texts, lambda text: text.removeprefix("+")), payload)


@in_codec("FROG-6-05")
class LimitsMayBeFractions(Codec):
    """Takes 3.0 and 3e0 for a limit of three."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        def whole(text: str) -> str:
            return str(int(float(text))) if re.fullmatch(r"[0-9]\.0+|[0-9]e0", text) else text

        return super().fill(form, numbers(form, texts, whole), payload)


@in_codec("FROG-6-05")
class LimitsMayBeHexadecimal(Codec):
    """Takes 0x3 for a limit of three."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        return super().fill(form, numbers(form, texts, lambda text: text.removeprefix("0x")), payload)


@in_codec("FROG-6-07", "FROG-21-02", "FROG-22-01")
class LimitsWrapAt32Bits(Codec):
    """Keeps 32 bits of a limit."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        def wrapped(text: str) -> str:
            return str(int(text) % 2**32) if re.fullmatch("[1-9][0-9]{9,24}", text) else text

        return super().fill(form, numbers(form, texts, wrapped), payload)


@in_codec("FROG-21-02")
class GetServersOfNone(Codec):
    """Takes GETSERVERS with a limit of 0."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        none = form.words == ("GETSERVERS",) and texts[1:] == ["0"]
        return super().fill(form, [texts[0], "1"] if none else texts, payload)


@in_codec("FROG-21-02")
class GetServersOfEight(Codec):
    """Takes GETSERVERS with a limit of 8 for one of 7."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        eight = form.words == ("GETSERVERS",) and texts[1:] == ["8"]
        return super().fill(form, [texts[0], "7"] if eight else texts, payload)


@in_codec("FROG-22-01")
class FindLimitIsClamped(Codec):
    """Takes a FIND with a limit above 7 for one with 7."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        clamped = numbers(
            form, texts, lambda text: "7" if text.isdigit() and len(text) < 20 and int(text) > 7 else text
        )
        return super().fill(form, clamped if form.frame is Find else texts, payload)


@in_server("FROG-39-01", "FROG-22-01", "FROG-21-02")
class LimitsEndAtFive(Codec):
    """Refuses a limit of 6 or 7."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "limit" and text in ("6", "7"))


@in_codec("FROG-13.2-01", "FROG-8-16")
class TildesEndNoCommand(Codec):
    """Refuses a URI with a tilde where it is a field of a command."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "uri" and "~" in text)


@in_codec("FROG-13.2-01", "FROG-8-15")
class UrisAreWords(Codec):
    """Refuses a URI with a mark such as `!` or `;` where it is a field of a command."""

    def legal(self, field: Field, text: str) -> bool:
        return super().legal(field, text) and not (field.name == "uri" and re.search(r"[!$&'()*+,;=]", text))


@in_codec("FROG-13.2-01", "FROG-8-19")
class UrisAreDecoded(Codec):
    """Reads the escapes of a URI that is a field of a command."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        frame = super().fill(form, texts, payload)
        return replace(frame, uri=unquote(frame.uri)) if isinstance(frame, SisterHello) else frame
