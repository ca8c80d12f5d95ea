"""The reference with one change: as a copy beside the honest one, or the honest one changed in place.

A machine has two readers. As a copy it is the target: the harness and its oracle stay honest. In place it is the judge: the
oracle that suites have imported changes, and the target is a copy that is honest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from harness.errors import Unavailable
from harness.mutation.generated.changes import Change
from harness.mutation.generated.reach import Marked
from harness.mutation.mutant import Mutant
from harness.places import ROOT
from harness.shim import Shim
from harness.shim.roles import RoleShim

Factory = Callable[[], Shim]

HOMES = ("reference_impl", "targets.reference", "targets.mutants", "selftests")
"""Packages that hold one of each protocol: what stands on the reference is copied with it."""

_factory: Factory | None = None


def current() -> Shim:
    """The target of this process, as `--target python:` names it."""
    if _factory is None:
        raise Unavailable("no copy was made in this process: it is for runs over generated mutants")
    return _factory()


def use(factory: Factory) -> None:
    global _factory
    _factory = factory


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and loads it changed."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._path = ROOT / f"{change.module.replace('.', '/')}.py"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._change.module:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=str(self._path))

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = str(self._path)
        exec(self.code(), module.__dict__)

    def code(self) -> types.CodeType:
        return compile(self._change.applied(self._path.read_bytes()), str(self._path), "exec")


@contextlib.contextmanager
def apart(protocol: str, finder: importlib.abc.MetaPathFinder | None = None) -> Iterator[None]:
    """Modules of the protocol that are imported in here are a second copy of them; nobody else sees it."""
    prefixes = tuple(f"{home}.{protocol}" for home in HOMES)
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(prefixes)}
    held = [(package, vars(package).get(protocol)) for home in HOMES if (package := sys.modules.get(home))]
    if finder:
        sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder:
            sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.startswith(prefixes)]:
            del sys.modules[name]
        sys.modules.update(saved)
        for package, module in held:
            if module is not None:
                setattr(package, protocol, module)


def copied(protocol: str, change: Change | None = None) -> Factory:
    """The reference of a protocol once more, with modules of its own; what the change raises when it is imported is raised."""
    with apart(protocol, Changed(change) if change else Marked(protocol)):
        roles = importlib.import_module(f"targets.reference.{protocol}").ROLES
    return lambda: RoleShim(change.name if change else "copy", "0", roles)


def planted(mutant: Mutant) -> Factory:
    """A planted mutant, built on a copy of the reference."""
    with apart(mutant.protocol):
        there: Sequence[Mutant] = importlib.import_module(f"targets.mutants.{mutant.protocol}").MUTANTS
    return next(one.factory for one in there if one.name == mutant.name)


def variants_of(protocol: str) -> list[str]:
    """Names of the targets in `selftests/<protocol>/variants.py`, which take freedoms that the reference does not."""
    try:
        module = importlib.import_module(f"selftests.{protocol}.variants")
    except ModuleNotFoundError:
        return []
    return [name for name, value in vars(module).items() if _is_shim(value) and value.__module__ == module.__name__]


def _is_shim(value: object) -> TypeGuard[type[RoleShim]]:
    return isinstance(value, type) and issubclass(value, RoleShim)


def variant(protocol: str, name: str) -> Factory:
    """A variant, built on a copy of the reference."""
    with apart(protocol):
        made: Factory = getattr(importlib.import_module(f"selftests.{protocol}.variants"), name)
    return made


def change_in_place(change: Change) -> None:
    """Whoever has imported functions, classes and tables of the module finds them changed; there is no way back."""
    honest = importlib.import_module(change.module)
    changed = types.ModuleType(change.module)
    changed.__file__ = honest.__file__
    sys.modules[change.module] = changed  # dataclasses look their module up there
    try:
        exec(Changed(change).code(), changed.__dict__)
    finally:
        sys.modules[change.module] = honest
    _transplant(changed.__dict__, honest.__dict__, honest.__dict__)


PLAIN = (int, float, str, bytes, tuple, frozenset)
"""Values that a name can be given anew."""


def _transplant(
    new: Mapping[str, Any], old: Mapping[str, Any], home: dict[str, Any], owner: type | None = None
) -> None:
    """Give what is known under a name what is new under it: functions their code, tables their rows, names their values."""
    for name, value in list(new.items()):
        known = old.get(name)
        if known is None or (name.startswith("__") and not callable(value)):
            continue
        match value, known:
            case (types.FunctionType(), types.FunctionType()):
                _rewire(known, value, home)
            case (property(), property()):
                _rewire(known.fget, value.fget, home)
            case (staticmethod() | classmethod(), staticmethod() | classmethod()):
                _rewire(known.__func__, value.__func__, home)
            case (type(), type()) if value.__module__ == home["__name__"] and not issubclass(value, enum.Enum):
                _transplant(value.__dict__, known.__dict__, home, known)
            case (dict(), dict()):
                known.clear()
                known.update({_at_home(key, home): _at_home(row, home) for key, row in value.items()})
            case (value, _) if isinstance(value, PLAIN) and owner is None:
                home[name] = _at_home(value, home)
            case (value, _) if isinstance(value, PLAIN) and owner is not None:
                setattr(owner, name, _at_home(value, home))


def _at_home(value: Any, home: Mapping[str, Any]) -> Any:
    """The same value, with the honest module's classes and members in the place of their namesakes."""
    if isinstance(value, tuple):
        return tuple(_at_home(item, home) for item in value)
    if isinstance(value, enum.Enum) and type(value).__name__ in home:
        return home[type(value).__name__][value.name]
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and type(value).__module__ == home["__name__"]:
        said = {f.name: _at_home(getattr(value, f.name), home) for f in dataclasses.fields(value) if f.init}
        return home[type(value).__name__](**said)
    return home.get(value.__name__, value) if isinstance(value, type) else value


def _rewire(known: Any, value: Any, home: Mapping[str, Any]) -> None:
    """The honest function does what the changed one does; what it closes over stays its own."""
    if known.__code__.co_freevars == value.__code__.co_freevars:
        known.__code__ = value.__code__
        known.__defaults__ = _at_home(value.__defaults__, home)
        named = value.__kwdefaults__
        known.__kwdefaults__ = named and {name: _at_home(default, home) for name, default in named.items()}
