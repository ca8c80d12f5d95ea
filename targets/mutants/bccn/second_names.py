"""Nodes and codecs that compare names by other rules than bytes and tokens, where only odd names show it."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase

from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.frames import UNKNOWN, Delivered, Heard, Message, SetName
from reference_impl.bccn.node import NodeMachine, NodeStep, State
from reference_impl.core import Channel
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-DIR-08", role="codec")
class NumbersAreEqual(Addressing):
    """Compares a numeric last token as a number."""

    def matches(self, name: str, target: str) -> bool:
        def plain(text: str) -> str:
            head, slash, tail = text.rpartition("/")
            return head + slash + (tail.lstrip("0") or "0" if self.is_numeric(tail) else tail)

        return super().matches(plain(name), plain(target))


@shelf.breaks("BCCN-DIR-04", role="codec")
class NumbersOf64Bits(Addressing):
    """Takes a number that does not fit into 64 bits for a word."""

    def is_numeric(self, token: str) -> bool:
        return super().is_numeric(token) and int(token) < 1 << 64


@shelf.breaks("BCCN-DIR-04", role="codec")
class NumbersOf9Digits(Addressing):
    """Takes a number of more than nine digits for a word."""

    def is_numeric(self, token: str) -> bool:
        return super().is_numeric(token) and len(token) <= 9


@shelf.breaks("BCCN-DIR-04", "BCCN-DIR-06", role="codec")
class ZeroIsNoNumber(Addressing):
    """Takes a last token of zero for a word, having asked for its value."""

    def is_numeric(self, token: str) -> bool:
        return super().is_numeric(token) and int(token) != 0


@shelf.breaks("BCCN-DIR-09", "BCCN-DIR-02", role="codec")
class TargetsOf128(Addressing):
    """Takes a target of more than 128 characters for nobody, its star counted."""

    def matches(self, name: str, target: str) -> bool:
        return len(target) <= 128 and super().matches(name, target)


@shelf.breaks("BCCN-DIR-08", "BCCN-DIR-11", role="codec")
class MatchesByGlob(Addressing):
    """Lets brackets and question marks of a target stand for others."""

    def matches(self, name: str, target: str) -> bool:
        if name == UNKNOWN or self.means_nobody(target):
            return False
        exact, stem = self.classify(target)
        return fnmatchcase(name, stem) or (not exact and name.startswith(self.family(stem)))


@shelf.breaks("BCCN-DIR-08", "BCCN-DIR-19", role="codec")
class DotsMeanAnything(Addressing):
    """Puts a target into a regular expression without quoting its dots."""

    def matches(self, name: str, target: str) -> bool:
        if name == UNKNOWN or self.means_nobody(target):
            return False
        exact, stem = self.classify(target)
        quoted = re.escape(stem).replace(r"\.", ".")
        return re.fullmatch(quoted if exact else f"{quoted}(/.*)?", name, re.DOTALL) is not None


@shelf.breaks("BCCN-DIR-10", "BCCN-DIR-12", role="codec")
class BackslashesAreSlashes(Addressing):
    """Takes a backslash for a token's end."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name.replace("\\", "/"), target.replace("\\", "/"))


@shelf.breaks("BCCN-DIR-09", "BCCN-DIR-07", role="codec")
class FamiliesOfOneStep(Addressing):
    """Lets a prefix mean the names that extend it by one token, and no more."""

    def matches(self, name: str, target: str) -> bool:
        _, stem = self.classify(target)
        return super().matches(name, target) and name[len(stem) :].count("/") <= 1


@shelf.breaks("BCCN-DIR-16", "BCCN-DIR-02", role="codec")
class AStarBehindANumberIsLost(Addressing):
    """Takes a star behind a numeric token for the number alone."""

    def classify(self, target: str) -> tuple[bool, str]:
        exact, stem = super().classify(target)
        return exact or self.is_numeric(stem.rpartition("/")[2]), stem


@shelf.breaks("BCCN-DIR-01", "BCCN-CHN-07", role="codec")
class BangsInNamesAreLost(Addressing):
    """Compares names without the bangs in them."""

    def matches(self, name: str, target: str) -> bool:
        return super().matches(name.replace("!", "") or "!", target.replace("!", "") or "!")


# -- a node and the names it had ---------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DIR-17", role="node")
class OldNamesStillCount(NodeMachine):
    """Takes what is directed at any name that it ever had."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self.names: list[str] = []

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        step = super().set_name(state, channel, event)
        self.names.append(step.state.name)
        return step

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        for name in self.names:
            if self.addressing.is_for(name, event.message.chan):
                step = super().hear(replace(state, name=name), channel, event)
                return replace(step, state=replace(step.state, name=state.name))
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-14", "BCCN-API-09", role="node")
class NamelessKeepsItsMail(NodeMachine):
    """Says that it has no name any more, but takes what is directed at the last one."""

    last = UNKNOWN

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        self.last = state.name if state.name != UNKNOWN else self.last
        step = super().hear(replace(state, name=self.last), channel, event)
        return replace(step, state=replace(step.state, name=state.name))


@shelf.breaks("BCCN-DLV-01", "BCCN-CNV-01", role="node")
class TheFirstListenerWins(NodeMachine):
    """Calls one listener, though the patterns of two match."""

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        found = super().callees(state, message)
        return found if message.chan.startswith("!") else found[:1]


@shelf.breaks("BCCN-CNV-02", "BCCN-DLV-01", role="node")
class PatternsInAnyCase(Addressing):
    """Compares a listener's pattern without regard to case."""

    def interested(self, pattern: str, chan: str) -> bool:
        return super().interested(pattern.lower(), chan.lower())


@shelf.breaks("BCCN-CNV-03", role="node")
class AStarMayMeanNothing(Addressing):
    """Lets a pattern's last star stand for no token at all."""

    def interested(self, pattern: str, chan: str) -> bool:
        return super().interested(pattern, chan) or (pattern.endswith("/*") and super().interested(pattern[:-2], chan))


@shelf.breaks("BCCN-DLV-04", "BCCN-DLV-05", role="node")
class TellsThePeerBefore(NodeMachine):
    """Tells the address that the datagram before came from."""

    before: tuple[str, int] | None = None

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        peer, self.before = self.before or event.peer, event.peer
        owes = (
            replace(e, template=replace(e.template, peer=peer)) if isinstance(e.template, Delivered) else e
            for e in step.owes
        )
        return replace(step, owes=tuple(owes))


# -- in a node ---------------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DIR-12", role="node")
class SlashesAtTheEndAreTidied(NodeMachine):
    """Takes a target that ends in a slash for the same without it."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        chan = event.message.chan
        is_untidy = chan.startswith("!") and chan.endswith("/") and not chan.startswith("!?")
        if is_untidy and self.addressing.is_for(state.name, chan.rstrip("/")):
            return self.take(state.choices or self.config.choices, True, state, event)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-14", role="node")
class TheNamelessAreMeant(NodeMachine):
    """Hears what is directed at "?", as long as it has no name of its own."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        if state.name == UNKNOWN and event.message.chan in ("!?", "!?/*"):
            return self.take(state.choices or self.config.choices, True, state, event)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-API-07", "BCCN-API-10", role="node")
class TakesNoBareNames(NodeMachine):
    """Refuses a name that is not of the convention's form host/program/pid."""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        if event.name and "/" not in event.name:
            return self.refuse(state, "BCCN-CNV-12", "a name is host/program/pid")
        return super().set_name(state, channel, event)
