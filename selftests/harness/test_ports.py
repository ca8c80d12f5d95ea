"""Two servers that are being started never get the same port."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.targets import ports

OTHER = """
import sys
from harness.targets import ports
with ports.reserved_port() as port:
    print(port, flush=True)
    sys.stdin.read()
"""


def suggest(monkeypatch: pytest.MonkeyPatch, *suggested: int) -> None:
    """What the system offers next."""
    offers = iter(suggested)
    monkeypatch.setattr(ports, "free_port", lambda: next(offers))


@pytest.fixture
def promised_elsewhere() -> Iterator[int]:
    """A port that another process was promised."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        yield int(other.stdout.readline())


def test_a_port_is_promised_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may offer a port again, for nobody listens on it yet."""
    suggest(monkeypatch, 40001, 40001, 40003)
    with ExitStack() as stack:
        assert [stack.enter_context(ports.reserved_port()) for _ in range(2)] == [40001, 40003]


def test_a_port_is_promised_once_on_a_machine(monkeypatch: pytest.MonkeyPatch, promised_elsewhere: int) -> None:
    """The workers of a run, and runs side by side, keep out of each other's way."""
    suggest(monkeypatch, promised_elsewhere, promised_elsewhere + 2)
    with ports.reserved_port() as port:
        assert port == promised_elsewhere + 2


def test_a_promise_ends_with_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the server listens, and that keeps others out."""
    suggest(monkeypatch, 40001, 40001)
    for _ in range(2):
        with ports.reserved_port() as port:
            assert port == 40001


def test_no_port_is_one_that_a_system_hands_out() -> None:
    """Somebody who asks for any port must not be given one that was promised to a server."""
    handed_out = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(handed_out.read_text().split()[0]) if handed_out.exists() else 49_152
    assert all(1024 < ports.free_port() < lowest for _ in range(50))
