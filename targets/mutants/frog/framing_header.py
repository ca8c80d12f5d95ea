"""Readers that take a header line which is none: its end, its bytes, its blanks."""

from __future__ import annotations

import re
import unicodedata

from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import MAX_HEADER
from targets.mutants.frog.shelf import in_codec

BLANKS = bytes.maketrans(b"\x0b\x0c\x1c\x1d\x1e\x1f", b"      ")


@in_codec("FROG-5-01")
class NeedsNoLineFeed(Codec):
    """Takes the end of a message for the end of its header."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        return super().split(wire if b"\n" in wire else wire + b"\n")


@in_codec("FROG-5-02")
class SkipsBytesThatAreNoUtf8(Codec):
    """Leaves out of a header what is not UTF-8."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.decode("utf-8", "ignore").encode())


@in_codec("FROG-5-03")
class FoldsWideCharacters(Codec):
    """Reads compatible Unicode characters, such as wide digits, as ASCII."""

    def words(self, header: bytes) -> list[str]:
        return super().words(unicodedata.normalize("NFKC", header.decode("utf-8", "replace")).encode())


@in_codec("FROG-5-03")
class SkipsTheByteOrderMark(Codec):
    """Takes a byte order mark before the header."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.removeprefix(b"\xef\xbb\xbf"))

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        return super().split(wire.removeprefix(b"\xef\xbb\xbf"))


@in_codec("FROG-5-04")
class HeadersOfAnyLength(Codec):
    """Does not count the bytes of a header."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        header, newline, payload = wire.partition(b"\n")
        return (header, payload) if newline else super().split(wire)


@in_codec("FROG-5-04")
class HeaderLimitOffByOne(Codec):
    """Takes a header of 4097 bytes."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        header, newline, payload = wire.partition(b"\n")
        return (header, payload) if newline and len(header) == MAX_HEADER + 1 else super().split(wire)


@in_codec("FROG-5-04", "FROG-13.1-02")
class HeadersOf1024Bytes(Codec):
    """Has a buffer of 1024 bytes for a header, and refuses a TRY with seven long URIs."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        header, payload = super().split(wire)
        if len(header) > 1024:
            raise self.reject("a header that does not fit", wire)
        return header, payload


@in_codec("FROG-5-05")
class LinesMayEndWithCarriageReturn(Codec):
    """Takes CR LF for the end of a header."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.removesuffix(b"\r"))


@in_codec("FROG-5-05")
class SkipsCarriageReturns(Codec):
    """Leaves carriage returns out wherever they are, but at the end."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header if header.endswith(b"\r") else header.replace(b"\r", b""))


@in_codec("FROG-5-06")
class SkipsLeadingSpaces(Codec):
    """Takes spaces before the command."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.lstrip(b" "))


@in_codec("FROG-5-07")
class SkipsTrailingSpaces(Codec):
    """Takes spaces behind the last field."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.rstrip(b" "))


@in_codec("FROG-5-08")
class TabsAreSpaces(Codec):
    """Takes a tab between two fields."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.replace(b"\t", b" "))


@in_codec("FROG-5-08")
class SkipsTrailingTabs(Codec):
    """Takes a tab at the end of the header."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.rstrip(b"\t"))


@in_codec("FROG-5-09")
class ManySpacesAreOne(Codec):
    """Takes more than one space between two fields."""

    def words(self, header: bytes) -> list[str]:
        return super().words(re.sub(rb"(?<=[^ ]) +(?=[^ ])", b" ", header))


@in_codec("FROG-5-10", "FROG-5-09")
class SkipsEmptyFields(Codec):
    """Leaves empty fields out, wherever they are."""

    def words(self, header: bytes) -> list[str]:
        return super().words(b" ".join(field for field in header.split(b" ") if field))


@in_codec("FROG-6-03")
class EveryBlankSeparates(Codec):
    """Takes any control character that is a blank to its library for a separator."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.translate(BLANKS))


@in_codec("FROG-6-03")
class HeaderEndsAtNul(Codec):
    """Reads a header as far as the first NUL."""

    def words(self, header: bytes) -> list[str]:
        return super().words(header.partition(b"\0")[0])


@in_codec("FROG-4-07", "FROG-5-18")
class SkipsALastEmptyLine(Codec):
    """Takes one more line feed behind a command without payload."""

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        header, payload = super().split(wire)
        return header, b"" if payload == b"\n" and not header.startswith((b"SIGNAL", b"@SIGNAL")) else payload
