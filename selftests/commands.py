"""The command line for tests that ask it often: a process of its own each time, forked off one that has the modules.

What is left out is a second of imports, and nothing else: `test_docs.py`, `test_machine_and_reference.py` and
the step `package` start it as a person does.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.cli import main
from harness.judging.trial import crowding

MODULES = [
    __name__,
    "harness.cli.explain",
    "harness.matrix.replay",
    "harness.running.check",
    "harness.running.replay",
    "hypothesis.stateful",
    "pytest_asyncio.plugin",
    "reference_impl.io.websocket",
    "targets.reference",
]
"""What nearly every command needs, and no protocol."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(MODULES)


def touchstone(*words: str, cwd: Path, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """What `touchstone WORDS` says in that folder, and how it exits; a busy machine has as many times longer for it."""
    most_s = timeout_s * crowding()
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = FORKS.Process(target=run, args=(words, cwd, out, err))
        process.start()
        process.join(most_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, most_s, out.read_text(), err.read_text())
        return subprocess.CompletedProcess(words, process.exitcode, out.read_text(), err.read_text())


def run(words: tuple[str, ...], cwd: Path, out: Path, err: Path) -> None:
    """In the fork: as the interpreter would, also what is registered for the end."""
    os.chdir(cwd)
    for stream, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    sys.argv[1:] = words
    try:
        main()
    finally:
        atexit._run_exitfuncs()
