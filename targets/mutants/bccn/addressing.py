"""Matchers with one fault each, asked by themselves and inside a node."""

from __future__ import annotations

from fnmatch import fnmatchcase

from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.frames import UNKNOWN, Mode
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-CHN-06", role="node")
class BangAloneIsPlain(Addressing):
    """Takes the ALL form for a plain channel named "!"."""

    def mode(self, chan: str) -> Mode:
        return Mode.PLAIN if chan == "!" else super().mode(chan)


@shelf.breaks("BCCN-CHN-07", "BCCN-DIR-13", role="node")
class DirectedIsPlain(Addressing):
    """Does not know the directed form."""

    def mode(self, chan: str) -> Mode:
        return Mode.ALL if chan == "!" else Mode.PLAIN


@shelf.breaks("BCCN-CHN-08", role="node")
class BangAnywhereDirects(Addressing):
    """Takes a "!" anywhere in the channel for the directed form."""

    def mode(self, chan: str) -> Mode:
        return Mode.DIRECTED if "!" in chan and chan != "!" else super().mode(chan)


@shelf.breaks("BCCN-CHN-08", role="codec")
class BangBehindMeansAll(Addressing):
    """Takes a channel that ends with "!" for the ALL form."""

    def mode(self, chan: str) -> Mode:
        return Mode.ALL if chan.endswith("!") else super().mode(chan)


@shelf.breaks("BCCN-CHN-10", role="node")
class TopicBehindHash(Addressing):
    """Cuts a topic off the target at "#"."""

    def target(self, chan: str) -> str:
        return chan[1:].split("#")[0]


@shelf.breaks("BCCN-DLV-03", role="node")
class AllNeedsAName(Addressing):
    """Keeps ALL messages from a node without a name."""

    def is_for(self, name: str, chan: str) -> bool:
        return name != UNKNOWN and super().is_for(name, chan) if chan == "!" else super().is_for(name, chan)


@shelf.breaks("BCCN-DIR-01", role="node")
class EveryBangIsStripped(Addressing):
    """Strips all leading "!" off the target."""

    def target(self, chan: str) -> str:
        return chan.lstrip("!")


@shelf.breaks("BCCN-DIR-02", "BCCN-DIR-09", role="codec")
class NumberDecidesFirst(Addressing):
    """Asks for a numeric token before it asks for the trailing star."""

    def classify(self, target: str) -> tuple[bool, str]:
        stem = target.removesuffix("/*")
        return self.is_numeric(stem.rpartition("/")[2]), stem


@shelf.breaks("BCCN-DIR-03", role="codec")
class EveryStarIsStripped(Addressing):
    """Strips all trailing "/*"."""

    def classify(self, target: str) -> tuple[bool, str]:
        while target.endswith("/*/*"):
            target = target[:-2]
        return super().classify(target)


@shelf.breaks("BCCN-DIR-04", "BCCN-DIR-08", role="codec")
class NothingIsExact(Addressing):
    """Takes every target for a wildcard."""

    def is_numeric(self, token: str) -> bool:
        return False


@shelf.breaks("BCCN-DIR-04", "BCCN-DIR-08", "BCCN-CNV-16", role="node")
class NothingIsExactInANode(NothingIsExact):
    """Takes every target for a wildcard."""


@shelf.breaks("BCCN-DIR-04", "BCCN-DIR-06", role="codec")
class TrailingDigitIsANumber(Addressing):
    """Takes a token that ends with a digit for a number."""

    def is_numeric(self, token: str) -> bool:
        return token[-1:].isdigit()


@shelf.breaks("BCCN-DIR-05", role="codec")
class NumberNeedsASlash(Addressing):
    """Takes a target without "/" always for a wildcard."""

    def classify(self, target: str) -> tuple[bool, str]:
        return super().classify(target) if "/" in target else (False, target)


@shelf.breaks("BCCN-DIR-06", role="codec")
class SignedNumbersAreExact(Addressing):
    """Takes whatever a language calls a number for one."""

    def is_numeric(self, token: str) -> bool:
        try:
            float(token) if "x" not in token else int(token, 16)
        except ValueError:
            return False
        return True


@shelf.breaks("BCCN-DIR-07", "BCCN-DIR-09", role="codec")
class WordsAreExact(Addressing):
    """Takes every target without a trailing star for exact."""

    def is_numeric(self, token: str) -> bool:
        return True


@shelf.breaks("BCCN-DIR-07", role="node")
class WordsAreExactInANode(WordsAreExact):
    """Takes every target without a trailing star for exact."""


@shelf.breaks("BCCN-DIR-08", role="codec")
class ExactMeansPrefix(Addressing):
    """Takes a name that begins with an exact target for the target."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name, target) or (self.classify(target)[0] and name.startswith(target))


@shelf.breaks("BCCN-DIR-09", role="codec")
class PrefixIsNotItself(Addressing):
    """A wildcard means the names below its prefix, but not the prefix."""

    def matches(self, name: str, target: str) -> bool:
        exact, stem = self.classify(target)
        return super().matches(name, target) and (exact or name != stem)


@shelf.breaks("BCCN-DIR-10", role="codec")
class PrefixWithoutBoundary(Addressing):
    """Matches a prefix that ends within a token."""

    def family(self, stem: str) -> str:
        return stem


@shelf.breaks("BCCN-DIR-10", role="node")
class PrefixWithoutBoundaryInANode(PrefixWithoutBoundary):
    """Matches a prefix that ends within a token."""


@shelf.breaks("BCCN-DIR-11", role="codec")
class StarAnywhereIsAWildcard(Addressing):
    """Takes any trailing star for a wildcard, also within a token."""

    def matches(self, name: str, target: str) -> bool:
        loose = target.endswith("*") and not target.endswith("/*") and target != "*" and name.startswith(target[:-1])
        return loose or super().matches(name, target)


@shelf.breaks("BCCN-DIR-12", role="codec")
class PathsAreNormalised(Addressing):
    """Ignores empty tokens of a target."""

    def classify(self, target: str) -> tuple[bool, str]:
        star = target.endswith("/*")
        stem = "/".join(filter(None, (target[:-2] if star else target).split("/")))
        return (False, stem) if star else super().classify(stem)


@shelf.breaks("BCCN-DIR-14", role="node")
class NamelessMatchesItself(Addressing):
    """Lets a node without a name take what is directed at "?"."""

    def matches(self, name: str, target: str) -> bool:
        return (name == UNKNOWN and target in ("?", "?/*")) or super().matches(name, target)


@shelf.breaks("BCCN-DIR-15", role="codec")
class QuestionMarkIsAWildcard(Addressing):
    """Takes "?" as a target for anybody."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name, target) or (target == UNKNOWN and name != UNKNOWN)


@shelf.breaks("BCCN-DIR-16", role="codec")
class FamilyExcludesItsHead(Addressing):
    """An explicit star means the names below the prefix only, an implied one the prefix too."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name, target) and not (target.endswith("/*") and name == target[:-2])


@shelf.breaks("BCCN-DIR-18", role="codec")
class StarIsEverybody(Addressing):
    """Takes `!*` and `!/*` for everybody."""

    def matches(self, name: str, target: str) -> bool:
        return (target in ("*", "/*") and name != UNKNOWN) or super().matches(name, target)


@shelf.breaks("BCCN-DIR-18", role="node")
class StarIsEverybodyInANode(StarIsEverybody):
    """Takes `!*` and `!/*` for everybody."""


@shelf.breaks("BCCN-DIR-19", role="codec")
class CaseDoesNotMatter(Addressing):
    """Compares names without regard to case."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name.lower(), target.lower())


# -- the patterns of listeners -----------------------------------------------------------------------------------------


@shelf.breaks("BCCN-CNV-02", role="node")
class PatternsArePrefixes(Addressing):
    """Takes a channel that begins with an exact pattern for the pattern's."""

    def interested(self, pattern: str, chan: str) -> bool:
        return super().interested(pattern, chan) or chan.startswith(pattern)


@shelf.breaks("BCCN-CNV-03", role="node")
class StarCrossesTokens(Addressing):
    """Lets a pattern's star stand for several tokens."""

    def interested(self, pattern: str, chan: str) -> bool:
        return super().interested(pattern, chan) or fnmatchcase(chan, pattern)


@shelf.breaks("BCCN-CNV-04", role="node")
class RestIsOneToken(Addressing):
    """Lets a pattern's ">" stand for one token only."""

    def interested(self, pattern: str, chan: str) -> bool:
        return super().interested(pattern.removesuffix(">") + "*" if pattern.endswith(">") else pattern, chan)
