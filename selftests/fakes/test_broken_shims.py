"""Each broken shim gets a verdict of its own, in one sentence, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest

from harness.errors import ShimBroken, TargetCrashed, TargetError, TargetTimeout
from harness.judging.patience import HOPELESS, Patience
from harness.targets.process import ProcessSession
from selftests.fakes.conftest import SHELF

Fake = Callable[[str], ProcessSession]
ROLE = "peerbus/codec"
SOON = 0.3
MIB = 2**20


@dataclass(frozen=True)
class Fault:
    """What a fake is to be told: which error, in words that hold these."""

    error: type[TargetError]
    words: str
    hello_s: float = 20.0  # generous where the fault is not silence: a loaded machine is not a broken shim
    answer_s: float = 20.0
    grace_s: float = SOON  # for its exit code behind the end of its pipes: what it left is swept in between


FAULTS = {
    "crashes_on_start": Fault(TargetCrashed, "exit code 1; its last words: no module named implementation"),
    "crashes_at_the_third_request": Fault(TargetCrashed, "signal SIGABRT"),
    "exits_early": Fault(TargetCrashed, "exit code 0"),
    "hangs_on_hello": Fault(TargetTimeout, "no answer to hello within 0.3 s", hello_s=SOON),
    "hangs_on_do": Fault(TargetTimeout, "no answer to do echo within 0.3 s", answer_s=SOON),
    "stops_reading": Fault(TargetTimeout, "no answer to do echo within 0.3 s", answer_s=SOON),
    "floods_events": Fault(
        TargetCrashed, "events that nobody asked for; 100000 may wait, and no more than 33554432 bytes"
    ),
    "floods_large_events": Fault(TargetCrashed, "floods: "),
    "floods_small_values": Fault(TargetCrashed, "events that nobody asked for"),
    "answers_in_small_values": Fault(
        ShimBroken, "a line of so many values that they may take more than 33554432 bytes"
    ),
    "floods_events_of_nobody": Fault(TargetCrashed, "instances that do not run"),
    "floods_garbage": Fault(ShimBroken, "no shim message on stdout: b'all work and no play'"),
    "prints_a_garbage_line": Fault(ShimBroken, "no shim message on stdout: b'listening on port 1234'"),
    "closes_stdout": Fault(TargetCrashed, "it closed its stdout"),
    "closes_stdin": Fault(TargetCrashed, "it closed its stdin"),
    "answers_another_id": Fault(ShimBroken, "an answer to request 999"),
    "answers_twice": Fault(ShimBroken, "which does not wait"),
    "answers_two_ways": Fault(ShimBroken, "no shim message"),
    "answers_deep": Fault(ShimBroken, "no shim message"),
    "answers_nothing": Fault(ShimBroken, "no shim message"),
    "sends_a_gibibyte": Fault(ShimBroken, "a line of more than 4194304 bytes"),
    "speaks_protocol_2": Fault(ShimBroken, "it speaks shim protocol 2, this harness speaks 1"),
    "says_a_strange_hello": Fault(ShimBroken, "its hello is not the shim protocol's"),
    "refuses_hello": Fault(ShimBroken, "it did not say hello"),
    "says_half_a_line": Fault(TargetTimeout, "it began a line and did not end it", answer_s=SOON),
    "dies_in_a_line": Fault(ShimBroken, "it ended in the middle of a line (exit code 0)"),
    "leaves_a_child": Fault(TargetCrashed, "exit code 3"),
    "leaves_fifty": Fault(TargetCrashed, "exit code 3", grace_s=20.0),
    "leaves_a_daemon": Fault(TargetCrashed, "exit code 3"),
}


async def converse(session: ProcessSession, fault: Fault) -> None:
    """Hello, start, and operations until the fault shows."""
    session.answer_s, session.grace_s = fault.hello_s, fault.grace_s
    await session.open()
    instance = await session.start(ROLE, {})
    session.answer_s = fault.answer_s
    while True:
        await instance.do("echo", body="x" * MIB)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_has_its_own_error_and_ends_the_session(
    name: str, fake: Fake, left: Callable[[], list[str]]
) -> None:
    """One clear sentence, the same for every later call, and no process is left."""
    session, fault = fake(name), FAULTS[name]
    async with asyncio.timeout(30):
        with pytest.raises(TargetError) as caught:
            await converse(session, fault)
        with pytest.raises(TargetError) as again:
            await session.start(ROLE, {})
        await session.close()
    assert type(caught.value) is fault.error
    assert fault.words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert again.value is session.death
    assert str(again.value) == str(caught.value)
    assert left() == []


@pytest.mark.parametrize(
    "name",
    ["sends_a_gibibyte", "floods_large_events", "floods_garbage", "floods_small_values", "answers_in_small_values"],
)
async def test_memory_stays_bounded(name: str, fake: Fake) -> None:
    """However much a target sends, the harness keeps little of it."""
    session = fake(name)
    tracemalloc.start()
    try:
        with pytest.raises(TargetError):
            await converse(session, FAULTS[name])
        await session.close()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80 * MIB


async def test_what_never_answers_is_waited_for_in_full_only_once(fake: Fake) -> None:
    """Also in a new session: twenty of them at ten seconds each were four minutes for a target that does nothing right."""
    patience, told = Patience(), []
    for _ in range(2):
        session = fake("hangs_on_do")
        session.patience = patience
        await session.open()
        instance = await session.start(ROLE, {})
        session.answer_s = 2.0
        with pytest.raises(TargetTimeout) as caught:
            await instance.do("echo")
        told.append(str(caught.value))
        await session.close()
    assert told == ["no answer to do echo within 2 s", "no answer to do echo within 0.3 s"]


async def test_a_flood_in_one_life_is_none_in_the_next(fake: Fake) -> None:
    """Whoever holds an instance goes on with a new one: what waited for the old one is gone with it."""
    old, new = fake("floods_large_events"), fake("answers_late")
    await old.open()
    await new.open()
    instance = await old.start(ROLE, {})
    while old.alive:
        with suppress(TargetCrashed):
            await instance.do("echo")
    assert "floods" in str(old.death)
    begun = await new.start(ROLE, {})
    begun.emit("message", {}, MIB)
    instance.become(begun)
    instance.emit("message", {}, MIB)
    assert new.alive
    await old.close()
    await new.close()


async def test_whoever_waits_for_an_event_learns_of_the_death(fake: Fake) -> None:
    """An instance of a dead session has no more events, now or later."""
    session = fake("crashes_at_the_third_request")
    await session.open()
    instance = await session.start(ROLE, {})
    waiting = asyncio.create_task(instance.event(20))
    with pytest.raises(TargetCrashed):
        await instance.do("echo")
    for event in (waiting, instance.event(20)):
        with pytest.raises(TargetCrashed, match="SIGABRT"):
            await event
    await session.close()


async def test_a_killed_session_says_who_killed_it(fake: Fake, left: Callable[[], list[str]]) -> None:
    """What the harness ends is not the target's crash."""
    session = fake("answers_late")
    await session.open()
    instance = await session.start(ROLE, {})
    waiting = asyncio.create_task(instance.do("slow"))
    await asyncio.sleep(0)  # let it ask
    await session.kill()
    with pytest.raises(TargetCrashed, match="the harness killed it"):
        await waiting
    assert left() == []
    await session.close()


async def test_ignoring_every_end_does_not_help(fake: Fake, left: Callable[[], list[str]]) -> None:
    """A target that stays after stdin has ended is killed."""
    session = fake("ignores_every_end")
    session.grace_s = SOON
    await session.open()
    await session.close()
    assert left() == []


def test_a_killed_harness_leaves_nothing_running(mark: str, left: Callable[[], list[str]]) -> None:
    """The kernel lets go of the launcher's line, whoever ended us."""
    code = f"""if True:
        import asyncio
        from harness.targets.process import ProcessSession
        async def main():
            session = ProcessSession([{sys.executable!r}, {str(SHELF / "ignores_every_end.py")!r}, {mark!r}])
            await session.open()
            print("open", flush=True)
            await asyncio.sleep(60)
        asyncio.run(main())
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as harness:
        assert harness.stdout
        assert harness.stdout.readline() == b"open\n"
        harness.kill()
    assert left() == []


async def test_stderr_is_kept_but_not_all_of_it(fake: Fake) -> None:
    """stderr is evidence: its end is kept, its amount is no fault."""
    session = fake("floods_stderr")
    await session.open()
    instance = await session.start(ROLE, {})
    assert await instance.do("echo") == {}
    await session.close()
    assert session.evidence().endswith("the last words")
    assert len(session.evidence()) < MIB


async def test_an_abandoned_request_may_be_answered_later(fake: Fake) -> None:
    """A case that no longer waits does not make the answer a fault."""
    session = fake("answers_late")
    await session.open()
    instance = await session.start(ROLE, {})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SOON):
            await instance.do("slow")
    assert await instance.do("echo") == {}
    await session.close()


async def test_an_answer_that_nobody_waits_for_any_more_is_trusted_if_it_is_in_time(fake: Fake) -> None:
    """What was hopeless is waited for in moments; whoever would have been in time is waited for in full again."""
    session = fake("answers_late")
    await session.open()
    instance, kind = await session.start(ROLE, {}), "an answer to do slow"
    for _ in range(HOPELESS):
        session.patience.waited_in_vain(kind)
    with pytest.raises(TargetTimeout, match=r"within 0\.3 s"):
        await instance.do("slow")
    assert session.patience.seconds(kind, session.answer_s) == session.answer_s, (
        "the hello behind it brought the answer"
    )
    await session.close()


async def test_one_slow_operation_is_not_the_end(fake: Fake) -> None:
    """A shim that misses one answer but still says hello stays in use; only that call times out."""
    session = fake("answers_late")
    await session.open()
    instance = await session.start(ROLE, {})
    session.answer_s = 2.0
    with pytest.raises(TargetTimeout, match="no answer to do slow within 2 s"):
        await instance.do("slow")
    assert session.alive
    assert await instance.do("echo") == {}
    await session.close()
