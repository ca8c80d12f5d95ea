"""Which functions of the reference each case calls, in the target and in the judge: a change shows in no other case."""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
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
    """A function has to be called; what a module binds when it is imported, somebody who is called has to read."""
    readers = readers_of(change)
    return readers is None or not readers.isdisjoint(called)


def where(change: Change, called: Called) -> Callable[[str], bool]:
    """The cases in which it can show."""
    readers = readers_of(change)
    cases = {case for function in readers or () for case in called.get(function, ())}
    if readers is None or EVERYWHERE in cases:
        return lambda case: True
    return cases.__contains__


def defined(change: Change) -> set[str]:
    """The functions of a change's module, as changes are named."""

    path = ROOT / f"{change.module.replace('.', '/')}.py"
    return {f"{change.stem}:{name}" for name, _ in functions_in(ast.parse(path.read_bytes()))}


# -- who reads what a module binds when it is imported -----------------------------------------------------------------


def readers_of(change: Change) -> set[str] | None:
    """The function that a change stands in, or those that name what its statement binds, or what is bound to that.

    The oracle alone asks what else conforms: a change in a table of freedoms shows in no target. What a machine's module
    holds the kernel may read too, but not without calling the machine; what others hold anybody may: None.
    """
    if (function := change.name.rpartition(":")[0]) in defined(change):
        return {function}
    source = _sources(change.module.split(".")[1])
    changed = (s for s in source.modules[change.stem].body if s.lineno <= change.line <= (s.end_lineno or s.lineno))
    names = {name for statement in changed for bound, _ in _bindings(statement) for name in bound}
    while more := {name for bound, read in source.bindings if read & names for name in bound} - names:
        names |= more
    if names and not names & source.elsewhere:
        return {name for name, read in source.functions.items() if read & names}
    return source.machines.get(change.stem)


@dataclass(frozen=True)
class Sources:
    """Who reads which names, in a protocol's reference and around it."""

    modules: Mapping[str, ast.Module]
    bindings: Sequence[tuple[Set[str], Set[str]]]  # of statements at the top: names, and what is read for them
    functions: Mapping[str, Set[str]]
    elsewhere: Set[str]  # in classes, in the kernel, in the carriers, in the shim
    machines: Mapping[str, set[str]]  # the functions of each module that has one


@functools.cache
def _sources(protocol: str) -> Sources:
    modules = {path.stem: ast.parse(path.read_bytes()) for path in (ROOT / "reference_impl" / protocol).glob("*.py")}
    kernel = [path for folder in ("core", "io") for path in (ROOT / "reference_impl" / folder).glob("*.py")]
    around = [ast.parse(path.read_bytes()) for path in (*kernel, ROOT / "targets" / "reference" / f"{protocol}.py")]
    statements = [statement for module in modules.values() for statement in module.body]
    others = [_read(statement, functions=False) for statement in statements if not _bindings(statement)]
    functions = {
        f"{stem}:{name}": _read(node) for stem, module in modules.items() for name, node in functions_in(module)
    }
    return Sources(
        modules,
        [(bound, _read(value)) for statement in statements for bound, value in _bindings(statement)],
        functions,
        frozenset().union(*others, *map(_read, around)),
        {
            stem: {name for name in functions if name.startswith(f"{stem}:")}
            for stem, module in modules.items()
            if any("Machine" in _read(node, functions=False) for node in module.body if isinstance(node, ast.ClassDef))
        },
    )


def _bindings(statement: ast.stmt) -> list[tuple[set[str], ast.expr]]:
    """The names that a statement binds, each to its own value where there are several."""
    match statement:
        case ast.Assign([ast.Tuple(elts=names)], ast.Tuple(elts=values)) if len(names) == len(values):
            return [(_bound(name), value) for name, value in zip(names, values, strict=True)]
        case ast.Assign(targets, value):
            return [(_bound(*targets), value)]
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(_bound(target), value)]
    return []


def _bound(*targets: ast.expr) -> set[str]:
    nodes = [node for target in targets for node in ast.walk(target)]
    return {_name(node) for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)} - {""}


def _read(node: ast.AST, functions: bool = True) -> set[str]:
    """Names and attributes that are read below a node, or outside of its functions."""
    found = {_name(node)} if isinstance(getattr(node, "ctx", None), ast.Load) else set()
    for child in ast.iter_child_nodes(node):
        if functions or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= _read(child, functions)
    return found - {""}


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
