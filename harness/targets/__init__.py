"""Targets: which implementation (identity) and how it is reached (in-process, process, server, remote, docker)."""

from harness.targets.resolve import bundled, resolve
from harness.targets.session import Instance, Reach, Session
from harness.targets.target import Target

__all__ = ["Instance", "Reach", "Session", "Target", "bundled", "resolve"]
