"""Which authority a target follows where the document and the original code differ."""

from __future__ import annotations

from harness.errors import TargetUnsupported
from harness.targets import Target
from reference_impl.peerbus.signing import Profile


async def profile_of(target: Target, role: str) -> Profile:
    """The declared profile; the original code's where none is declared (PB-0-01)."""
    declared = await target.capabilities(role)
    return Profile.DOCUMENT if f"profile:{Profile.DOCUMENT}" in declared else Profile.CODE


async def need_profile(target: Target, role: str, profile: Profile) -> None:
    """For a case that is about one profile only."""
    if await profile_of(target, role) is not profile:
        raise TargetUnsupported(f"{target.name} does not follow the {profile} profile as {role}")
