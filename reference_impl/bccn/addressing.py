"""Whom a channel means: everybody, one name or a family of names; and which listeners care."""

from __future__ import annotations

import re

from reference_impl.bccn.frames import UNKNOWN, Mode

DIGITS = re.compile(r"[0-9]+")  # ASCII only (BCCN-DIR-06)


class Addressing:
    """The rules as methods, so that a target with other rules can be built from it."""

    def mode(self, chan: str) -> Mode:
        if chan == "!":
            return Mode.ALL  # BCCN-CHN-06
        return Mode.DIRECTED if chan.startswith("!") else Mode.PLAIN  # BCCN-CHN-07, -08

    def is_for(self, name: str, chan: str) -> bool:
        """Does a node of that name process the channel? Interests are the listeners' business, not this one's."""
        return self.mode(chan) is not Mode.DIRECTED or self.matches(name, self.target(chan))

    def target(self, chan: str) -> str:
        return chan[1:]  # one "!" only (BCCN-DIR-01)

    def matches(self, name: str, target: str) -> bool:
        """Exact targets mean one name, wildcards a name and all that extend it by a token (BCCN-DIR-08..10)."""
        if name == UNKNOWN or self.means_nobody(target):  # BCCN-DIR-14, -15
            return False
        exact, stem = self.classify(target)
        return name == stem or (not exact and name.startswith(self.family(stem)))

    def means_nobody(self, target: str) -> bool:
        return target == UNKNOWN or target.startswith(f"{UNKNOWN}/")

    def classify(self, target: str) -> tuple[bool, str]:
        """(exact?, the name or prefix): a trailing `/*` decides before a numeric last token does (BCCN-DIR-02..07)."""
        if target.endswith("/*"):
            return False, target[:-2]
        return self.is_numeric(target.rpartition("/")[2]), target

    def is_numeric(self, token: str) -> bool:
        return DIGITS.fullmatch(token) is not None

    def family(self, stem: str) -> str:
        return f"{stem}/"

    def is_open(self, name: str, chan: str) -> bool:
        """Does the text leave it open whether this name is meant: an empty last token, or a `?` that begins a name?

        Without the empty token that is another name (BCCN-DIR-12), what nobody could read so is for others (BCCN-DIR-13), and a
        node without a name is nobody (BCCN-DIR-14).
        """
        if self.mode(chan) is not Mode.DIRECTED or name == UNKNOWN:
            return False
        target = self.target(chan)
        if target.startswith(UNKNOWN):
            stem = self.classify(target)[1]
            return name == stem or name.startswith(self.family(stem))
        return target.endswith("/") and name.startswith(self.family(target))

    # -- the convention layer -------------------------------------------------------------------------------------

    def interested(self, pattern: str, chan: str) -> bool:
        """A listener's pattern: exact tokens, `*` for exactly one, a last `>` for one or more (BCCN-CNV-02..04)."""
        wanted, given = pattern.split("/"), chan.split("/")
        if wanted[-1] == ">":
            wanted.pop()
            if len(given) <= len(wanted):
                return False
            given = given[: len(wanted)]
        return len(wanted) == len(given) and all(w in ("*", g) for w, g in zip(wanted, given, strict=True))
