"""The Spark job as an image: run folders in, tables and the site out, with nothing but what the image carries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.places import ROOT
from spark_reports.synthetic import History, Plan

BUILD_S, REPORT_S = 600, 300


@pytest.fixture(scope="module")
def image() -> str:
    subprocess.run([ROOT / "docker/build-spark"], check=True, timeout=BUILD_S, stdout=subprocess.DEVNULL)
    return "touchstone-spark"


def test_the_image_makes_the_site_without_network_or_a_writable_root(image: str, tmp_path: Path) -> None:
    """As its Dockerfile says how to run it, and locked in: it brings its own Java, Python and requirement catalogue."""
    History(Plan(nights=2, outage=False)).write(tmp_path / "runs")
    # Spark's compressors unpack native code there, hence exec.
    locked_in = ["--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp:exec", "--cap-drop", "ALL"]
    folders = ["-v", f"{tmp_path}/runs:/runs:ro", "-v", f"{tmp_path}/site:/site", "-u", str(os.getuid())]
    (tmp_path / "site").mkdir()
    ran = subprocess.run(
        ["docker", "run", *locked_in, *folders, image, "/runs", "--out", "/site"],
        capture_output=True,
        text=True,
        timeout=REPORT_S,
    )
    assert ran.returncode == 0, ran.stderr
    assert "10 runs" in ran.stdout
    page = (tmp_path / "site/index.html").read_text()
    assert "heron" in page
    assert (tmp_path / "site/tables").is_dir()
