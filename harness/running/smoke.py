"""A short exchange before the cases, so that "your shim is wrong" is never mistaken for "your implementation is wrong"."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Sequence

from harness.catalogue.protocols import roles, touched
from harness.errors import ShimBroken, TargetCrashed, TargetError, TargetRefused, TargetUnsupported, Unavailable
from harness.shim import Hello
from harness.targets.target import Target

NO_ROLE = "touchstone/no-such-role"


async def smoke(target: Target, select: Sequence[str] = ()) -> Hello:
    """Bring the target up, hear who it is, see that it says no to what nobody offers, and ask what its roles' suites ask."""
    try:
        hello = await target.hello()
        if not hello.roles:
            raise ShimBroken("its hello names no role")
        await _says_no(target)
        for role in touched(select, roles().keys() & hello.roles):
            if asks := _asked_by(role):
                await asks(target)
    except TargetError as error:
        evidence = target.evidence().strip().splitlines()
        said = f"; its stderr ends with: {evidence[-1]}" if evidence else ""
        raise Unavailable(f"{target.name} cannot be tested: {error}{said}") from None
    return hello


async def _says_no(target: Target) -> None:
    session = await target.session()
    try:
        await session.start(NO_ROLE, {})
    except (TargetUnsupported, TargetRefused):
        return
    except TargetCrashed as error:
        raise ShimBroken(f"it dies when asked for a role it does not have: {error}") from None
    raise ShimBroken(f"it started {NO_ROLE}, a role that does not exist: answer unsupported to what you do not offer")


def _asked_by(role: str) -> Callable[[Target], Awaitable[None]] | None:
    """What a suite asks before its cases, for what would fail them all; it raises the target's fault."""
    name = f"suites.{role.replace('/', '.')}.smoke"
    try:
        asks: Callable[[Target], Awaitable[None]] = importlib.import_module(name).smoke
    except ModuleNotFoundError as missing:
        if not f"{name}.".startswith(f"{missing.name}."):
            raise
        return None
    return asks
