"""Codecs that sign other bytes than they should."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import TypeVar

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Envelope
from reference_impl.peerbus.signing import Profile, Signing, canonical_string
from targets.mutants.peerbus.codec_json import in_strings
from targets.mutants.peerbus.shelf import shelf

S = TypeVar("S", bound=type[Signing])


def signs_wrongly(*clauses: str) -> Callable[[S], S]:
    """A codec with these signature rules breaks the clauses."""

    def shelve(rules: S) -> S:
        shelf.breaks(*clauses, role="codec")(
            type(rules.__name__, (Codec,), {"__doc__": rules.__doc__, "signing_rules": rules})
        )
        return rules

    return shelve


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
