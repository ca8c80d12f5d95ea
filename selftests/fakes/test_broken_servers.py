"""Plain servers that do not come up, do not stay up or do not go away."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import TargetCrashed, TargetTimeout, TargetUnsupported, Unavailable
from harness.targets.server import ServerSession, ServerSpec

ROLE = "peerbus/broker"
SHELF = Path(__file__).parent
Start = Callable[..., ServerSession]


@pytest.fixture
def server(mark: str) -> Start:
    """A session with a server from the shelf."""

    def made(name: str, ready_log: str = "") -> ServerSession:
        command = [sys.executable, str(SHELF / f"{name}.py"), mark, "{port}"]
        session = ServerSession("fake", "1", [ServerSpec(ROLE, command, ready_log=ready_log)])
        session.grace_s = 0.3
        return session

    return made


@pytest.mark.parametrize("ready_log", ["", "ready"])
async def test_a_server_that_dies_before_it_is_ready_has_crashed(server: Start, ready_log: str) -> None:
    """Its exit code is told and its log kept, whatever was to show that it is ready."""
    session = server("server_dies", ready_log)
    with pytest.raises(TargetCrashed, match="the server ended with exit code 1 before it was ready"):
        await session.start(ROLE, {})
    assert "the port is on fire" in session.evidence()


@pytest.mark.parametrize("ready_log", ["", "ready"])
async def test_a_server_that_is_never_ready_times_out(
    server: Start, ready_log: str, left: Callable[[], list[str]]
) -> None:
    """It is not waited for longer than for any answer, and does not stay behind."""
    session = server("server_never_ready", ready_log)
    session.answer_s = 0.3
    with pytest.raises(TargetTimeout, match=r"not ready within 0\.3 s"):
        await session.start(ROLE, {})
    assert left() == []


async def test_a_server_that_is_never_ready_is_waited_for_in_full_only_once(server: Start) -> None:
    """A case that starts one of its own comes a hundred times: at ten seconds each that was a quarter of an hour."""
    session, told = server("server_never_ready"), []
    session.answer_s = 3.0
    for _ in range(2):
        with pytest.raises(TargetTimeout) as caught:
            await session.start(ROLE, {})
        told.append(str(caught.value).partition(":")[0])
    assert told == ["the server was not ready within 3 s", "the server was not ready within 2 s"]


async def test_a_log_line_can_say_that_a_server_is_ready(server: Start, left: Callable[[], list[str]]) -> None:
    """The pattern is sought in what has come so far, however it arrives; no port needs to be open."""
    session = server("server_says_ready", "^not ready yet\nready to serve$")
    instance = await session.start(ROLE, {})
    assert instance.address.endswith(f":{instance.details['port']}")
    await session.close()
    assert left() == []


@pytest.mark.parametrize("way", ["stop", "close", "kill"])
async def test_nothing_of_a_server_is_left(server: Start, way: str, left: Callable[[], list[str]]) -> None:
    """A server that ignores SIGTERM ends all the same, with its children."""
    session = server("server_listens")
    instance = await session.start(ROLE, {})
    async with asyncio.timeout(10):
        await (instance.stop() if way == "stop" else getattr(session, way)())
    assert left() == []


async def test_a_server_that_dies_later_ends_its_session(server: Start) -> None:
    """Its port answers nobody any more: who asks next learns why, and a new session is made."""
    session = server("server_listens")
    instance = await session.start(ROLE, {})
    _, writer = await asyncio.open_connection("127.0.0.1", instance.details["port"])
    writer.write(b"die")
    with pytest.raises(TargetCrashed, match="the server ended with signal SIGSEGV"):
        await instance.event(20)
    writer.close()
    with pytest.raises(TargetCrashed, match="SIGSEGV"):
        await session.start(ROLE, {})
    await session.close()


async def test_a_server_that_is_stopped_has_not_died(server: Start) -> None:
    """Stopping one instance leaves the session in use."""
    session = server("server_listens")
    await (await session.start(ROLE, {})).stop()
    assert session.alive
    await session.start(ROLE, {})
    await session.close()


async def test_a_plain_server_has_no_operations(server: Start) -> None:
    """What needs a shim is unsupported, not failed; and so is a role that the manifest does not have."""
    session = server("server_listens")
    instance = await session.start(ROLE, {})
    with pytest.raises(TargetUnsupported, match="no shim to do with"):
        await instance.do("echo")
    with pytest.raises(TargetUnsupported, match="role frog/server"):
        await session.start("frog/server", {})
    await session.close()


def test_a_ready_log_must_be_a_pattern() -> None:
    """A wrong pattern is told before anything is started."""
    with pytest.raises(Unavailable, match="is not a pattern"):
        ServerSpec(ROLE, ["x"], ready_log="(")
