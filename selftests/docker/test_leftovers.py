"""Nothing of a run outlives it: not after Ctrl-C, and not for long after the harness itself was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness.targets.docker import Image
from harness.targets.engine import Engine, is_gone, owner
from selftests.interrupts import interruptible

Left = Callable[[], list[str]]

HARNESS = """
import asyncio
from harness.targets.docker import Docker, Image
from harness.targets.engine import the_engine
from harness.targets.server import ServerSpec

async def main():
    engine = await the_engine()
    command = ["python3", "/fakes/plain_server.py", "{port}", "{state_dir}", "0"]
    reach = Docker(Image("touchstone-selftest"), servers=[ServerSpec("peerbus/broker", command)])
    await reach.session().start("peerbus/broker", {"state_dir": "s"})
    print(engine.run, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def run_until(number: signal.Signals) -> str:
    """A harness with a container, a network and a volume, ended by a signal; says the id of its run."""
    with interruptible([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE) as process:
        assert process.stdout
        run = process.stdout.readline().strip()
        process.send_signal(number)
        process.wait(timeout=30)
    assert run, "it did not come up"
    return run


async def test_ctrl_c_leaves_nothing(shelf: Image, engine: Engine, left: Left) -> None:
    """The process removes what it made on its way out."""
    await shelf.made(engine)
    run_until(signal.SIGINT)
    assert left() == []


async def test_what_a_killed_harness_left_is_swept_at_the_next_start(shelf: Image, engine: Engine, left: Left) -> None:
    """A process that was killed can remove nothing: the next one does, and touches nothing of those that live."""
    await shelf.made(engine)
    run = run_until(signal.SIGKILL)
    assert [name.split("-")[1] for name in left()] == [run] * 3
    living = engine.name("state")
    engine.api.create_volume(living, labels=engine.labels)
    engine.sweep()
    assert left() == [living]
    engine.api.remove_volume(living)


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        (lambda boot, namespace, pid, started: (boot, namespace, pid, started), False),
        (lambda boot, namespace, pid, started: (boot, namespace, pid, "1" + started), True),
        (lambda boot, namespace, pid, started: (boot, namespace, "4194305", started), True),
        (lambda boot, namespace, pid, started: ("another", namespace, pid, started), True),
        (lambda boot, namespace, pid, started: (boot, "1", pid, "1" + started), False),
        (lambda boot, namespace, pid, started: ("", "", "", ""), False),
    ],
    ids=["itself", "pid used again", "ended", "before the boot", "in another namespace", "unknown"],
)
def test_an_owner_is_gone_only_if_that_is_certain(change: Callable[..., tuple[str, ...]], gone: bool) -> None:
    """A wrong guess would take a living run's container away."""
    assert is_gone("/".join(change(*owner().split("/")))) is gone
