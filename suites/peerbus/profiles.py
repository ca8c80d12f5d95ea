"""Which authority a target follows where the document and the original code differ."""

from __future__ import annotations

from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from reference_impl.peerbus.signing import Profile


async def profile_of(trial: Trial) -> Profile:
    """What is declared for the role under test; the original code's where none is (PB-0-01)."""
    declared = await trial.capabilities()
    return Profile.DOCUMENT if f"profile:{Profile.DOCUMENT}" in declared else Profile.CODE


async def need_profile(trial: Trial, profile: Profile) -> None:
    """For a case that is about one profile only."""
    if await profile_of(trial) is not profile:
        raise TargetUnsupported(f"{trial.target.name} does not follow the {profile} profile as {trial.role}")
