"""What is made of a matrix: its JSON summary, and a few lines at the end of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from rich import print as say
from rich.markup import escape

from harness.judging.result import BAD, CaseResult, Footer, Header, Verdict
from harness.subscribers.summary import JsonSummary

if TYPE_CHECKING:
    from harness.matrix.run import Finished


class MatrixSummary(JsonSummary):
    """The summary of `check`, with `pairs` and `culprits`."""

    def render(self, header: Header, results: list[CaseResult], footer: Footer) -> bytes:
        summary: dict[str, Any] = msgspec.json.decode(super().render(header, results, footer))
        more = {"pairs": pairs(results), "culprits": culprits(results)}
        return msgspec.json.format(msgspec.json.encode(summary | more), indent=2) + b"\n"


def pairs(results: Iterable[CaseResult]) -> list[dict[str, Any]]:
    """One entry for each pair under each profile, with its counts."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for result in results:
        names = (result.protocol, result.role, result.target, result.peer, result.fault_profile)
        entry = found.setdefault(
            names,
            {
                "protocol": result.protocol,
                "pairing": result.role,
                "client": result.target,
                "server": result.peer,
                "profile": result.fault_profile or "none",
                "cells": 0,
            },
        )
        entry["cells"] += 1
        entry[result.verdict] = entry.get(result.verdict, 0) + 1
    return list(found.values())


def culprits(results: Iterable[CaseResult]) -> list[dict[str, str]]:
    """One entry for each red cell: both opinions of whose fault it is."""
    return [
        {
            "case": result.case,
            "client": result.target,
            "server": result.peer,
            "profile": result.fault_profile or "none",
            "culprit": result.culprit,
            "name": {"client": result.target, "server": result.peer}.get(result.culprit, ""),
            "reading": result.reading_along,
            "faults": result.example,
        }
        for result in results
        if result.verdict in BAD and result.verdict is not Verdict.ERROR
    ]


def print_matrix(finished: Finished) -> None:
    """Who could not be reached, what there was no time for, and of each culprit how often it was one."""
    for spec, why in finished.out_of_reach.items():
        say(f"not reached: {escape(spec)}: {escape(why)}")
    for why, times in finished.left_out.items():
        say(f"partial: {escape(why)}, which leaves {times} blocks out")
    blamed: dict[str, int] = defaultdict(int)
    for entry in culprits(finished.results):
        blamed[f"{entry['culprit'] or 'unknown'}: {entry['name'] or entry['client'] + ' x ' + entry['server']}"] += 1
    for text, times in sorted(blamed.items(), key=lambda item: -item[1]):
        say(f"culprit  {escape(text)}  in {times} cells")
