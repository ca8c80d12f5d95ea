"""What can be changed in a source file: each operator says which piece of it, and by what.

The libraries for this (Cosmic Ray, mutmut) change operators and constants only, and rewrite files on disk. Here a statement, an
element or an argument can also go missing, which is how people forget things, and nothing is written.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.places import ROOT

FOR_PEOPLE = ("__str__", "__repr__")
"""What they return is read in reports, and by no role."""
SHELLS = ("__main__", "__init__")
"""Modules of a protocol that no target runs."""


@dataclass(frozen=True)
class Change:
    """One piece of one module replaced by another."""

    name: str  # module:function:digest, the same as long as function and piece are
    module: str  # reference_impl.peerbus.broker
    line: int
    before: str
    after: str
    start: int  # offsets into the source, in bytes
    end: int

    @property
    def stem(self) -> str:
        return self.module.rpartition(".")[2]

    def applied(self, source: bytes) -> str:
        return (source[: self.start] + self.after.encode() + source[self.end :]).decode()

    def __str__(self) -> str:
        before, after = differing(" ".join(self.before.split()), self.after)
        return f"{self.name}  {before}  ->  {after or 'nothing'}"


def differing(before: str, after: str, most: int = 70) -> tuple[str, str]:
    """Where two spellings differ, for people: long ones without what they have in common."""
    if len(before) <= most and len(after) <= most:
        return before, after
    start = _shared(before, after.lstrip("("))
    end = _shared(before[start:][::-1], after.rstrip(")")[::-1])
    cut = before[max(0, start - 20) : len(before) - end + 20]
    return f"…{cut[:most]}…", f"…{after[max(0, start - 20) : len(after) - end + 20][:most]}…"


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


# -- operators ---------------------------------------------------------------------------------------------------------

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CLAUSE = re.compile(r"[A-Z]+-[A-Z0-9.]+-\d+\w?")
REMOVED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Delete)
"""Statements that can be forgotten; without one of the others a function would not be one."""

Replacement = tuple[ast.AST, str]
"""A node, and the text that takes its place."""


def comparisons(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Compare):
        for n, op in enumerate(node.ops):
            for other in COMPARED[type(op)]:
                changed = copy.copy(node)
                changed.ops = [*node.ops[:n], other(), *node.ops[n + 1 :]]
                yield node, f"({ast.unparse(changed)})"


def connectives(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, f"({ast.unparse(ast.BoolOp(other, node.values))})"
        for n in range(len(node.values)):
            rest = [*node.values[:n], *node.values[n + 1 :]]
            yield node, f"({ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"({ast.unparse(node.operand)})"


def conditions(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield test, "True"


def arithmetic(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield node, f"({ast.unparse(ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right))})"


def constants(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.Constant):
        return
    match node.value:
        case bool(value):
            yield node, str(not value)
        case int(value):
            yield node, f"({value + 1})"
            yield node, f"({value - 1})"
        case float(value):
            yield node, f"({value * 2 + 1})"
        case str(value):
            yield node, repr("" if value else "mutant")
        case bytes(value):
            yield node, repr(b"" if value else b"mutant")


def omissions(node: ast.AST) -> Iterator[Replacement]:
    """A statement, an element, an argument by name, a loop's turns: forgotten."""
    if isinstance(node, REMOVED) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield node, "pass"
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1 and not is_stored(node):
        for n in range(len(node.elts)):
            changed = copy.copy(node)
            changed.elts = [*node.elts[:n], *node.elts[n + 1 :]]
            yield node, f"({ast.unparse(changed)})" if isinstance(node, ast.Tuple) else ast.unparse(changed)
    if isinstance(node, ast.Dict) and len(node.keys) > 1:
        for n in range(len(node.keys)):
            yield (
                node,
                ast.unparse(ast.Dict([*node.keys[:n], *node.keys[n + 1 :]], [*node.values[:n], *node.values[n + 1 :]])),
            )
    if isinstance(node, ast.Call):
        for n, keyword in enumerate(node.keywords):
            if keyword.arg:
                yield node, ast.unparse(ast.Call(node.func, node.args, [*node.keywords[:n], *node.keywords[n + 1 :]]))
    if isinstance(node, ast.For):
        yield node.iter, "()"


def jumps(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Break):
        yield node, "continue"
    if isinstance(node, ast.Continue):
        yield node, "break"


OPERATORS: tuple[Callable[[ast.AST], Iterator[Replacement]], ...] = (
    comparisons,
    connectives,
    conditions,
    arithmetic,
    constants,
    omissions,
    jumps,
)


def is_naming(node: ast.AST) -> bool:
    """A clause's id, or several, or a sentence: for people and reports, and without effect on what is said."""
    match node:
        case ast.Constant(value=str(text)):
            return bool(CLAUSE.fullmatch(text)) or text.count(" ") > 1
        case ast.Tuple(elts=[_, *_] as elements):
            return all(map(is_naming, elements))
    return False


def is_stored(node: ast.Tuple | ast.List | ast.Set) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


# -- where they apply --------------------------------------------------------------------------------------------------


def changes_of(protocol: str) -> list[Change]:
    """Every change of a protocol's modules, in an order that has nothing to do with where they stand."""
    folder = ROOT / "reference_impl" / protocol
    modules = [path for path in sorted(folder.glob("*.py")) if path.stem not in SHELLS]
    found = [change for path in modules for change in changes_in(f"reference_impl.{protocol}.{path.stem}", path)]
    return sorted(found, key=lambda change: hashlib.sha256(change.name.encode()).digest())


def changes_in(module: str, path: Path) -> Iterator[Change]:
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen: Counter[str] = Counter()
    sources = set()
    for function, node in _runnable(ast.parse(source)):
        for operator in OPERATORS:
            for piece, after in operator(node):
                start = starts[piece.lineno - 1] + piece.col_offset  # type: ignore[attr-defined]
                end = starts[piece.end_lineno - 1] + piece.end_col_offset  # type: ignore[attr-defined]
                before = source[start:end].decode()
                if (start, end, after) in sources or after.strip("()") == before.strip("()"):
                    continue
                sources.add((start, end, after))
                what = f"{function}|{' '.join(before.split())}|{after}"
                seen[what] += 1
                digest = hashlib.sha256(f"{what}|{seen[what]}".encode()).hexdigest()[:8]
                name = f"{module.rpartition('.')[2]}:{function or 'module'}:{digest}"
                yield Change(name, module, piece.lineno, before, after, start, end)  # type: ignore[attr-defined]


def _runnable(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Nodes that do something when the module runs, with the function they stand in: no docstring, no annotation, no import."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name in FOR_PEOPLE or _is_protocol(node):
                return
            inside = f"{function}.{node.name}" if function else node.name
            for child in node.body:
                yield from walk(child, inside)
            if not isinstance(node, ast.ClassDef):
                for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    yield from walk(default, inside)
            return
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr) or _is_alias(node, function):
            return
        if is_naming(node):
            return
        yield function, node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, function)

    for statement in tree.body:
        yield from walk(statement, "")


def clauses_obeyed(change: Change) -> set[str]:
    """Those that stand in its function, in the rows of a table that name this function, and on its own lines."""
    source = (ROOT / f"{change.module.replace('.', '/')}.py").read_text()
    lines = source.splitlines()
    called = change.name.split(":")[1]
    bodies = [
        ast.get_source_segment(source, node) or ""
        for function, node in functions_in(ast.parse(source))
        if function == called
    ]
    rows = [line for line in lines if re.search(rf"\.{called.rpartition('.')[2]}\b\)", line)]
    own = lines[change.line - 1 : change.line + change.before.count("\n")]
    return set(CLAUSE.findall("\n".join((*bodies, *rows, *own))))


def functions_in(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every function below a node, with its name as changes have it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}.{child.name}" if inside else child.name
            if not isinstance(child, ast.ClassDef):
                yield name, child
            yield from functions_in(child, name)
        else:
            yield from functions_in(child, inside)


def _is_protocol(node: ast.AST) -> bool:
    """A class that only says what others have to offer."""
    return isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)


def _is_alias(node: ast.AST, function: str) -> bool:
    """A union of types under a name, or a type variable: nothing that runs."""
    if function or not isinstance(node, ast.Assign):
        return False
    value = node.value
    union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
    made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"
    return union or made or (isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name))
