"""Turns what was collected into what the templates show: squares with one verdict, headline, provenance."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from spark_reports.runs import COMPLETE, DUPLICATE, PARTIAL, REJECTED, Run
from spark_reports.schemas import VERDICTS
from spark_reports.site.badges import badges
from spark_reports.site.bites import bites
from spark_reports.site.collect import SHOWN, Collected
from spark_reports.site.plots import latency_bars, latency_plots, trend_plots
from spark_reports.site.readings import readings
from spark_reports.site.requirements import STATUSES, Requirement, coverage

Row = dict[str, Any]

#: A square shows the worst that happened in it.
WORST = ("crashed", "fail", "timeout", "error", "warn", "pass", "info", "unsupported")
#: Streams that are named one by one; the others are counted.
NAMED = 12


def page_model(
    data: Collected, everything: list[Run], status: list[Run], known: dict[str, dict[str, Requirement]]
) -> Row:
    """All variables of the page."""
    squares = _squares(data)
    alone, pairs = [s for s in squares if not s["peer"]], [s for s in squares if s["peer"]]
    clauses = {id: item for protocol in known.values() for id, item in protocol.items()}
    return {
        "verdicts": WORST,
        "headline": headline(data, status),
        "provenance": provenance(status),
        "health": health(everything, data.quarantine),
        "protocols": sorted({square["protocol"] for square in squares}),
        "targets": sorted({square["target"] for square in squares} | {square["peer"] for square in pairs}),
        "conformance": _grid(alone, "protocol"),
        "interop": {
            protocol: _grid([s for s in pairs if s["protocol"] == protocol], "peer") for protocol in _protocols(pairs)
        },
        "layers": _layers(data.layers, squares),
        "findings": data.findings,
        "findings_total": data.total(*SHOWN),
        "changes": data.changes,
        "changes_total": data.total("regressions", "fixes"),
        "flaky": data.flaky,
        "flaky_total": data.total("flaky"),
        "lossy": data.lossy,
        "coverage": coverage(data.ledger, known),
        "readings": readings(data.readings, data.ledger, known),
        "bites": bites(everything),
        "statuses": STATUSES,
        "trends": trend_plots(data.trends),
        "latencies": latency_plots(data.trends),
        "latency_bars": latency_bars(data.latency),
        "badges": badges(data.squares),
        "payload": {"squares": squares, "findings": data.findings, "clauses": _needed(data.findings, clauses)},
    }


def headline(data: Collected, status: list[Run]) -> Row:
    """The numbers on top: how it stands, and against which night."""
    counts = Counter({verdict: data.total(verdict) for verdict in VERDICTS})
    nights = sorted({run.run_date for run in status}, reverse=True)
    bad = sum(counts[verdict] for verdict in ("crashed", "fail", "timeout", "error"))
    return {
        "night": nights[0],
        "previous": nights[1] if len(nights) > 1 else "",
        "counts": {verdict: counts[verdict] for verdict in WORST},
        "cases": sum(counts.values()),
        "bad": bad,
        "surprising": data.total("surprising"),
        "regressions": data.total("regressions"),
        "fixes": data.total("fixes"),
        "flaky": data.total("flaky"),
    }


def provenance(status: list[Run]) -> Row:
    """Which runs the newest night has, and what they were made with."""
    night = max(run.run_date for run in status)
    newest = [run for run in status if run.run_date == night]
    newest.sort(key=lambda run: run.started_at)
    planned = sum(max(run.planned, run.cases) for run in newest)
    return {
        "runs": newest,
        "commits": sorted({run.commit for run in newest if run.commit}),
        "versions": sorted({run.harness_version for run in newest if run.harness_version}),
        "pythons": sorted({run.python for run in newest if run.python}),
        "platforms": sorted({run.platform for run in newest if run.platform}),
        "cases": sum(run.cases for run in newest),
        "planned": planned,
        "complete": 100.0 * sum(run.cases for run in newest) / planned if planned else 100.0,
        "history": len(status),
        "since": min(run.run_date for run in status),
    }


def health(everything: list[Run], quarantine: list[Row]) -> Row:
    """What was not read, and why: a report must not be silently smaller."""
    by_state = defaultdict(list)
    for run in everything:
        by_state[run.state].append(run)
    return {
        "complete": len(by_state[COMPLETE]),
        "partial": by_state[PARTIAL][-NAMED:],
        "partial_total": len(by_state[PARTIAL]),
        "duplicates": len(by_state[DUPLICATE]),
        "rejected": by_state[REJECTED][:NAMED],
        "rejected_total": len(by_state[REJECTED]),
        "reasons": quarantine,
        "bad_lines": sum(row["lines"] for row in quarantine),
    }


def _square(number: int, row: Row, groups: list[Row], findings: list[int], clauses: set[str]) -> Row:
    """One coloured square, with the groups and findings that a click on it shows."""
    bad = row["crashed"] + row["fail"] + row["timeout"] + row["error"]
    present = [verdict for verdict in WORST if row[verdict]]
    return {
        **row,
        "number": number,
        "worst": present[0] if present else "unsupported",
        "all_verdicts": " ".join(present),
        "bad": bad,
        "good": row["cases"] - bad - row["unsupported"],
        "decided": row["cases"] - row["unsupported"],
        "known": bad > 0 and row["surprising"] == 0,
        "groups": groups,
        "findings": findings,
        "clauses": sorted(clauses),
    }


def _squares(data: Collected) -> list[Row]:
    groups, findings, clauses = defaultdict(list), defaultdict(list), defaultdict(set)
    for group in data.groups:
        groups[_where(group)].append(group)
    for index, item in enumerate(data.findings):
        findings[_where(item)].append(index)
        clauses[_where(item)].update(item["requirements"])
    return [
        _square(number, row, groups[_where(row)], findings[_where(row)], clauses[_where(row)])
        for number, row in enumerate(data.squares)
    ]


def _where(row: Row) -> tuple[str, str, str]:
    return row["protocol"], row["target"], row["peer"]


def _grid(squares: list[Row], column: str) -> Row:
    """Rows by target, columns by protocol or peer; a missing square is a pair that was not run."""
    return {
        "rows": sorted({square["target"] for square in squares}),
        "columns": sorted({square[column] for square in squares}),
        "cells": {(square["target"], square[column]): square for square in squares},
        "versions": {square["target"]: square["target_version"] for square in squares},
    }


def _layers(rows: list[Row], squares: list[Row]) -> dict[str, dict[str, Row]]:
    """By protocol and fault profile, a grid like that of all profiles together; a click shows the whole pair."""
    whole = {_where(square): square for square in squares}
    found: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if square := whole.get(_where(row)):
            layer = {**square, **row, "regressions": 0, "surprising": 1, "culprits": []}
            made = _square(square["number"], layer, [], [], set(square["clauses"]))
            found[row["protocol"]][row["fault_profile"] or "none"].append(made)
    return {
        protocol: {
            profile: _grid(layers[profile], "peer") for profile in sorted(layers, key=lambda p: (p != "none", p))
        }
        for protocol, layers in found.items()
    }


def _protocols(squares: list[Row]) -> list[str]:
    return sorted({square["protocol"] for square in squares})


def _needed(findings: list[Row], clauses: dict[str, Requirement]) -> dict[str, Requirement]:
    wanted = {clause for item in findings for clause in item["requirements"]}
    return {clause: clauses[clause] for clause in sorted(wanted) if clause in clauses}
