"""A trial of a case that nobody wrote."""

from __future__ import annotations

import pytest

from harness.catalogue.cases import CaseInfo
from harness.judging.result import TargetInfo
from harness.judging.trial import Trial
from harness.shim import Shim
from harness.targets import Target
from harness.targets.inprocess import InProcess


@pytest.fixture
def trial() -> Trial:
    case = CaseInfo("toy/role/group/case", "toy", "role", "group", ("TOY-1",))
    return Trial(case, Target(TargetInfo("fake"), InProcess(Shim)), patience_s=0.5)
