"""What the examples need to be built, and what a test says where it is missing."""

from __future__ import annotations

import os
import shutil

import pytest

from harness.places import TARGETS
from harness.targets.manifest import load

TOOLS = {"javascript": "node", "go": "go", "rust": "cargo", "c": "make", "java": "javac"}


def toolchain(example: str) -> None:
    """What its language needs is here; CI asks for all of them."""
    tool = TOOLS[load(TARGETS / example / "target.toml").language]
    if shutil.which(tool):
        return
    missing = f"there is no {tool} on the PATH: install it to check {example}"
    if tool in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
        pytest.fail(missing)
    pytest.skip(missing)
