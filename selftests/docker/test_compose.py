"""The compose file brings up the reference's servers and nodes for people to play with."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

import pytest

from harness.places import ROOT
from harness.targets import Target
from harness.targets.ports import free_port

PATIENCE_S = 30


def composer() -> list[str]:
    """`docker compose` where it is a plugin, `docker-compose` where it is a program of its own."""
    plugin = shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True)
    if plugin and plugin.returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if "compose" in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
        pytest.fail("there is no docker compose: install the package docker-compose")
    pytest.skip("there is no docker compose: install the package docker-compose")


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found = [free_port(), free_port()]
    monkeypatch.setenv("PEERBUS_PORT", str(found[0]))
    monkeypatch.setenv("SBP_PORT", str(found[1]))
    return found


@pytest.fixture
def compose(ports: list[int]) -> Iterator[list[str]]:
    """The beginning of every compose command on a project of this test's own."""
    command = [*composer(), "-f", str(ROOT / "docker/compose.yaml"), "-p", f"touchstone{uuid.uuid4().hex[:8]}"]
    yield command
    subprocess.run([*command, "down", "-v", "-t", "1"], capture_output=True, timeout=120)


def answers(port: int) -> bool:
    """Plain HTTP gets an answer from a WebSocket server, if only a refusal; the published port alone gives none."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == HTTPStatus.UPGRADE_REQUIRED
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def until(condition: Callable[[], bool], what: str) -> None:
    """Nobody tells when a container is ready: ask again, within bounds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def test_servers_answer_and_nodes_hear_each_other(target: Target, compose: list[str], ports: list[int]) -> None:
    """What the comments in the file say works."""
    up = subprocess.run([*compose, "up", "-d"], capture_output=True, text=True, timeout=120)
    assert up.returncode == 0, up.stderr
    for port in ports:
        until(lambda port=port: answers(port), f"nobody answers on port {port}")  # type: ignore[misc]

    def heard() -> bool:
        """A node that is not up yet hears nothing, so it is said again."""
        send = ["python3", "-m", "reference_impl.bccn", "send", "--broadcast", "172.30.54.255", "--port", "5400"]
        subprocess.run([*compose, "exec", "-T", "node-a", *send, "news", "it rains"], timeout=60, check=True)
        logs = subprocess.run([*compose, "logs", "node-b"], capture_output=True, text=True, timeout=60)
        return "news: b'it rains'" in logs.stdout

    until(heard, "node-b did not hear node-a")
