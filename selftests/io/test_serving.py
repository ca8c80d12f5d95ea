"""A reference on the command line: it says where it is, and says goodbye when it is interrupted."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from harness.places import ROOT
from reference_impl.io.websocket import dial
from selftests.interrupts import HEARS_SIGINT
from selftests.io.ends import end_of, soon


@pytest.mark.parametrize(
    ("module", "hello"),
    [("peerbus", r"peerbus broker on (ws://\S+), state in "), ("sbp", r"sbp peer \S+ on (ws://\S+)")],
)
async def test_it_serves_until_it_is_interrupted(module: str, hello: str, tmp_path: Path) -> None:
    """Ctrl-C is no fault: everybody hears 1001, and it exits with 0 and without a traceback."""
    command = [sys.executable, "-m", f"reference_impl.{module}", "--port", "0"]
    command += ["--state-dir", str(tmp_path)] if module == "peerbus" else []
    pipe = asyncio.subprocess.PIPE
    served = await asyncio.create_subprocess_exec(*HEARS_SIGINT, *command, cwd=ROOT, stdout=pipe, stderr=pipe)
    assert served.stdout
    assert served.stderr
    address = re.match(hello, (await soon(served.stdout.readline())).decode())
    assert address
    peer = await dial(address[1])
    served.send_signal(signal.SIGINT)
    assert (await end_of(peer)).code == 1001
    assert await soon(served.stderr.read()) == b""
    assert await soon(served.wait()) == 0
