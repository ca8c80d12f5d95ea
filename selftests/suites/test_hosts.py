"""The harness as the host of a target: what it asks and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ShimBroken, TargetCrashed, TargetError, TargetRefused
from harness.judging.inbox import Inbox
from harness.judging.trial import Trial
from harness.targets import Instance, Session
from suites.common import shim
from suites.common.host import Event, Host


class Answering(Session):
    """A target that refuses `no`, and repeats everything else."""

    async def do(self, instance: Instance, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "no":
            raise TargetRefused("never")
        return {"op": op, **args}


@pytest.fixture
def host(trial: Trial) -> Host:
    instance = Instance(Answering(), "i1", "toy/role")
    instance.session.instances["i1"] = instance
    return Host(trial, instance)


async def test_what_is_asked_and_answered_is_written_down(host: Host, trial: Trial) -> None:
    """Both ways, a refusal too; its bytes are those that it is about."""
    assert await host.do("echo", b"\x01", "short", long="x") == {"op": "echo", "long": "x"}
    assert await host.asked("no") is None
    with pytest.raises(TargetRefused):
        await host.do("no")
    lines = [(entry.sender, entry.receiver, entry.text, entry.raw) for entry in trial.timeline]
    assert lines[0] == ("host", "role", "echo short", "01")
    assert lines[1][:3] == ("role", "host", "echo: {'op': 'echo', 'long': 'x'}")
    assert [text for *_, text, _ in lines].count("no: TargetRefused: never") == 2


async def test_events_are_heard_as_they_come_and_a_death_is_the_last(host: Host, trial: Trial) -> None:
    told: Inbox[Event] = Inbox()
    host.listen(told.put)
    host.instance.emit("status", {"up": True})
    assert await trial.next_of(told, "an event") == ("status", {"up": True})
    host.instance.session.broken(TargetCrashed("gone"))
    with pytest.raises(TargetCrashed, match="gone"):
        await trial.next_of(told, "an event")


async def test_what_nobody_understands_is_the_shims_fault_and_is_heard(host: Host, trial: Trial) -> None:
    """A listener that raises does not fall silent."""
    told: Inbox[Event] = Inbox()

    def hear(item: Event | Exception) -> None:
        if not isinstance(item, Exception):
            shim.member(item[1], "code", shim.whole, item[0])
        told.put(item)

    host.listen(hear)
    host.instance.emit("error", {"code": 7})
    host.instance.emit("error", {"code": "7"})
    assert await trial.next_of(told, "an event") == ("error", {"code": 7})
    with pytest.raises(ShimBroken, match="`error` with code '7': it travels as a whole number"):
        await trial.next_of(told, "an event")


async def test_who_is_deaf_leaves_events_to_the_next_host(host: Host, trial: Trial) -> None:
    heard: list[Event | Exception] = []
    host.listen(heard.append)
    await host.deaf()
    host.instance.emit("status", {})
    assert await Host(trial, host.instance).event(1) == ("status", {})
    assert heard == []


@pytest.mark.parametrize(
    ("read", "value", "meaning"),
    [
        (shim.text, "x", "x"),
        (shim.raw, "00ff", b"\x00\xff"),
        (shim.number, str(2**64), 2**64),
        (shim.number, 7, 7),
        (shim.flag, False, False),
        (shim.optional(shim.text), None, None),
        (shim.several(shim.raw), ["00", "01"], [b"\x00", b"\x01"]),
    ],
)
def test_members_are_read(read: Any, value: Any, meaning: Any) -> None:
    assert shim.member({"x": value}, "x", read, "op") == meaning


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (shim.text, None),
        (shim.text, 1),
        (shim.raw, "0"),
        (shim.raw, "zz"),
        (shim.whole, True),
        (shim.whole, 1.0),
        (shim.number, "one"),
        (shim.flag, 0),
        (shim.optional(shim.text), 1),
        (shim.several(shim.raw), "00"),
        (shim.several(shim.raw), ["0"]),
    ],
)
def test_what_is_not_in_the_contract_is_the_shims_fault(read: Any, value: Any) -> None:
    with pytest.raises(ShimBroken) as raised:
        shim.member({"x": value}, "x", read, "op")
    assert isinstance(raised.value, TargetError)
