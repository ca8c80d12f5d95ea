"""Which functions of the reference each case calls, in the target and in the judge: a change shows in no other case."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.mutation.generated.changes import Change, functions_in
from harness.places import ROOT
from harness.shim import Emit, Hello, Shim

MARK = " (copy)"
"""Behind the file name of a module that is the target's."""
EVERYWHERE = ""
"""In the place of a case: while an instance was started, which the cases behind it share."""

Called = Mapping[str, Collection[str]]
"""The cases that call a function, by its name."""


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
    """What each case calls while it listens."""

    def __init__(self, protocol: str) -> None:
        self._folder = str(ROOT / "reference_impl" / protocol)
        self._seen: dict[str, dict[int, types.CodeType]] = defaultdict(
            dict
        )  # by identity: equal code of two files is equal
        self._case, self._starting = EVERYWHERE, 0
        self._here = self._seen[EVERYWHERE]

    def listen(self) -> None:
        sys.setprofile(self._called)
        threading.setprofile(self._called)

    def at(self, case: str) -> None:
        """What is called from now on is called in this case."""
        self._case = case
        self._turn(0)

    def starts(self, factory: Callable[[], Shim]) -> Callable[[], Shim]:
        """The same target, whose starts are noticed."""
        return lambda: Noticed(factory(), self._turn)

    def _turn(self, more: int) -> None:
        self._starting += more
        self._here = self._seen[EVERYWHERE if self._starting else self._case]

    def _called(self, frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            self._here[id(frame.f_code)] = frame.f_code

    def names(self) -> dict[str, dict[str, list[str]]]:
        """`module:function` as changes are named, with the cases that call it; of the target and of the judge."""
        sys.setprofile(None)
        found: dict[str, dict[str, list[str]]] = {"target": defaultdict(list), "judge": defaultdict(list)}
        for case, codes in self._seen.items():
            ours = [code for code in codes.values() if code.co_filename.startswith(self._folder)]
            for side, ending in (("target", MARK), ("judge", ".py")):
                for name in {name_of(code) for code in ours if code.co_filename.endswith(ending)}:
                    found[side][name].append(case)
        return found


class Noticed(Shim):
    """A shim whose starts somebody counts."""

    def __init__(self, shim: Shim, turn: Callable[[int], None]) -> None:
        self._shim, self._turn = shim, turn

    async def hello(self) -> Hello:
        return await self._shim.hello()

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        self._turn(+1)
        try:
            return await self._shim.start(instance, role, config, emit)
        finally:
            self._turn(-1)

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        return await self._shim.do(instance, op, args)

    async def stop(self, instance: str) -> None:
        await self._shim.stop(instance)

    def kill(self) -> None:
        self._shim.kill()


def name_of(code: types.CodeType) -> str:
    stem = Path(code.co_filename.removesuffix(MARK)).stem
    parts = [part for part in code.co_qualname.replace(".<locals>", "").split(".") if not part.startswith("<")]
    return f"{stem}:{'.'.join(parts)}"


def can_show(change: Change, called: Called) -> bool:
    """What stands in no function runs when its module is imported; a function has to be called."""
    function = change.name.rpartition(":")[0]
    return function not in defined(change) or function in called


def where(change: Change, called: Called) -> Callable[[str], bool]:
    """The cases in which it can show."""
    function = change.name.rpartition(":")[0]
    if function not in defined(change) or EVERYWHERE in (cases := frozenset(called.get(function, ()))):
        return lambda case: True
    return cases.__contains__


def defined(change: Change) -> set[str]:
    """The functions of a change's module, as changes are named."""

    path = ROOT / f"{change.module.replace('.', '/')}.py"
    return {f"{change.stem}:{name}" for name, _ in functions_in(ast.parse(path.read_bytes()))}
