"""Codecs whose envelope layer has one fault each, asked by themselves; some also inside a node."""

from __future__ import annotations

import base64
import re

from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import MAGIC, Envelope, Garbage, Message, Reason
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-ENV-01", role="codec")
class MagicInAnyCase(Codec):
    """Takes the magic in lower case too."""

    def is_ours(self, magic: str) -> bool:
        return magic.upper() == MAGIC


@shelf.breaks("BCCN-ENV-01", role="codec")
class MagicAnywhere(Codec):
    """Looks for the magic instead of expecting it at byte 0."""

    def is_ours(self, magic: str) -> bool:
        return magic.endswith(MAGIC)


@shelf.breaks("BCCN-ENV-02", role="codec")
class EveryVersionIsRead(Codec):
    """Reads any version's body by the rules of this one."""

    def is_ours(self, magic: str) -> bool:
        return magic.startswith("BCCN")


@shelf.breaks("BCCN-ENV-02", "BCCN-ENV-01", role="node")
class EveryVersionIsDelivered(EveryVersionIsRead):
    """Reads any version's body by the rules of this one."""


@shelf.breaks("BCCN-ENV-03", role="codec")
class BlankBeforeTheBracket(Codec):
    """Allows something between magic and bracket."""

    def is_ours(self, magic: str) -> bool:
        return magic.rstrip(" :") == MAGIC


@shelf.breaks("BCCN-ENV-03", role="codec")
class AnyBracketWillDo(Codec):
    """Takes round and curly brackets for square ones."""

    def envelope(self, data: bytes) -> Envelope:
        return super().envelope(re.sub(rb"^BCCN1[({]([^)}]*)[)}]", rb"BCCN1[\1]", data))


@shelf.breaks("BCCN-ENV-04", "BCCN-ENV-20", role="codec")
class LastBracketCloses(Codec):
    """Looks for the closing bracket from the end."""

    def envelope(self, data: bytes) -> Envelope:
        opening, closing = data.find(b"["), data.rfind(b"]")
        if opening < 1 or closing < opening:
            raise Malformed(Reason.ENVELOPE, "no magic and bracket")
        length, algo, sum = self.bracket(data[opening + 1 : closing].decode("latin-1"))
        body = data[closing + 1 :]
        if not self.length_is_true(length, body):
            raise Malformed(Reason.ENVELOPE, "len")
        return Envelope(data[:opening].decode("latin-1"), body, algo, sum)


@shelf.breaks("BCCN-ENV-05", role="codec")
class BlanksInTheBracketAreSkipped(Codec):
    """Ignores whitespace inside the brackets."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        return super().bracket("".join(inside.split()))


@shelf.breaks("BCCN-ENV-05", role="codec")
class WritesABlankInTheBracket(Codec):
    """Writes the len with a blank behind it."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        return super().encode(message, key, algo).replace(b"]", b" ]", 1)


@shelf.breaks("BCCN-ENV-06", role="codec")
class LenMayBeAnywhere(Codec):
    """Takes len and check in either order, and a missing len for a true one."""

    def envelope(self, data: bytes) -> Envelope:
        head, _, body = data.partition(b"]")
        turned = re.sub(rb"\[([a-z][^:\]]*):([0-9]+)$", rb"[\2:\1", head)
        turned = re.sub(rb"\[(:|$)", b"[%d\\1" % len(body), turned)
        return super().envelope(turned + b"]" + body if b"]" in data else data)


@shelf.breaks("BCCN-ENV-07", role="codec")
class LenAsTheLanguageReadsIt(Codec):
    """Takes whatever the language's integer parser takes."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        length, colon, check = inside.partition(":")
        try:
            length = str(int(length, 0)) if not length.startswith("0") or "x" in length else str(int(length))
        except ValueError:
            raise Malformed(Reason.ENVELOPE, "len") from None
        return super().bracket(length + colon + check)


@shelf.breaks("BCCN-ENV-07", role="codec")
class LenAsCReadsIt(Codec):
    """Reads digits until something else comes, and ignores that."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        length, colon, check = inside.partition(":")
        digits = re.match(r"[0-9]+", length)
        return super().bracket((digits[0] if digits else "") + colon + check)


@shelf.breaks("BCCN-ENV-08", role="codec")
class BytesBehindAreIgnored(Codec):
    """Ignores what follows the len-th byte."""

    def envelope(self, data: bytes) -> Envelope:
        head = data.partition(b"]")[0]
        length = head.partition(b"[")[2].partition(b":")[0]
        return super().envelope(data[: len(head) + 1 + int(length)] if length.isdigit() and len(length) < 9 else data)


@shelf.breaks("BCCN-ENV-08", role="node")
class BytesBehindAreIgnoredByANode(BytesBehindAreIgnored):
    """Ignores what follows the len-th byte."""


@shelf.breaks("BCCN-ENV-08", role="codec")
class LenMayBeTooLarge(Codec):
    """Takes a body that is shorter than len."""

    def length_is_true(self, length: str, body: bytes) -> bool:
        return int(length[:20]) >= len(body) > 0


@shelf.breaks("BCCN-ENV-08", role="codec")
class LenWrapsAround(Codec):
    """Keeps 64 bits of len."""

    def length_is_true(self, length: str, body: bytes) -> bool:
        return int(length) % 2**64 == len(body)


@shelf.breaks("BCCN-ENV-10", role="codec")
class LenCountsCharacters(Codec):
    """Counts characters instead of bytes."""

    def length_of(self, body: bytes) -> int:
        return len(body.decode(errors="replace"))

    def length_is_true(self, length: str, body: bytes) -> bool:
        return int(length[:20]) == self.length_of(body)


@shelf.breaks("BCCN-ENV-11", role="codec")
class ColonIsNoDelimiter(Codec):
    """Takes the whole bracket for the len."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        if ":" in inside:
            raise Malformed(Reason.ENVELOPE, "len")
        return super().bracket(inside)


@shelf.breaks("BCCN-ENV-12", "BCCN-ENV-11", role="node")
class EqualsIsNoDelimiter(Codec):
    """Splits name and value of a check at a second colon."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        if "=" in inside:
            raise Malformed(Reason.ENVELOPE, "check")
        return super().bracket(inside.replace(":", "=").replace("=", ":", 1))


@shelf.breaks("BCCN-ENV-12", role="codec")
class EqualsIsNoDelimiterInACodec(EqualsIsNoDelimiter):
    """Splits name and value of a check at a second colon."""


@shelf.breaks("BCCN-ENV-13", role="codec")
class OtherPartsAreIgnored(Codec):
    """Ignores what follows the check in the bracket."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        return super().bracket(re.sub(r"(=[0-9a-fA-F]+)[:,= ].*", r"\1", inside, flags=re.DOTALL))


@shelf.breaks("BCCN-ENV-14", role="codec")
class AlgoInAnyCase(Codec):
    """Takes the name of a check in capitals."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        return super().bracket(inside.replace("HMAC=", "hmac="))


@shelf.breaks("BCCN-ENV-14", "BCCN-INT-04", role="codec")
class AlgoInCapitals(Codec):
    """Writes the name of a check in capitals."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        return super().encode(message, key, algo).replace(b":hmac=", b":HMAC=", 1)


@shelf.breaks("BCCN-ENV-15", role="codec")
class SumInBase64(Codec):
    """Writes the tag in base64."""

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        return base64.b64encode(bytes.fromhex(super().check(algo, body, key))).decode()


@shelf.breaks("BCCN-ENV-15", role="codec")
class SumThatIsNoHexPasses(Codec):
    """Takes a sum that cannot be read for none."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return envelope.sum == "00" or super().passes(envelope, key)

    def bracket(self, inside: str) -> tuple[str, str, str]:
        return super().bracket(re.sub(r":hmac=(?![0-9a-fA-F]+$)[^:]+$", ":hmac=00", inside))


@shelf.breaks("BCCN-ENV-16", role="codec")
class CheckIsMandatory(Codec):
    """Refuses a bracket that is a len and nothing else."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        if ":" not in inside:
            raise Malformed(Reason.ENVELOPE, "no check")
        return super().bracket(inside)


@shelf.breaks("BCCN-ENV-17", role="codec")
class AlwaysWritesAColon(Codec):
    """Writes the colon also where no check follows."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        data = super().encode(message, key, algo)
        return data if key else data.replace(b"]", b":]", 1)


@shelf.breaks("BCCN-ENV-17", "BCCN-INT-16", role="node")
class AlwaysSendsAColon(AlwaysWritesAColon):
    """Writes the colon also where no check follows."""


@shelf.breaks("BCCN-ENV-18", role="codec")
class LenHasThreeDigits(Codec):
    """Writes no len above 999."""

    def length_of(self, body: bytes) -> int:
        return min(len(body), 999)


@shelf.breaks("BCCN-ENV-18", role="node")
class LenCountsThePayload(Codec):
    """Writes the payload's length as len."""

    def length_of(self, body: bytes) -> int:
        return len(body.partition(b"|")[2])


@shelf.breaks("BCCN-ENV-19", role="codec")
class EnvelopeKnowsOneVersion(Codec):
    """Refuses the envelope of any other version."""

    def envelope(self, data: bytes) -> Envelope:
        if not data.startswith(b"BCCN1["):
            raise Malformed(Reason.ENVELOPE, "magic")
        return super().envelope(data)


@shelf.breaks("BCCN-ENV-20", "BCCN-BODY-08", role="codec")
class LastMagicBegins(Codec):
    """Takes a magic in the payload for the datagram's beginning."""

    def envelope(self, data: bytes) -> Envelope:
        return super().envelope(data[max(0, data.rfind(b"BCCN1[")) :])


@shelf.breaks("BCCN-ENV-21", role="codec")
class HalfACheckIsNone(Codec):
    """Takes a colon with half a check behind it for no check."""

    def bracket(self, inside: str) -> tuple[str, str, str]:
        length, colon, check = inside.partition(":")
        half = colon and ("=" not in check or check.startswith("=") or check.endswith("="))
        return super().bracket(length if half else inside)


@shelf.breaks("BCCN-ENV-22", role="codec")
class ShortDatagramsRaise(Codec):
    """Stumbles over a datagram that is shorter than a magic."""

    def decode(self, data: bytes, key: bytes = b"") -> Message | Garbage:
        return super().decode(data, key) if data[5] else Garbage(Reason.ENVELOPE, "short")
