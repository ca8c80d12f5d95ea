"""What a container may not do. Each limit is seen from the inside, and is a verdict of the target, never a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from harness.errors import TargetCrashed, TargetFailed
from harness.targets.container import Limits
from harness.targets.docker import Docker
from harness.targets.session import opened

ROLE = "peerbus/broker"
Fake = Callable[..., Docker]
TIGHT = Limits(memory="64m", pids=16, tmp="4m", file_mb=8)


async def test_it_has_no_capabilities_and_cannot_get_any(fake: Fake) -> None:
    """Neither in use nor within reach, and no program it starts can change that."""
    async with opened(fake("inside").session()) as session:
        said = (await (await session.start(ROLE, {})).do("capabilities"))["said"].split()
    assert dict(zip(said[::2], said[1::2], strict=True)) == {
        "CapEff:": "0" * 16,
        "CapBnd:": "0" * 16,
        "NoNewPrivs:": "1",
    }


async def test_its_root_is_read_only(fake: Fake) -> None:
    """Only /tmp and its state are its own."""
    async with opened(fake("inside").session()) as session:
        instance = await session.start(ROLE, {"state_dir": "s"})
        with pytest.raises(TargetFailed, match="Read-only file system"):
            await instance.do("write", path="/opt/x")
        for folder in ("/tmp", instance.details["config"]["state_dir"]):
            assert await instance.do("write", path=f"{folder}/x") == {"said": "1"}


async def test_one_that_fills_its_disk_fails_and_lives_on(fake: Fake) -> None:
    """/tmp is small, and so is the largest file of its state: writing ends with an error that it can answer with."""
    async with opened(fake("inside", limits=TIGHT).session()) as session:
        instance = await session.start(ROLE, {"state_dir": "s"})
        with pytest.raises(TargetFailed, match="No space left on device"):
            await instance.do("fill", path="/tmp/x")
        with pytest.raises(TargetFailed, match="File too large"):
            await instance.do("fill", path=f"{instance.details['config']['state_dir']}/x")
        assert await instance.do("read", path="/proc/self/comm") == {"said": "python3\n"}


async def test_one_that_takes_too_much_memory_has_crashed(fake: Fake) -> None:
    """The engine ends it, and the verdict says why."""
    async with opened(fake("inside", limits=TIGHT).session()) as session:
        instance = await session.start(ROLE, {})
        with pytest.raises(TargetCrashed, match="SIGKILL; its last words: it used more than its 64m of memory"):
            await instance.do("memory", mib=200)


async def test_one_that_forks_too_much_fails(fake: Fake) -> None:
    """Its children end with it."""
    async with opened(fake("inside", limits=TIGHT).session()) as session:
        instance = await session.start(ROLE, {})
        with pytest.raises(TargetFailed, match="Resource temporarily unavailable"):
            await instance.do("pids", count=100)


async def test_a_shim_shares_the_hosts_loopback_unless_it_is_told_not_to(fake: Fake) -> None:
    """A client under test dials what a case listens on; an image that needs no network gets none."""
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with opened(fake("inside").session()) as session:
        assert await (await session.start(ROLE, {})).do("dial", host="127.0.0.1", port=port) == {"said": "connected"}
    async with opened(fake("inside", network="none").session()) as session:
        instance = await session.start(ROLE, {})
        with pytest.raises(TargetFailed, match="refused"):
            await instance.do("dial", host="127.0.0.1", port=port)
    listener.close()
