"""Handshakes that are good: whoever greets under whatever name, with however much besides, is let in and told of as it is."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import SIDES

PEER_IDS = {
    "blanks-around": " {} \t",
    "decomposed": "e\u0301 {}",
    "composed": "\u00e9 {}",
    "outside-the-basic-plane": "{} \U0001f422",
    "capitals": "PEER {}",
    "quotes": '"{}"\\',
    "200-characters": "{}" + "x" * 200,
}


async def expect_established(line: PeerLine, clause: str) -> None:
    """Both have greeted: the host is told of exactly this peer, or the session goes on."""
    if line.hosted:
        await line.expect_event("established", clause)
    else:
        await line.stays_open(clause)


@clauses("SBP-HSP-03")
@axis("side", SIDES)
@axis("id", PEER_IDS)
async def test_a_peer_id_is_told_as_it_is(line: PeerLine, id: str) -> None:
    """A peer id is a string like any other: no character is trimmed, composed or cut off."""
    line.peer_id = id.format(unique("peer"))
    await line.greet()
    await expect_established(line, "SBP-HSP-03")


@clauses("SBP-LIM-04", "SBP-CMP-01")
@axis("side", SIDES)
@axis("size", [1024, 4095, 4096, 4097, 8191, 8192])
async def test_a_handshake_within_the_limit_is_taken(line: PeerLine, trial: Trial, size: int) -> None:
    """JSON of up to 8,192 bytes, most of it in a member that nobody knows."""
    empty = len(wire.handshake(line.peer_id, zz="")) - 19
    hello = wire.handshake(line.peer_id, zz="z" * (size - empty))
    trial.expect(len(hello) - 19 == size, f"the harness to build {size} bytes", len(hello) - 19)
    await line.send(hello)
    await line.expect_handshake()
    await expect_established(line, "SBP-CMP-01")


@clauses("SBP-HSP-11", "SBP-HSP-05")
@axis("side", SIDES)
@axis("count", [1, 16, 17, 64, 256])
async def test_any_number_of_caps_is_taken(line: PeerLine, count: int) -> None:
    """Caps that a peer does not know are ignored, however many there are."""
    await line.greet(caps=[f"zz:{number}" for number in range(count)])
    await expect_established(line, "SBP-HSP-11")
