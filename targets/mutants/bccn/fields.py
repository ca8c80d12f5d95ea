"""Codecs that get a field of the body wrong: src, seq or chan."""

from __future__ import annotations

import re

from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import Reason
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-SRC-01", role="codec")
class SrcWithoutLimit(Codec):
    """Takes a src of any length."""

    def src(self, text: str) -> str:
        return self.name(text, 10**6, "src")


@shelf.breaks("BCCN-SRC-01", role="codec")
class SrcMayBeEmpty(Codec):
    """Takes an empty src."""

    def src(self, text: str) -> str:
        return super().src(text) if text else text


@shelf.breaks("BCCN-SRC-01", role="node")
class SrcOf127AtMost(Codec):
    """Counts a terminating NUL."""

    def src(self, text: str) -> str:
        return self.name(text, 127, "src")


@shelf.breaks("BCCN-SRC-02", role="codec")
class HighBytesVanishFromSrc(Codec):
    """Leaves bytes above 127 out of a src."""

    def src(self, text: str) -> str:
        return super().src("".join(char for char in text if char < "\x80"))


@shelf.breaks("BCCN-CHN-02", role="codec")
class HighBytesVanishFromChan(Codec):
    """Leaves bytes above 127 out of a channel."""

    def chan(self, text: str) -> str:
        return super().chan("".join(char for char in text if char < "\x80"))


@shelf.breaks("BCCN-SRC-03", role="codec")
class SrcWithBlanks(Codec):
    """Takes whitespace in a src."""

    def src(self, text: str) -> str:
        super().src(re.sub(r"\s", "_", text))
        return text


@shelf.breaks("BCCN-SRC-03", role="node")
class SrcIsTrimmed(Codec):
    """Strips whitespace off a src."""

    def src(self, text: str) -> str:
        return super().src(text.strip())


@shelf.breaks("BCCN-SRC-03", role="codec")
class OnlyCommonBlanks(Codec):
    """Does not take VT and FF for whitespace."""

    def name(self, text: str, most: int, what: str) -> str:
        super().name(re.sub(r"[\v\f]", "_", text), most, what)
        return text


@shelf.breaks("BCCN-SRC-04", role="codec")
class SrcWithSeparators(Codec):
    """Takes colon and bar in a src."""

    def src(self, text: str) -> str:
        super().src(re.sub(r"[:|]", "_", text))
        return text


@shelf.breaks("BCCN-SRC-04", role="node")
class SrcWithSeparatorsSent(SrcWithSeparators):
    """Takes colon and bar in a src."""


@shelf.breaks("BCCN-SRC-05", role="codec")
class SrcOfWords(Codec):
    """Takes letters, digits and a few marks in a src, and nothing else."""

    def src(self, text: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_./?-]+", text):
            raise Malformed(Reason.BODY, "src")
        return super().src(text)


@shelf.breaks("BCCN-SRC-05", role="codec")
class SrcEndsAtNul(Codec):
    """Takes the src for a C string."""

    def src(self, text: str) -> str:
        return super().src(text.partition("\0")[0])


@shelf.breaks("BCCN-SRC-05", role="node")
class SrcInLowerCase(Codec):
    """Makes a src lower-case."""

    def src(self, text: str) -> str:
        return super().src(text).lower()


@shelf.breaks("BCCN-SRC-07", role="codec")
class UnknownSrcIsRefused(Codec):
    """Refuses the src "?"."""

    def src(self, text: str) -> str:
        if text == "?":
            raise Malformed(Reason.BODY, "src")
        return super().src(text)


@shelf.breaks("BCCN-SRC-08", role="codec")
class QuestionMarksAreRefused(Codec):
    """Refuses a "?" in a longer src."""

    def src(self, text: str) -> str:
        if "?" in text and text != "?":
            raise Malformed(Reason.BODY, "src")
        return super().src(text)


@shelf.breaks("BCCN-SEQ-01", role="codec")
class SeqAsTheLanguageReadsIt(Codec):
    """Takes whatever the language's integer parser takes."""

    def seq(self, text: str) -> int:
        try:
            return super().seq(str(int(text, 0) if text[:2] in ("0x", "0o") else int(text)))
        except ValueError:
            raise Malformed(Reason.BODY, "seq") from None


@shelf.breaks("BCCN-SEQ-01", role="codec")
class SeqAsCReadsIt(Codec):
    """Reads digits until something else comes, and ignores that."""

    def seq(self, text: str) -> int:
        digits = re.match(r"[0-9]+", text)
        return super().seq(digits[0] if digits else "")


@shelf.breaks("BCCN-SEQ-02", role="codec")
class SeqWithoutLimit(Codec):
    """Takes a number of any size."""

    def seq(self, text: str) -> int:
        return int(text) if re.fullmatch("[0-9]+", text) else super().seq(text)


@shelf.breaks("BCCN-SEQ-02", role="node")
class SeqWraps(Codec):
    """Keeps the low 64 bits of a number."""

    def seq(self, text: str) -> int:
        return int(text) % 2**64 if re.fullmatch("[0-9]+", text) else super().seq(text)


@shelf.breaks("BCCN-SEQ-02", "BCCN-SEQ-07", role="codec")
class SeqIsSigned(Codec):
    """Takes 63 bits."""

    def seq(self, text: str) -> int:
        if (seq := super().seq(text)) >= 2**63:
            raise Malformed(Reason.BODY, "seq")
        return seq


@shelf.breaks("BCCN-SEQ-03", role="codec")
class SeqWithASign(Codec):
    """Takes a sign and drops it."""

    def seq(self, text: str) -> int:
        return super().seq(text.lstrip("+-"))


@shelf.breaks("BCCN-SEQ-03", role="codec")
class SeqIsTrimmed(Codec):
    """Strips blanks and NUL off a number."""

    def seq(self, text: str) -> int:
        return super().seq(text.strip(" \t\n\0"))


@shelf.breaks("BCCN-SEQ-06", role="codec")
class EmptySeqIsZero(Codec):
    """Takes no number for 0."""

    def seq(self, text: str) -> int:
        return super().seq(text or "0")


@shelf.breaks("BCCN-SEQ-07", role="codec")
class SeqIsAFloat(Codec):
    """Reads a number with the precision of a double."""

    def seq(self, text: str) -> int:
        return min(int(float(super().seq(text))), 2**64 - 1)


@shelf.breaks("BCCN-CHN-01", role="codec")
class ChanWithoutLimit(Codec):
    """Takes a channel of any length."""

    def chan(self, text: str) -> str:
        return self.name(text, 10**6, "chan")


@shelf.breaks("BCCN-CHN-01", role="node")
class ChanMayBeEmpty(Codec):
    """Takes an empty channel."""

    def chan(self, text: str) -> str:
        return super().chan(text) if text else text


@shelf.breaks("BCCN-CHN-01", role="codec")
class ChanOf1000AtMost(Codec):
    """Takes 1000 characters."""

    def chan(self, text: str) -> str:
        return self.name(text, 1000, "chan")


@shelf.breaks("BCCN-CHN-03", role="codec")
class ChanWithBlanks(Codec):
    """Takes whitespace in a channel."""

    def chan(self, text: str) -> str:
        super().chan(re.sub(r"\s", "_", text))
        return text


@shelf.breaks("BCCN-CHN-03", role="node")
class ChanWithBlanksSent(ChanWithBlanks):
    """Takes whitespace in a channel."""


@shelf.breaks("BCCN-CHN-04", role="node")
class ChanWithSeparators(Codec):
    """Takes colon and bar in a channel."""

    def chan(self, text: str) -> str:
        super().chan(re.sub(r"[:|]", "_", text))
        return text


@shelf.breaks("BCCN-CHN-04", role="codec")
class ChanWithSeparatorsEncoded(ChanWithSeparators):
    """Takes colon and bar in a channel."""


@shelf.breaks("BCCN-CHN-05", role="codec")
class ChanOfWords(Codec):
    """Takes letters, digits and slashes in a channel, and nothing else."""

    def chan(self, text: str) -> str:
        if not re.fullmatch(r"!?[A-Za-z0-9/*]*", text):
            raise Malformed(Reason.BODY, "chan")
        return super().chan(text)


@shelf.breaks("BCCN-CHN-05", role="node")
class ChanInLowerCase(Codec):
    """Makes a channel lower-case."""

    def chan(self, text: str) -> str:
        return super().chan(text).lower()
