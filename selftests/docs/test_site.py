"""The documentation builds without a warning, leads nowhere that is not there, and says all that the catalogue says."""

from __future__ import annotations

import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from harness.catalogue.requirements import catalogue, protocols
from harness.places import ROOT
from harness.touring.tours import roles_with_tours, tours_of


class Page(HTMLParser):
    """Where a page leads, and what in it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """Every page; a warning is an error."""
    out = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-d", str(out / "doctrees"), "docs", str(out / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return {path: Page(path.read_text()) for path in (out / "html").rglob("*.html")}


def test_a_diagram_has_the_ways_that_the_text_names() -> None:
    """SBP: an opened session greets, a handshake opens it, whatever breaks it ends it; over is over."""
    found = runpy.run_path(str(ROOT / "docs" / "diagram.py"))["edges"](tours_of("sbp", "peer"))
    ways = {way: inputs for way, inputs in found.items() if way[0] != way[1]}
    assert set(ways) == {("down", "greeting"), ("greeting", "open"), ("greeting", "over"), ("open", "over")}
    assert (ways["down", "greeting"], ways["greeting", "open"]) == ({"Opened"}, {"Handshake"})
    assert {"Close", "Malformed", "Text", "Hangup"} <= ways["open", "over"]


def test_every_diagram_is_drawn(site: dict[Path, Page]) -> None:
    """One for each role that has tours."""
    for protocol in protocols():
        (path,) = (path for path in site if (path.parent.name, path.stem) == ("protocols", protocol))
        assert path.read_text().count('<marker id="tip-') == len(roles_with_tours(protocol)) > 0


def test_no_link_is_dead(site: dict[Path, Page]) -> None:
    """Neither to a page nor to a place in one."""
    dead = []
    for path, page in site.items():
        for link in page.links:
            url = urlparse(link)
            if url.scheme in ("http", "https", "data"):
                continue
            there = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not there.exists() or (url.fragment and there in site and url.fragment not in site[there].ids):
                dead.append(f"{path.name}: {link}")
    assert dead == []


def test_nothing_is_fetched_from_elsewhere(site: dict[Path, Page]) -> None:
    """It opens from a disk, without a network."""
    for path in site:
        text = path.read_text()
        assert 'src="http' not in text, path
        assert '<link rel="stylesheet" href="http' not in text, path


def test_every_protocol_has_a_page_with_every_clause(site: dict[Path, Page]) -> None:
    pages = {path.stem: page for path, page in site.items() if path.parent.name == "protocols"}
    for protocol in protocols():
        anchors = pages[protocol].ids
        assert {id.lower().replace(".", "-") for id in catalogue(protocol)} <= anchors | {
            a.replace(".", "-") for a in anchors
        }
