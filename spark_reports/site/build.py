"""Builds the site from the published tables and says in a Summary what it shows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from spark_reports.errors import Unavailable
from spark_reports.lake import Lake
from spark_reports.runs import Run
from spark_reports.site.collect import DAYS, Collected, collect
from spark_reports.site.model import page_model
from spark_reports.site.render import render_badge, render_page
from spark_reports.site.requirements import read_requirements
from spark_reports.summary import Change, Summary


def build_site(
    lake: Lake, tables: Any, everything: list[Run], status: list[Run], out: Path, suites: Path | None
) -> Summary:
    """Write `index.html` and the badges below `out`; other things there are left alone."""
    spoiled = [run for run in status if run.bad_lines]
    days = sorted({run.run_date for run in status})
    data = collect(tables, lake.quarantine(spoiled) if spoiled else None, first_day=days[-DAYS:][0])
    model = page_model(data, everything, status, read_requirements(suites))
    page = Path(out) / "index.html"
    try:
        _write_badges(Path(out) / "badges", model["badges"])
        fresh = page.with_name(f".{page.name}.fresh")  # a page is whole, or it is still the last one
        fresh.write_text(render_page(model), encoding="utf-8")
        fresh.replace(page)
    except OSError as error:
        raise Unavailable(f"{out} cannot be written: {error.strerror}.") from error
    return _summary(lake, data, model, page)


def _write_badges(folder: Path, badges: list[Any]) -> None:
    fresh = folder.with_name(f".{folder.name}.fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for badge in badges:
        (fresh / badge.file).write_text(render_badge(badge), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.replace(folder)


def _summary(lake: Lake, data: Collected, model: dict[str, Any], page: Path) -> Summary:
    headline, health = model["headline"], model["health"]
    return Summary(
        site=page,
        tables=lake.root,
        night=headline["night"],
        previous_night=headline["previous"],
        runs=health["complete"] + health["partial_total"],
        partial_runs=health["partial_total"],
        duplicate_runs=health["duplicates"],
        rejected=health["rejected_total"],
        bad_lines=health["bad_lines"],
        counts=headline["counts"],
        regressions=_changes(data, "regression"),
        fixes=_changes(data, "fix"),
        flaky=data.total("flaky"),
        changes_left_out=model["changes_total"] - len(data.changes),
    )


def _changes(data: Collected, kind: str) -> list[Change]:
    names = ("protocol", "target", "peer", "case", "verdict")
    return [
        Change(**{name: row[name] for name in names}, aligned_run=row["aligned_run"] or "")
        for row in data.changes
        if row["change"] == kind
    ]
