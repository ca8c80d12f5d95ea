"""The site in a real Chromium: it opens from disk, filters, drills down, and what a target sends stays text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import SparkSession

from harness.judging.result import CaseResult, Failure, Footer, Header, TargetInfo, TimelineEntry, Verdict
from harness.places import ROOT
from harness.subscribers.faults import differing
from spark_reports.job import Options, report_with
from spark_reports.site.render import visible
from spark_reports.synthetic import write_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Chromium as root needs --no-sandbox; the others keep it from calling home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MUTANT = "mutant:sbp/acks-twice"
PAYLOADS = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "\"><img src=x onerror='window.pwned=3'>",
    "<!--<script>",
    "{{ 7*7 }}",
    "../../../etc/passwd",
    "javascript:window.pwned=4",
    "\x1b[31mred\u202eder\u2066",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    if not CHROMIUM:
        pytest.fail("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser: sync_api.Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sync_api.Page]:
    """A page that fails its test on any console error, exception or request outside the disk; keeps a screenshot."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    opened.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request", lambda sent: complaints.append(sent.url) if not sent.url.startswith(("file:", "data:")) else None
    )
    yield opened
    artefacts = Path(os.environ.get("TOUCHSTONE_ARTEFACTS", tmp_path))
    artefacts.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=artefacts / f"{request.node.name}.png", full_page=True)
    opened.close()
    assert complaints == []


@pytest.fixture
def site(page: sync_api.Page, reported) -> sync_api.Page:
    page.goto((reported.site / "index.html").as_uri())
    return page


def shown_findings(page: sync_api.Page) -> int:
    return page.locator("li[data-finding]:visible").count()


def test_the_page_states_the_planted_truths(site: sync_api.Page, reported) -> None:
    regressions = site.locator("#changes li.is-regression")
    named = {(row.get_attribute("data-target"), row.get_attribute("data-open-case")) for row in regressions.all()}
    assert named == {(target, case) for _, target, _, case in reported.truth.regressions}
    assert site.locator("#steadiness .column").first.locator("li").count() == len(reported.truth.flaky)


def test_the_matrix_shows_each_square_with_colour_and_symbol(site: sync_api.Page, reported) -> None:
    names, protocols = len(reported.plan.implementations), len(reported.plan.protocols)
    squares = site.locator("#matrix button.square:not(details *)")
    assert squares.count() == names * protocols + names * names * protocols
    red = site.locator("#matrix button.square.v-fail").first
    assert red.locator("use").first.get_attribute("href") == "#s-fail"
    assert red.evaluate("e => getComputedStyle(e).backgroundColor") != squares.last.evaluate(
        "e => getComputedStyle(e).backgroundColor"
    )


def test_the_matrix_has_a_layer_for_each_fault_profile(site: sync_api.Page) -> None:
    layers = site.locator("#matrix details.layer")
    assert layers.evaluate_all("all => all.map(e => e.dataset.profile)") == ["none", "loss-20", "loss-5"]
    layers.nth(1).locator("summary").click()
    assert layers.nth(1).locator("button.square.v-fail").is_visible()


def test_filters_narrow_the_findings(site: sync_api.Page, reported) -> None:
    everything = shown_findings(site)
    site.select_option("[name=verdict]", "fail")
    failing = shown_findings(site)
    site.select_option("[name=protocol]", "sbp")
    in_sbp = sum(cell[0] == "sbp" for cell in reported.truth.regressions | set(reported.truth.older))
    assert everything > failing > shown_findings(site) == in_sbp
    site.click("button[type=reset]")
    assert shown_findings(site) == everything


def test_target_and_clause_filter_together(site: sync_api.Page, reported) -> None:
    _, target, _, case = sorted(reported.truth.regressions)[0]
    row = site.locator(f'li[data-finding][data-target="{target}"][data-peer=""]', has_text=case)
    site.select_option("[name=target]", target)
    site.fill("[name=clause]", row.get_attribute("data-clauses"))
    assert row.is_visible()
    assert all(
        r.get_attribute("data-clauses") == row.get_attribute("data-clauses")
        for r in site.locator("li[data-finding]:visible").all()
    )


def test_a_square_drills_down_to_the_evidence(site: sync_api.Page) -> None:
    """Cell, then case: clause, reading, expected against observed, both life lines, culprit, replay."""
    site.click('#matrix button.square[data-protocol="peerbus"][data-target="heron"][data-peer="kestrel"]')
    site.click("dialog li:has-text('hello')")
    text = site.locator("dialog").inner_text()
    assert "PB-1-00" in text
    assert "The broker answers a register." in text
    assert "an ack follows the delivery it confirms" in text
    assert "ack(id=7) with no deliver before it" in text
    assert "heron\nthe client: it also fails against the reference server" in text
    assert "touchstone replay capsules/" in text
    lanes = site.locator("dialog .ladder .lane").evaluate_all("nodes => nodes.map((node) => node.textContent)")
    assert sorted(lanes) == ["heron (client)", "kestrel (server)"]
    assert site.locator("dialog .ladder .arrow").count() == 5


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_planted_mutant_is_named_on_either_side(page: sync_api.Page, planted: Path, side: str) -> None:
    """A mutant of SBP beside the reference, played and not made up: the cell's evidence names it, in whichever seat it sits."""
    target, peer = (MUTANT, "reference") if side == "client" else ("reference", MUTANT)
    page.goto((planted / "index.html").as_uri())
    page.click(f'#matrix button.square[data-protocol="sbp"][data-target="{target}"][data-peer="{peer}"]')
    page.locator("dialog li", has_text="exchange").first.click()
    assert f"{MUTANT}\nthe {side}:" in page.locator("dialog").inner_text()


@pytest.fixture(scope="module")
def planted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    words = ["matrix", "sbp", "--targets", f"reference,{MUTANT}", "--runs", str(folder / "runs"), "-n", "1"]
    assert subprocess.call([sys.executable, "-m", "harness.cli", *words], cwd=ROOT) == 1, (
        "the browser has this thread's loop"
    )
    report_with(spark, [folder / "runs"], folder / "site", Options())
    return folder / "site"


def test_what_differs_is_marked_as_on_the_terminal(site: sync_api.Page) -> None:
    """Nothing where the two have nothing in common; of bytes whole ones."""
    told = [
        ("00a1ff", "00a2ff"),
        ("100 in order", "99 in order"),
        ("abcdef", "abcxdef"),
        ("Deliver", "nothing"),
        ("x", ""),
    ]
    script = """([expected, observed]) => [...againstParts({ failure: { expected, observed } })[0].querySelectorAll("mark")]
        .map((mark) => mark.textContent)"""
    for expected, observed in told:
        parts = differing(expected, observed)
        wanted = [expected[parts[0]], observed[parts[1]]] if parts else []
        assert site.evaluate(script, [expected, observed]) == wanted


def test_coverage_counts_tested_untested_and_excluded(site: sync_api.Page, reported) -> None:
    card = site.locator('#coverage article[data-protocol="peerbus"]')
    assert card.locator(".clause").count() == reported.plan.cases + 2
    assert card.locator(".clause.c-untested").get_attribute("data-clause") == "PB-9-99"
    assert card.locator(".clause.c-excluded").get_attribute("data-clause") == "PB-0-01"


def test_the_page_says_how_well_the_suites_bite(page: sync_api.Page, spark: SparkSession, tmp_path: Path) -> None:
    """The newest run of each kind; what is let live with a reason is not counted against them."""
    case = CaseResult("", "sbp/codec/vectors/decodes", "sbp", "codec", "vectors", Verdict.PASS, "reference", ["SBP-1"])
    for number, (kind, measures) in enumerate(
        [
            ("check", {}),
            ("mutants", {"mutants": 9, "killed": 2}),
            ("mutants", {"mutants": 10, "killed": 10}),
            ("generated", {"mutants": 300, "killed": 190, "listed": 100}),
        ]
    ):
        run_id, moment = f"run-{number}", f"2026-02-0{number + 1}T00:00:00+00:00"
        header = Header(run_id, moment, kind, 0, [TargetInfo("reference")], ["sbp"], 1)
        footer = Footer(run_id, moment, 1.0, {"pass": 1}, 0, measures=measures)
        write_run(tmp_path / "runs" / run_id, [header, msgspec.structs.replace(case, run_id=run_id), footer])
    report_with(spark, [tmp_path / "runs"], tmp_path / "site", Options())
    page.goto((tmp_path / "site" / "index.html").as_uri())
    rows = page.locator("#coverage .bites tbody tr").all_inner_texts()
    assert [row.split("\t")[1:5] for row in rows] == [
        ["planted by hand", "10 of 10", "100%", ""],
        ["generated from the source", "190 of 200", "95%", "100"],
    ]


def test_the_page_fits_a_phone(site: sync_api.Page) -> None:
    site.set_viewport_size({"width": 390, "height": 844})
    assert site.evaluate("document.documentElement.scrollWidth") <= 390
    site.locator("li[data-finding]").first.click()
    assert site.locator("dialog").evaluate("dialog => dialog.getBoundingClientRect().right") <= 390


def test_the_theme_can_be_switched(site: sync_api.Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    before = site.evaluate(colour)
    site.click("#theme")
    assert site.evaluate(colour) != before


def hostile_run(folder: Path) -> None:
    """Every text that a target can influence is an attack."""
    run_id = PAYLOADS[5]
    cases = [
        CaseResult(
            run_id,
            f"peerbus/broker/x/{text}",
            "peerbus",
            "broker",
            text,
            Verdict.FAIL,
            text,
            [text],
            reach=text,
            target_version=text,
            peer=text,
            scenario=text,
            failure=Failure(text, text, text, text, text),
            note=text,
            timeline=[TimelineEntry(0.0, text, "harness", "frame", text, text, 3)],
            example=text,
            replay=text,
        )
        for text in PAYLOADS
    ]
    cases += [
        CaseResult(run_id, "peerbus/broker/x/y", text, "broker", "x", Verdict.FAIL, text, [text]) for text in PAYLOADS
    ]
    header = Header(
        run_id,
        "2026-09-01T00:00:00Z",
        "check",
        1,
        [TargetInfo(text) for text in PAYLOADS],
        ["peerbus"],
        commit=PAYLOADS[1],
    )
    stream = write_run(folder, [header, *cases, Footer(run_id, "", 1.0, {"fail": len(cases)}, 1)])
    stream.write_bytes(stream.read_bytes().replace(b'"type":"footer"', b'"type":"<script>window.pwned=5</script>"'))


def test_what_acts_in_secret_is_shown() -> None:
    """As a symbol, or by its number; letters of every script stay as they are."""
    assert (
        visible("\x1b[31m\u202eabc\u2066\x7f") == "\u241b[31m\u27e8U+202E\u27e9abc\u27e8U+2066\u27e9\u27e8U+007F\u27e9"
    )
    assert visible("na\u00efve \u05e9\u05dc\u05d5\u05dd\n\tx") == "na\u00efve \u05e9\u05dc\u05d5\u05dd\n\tx"


def test_what_a_target_sends_stays_text(page: sync_api.Page, spark: SparkSession, tmp_path: Path) -> None:
    hostile_run(tmp_path / "runs" / "hostile")
    report_with(spark, [tmp_path / "runs"], tmp_path / "site", Options())
    badges = list((tmp_path / "site" / "badges").iterdir())
    assert len(badges) == len(PAYLOADS)
    for badge in badges:
        page.goto(badge.as_uri())
        assert page.evaluate("window.pwned") is None
    page.goto((tmp_path / "site" / "index.html").as_uri())
    for finding in page.locator("li[data-finding]").all():
        finding.click()
        page.keyboard.press("Escape")
    for text in PAYLOADS:
        assert page.locator("#findings").get_by_text(visible(text), exact=True).first.is_visible()
    assert not {"\x1b", "\u202e", "\u2066"} & set((tmp_path / "site" / "index.html").read_text())
    assert not {"\x1b", "\u202e", "\u2066"} & set(page.content())
    page.locator("#matrix button.square").first.click()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0
