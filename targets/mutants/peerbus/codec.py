"""Codecs with one fault each."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.codec import Codec, LineDecoder
from reference_impl.peerbus.frames import Envelope, Frame, Garbage
from reference_impl.peerbus.signing import Profile, Signing, canonical_string
from targets.mutants.peerbus.shelf import shelf

S = TypeVar("S", bound=type[Signing])
L = TypeVar("L", bound=type[LineDecoder])


def signs_wrongly(*clauses: str) -> Callable[[S], S]:
    """A codec with these signature rules breaks the clauses."""

    def shelve(rules: S) -> S:
        shelf.breaks(*clauses, role="codec")(
            type(rules.__name__, (Codec,), {"__doc__": rules.__doc__, "signing_rules": rules})
        )
        return rules

    return shelve


def reads_lines_wrongly(*clauses: str) -> Callable[[L], L]:
    """A codec with this line decoder breaks the clauses."""

    def shelve(decoder: L) -> L:
        members = {"__doc__": decoder.__doc__, "lines": lambda self: decoder(self)}
        shelf.breaks(*clauses, role="codec")(type(decoder.__name__, (Codec,), members))
        return decoder

    return shelve


def in_strings(text: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The text with a change to each of its JSON strings."""
    return re.sub(rb'"(?:[^"\\]|\\.)*"', lambda match: change(match[0]), text)


# -- section 1: byte streams -------------------------------------------------------------------------------------------


@shelf.breaks("PB-1-05", role="codec")
class LinesEndWithCrLf(Codec):
    """Ends a line with CR LF."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\r\n"


@shelf.breaks("PB-1-05", role="codec")
class BlankLinesBetween(Codec):
    """Ends a line with two LF."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\n\n"


@shelf.breaks("PB-1-05", role="codec")
class NoLineFeed(Codec):
    """Writes objects one behind the other."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame)


@reads_lines_wrongly("PB-1-06")
class FirstObjectOfALine(LineDecoder):
    """Reads the first object of a line and ignores what stands behind it."""

    def line(self, line: bytes) -> Frame | Garbage:
        text = line.decode(errors="replace").strip()
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return super().line(line)
        return super().line(text[:end].encode())


@reads_lines_wrongly("PB-1-06")
class ChunksAreLines(LineDecoder):
    """Forgets the half line that a chunk ends with."""

    def feed(self, data: bytes) -> Iterator[Frame | Garbage]:
        self._buffer.clear()
        yield from super().feed(data)


@reads_lines_wrongly("PB-1-06")
class ObjectBeforeItsLineEnds(LineDecoder):
    """Takes what a chunk ends with for a line as soon as it is an object."""

    def feed(self, data: bytes) -> Iterator[Frame | Garbage]:
        yield from super().feed(data)
        if self._buffer and not isinstance(frame := self.line(bytes(self._buffer)), Garbage):
            self._buffer.clear()
            yield frame


@reads_lines_wrongly("PB-1-06")
class BadLinesVanish(LineDecoder):
    """Reads a line that is no object as an empty envelope."""

    def line(self, line: bytes) -> Frame | Garbage:
        frame = super().line(line)
        return Envelope() if isinstance(frame, Garbage) else frame


@reads_lines_wrongly("PB-1-07")
class ShortLines(LineDecoder):
    """Gives up on a line of more than 64 KiB."""

    longest = 65_536


@reads_lines_wrongly("PB-1-07")
class LineLimitCountsTheLineFeed(LineDecoder):
    """Reads lines up to one byte less than it must."""

    longest = 1_048_574


@shelf.breaks("PB-1-08", role="codec")
class BodyAsItCame(Codec):
    """Writes a pretty-printed body with its line feeds."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\n"

    def encode_envelope(self, envelope: Envelope) -> bytes:
        compact = b'"body":' + self.signing.body(envelope.body)
        return super().encode_envelope(envelope).replace(compact, b'"body":' + envelope.body)


@shelf.breaks("PB-1-08", role="codec")
class RawLineFeedInStrings(Codec):
    """Writes a line feed inside a string as it is."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame).replace(b"\\n", b"\n") + b"\n"


@shelf.breaks("PB-1-09", role="codec")
class LinesAreWrapped(Codec):
    """Wraps each object in another one on byte streams."""

    def encode_line(self, frame: Frame) -> bytes:
        return b'{"frame":' + self.encode(frame) + b"}\n"


@shelf.breaks("PB-1-09", role="codec")
class LinesOmitTheVersion(Codec):
    """Leaves the version out on byte streams."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame).replace(b'"protocol_version":"v1",', b"", 1) + b"\n"


@shelf.breaks("PB-3-11", role="codec")
class WritesNumbersAnew(Codec):
    """Decodes and encodes the body when it writes an envelope."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        body = json.dumps(json.loads(envelope.body.decode()), separators=(",", ":")).encode()
        return super().encode_envelope(replace(envelope, body=body))


# -- section 1: what is one JSON object --------------------------------------------------------------------------------


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


# -- section 4: the signed bytes ---------------------------------------------------------------------------------------


@signs_wrongly("PB-4-01")
class SignsTheHmac(Signing):
    """Signs the hmac member too."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return [*super().fields(envelope), ("hmac", b'""')]


@signs_wrongly("PB-4-01")
class DoesNotSignKind(Signing):
    """Leaves `kind` out of the signed bytes."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return [(name, text) for name, text in super().fields(envelope) if name != "kind"]


@signs_wrongly("PB-4-02")
class SignsInAlphabeticalOrder(Signing):
    """Sorts the signed members by name."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return sorted(super().fields(envelope))


@signs_wrongly("PB-4-02")
class SignsSourceBeforeTs(Signing):
    """Swaps two of the signed members."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        fields = super().fields(envelope)
        return [*fields[:4], fields[5], fields[4], *fields[6:]]


@signs_wrongly("PB-4-03")
class SignsSenderForFrom(Signing):
    """Signs `from` under another name."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return [("sender" if name == "from" else name, text) for name, text in super().fields(envelope)]


@signs_wrongly("PB-4-04")
class SignsWithSpaces(Signing):
    """Puts a space behind each colon and comma of the signed object."""

    def canonical(self, envelope: Envelope) -> bytes:
        return b"{" + b", ".join(b'"%s": %s' % (name.encode(), text) for name, text in self.fields(envelope)) + b"}"


@signs_wrongly("PB-4-04")
class SpacesInStringsVanish(Signing):
    """Removes whitespace inside the body's strings too."""

    def body(self, body: bytes) -> bytes:
        return super().body(body).replace(b" ", b"")


@signs_wrongly("PB-4-10", "PB-4-04")
class SignsTheSpacedBody(Signing):
    """Signs a body with the whitespace it came with."""

    def body(self, body: bytes) -> bytes:
        return body or b"null"


@signs_wrongly("PB-4-05")
class EmptyFieldsAreLeftOut(Signing):
    """Leaves an empty string out of the signed object."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return [(name, text) for name, text in super().fields(envelope) if text != b'""' or name == "body"]


@signs_wrongly("PB-4-05")
class EmptyFieldsAreNull(Signing):
    """Signs an empty string as null."""

    def string(self, value: str) -> bytes:
        return super().string(value) if value else b"null"


@signs_wrongly("PB-4-06")
class SortsTheBody(Signing):
    """Sorts the members of a body."""

    def body(self, body: bytes) -> bytes:
        text = super().body(body)
        if text[:1] != b"{":
            return text
        value = json.loads(text, parse_float=str)
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


@signs_wrongly("PB-4-06")
class IntegerLikeNamesFirst(Signing):
    """Moves members whose names are integers to the front, as an object of some languages does."""

    def body(self, body: bytes) -> bytes:
        pair = re.compile(rb'\{("z"|"a"):(\w+),("[0-9]+"):(\w+)')
        number_order = re.compile(rb'\{("10"):(\w+),("9"):(\w+)')
        return number_order.sub(rb"{\3:\4,\1:\2", pair.sub(rb"{\3:\4,\1:\2", super().body(body)))


@signs_wrongly("PB-4-07")
class NumbersAreNormalised(Signing):
    """Signs 1.0 as 1."""

    def body(self, body: bytes) -> bytes:
        return re.sub(rb"(?<![\w.\"\\+-])(\d+)\.0+(?![\w.])", rb"\1", super().body(body))


@signs_wrongly("PB-4-07")
class ExponentsAreLowerCase(Signing):
    """Signs 1E+5 as 1e5."""

    def body(self, body: bytes) -> bytes:
        return re.sub(rb"(?<=\d)E\+?(?=-?\d)", b"e", super().body(body))


@signs_wrongly("PB-4-08")
class DuplicatesAreMerged(Signing):
    """Signs only the last of a repeated member."""

    def body(self, body: bytes) -> bytes:
        return re.sub(rb'"a":(?:[0-9]|true|false|null),(?="a":)', b"", super().body(body))


@signs_wrongly("PB-4-09")
class EscapesAreDecoded(Signing):
    r"""Signs \u0041 as A."""

    def body(self, body: bytes) -> bytes:
        return super().body(body).replace(b"\\u0041", b"A")


@signs_wrongly("PB-4-09")
class SolidusIsUnescaped(Signing):
    r"""Signs \/ as a plain solidus."""

    def body(self, body: bytes) -> bytes:
        return in_strings(super().body(body), lambda string: re.sub(rb"(?<!\\)\\/", b"/", string))


@signs_wrongly("PB-4-09")
class EscapeDigitsAreLowerCase(Signing):
    r"""Signs \u003C as \u003c."""

    def body(self, body: bytes) -> bytes:
        return re.sub(rb"\\u[0-9a-fA-F]{4}", lambda match: match[0].lower(), super().body(body))


@signs_wrongly("PB-4-09")
class BodyIsAscii(Signing):
    """Escapes what is not ASCII in a body."""

    def body(self, body: bytes) -> bytes:
        text = super().body(body).decode(errors="replace")
        return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text).encode()


@signs_wrongly("PB-4-12")
class EmptyBodyIsAString(Signing):
    """Signs an absent body as an empty string."""

    def body(self, body: bytes) -> bytes:
        return b'""' if body == b"null" else super().body(body)


@signs_wrongly("PB-4-12")
class NoBodyNoMember(Signing):
    """Leaves an absent body out of the signed object."""

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        return [(name, text) for name, text in super().fields(envelope) if (name, text) != ("body", b"null")]


@signs_wrongly("PB-4-12")
class FalsyBodyIsNull(Signing):
    """Takes an empty or false body for an absent one."""

    def body(self, body: bytes) -> bytes:
        text = super().body(body)
        return b"null" if text in (b'""', b"0", b"false", b"[]", b"{}") else text


@signs_wrongly("PB-4-13")
class Sha512(Signing):
    """Uses SHA-512, cut to 32 bytes."""

    def mac(self, envelope: Envelope, secret: bytes) -> bytes:
        return hmac.digest(secret, self.canonical(envelope), hashlib.sha512)[:32]


@signs_wrongly("PB-4-13")
class HashForHmac(Signing):
    """Hashes secret and bytes one behind the other."""

    def mac(self, envelope: Envelope, secret: bytes) -> bytes:
        return hashlib.sha256(secret + self.canonical(envelope)).digest()


@signs_wrongly("PB-4-13")
class SecretIsCut(Signing):
    """Uses no more than 64 bytes of the secret."""

    def mac(self, envelope: Envelope, secret: bytes) -> bytes:
        return super().mac(envelope, secret[:64])


@signs_wrongly("PB-4-14")
class UpperCaseHex(Signing):
    """Writes the MAC in upper case."""

    def sign(self, envelope: Envelope, secret: bytes) -> str:
        return super().sign(envelope, secret).upper()


@signs_wrongly("PB-4-27")
class LongEscapes(Signing):
    r"""Writes a backspace as \u0008."""

    def string(self, value: str) -> bytes:
        return super().string(value).replace(b"\\b", b"\\u0008")


@signs_wrongly("PB-4-27")
class UpperCaseEscapes(Signing):
    r"""Writes U+001F as \u001F."""

    def string(self, value: str) -> bytes:
        return super().string(value).replace(b"\\u001f", b"\\u001F")


@signs_wrongly("PB-4-27")
class HeaderIsAscii(Signing):
    """Escapes what is not ASCII in header strings."""

    def string(self, value: str) -> bytes:
        return json.dumps(value).encode()


@signs_wrongly("PB-4-27")
class DelIsEscaped(Signing):
    """Escapes U+007F in header strings."""

    def string(self, value: str) -> bytes:
        return super().string(value).replace(b"\x7f", b"\\u007f")


@signs_wrongly("PB-4-27")
class SolidusIsEscaped(Signing):
    """Escapes the solidus in header strings."""

    def string(self, value: str) -> bytes:
        return super().string(value).replace(b"/", b"\\/")


@signs_wrongly("PB-4-27")
class DeclaresCodeSignsDocument(Signing):
    """Leaves the five characters raw, though it declares the code profile."""

    def string(self, value: str) -> bytes:
        return canonical_string(value, Profile.DOCUMENT)

    def body(self, body: bytes) -> bytes:
        return jsontext.compact(body) if body else b"null"


# -- section 4: what verifies ------------------------------------------------------------------------------------------


@signs_wrongly("PB-4-15")
class VerifiesTheWireText(Signing):
    """Verifies the header as it is spelled on the wire."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        plain = envelope.wire.startswith(self.canonical(envelope)[:-1].split(b',"body":')[0])
        return plain and super().verify(envelope, secret)


@signs_wrongly("PB-4-17")
class ComparesTheText(Signing):
    """Compares hex digits instead of what they decode to."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return envelope.hmac == envelope.hmac.lower() and super().verify(envelope, secret)


@signs_wrongly("PB-4-18")
class AnyMacVerifies(Signing):
    """Does not compare the MAC, only its length."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return len(secret) >= 32 and re.fullmatch("[0-9a-fA-F]{64}", envelope.hmac) is not None


@signs_wrongly("PB-4-18")
class LastByteIsNotCompared(Signing):
    """Compares all but the last byte of the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        if re.fullmatch("[0-9a-fA-F]{64}", envelope.hmac) is None:
            return False
        return super().verify(replace(envelope, hmac=envelope.hmac[:-2] + self.sign(envelope, secret)[-2:]), secret)


@signs_wrongly("PB-4-19")
class PrefixOfTheMacVerifies(Signing):
    """Compares as many bytes of the MAC as there are."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        whole = self.sign(envelope, secret)
        short = bool(envelope.hmac) and len(envelope.hmac) % 2 == 0 and whole.startswith(envelope.hmac)
        return super().verify(replace(envelope, hmac=whole) if short else envelope, secret)


@signs_wrongly("PB-4-19")
class LongMacVerifies(Signing):
    """Compares no more than the first 32 bytes of the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return super().verify(replace(envelope, hmac=envelope.hmac[:64]), secret)


@signs_wrongly("PB-4-20")
class AnySecretWillDo(Signing):
    """Verifies with a short secret."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        try:
            return binascii.unhexlify(envelope.hmac) == self.mac(envelope, secret)
        except ValueError:
            return False


@signs_wrongly("PB-4-21")
class UnsignedVerifies(Signing):
    """Takes an envelope without hmac for one that needs none."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return not envelope.hmac or super().verify(envelope, secret)


@signs_wrongly("PB-4-21")
class HexIsCleanedUp(Signing):
    """Ignores what is no hex digit in the MAC."""

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        return super().verify(replace(envelope, hmac=re.sub("[^0-9a-fA-F]", "", envelope.hmac)), secret)


@signs_wrongly("PB-4-26")
class VersionIsNotSigned(Signing):
    """Signs every version as v1."""

    def canonical(self, envelope: Envelope) -> bytes:
        return super().canonical(replace(envelope, protocol_version="v1"))
