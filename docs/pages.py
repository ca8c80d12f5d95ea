"""The pages that are written from data: one for each protocol, and what verdicts and exit codes mean."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from diagram import edges, svg

from harness.catalogue.cases import CaseInfo, check_of
from harness.catalogue.protocols import protocol
from harness.catalogue.requirements import Requirement, catalogue, protocols
from harness.cli.explain import EXITS, VERDICTS
from harness.mutation.mutant import Mutant, mutants_of
from harness.running.plan import cases
from harness.touring.tours import roles_with_tours, tours_of


def write_pages(folder: Path) -> None:
    """Anew each time; a protocol that is added needs no word here."""
    folder.mkdir(exist_ok=True)
    for id in protocols():
        write(folder / f"{id}.md", "\n".join(protocol_page(id)))
    write(folder / "verdicts.md", "\n".join(verdicts_page()))


def write(path: Path, text: str) -> None:
    """Only what has changed: Sphinx then builds only that."""
    if not path.exists() or path.read_text() != text + "\n":
        path.write_text(text + "\n")


def verdicts_page() -> Iterator[str]:
    yield "# Verdicts and exit codes\n"
    yield "`touchstone explain VERDICT` and `touchstone explain CODE` say the same.\n"
    yield from table(("verdict", "means"), ((f"`{verdict}`", said) for verdict, said in VERDICTS.items()))
    yield from table(("exit code", "means"), EXITS.items())


def protocol_page(id: str) -> Iterator[str]:
    about, clauses = protocol(id), catalogue(id)
    found, mutants = cases([id]), list(mutants_of(id).values())
    checks = {check_of(case.id) for case in found}
    yield f"# {about.name}\n"
    yield f"Roles: {', '.join(f'`{id}/{role}`' for role in about.roles)}. {len(clauses)} requirements, {len(found)} cases of "
    yield f"{len(checks)} checks, not counting vectors, and {len(mutants)} deliberate faults that they catch.\n"
    yield f"```{{include}} ../../suites/{id}/README.md\n:heading-offset: 1\n```\n"
    for role in roles_with_tours(id):
        yield from role_table(id, role)
    yield "## Requirements\n"
    for requirement in clauses.values():
        yield from clause(requirement, found, mutants)


def role_table(id: str, role: str) -> Iterator[str]:
    """The phases, then the machine's table, row by row: it is what the reference does and what the oracle allows."""
    yield f"## The states of {id}/{role}\n"
    yield "The phases of a connection or of the role, and what the walks of the tours saw lead from one to another."
    yield "Point at a label for all inputs that it stands for.\n"
    yield f"```{{raw}} html\n<div style='overflow-x: auto'>{svg(edges(tours_of(id, role)), role)}</div>\n```\n"
    yield "In which phase which input is met by which rule, as the reference obeys it and the oracle judges by it.\n"
    rows = importlib.import_module(f"reference_impl.{id}.{role}").TABLE.items()
    yield from table(
        ("phase", "input", "rule", "clauses"),
        (
            (named(phase), kind.__name__, row.action.__name__.replace("_", " "), links(row.clauses))
            for (phase, kind), row in rows
        ),
    )


def named(phase: object) -> str:
    return str(getattr(phase, "name", phase)).lower().replace("_", " ")


def links(clauses: Iterable[str]) -> str:
    return ", ".join(f"[{clause}](#{clause.lower().replace('.', '')})" for clause in clauses)


def clause(requirement: Requirement, found: list[CaseInfo], mutants: list[Mutant]) -> Iterator[str]:
    yield f"### {requirement.id}\n"
    yield f"**{requirement.level}** {safe(requirement.text)}\n"
    told = {
        "Seen by": requirement.observe,
        "We read": requirement.reading,
        "Contested": requirement.contested,
        "Excluded": requirement.excluded,
    }
    yield from (f"- {title}: {safe(said)}" for title, said in told.items() if said)
    claiming: dict[str, int] = defaultdict(int)
    for case in found:
        claiming[check_of(case.id)] += requirement.id in case.requirements
    yield from (f"- Checked by `{check}`" for check, count in claiming.items() if count)
    yield from (f"- Bitten by `{m.name}`: {safe(m.fault)}" for m in mutants if requirement.id in m.clauses)
    yield ""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def safe(text: str) -> str:
    """A text of the catalogue, whose signs mean themselves; what it writes as code stays code."""
    parts = " ".join(text.split()).split("`")
    for n in range(0, len(parts), 2):
        parts[n] = "".join(f"\\{c}" if c in "\\*_{}[]<>#$|~^" else c for c in parts[n])
    return "`".join(parts)
