"""A target in use: one shared session, opened again when it dies, but not for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from harness.errors import TargetCrashed, TargetUnsupported
from harness.judging.result import TargetInfo
from harness.shim import Emit, Hello, Shim
from harness.targets import Target
from harness.targets.child import KEPT_LINES, Kept
from harness.targets.inprocess import InProcess
from harness.targets.target import MOST_CRASHES

ROLE = "peerbus/broker"


class Counted(Shim):
    """Counts how often it was made and started."""

    made = 0
    started: list[dict[str, Any]]

    def __init__(self) -> None:
        Counted.made += 1

    async def hello(self) -> Hello:
        return Hello("counted", {ROLE: ["restart"]})

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        self.started.append(config)
        return {}

    async def stop(self, instance: str) -> None:
        pass


@pytest.fixture
async def counted() -> AsyncIterator[Target]:
    Counted.made, Counted.started = 0, []
    target = Target(TargetInfo("counted"), InProcess(Counted))
    yield target
    await target.close()


async def test_instances_are_shared_by_role_and_configuration(counted: Target) -> None:
    """Never one start per case: the same configuration, in any order of its keys, is the same instance."""
    first = await counted.instance(ROLE, {"a": 1, "b": 2})
    assert await counted.instance(ROLE, {"b": 2, "a": 1}) is first
    assert await counted.instance(ROLE, {"a": 2}) is not first
    assert Counted.made == 1
    assert len({config["state_dir"] for config in Counted.started}) == len(Counted.started) == 2


async def test_a_dead_session_is_opened_again(counted: Target) -> None:
    """One case's crash is not the next one's."""
    first = await counted.instance(ROLE, {})
    first.session.broken(TargetCrashed("gone"))
    second = await counted.instance(ROLE, {})
    assert second.session.alive
    assert Counted.made == 2


async def test_an_instance_lives_on_in_a_new_session(counted: Target) -> None:
    """Vectors share one instance: the crash of one is not the next one's."""
    held = await counted.instance(ROLE, {})
    held.session.broken(TargetCrashed("gone"))
    await counted.revive()
    assert held.session.alive
    assert await counted.instance(ROLE, {}) is held


async def test_a_target_that_keeps_dying_is_given_up(counted: Target) -> None:
    """What is not tried is not judged: the rest of the run is no evidence."""
    for _ in range(MOST_CRASHES):
        (await counted.session()).broken(TargetCrashed("gone"))
    with pytest.raises(TargetUnsupported, match=f"not tried: counted died {MOST_CRASHES} times before"):
        await counted.session()
    assert Counted.made == MOST_CRASHES


async def test_a_role_or_capability_that_is_not_declared_is_unsupported(counted: Target) -> None:
    """Capabilities are declared, never inferred from failing."""
    await counted.need(ROLE, "restart")
    with pytest.raises(TargetUnsupported, match="does not declare clock"):
        await counted.need(ROLE, "clock")
    with pytest.raises(TargetUnsupported, match="has no role frog/server"):
        await counted.instance("frog/server", {})


@pytest.mark.parametrize(
    ("told", "addresses"),
    [
        ({"address": "ws://h:1"}, {"": "ws://h:1"}),
        ({"addresses": {"push": "h:1", "receive": "h:2"}}, {"push": "h:1", "receive": "h:2"}),
        ({"address": 5, "addresses": {"push": None}}, {}),
        ({"addresses": ["h:1"]}, {}),
        ({}, {}),
    ],
)
async def test_a_start_tells_one_address_or_several_by_name(
    counted: Target, told: dict[str, Any], addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no text is not told; nobody minds until a case asks for it."""

    async def start(self: Counted, *_: object) -> dict[str, Any]:
        return told

    monkeypatch.setattr(Counted, "start", start)
    instance = await counted.instance(ROLE, {})
    assert instance.addresses == addresses
    with pytest.raises(TargetCrashed, match="started peerbus/broker but did not say its other address"):
        _ = instance.addresses["other"]


async def test_folders_go_with_their_target(counted: Target) -> None:
    """Nothing is left on disk."""
    folders = [counted.new_folder("x"), counted.new_folder("x")]
    assert folders[0] != folders[1]
    assert all(folder.is_dir() for folder in folders)
    await counted.close()
    assert not any(folder.exists() for folder in folders)


def test_what_was_printed_before_a_case_is_not_its_evidence() -> None:
    """A stack trace of an earlier case explains nothing here; what is cut off at the front changes nothing."""
    printed = Kept()
    printed.add(b"of the case before\nand more of it\n")
    before = printed.count
    assert printed.text(before) == ""
    printed.add(b"of this case\nbegun")
    assert printed.text(before) == "of this case\nbegun"
    printed.add(b"\n" + b"x\n" * (KEPT_LINES + 5))
    assert printed.text(before).splitlines() == ["x"] * KEPT_LINES
