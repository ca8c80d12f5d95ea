"""`touchstone explain`: what a word of a report means, whichever it is."""

from __future__ import annotations

from itertools import groupby

import typer

from harness.catalogue.cases import check_of
from harness.errors import UsageError
from harness.judging.result import Verdict
from harness.places import COMMAND

VERDICTS = {
    Verdict.PASS: "the target did what the clauses of the case ask for.",
    Verdict.FAIL: "a MUST is broken. The report names the clause and our reading of it, what was expected and what came.",
    Verdict.WARN: "a SHOULD is not followed, something optional is offered and done wrongly, or a clause is read differently "
    "where the specification contradicts itself. It does not make a run fail.",
    Verdict.INFO: "the specification leaves it open; what the target does is written down.",
    Verdict.UNSUPPORTED: "the target does not offer what the case needs: a capability, an operation, a role. It is no failure, "
    "but a run in which everything is unsupported has tested nothing and exits with 2.",
    Verdict.ERROR: "our own fault or the machine's, never the target's. The run exits with 2; please report it with its capsule.",
    Verdict.TIMEOUT: "the target went silent where it owed the harness an answer. `--patience` says how long that may take.",
    Verdict.CRASHED: "the target died, or what its shim said is not the shim protocol. What it printed last is with the failure.",
}

EXITS = {
    "0": "conformant: nothing failed but what the manifest lists as known to fail.",
    "1": "a MUST failed (`fail`, `timeout`, `crashed`), or the manifest's list of known failures is stale.",
    "2": "nothing can be said of the target: our own fault, a target that cannot be reached, or nothing that was tested.",
    "3": "the command was called wrongly, or nothing was selected.",
    "130": "interrupted; what had been judged by then is in the run's folder.",
}


def explain(what: str) -> None:
    if what in EXITS:
        typer.echo(f"exit code {what}: {EXITS[what]}")
    elif what.lower() in set(Verdict):
        typer.echo(f"{what.lower()}: {VERDICTS[Verdict(what.lower())]}")
    elif what.count("/") == 2 and what.endswith("tours"):
        explain_tours(what)
    elif "/" in what:
        explain_case(what)
    else:
        explain_clause(what)


def explain_case(id: str) -> None:
    """Its rule, the clauses it claims, and how to run it; a check without its axes means each of its cases."""
    from harness.catalogue.requirements import find
    from harness.running.plan import cases as listed

    outer = id.partition("[")[0]
    found = [case for case in listed([outer]) if id in (case.id, check_of(case.id)) or id.startswith(f"{case.id}[")]
    if not found:
        raise UsageError(
            f"there is no case {id!r}: `touchstone cases {'/'.join(id.split('/')[:2])}` lists what there is"
        )
    typer.echo(f"{id}: {found[0].rule}")
    for clause in dict.fromkeys(clause for case in found for clause in case.requirements):
        requirement = find(clause)
        typer.echo(f"  {requirement.level:6}  {clause}  {requirement.text}")
    for case in found if len(found) > 1 else ():
        typer.echo(f"  case    {case.id}")
    typer.echo(f"  run it  {COMMAND} check '{id}' --target ...")


def explain_tours(id: str) -> None:
    """States, transitions, pairs; what is left out and why; the letters; the walks with what they claim."""
    from harness.catalogue.protocols import known_role
    from harness.touring.tours import groups_of_tours, tours_of

    whose, _, group = id.rpartition("/")
    protocol, role = known_role(whose).split("/")
    if (role, group) not in (known := groups_of_tours(protocol)):
        others = ", ".join(f"{protocol}/{there}/{named}" for there, named in known)
        raise UsageError(f"{whose} has no {group}: use {others or 'another protocol'}")
    tours = tours_of(protocol, role, group)
    typer.echo(f"{id}: {tours.coverage}")
    typer.echo(f"  letters   {', '.join(tours.atlas.letters)}")
    typer.echo(f"  ending    {', '.join(letter.name for letter in tours.ending)}")
    for what, why in tours.left_out.items():
        typer.echo(f"  left out  {what}: {why}")
    for state, one, two in tours.coverage.left_out:
        typer.echo(f"  no walk   {one}, {two} from {state}")
    for walk in tours.walks:
        typer.echo(f"  walk      {walk.name}  {len(walk.letters)} letters  {' '.join(walk.clauses)}")


def explain_clause(id: str) -> None:
    from rich.console import Console
    from rich.markup import escape

    from harness.catalogue.requirements import catalogue, find, protocols
    from harness.mutation.mutant import mutants_of
    from harness.running.plan import cases as listed

    requirement = find(id)
    protocol = next(name for name in protocols() if id in catalogue(name))
    say = Console(highlight=False, soft_wrap=True).print
    say(f"[bold]{id}[/]  {requirement.level}  {protocol}/{', '.join(requirement.roles)}")
    for title, text in (
        ("clause", requirement.text),
        ("seen by", requirement.observe),
        ("reading", requirement.reading),
        ("contested", requirement.contested),
        ("excluded", requirement.excluded),
    ):
        if text:
            say(f"  [dim]{title:9}[/] {escape(text)}")
    say("  [dim]cases[/]")
    claiming = (case for case in listed([protocol]) if id in case.requirements)
    for check, cases in groupby(claiming, lambda case: check_of(case.id)):
        first, *more = cases
        say(f"    {escape(first.id if not more else f'{check}[...] ({1 + len(more)})')}  [dim]{escape(first.rule)}[/]")
    say("  [dim]mutants[/]")
    for mutant in mutants_of(protocol).values():
        if id in mutant.clauses:
            say(f"    {mutant.name}  [dim]{escape(mutant.fault)}[/]")
