"""Which cells there are, and which of several machines has each."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.judging.result import TargetInfo
from harness.matrix.cells import Implementation, blocks, longest_first, sharded
from harness.matrix.faults import DRAW, NONE
from harness.matrix.pairing import paired_protocols, pairings

BOTH = ["accept", "connect", "host"]


def peer(name: str, *capabilities: str) -> Implementation:
    return Implementation(name, TargetInfo(name, reach="process"), {"sbp/peer": capabilities or BOTH})


def test_either_one_dials() -> None:
    found = blocks(["sbp"], [peer("a"), peer("b")], [NONE])
    assert {(block.client, block.server) for block in found} == {("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")}


def test_who_cannot_dial_is_only_dialled() -> None:
    found = blocks(["sbp"], [peer("a"), peer("deaf", "accept", "host")], [NONE])
    assert {block.client for block in found} == {"a"}


def test_a_codec_is_paired_with_nobody() -> None:
    codec = Implementation("codec", TargetInfo("codec"), {"sbp/codec": []})
    assert not blocks(["sbp"], [codec], [NONE])


def test_an_unknown_profile_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="slow"):
        blocks(["sbp"], [peer("a")], ["storm"])


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_are_a_partition(of: int) -> None:
    """Each block is in exactly one shard, whatever else is in the matrix."""
    found = blocks(["sbp"], [peer(name) for name in "abcd"], [NONE, *DRAW])
    shards = [sharded(found, f"{number}/{of}") for number in range(1, of + 1)]
    assert sorted(block.name for shard in shards for block in shard) == sorted(block.name for block in found)
    fewer = blocks(["sbp"], [peer(name) for name in "ab"], [NONE])
    assert all(set(sharded(fewer, f"{n}/{of}")) <= set(shards[n - 1]) for n in range(1, of + 1))


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "/"])
def test_a_shard_is_one_of_them(shard: str) -> None:
    with pytest.raises(UsageError, match="I/N"):
        sharded([], shard)


def test_the_longest_come_first() -> None:
    found = blocks(["sbp"], [peer("quick"), peer("boxed")], [NONE])
    ordered = longest_first(found, {"quick": "in-process", "boxed": "docker"})
    assert (ordered[0].client, ordered[0].server) == ("boxed", "boxed")
    assert (ordered[-1].client, ordered[-1].server) == ("quick", "quick")


def test_every_protocol_has_pairs_and_every_name_is_its_own() -> None:
    assert paired_protocols() == ["bccn", "frog", "peerbus", "sbp", "trueseal"]
    for protocol in paired_protocols():
        for pairing in pairings(protocol):
            names = [(scenario.name, *scenario.axes.items()) for scenario in pairing.scenarios]
            assert len(set(names)) == len(names)
            assert set(pairing.profiles) <= set(DRAW)
