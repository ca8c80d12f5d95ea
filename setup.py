"""A wheel holds the package `touchstone` and, in its `bundle`, the folders of the project as they are: see `package/__init__.py`.

All else about the package stands in pyproject.toml. An editable installation is left as setuptools makes it.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = "touchstone"
FOLDERS = ("harness", "reference_impl", "spark_reports", "suites", "targets", "vectors")
MADE = ("__pycache__", "*.egg-info", "node_modules", "bin", "target", ".touchstone-built")
"""What builds and runs leave in them."""


class Bundle(build_py):
    """Instead of top-level packages with names that are anybody's, one package that holds them all."""

    def run(self) -> None:
        if not self.editable_mode:
            self.packages = [PACKAGE]
            for folder in FOLDERS:
                there = Path(self.build_lib, PACKAGE, "bundle", folder)
                shutil.rmtree(there, ignore_errors=True)  # of an earlier build
                shutil.copytree(folder, there, ignore=shutil.ignore_patterns(*MADE))
        super().run()


setup(cmdclass={"build_py": Bundle})
