"""The documentation as a static site: `python -m sphinx -W docs build/docs`. The pages of the protocols are written from data."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from pages import write_pages  # noqa: E402  # the path says where

from harness import __version__  # noqa: E402

project = "Touchstone"
author = "the Touchstone project"
release = version = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"Touchstone {__version__}"
html_copy_source = False
html_show_copyright = False  # the licence says it
html_static_path = ["static"]
html_css_files = ["wide.css"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]


def setup(app: object) -> None:
    write_pages(Path(__file__).parent / "protocols")
