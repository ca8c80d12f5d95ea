"""A plain server with several ports, and what it says only when it runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue.addresses import endpoint
from harness.errors import TargetCrashed, TargetTimeout, Unavailable
from harness.targets.server import ServerSession, ServerSpec

ROLE = "trueseal/relay"
SERVER = Path(__file__).parent / "server_two_ports.py"
ADDRESS = {"push": "tcp://127.0.0.1:{push_port}", "receive": "127.0.0.1:{receive_port}"}
KEY = r"key (?P<public_key>[0-9a-f]+)"
Start = Callable[..., ServerSession]


@pytest.fixture
def relay(mark: str) -> Start:
    def made(**fields: Any) -> ServerSession:
        command = [sys.executable, str(SERVER), mark, "{push_port}", "{receive_port}"]
        session = ServerSession("fake", "1", [ServerSpec(ROLE, command, **{"address": ADDRESS} | fields)])
        session.grace_s = 0.3
        return session

    return made


async def test_a_server_is_ready_when_all_its_ports_answer(relay: Start, left: Callable[[], list[str]]) -> None:
    """The second one opens only when somebody was at the first; each has an address of its own."""
    session = relay()
    instance = await session.start(ROLE, {})
    assert instance.addresses == {
        "push": f"tcp://127.0.0.1:{instance.details['ports']['push']}",
        "receive": f"127.0.0.1:{instance.details['ports']['receive']}",
    }
    for address in instance.addresses.values():
        _, writer = await asyncio.open_connection(*endpoint(address))
        writer.close()
    await session.close()
    assert left() == []


async def test_a_port_that_never_answers_is_named(relay: Start) -> None:
    """One open port of two is not a server that is ready."""
    session = relay(ports=["push", "receive", "admin"])
    session.answer_s = 1.0
    with pytest.raises(TargetTimeout, match=r"not ready within 1 s: its admin port \d+ does not answer"):
        await session.start(ROLE, {})


async def test_what_a_server_prints_is_told(relay: Start) -> None:
    """Named groups of the log pattern are details, taken from whole lines; its ports have to answer all the same."""
    session = relay(ready_log=KEY)
    instance = await session.start(ROLE, {"push_port": "a port is no matter of the configuration"})
    assert instance.details["public_key"] == "01234567"
    _, writer = await asyncio.open_connection(*endpoint(instance.addresses["receive"]))
    writer.close()
    await session.close()


async def test_a_server_that_does_not_print_it_is_not_ready(relay: Start) -> None:
    """The sentence says what was waited for."""
    session = relay(ready_log="secret (?P<secret>.+)")
    session.answer_s = 0.3
    with pytest.raises(TargetTimeout, match="nothing that it printed matches 'secret"):
        await session.start(ROLE, {})


async def test_an_address_that_was_not_told_is_the_targets_fault(relay: Start) -> None:
    """Whoever asks by a name learns which one is missing."""
    session = relay()
    instance = await session.start(ROLE, {})
    with pytest.raises(TargetCrashed, match="started trueseal/relay but did not say its address"):
        _ = instance.address
    with pytest.raises(TargetCrashed, match="did not say its control address"):
        _ = instance.addresses["control"]
    await session.close()


@pytest.mark.parametrize("field", ["command", "address", "env"])
def test_a_hole_for_a_port_that_is_not_there_is_told(field: str) -> None:
    """It would be left in the command as it stands."""
    wrong: dict[str, Any] = {
        "command": ["{control_port}"],
        "address": "h:{control_port}",
        "env": {"P": "{control_port}"},
    }
    with pytest.raises(Unavailable, match=r"no port for \{control_port\}: use \{push_port\}, \{receive_port\}, or"):
        ServerSpec(ROLE, **{"command": ["x"], "address": ADDRESS, "ports": ["push", "receive"], field: wrong[field]})
