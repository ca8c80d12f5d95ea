"""Which functions of the reference a run calls, in the target and in the judge: a change in any other cannot show."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.mutation.generated.changes import Change
from harness.places import ROOT

MARK = " (copy)"
"""Behind the file name of a module that is the target's."""


class Marked(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the modules of a protocol's reference as they are, with a mark that tells their functions from the judge's."""

    def __init__(self, protocol: str) -> None:
        self._folder = ROOT / "reference_impl" / protocol
        self._package = f"reference_impl.{protocol}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = self._folder / f"{fullname.removeprefix(self._package)}.py"
        if not fullname.startswith(self._package) or not found.is_file():
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=str(found))

    def exec_module(self, module: types.ModuleType) -> None:
        path = Path(str(module.__spec__ and module.__spec__.origin))
        module.__file__ = str(path)
        exec(compile(path.read_bytes(), f"{path}{MARK}", "exec"), module.__dict__)


class Calls:
    """What was called while it listens."""

    def __init__(self, protocol: str) -> None:
        self._folder = str(ROOT / "reference_impl" / protocol)
        self._seen: dict[int, types.CodeType] = {}  # by identity: equal code of two files is equal

    def listen(self) -> None:
        sys.setprofile(self._called)
        threading.setprofile(self._called)

    def _called(self, frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            self._seen[id(frame.f_code)] = frame.f_code

    def names(self) -> dict[str, list[str]]:
        """`module:function` as changes are named, of the target and of the judge."""
        sys.setprofile(None)
        ours = [code for code in self._seen.values() if code.co_filename.startswith(self._folder)]
        target = {name_of(code) for code in ours if code.co_filename.endswith(MARK)}
        return {"target": sorted(target), "judge": sorted({name_of(c) for c in ours if c.co_filename[-3:] == ".py"})}


def name_of(code: types.CodeType) -> str:
    stem = Path(code.co_filename.removesuffix(MARK)).stem
    parts = [part for part in code.co_qualname.replace(".<locals>", "").split(".") if not part.startswith("<")]
    return f"{stem}:{'.'.join(parts)}"


def can_show(change: Change, called: Sequence[str]) -> bool:
    """What stands in no function runs when its module is imported; a function has to be called."""
    function = change.name.rpartition(":")[0]
    return function not in defined(change) or function in called


def defined(change: Change) -> set[str]:
    """The functions of a change's module, as changes are named."""

    def walk(node: ast.AST, inside: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{inside}.{child.name}" if inside else child.name
                if not isinstance(child, ast.ClassDef):
                    yield name
                yield from walk(child, name)
            else:
                yield from walk(child, inside)

    path = ROOT / f"{change.module.replace('.', '/')}.py"
    return {f"{change.stem}:{name}" for name in walk(ast.parse(path.read_bytes()), "")}
