"""The package as a stranger gets it: an sdist, the wheel of that, an environment with nothing else, an unrelated folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from harness.places import ROOT

STRANGE = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "VIRTUAL_ENV")
"""What a shell of somebody else's does not have."""

FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "constraints.txt", "README.md", "LICENSE")
FOLDERS = ("harness", "package", "reference_impl", "spark_reports", "suites", "targets", "vectors")
SOURCES = (*FILES, *FOLDERS)

SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


def run(command: Sequence[str | Path], cwd: Path, code: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key not in STRANGE}
    done = subprocess.run(command, cwd=cwd, env=clean | env, capture_output=True, text=True, timeout=300)
    assert code is None or done.returncode == code, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done


@dataclass(frozen=True)
class Installed:
    """An environment that has the package, and a folder that has nothing to do with it."""

    environment: Path
    folder: Path

    def __call__(self, *words: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """The command, as a person in that folder types it."""
        cache = str(self.environment / "cache")
        return run([self.environment / "bin" / "touchstone", *words], self.folder, code, XDG_CACHE_HOME=cache, **env)

    def python(self, *words: str, code: int | None = 0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run([self.environment / "bin" / "python", *words], cwd or self.folder, code)

    @property
    def site(self) -> Path:
        return next(self.environment.glob("lib/python*/site-packages"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of the sdist, and that of a copy: a build leaves things behind."""
    home = tmp_path_factory.mktemp("wheel")
    (home / "source").mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, home / "source" / name, ignore=shutil.ignore_patterns("node_modules"))
        else:
            shutil.copy(ROOT / name, home / "source")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    run([*pip, "install", "--target", home / "tools", *needed], home)
    sdist = run([sys.executable, "-c", SDIST, home], home / "source", PYTHONPATH=str(home / "tools")).stdout.split()[-1]
    command = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", home, home / sdist]
    run(command, home, PYTHONPATH=str(home / "tools"))
    return next(home.glob("*.whl"))


def lend(site: Path, extra: str = "") -> None:
    """What the wheel says it needs, and what that needs, and nothing else: linked from the environment of this test.

    pip would put the same there, and take longer than all the tests.
    """
    (wheel,) = distributions(path=[str(site)], name="touchstone")
    todo = [(wheel, extra)]
    seen = {("touchstone", extra)}
    while todo:
        wanted, extra = todo.pop()
        for requirement in map(Requirement, wanted.requires or ()):
            for more in requirement.extras | {""}:
                if (requirement.name, more) in seen or not applies(requirement, extra):
                    continue
                seen.add((requirement.name, more))
                found = distribution(requirement.name)
                assert requirement.specifier.contains(found.version), f"{requirement}, but {found.version} is here"
                link(found, site)
                todo.append((found, more))


def applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def link(found: Distribution, site: Path) -> None:
    """Its folders and modules; no command of it."""
    for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(found.locate_file(top))


@pytest.fixture(scope="session")
def touchstone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel and what it says it needs."""
    home = tmp_path_factory.mktemp("stranger")
    venv.create(home / ".venv", with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", home / ".venv", "-q", "--disable-pip-version-check"]
    run([*pip, "install", "--no-deps", wheel], home)
    (home / "elsewhere").mkdir()
    installed = Installed(home / ".venv", home / "elsewhere")
    lend(installed.site)
    return installed


@pytest.fixture
def report_extra(touchstone: Installed) -> None:
    """What `touchstone[report]` brings."""
    lend(touchstone.site, "report")
