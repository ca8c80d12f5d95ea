"""What a case is called and what it claims.

A case id is `protocol/role/group/case[axis=value]`: the folder, the folder, the file, the function and its axes. It is used
alike by filters, known failures, Allure, Spark and replay, so renaming a test renames a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
import pytest

EXPLORING = ("machine", "tours")
"""How groups end whose cases are long conversations with an oracle as the only judge: `federation-tours` are tours too."""


class CaseInfo(msgspec.Struct, frozen=True):
    """A case as it is listed, before it runs."""

    id: str
    protocol: str
    role: str
    group: str
    requirements: tuple[str, ...]
    axes: dict[str, str] = {}
    rule: str = ""  # the first line of its docstring

    @property
    def explores(self) -> bool:
        return self.group.endswith(EXPLORING)


def clauses(*ids: str) -> pytest.MarkDecorator:
    """The requirement ids that a case checks; the first is the one a plain failed assertion breaks."""
    return pytest.mark.clauses(*ids)


def needs(*capabilities: str) -> pytest.MarkDecorator:
    """What a case asks for that not every target offers; without it the verdict is `unsupported`."""
    return pytest.mark.needs(*capabilities)


def axis(name: str, values: Mapping[str, Any] | Iterable[Any]) -> pytest.MarkDecorator:
    """One case per value, spelled `[name=label]`; a mapping gives labels to values that do not spell themselves."""
    labelled = values if isinstance(values, Mapping) else {str(value): value for value in values}
    return pytest.mark.parametrize(name, [pytest.param(v, id=f"{name}={k}") for k, v in labelled.items()])


def race(tries: int = 20) -> pytest.MarkDecorator:
    """A case whose verdict depends on who is first: a fault of it may need so many tries to be seen again."""
    return pytest.mark.race(tries)


def case_of(item: pytest.Item) -> CaseInfo | None:
    """The case that a pytest item is; None for an item outside the suites."""
    parts = item.nodeid.split("::")[0].split("/")
    if parts[0] != "suites" or len(parts) != 4 or not isinstance(item, pytest.Function):
        return None
    _, protocol, role, file = parts
    group = file.removeprefix("test_").removesuffix(".py").replace("_", "-")
    axes = _axes(item)
    suffix = f"[{','.join(f'{k}={v}' for k, v in axes.items())}]" if axes else ""
    name = item.originalname.removeprefix("test_").replace("_", "-")
    marks = [clause for mark in reversed(list(item.iter_markers("clauses"))) for clause in mark.args]
    rule = (item.function.__doc__ or "").strip().split("\n")[0]
    return CaseInfo(
        f"{protocol}/{role}/{group}/{name}{suffix}", protocol, role, group, tuple(dict.fromkeys(marks)), axes, rule
    )


def _axes(item: pytest.Function) -> dict[str, str]:
    """The labels of a test's axes, from the ids that `axis` gave them; other parameters are not the case's."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    labels = {}
    for mark in item.iter_markers("parametrize"):
        name, parameters = mark.args[0], mark.args[1]
        if name in callspec.params:
            chosen = next(p for p in parameters if p.values[0] is callspec.params[name])
            labels[name] = str(chosen.id).split("=", 1)[1]
    return dict(reversed(labels.items()))


def check_of(case: str) -> str:
    """The check that a case belongs to: a test function, with all its axes and vectors."""
    return case.partition("[")[0]


def selects(pattern: str, case: str) -> bool:
    """`peerbus`, `peerbus/broker`, a check with all its axes, a case id itself, or a glob over case ids."""
    return pattern in (case, check_of(case)) or case.startswith(pattern.rstrip("/") + "/") or _glob(pattern, case)


def _glob(pattern: str, case: str) -> bool:
    """fnmatch, with brackets meant literally: an axis is spelled `[axis=value]`."""
    return fnmatchcase(case, pattern.replace("[", "[[]"))


def selected(patterns: Iterable[str], case: str) -> bool:
    """No pattern selects everything."""
    patterns = list(patterns)
    return not patterns or any(selects(pattern, case) for pattern in patterns)
