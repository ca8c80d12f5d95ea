"""Pairs across reaches: a process with a container, and two containers in a room of their own on an internal network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from harness.errors import TargetFailed
from harness.judging.result import Verdict
from harness.matrix.block import Hall, scenario_of
from harness.matrix.cells import Block
from harness.matrix.pairing import Pairing, paired_protocols, pairings
from harness.targets import Target
from harness.targets.docker import Docker, internal_room
from harness.targets.engine import Engine
from harness.targets.session import opened

PAIRINGS = [pairings(protocol)[0] for protocol in paired_protocols()] + [pairings("peerbus")[1]]
"""What a night plays in full: of each protocol one, and one with a reference between the two."""
EXCHANGE = "sbp/dialler-acceptor/interop/exchange[size=small]"
CONTAINED = "reference-docker"
Left = Callable[[], list[str]]


async def verdicts(block: Block) -> set[Verdict]:
    hall = Hall(block)
    try:
        results = [await hall.cell(scenario, repetition) for scenario, repetition in block.cells()]
    finally:
        await hall.close()
    assert results
    return {result.verdict for result in results}


async def test_two_containers_meet_where_nothing_else_is(engine: Engine, target: Target, left: Left) -> None:
    """The first is on an internal network, the other shares its loopback; nothing of it stays behind."""
    block = Block("sbp", "dialler-acceptor", CONTAINED, CONTAINED, "none")
    hall = Hall(block)
    before = {container["Id"] for container in ours(engine)}
    result = await hall.cell(scenario_of(block, EXCHANGE), 0)
    modes = [container["HostConfig"]["NetworkMode"] for container in ours(engine) if container["Id"] not in before]
    await hall.close()
    assert (result.verdict, result.reach) == (Verdict.PASS, "docker x docker"), result.failure
    [shared] = [mode for mode in modes if mode.startswith("container:")]
    [network] = [mode for mode in modes if mode != shared]
    assert network.startswith(f"touchstone-{engine.run}-net")
    assert left() == []


def ours(engine: Engine) -> list[dict[str, object]]:
    return list(engine.api.containers(filters={"label": f"touchstone={engine.run}"}))


async def test_there_is_no_way_out_of_a_room(fake: Callable[..., Docker]) -> None:
    """Nor to what listens on this machine's loopback; a neighbour's is its own, also when the first of them is gone."""
    listening = await asyncio.start_server(lambda reader, writer: writer.close(), "0.0.0.0", 0)
    port = listening.sockets[0].getsockname()[1]
    async with internal_room() as room:
        first, second = (fake("inside").within(room) for _ in range(2))
        async with opened(first.session()) as going, opened(second.session()) as staying:
            await going.start("peerbus/codec", {})
            await going.kill()
            guest = await staying.start("peerbus/codec", {})
            async with opened(first.session()) as again:
                neighbour = await again.start("peerbus/codec", {})
                told = await neighbour.do("listen")
                assert await guest.do("dial", host="127.0.0.1", port=int(told["said"])) == {"said": "connected"}
            for host in ("127.0.0.1", "1.1.1.1"):
                with pytest.raises(TargetFailed):
                    await guest.do("dial", host=host, port=port)
    listening.close()


@pytest.mark.parametrize("pairing", PAIRINGS, ids=lambda pairing: f"{pairing.protocol}-{pairing.name}")
async def test_containers_keep_every_promise_to_one_another(pairing: Pairing, target: Target) -> None:
    """Whoever takes a third seat is in the room too; scenarios that lead connections themselves are played on this machine."""
    block = Block(pairing.protocol, pairing.name, CONTAINED, CONTAINED, "none")
    assert await verdicts(block) == {Verdict.PASS}


@pytest.mark.parametrize("sides", [("reference-process", CONTAINED), (CONTAINED, "reference-process")])
async def test_a_process_and_a_container_keep_every_promise(sides: tuple[str, str], target: Target) -> None:
    assert await verdicts(Block("sbp", "dialler-acceptor", *sides, "none")) == {Verdict.PASS}
