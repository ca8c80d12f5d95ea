"""What is installed under the name `touchstone`: the command, and all that it needs in a folder of its own.

`harness`, `suites` and `targets` are names that any project may have. So a wheel puts them under `bundle`, out of the way of
what else is installed, and who asks for Touchstone gets that folder on the path first. In a clone the folder is the clone.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE / "bundle" if (HERE / "bundle").is_dir() else HERE.parent


def main() -> None:
    """The command. The working folder comes last on the path: `python:my_shim:factory` is found there and hides nothing."""
    sys.path[:] = [str(HOME), *(path for path in sys.path if path), str(Path.cwd())]
    from harness.cli import main as run

    run()
