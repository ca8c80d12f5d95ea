"""Whose fault it is. The class of an error answers that, its sentence says what to do next.

TouchstoneError
├── UsageError           the person at the command line          exit 3
│   └── NothingSelected
├── Unavailable          the environment: no such target, runtime, engine, address   exit 2
│   └── BadManifest
├── HarnessError         ours                                     verdict `error`
└── TargetError          the target's
    ├── TargetRefused        it rejected an input: often just what a case wants
    ├── TargetUnsupported    it does not offer what the case needs   verdict `unsupported`
    ├── TargetFailed         it tried and could not                  verdict `fail`
    ├── TargetCrashed        it died                                 verdict `crashed`
    │   └── ShimBroken       what came is not the shim protocol      verdict `crashed`
    └── TargetTimeout        it went silent                          verdict `timeout`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class TouchstoneError(Exception):
    """Base of all errors that Touchstone raises on purpose; `str()` is one sentence."""


class UsageError(TouchstoneError):
    """The command was called wrongly."""


class NothingSelected(UsageError):
    """No case matches."""

    def __init__(self, select: Sequence[str], offered: Iterable[str] = ()) -> None:
        wanted = ", ".join(select) or "anything"
        which = f", which offers {', '.join(offered)}" if offered else ""
        super().__init__(f"no case matches {wanted} for this target{which}: `touchstone cases` lists what there is")


class Unavailable(TouchstoneError):
    """Something outside is missing: a target, a runtime, an address."""


class BadManifest(Unavailable):
    """A target.toml that cannot be used."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}")


class HarnessError(TouchstoneError):
    """Our own fault."""


class TargetError(TouchstoneError):
    """Base of what a target can do to a case."""


class TargetRefused(TargetError):
    """The implementation rejected the input."""


class TargetUnsupported(TargetError):
    """The target does not offer this; an answer of the first class, never a failure."""


class TargetFailed(TargetError):
    """The target tried and could not do what it offers."""


class TargetCrashed(TargetError):
    """The target's process or object is gone."""


class ShimBroken(TargetCrashed):
    """What the shim said is not the shim protocol; the implementation behind it was not judged."""


class TargetTimeout(TargetError):
    """The target did not answer in time."""
