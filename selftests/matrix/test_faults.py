"""Every choice of a fault profile comes from the seed, and the proxies do what was chosen and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from harness.matrix.cells import case_id
from harness.matrix.datagrams import DatagramProxy, flipped
from harness.matrix.faults import DRAW, Fault, drawn, shorter
from harness.matrix.pairing import paired_protocols, pairings
from harness.matrix.streams import StreamProxy

CASES = [
    (pairing, scenario, profile)
    for protocol in paired_protocols()
    for pairing in pairings(protocol)
    for scenario in pairing.scenarios
    for profile in (set(pairing.profiles) & set(scenario.profiles or pairing.profiles)) - {"none"}
]


@pytest.mark.parametrize("profile", sorted(DRAW))
def test_the_same_seed_draws_the_same_faults_and_another_one_others(profile: str) -> None:
    cases = [(pairing, scenario) for pairing, scenario, known in CASES if known == profile]
    once, again = (
        [drawn(profile, *both, case_id(*both), seed, 0) for both in cases for seed in range(9)] for _ in range(2)
    )
    assert once == again
    assert len(set(once)) > len({(pairing.protocol, pairing.name) for pairing, _ in cases}), (
        "a profile without a choice"
    )


def test_every_fault_is_about_a_line_or_a_seat_of_its_pairing() -> None:
    for pairing, scenario, profile in CASES:
        for seed in range(5):
            for fault in drawn(profile, pairing, scenario, case_id(pairing, scenario), seed, 0):
                assert fault.where in {*pairing.lines, *pairing.seats}, f"{pairing.name}: {fault}"


def test_shorter_schedules_have_one_fault_less() -> None:
    one, two, three = (Fault("cut", "line", at) for at in (1, 2, 3))
    assert shorter((one, two, three)) == [(two, three), (one, three), (one, two)]
    assert shorter((one,)) == [()]


# -- streams -------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def echoed(schedule: Sequence[Fault]) -> AsyncIterator[StreamProxy]:
    """A proxy with those faults in front of a server that says everything back."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = StreamProxy("line", lambda line, what, data: None)
    await proxy.open()
    proxy.upstream = server.sockets[0].getsockname()
    proxy.begin(schedule)
    yield proxy
    await proxy.close()
    server.close()


async def said_back(proxy: StreamProxy, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(data)
    writer.write_eof()
    got = b""
    try:
        while piece := await reader.read(4096):
            got += piece
    except ConnectionResetError:
        got += b"<reset>"
    writer.close()
    return got


ALL = bytes(range(256)) * 20


@pytest.mark.parametrize("what", ["delay", "dribble", "stall"])
@pytest.mark.parametrize("way", ["up", "down"])
async def test_what_is_slow_arrives_whole(what: str, way: str) -> None:
    async with echoed([Fault(what, "line", at, 0, way, 0.001) for at in (0, 100, 5119)]) as proxy:
        assert await said_back(proxy, ALL) == ALL


@pytest.mark.parametrize("at", [0, 1, 1000])
async def test_a_cut_lets_exactly_so_many_bytes_through(at: int) -> None:
    async with echoed([Fault("cut", "line", at, 0, "down", how="fin")]) as proxy:
        assert await said_back(proxy, ALL) == ALL[:at]
        assert await said_back(proxy, ALL) == ALL, "the next connection is whole"


async def test_a_reset_is_one() -> None:
    async with echoed([Fault("cut", "line", 10, 0, "up", how="rst")]) as proxy:
        assert (await said_back(proxy, ALL)).endswith(b"<reset>")


async def test_who_is_away_lets_nobody_in_for_that_long() -> None:
    async with echoed([Fault("cut", "line", 0, 0, "up", 0.2, "fin")]) as proxy:
        await said_back(proxy, b"x")
        assert await said_back(proxy, b"y") in (b"", b"<reset>")
        await asyncio.sleep(0.25)  # the time itself is what is tried
        assert await said_back(proxy, b"z") == b"z"


async def test_the_copy_has_both_directions() -> None:
    async with echoed([]) as proxy:
        await said_back(proxy, b"hello")
        assert {(p.way, p.data) for p in proxy.passed} == {("up", b"hello"), ("down", b"hello")}


# -- datagrams -----------------------------------------------------------------------------------------------------------


def carried(schedule: Sequence[Fault], *datagrams: bytes) -> list[bytes]:
    """What the proxy makes of these, in order."""
    proxy = DatagramProxy("air", lambda line, what, data: None)
    try:
        faults = {fault.at: fault for fault in schedule}
        return [out for n, data in enumerate(datagrams) for out in proxy._carried(data, faults.get(n))]
    finally:
        proxy.near.close()
        proxy.far.close()


@pytest.mark.parametrize(
    ("what", "comes"),
    [
        ("lose", [b"a", b"c"]),
        ("twice", [b"a", b"b", b"b", b"c"]),
        ("swap", [b"a", b"c", b"b"]),
    ],
)
def test_a_datagram_is_lost_or_repeated_or_late(what: str, comes: list[bytes]) -> None:
    assert carried([Fault(what, "air", 1)], b"a", b"b", b"c") == comes


@pytest.mark.parametrize("dice", [0, 1, 7, 2048, 99_999, 1 << 19])
def test_one_bit_is_flipped(dice: int) -> None:
    data = bytes(range(40))
    differing = [a ^ b for a, b in zip(data, flipped(data, dice), strict=True) if a != b]
    assert len(differing) == 1
    assert differing[0].bit_count() == 1
