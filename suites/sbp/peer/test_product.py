"""Every state times every input. No expected frame stands here: the oracle judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.catalogue.cases import axis, clauses
from reference_impl.sbp.frames import Send, SendClose, SendPing
from suites.sbp import wire
from suites.sbp.peer.under_test import SIDES, PeerUnderTest
from suites.sbp.peer.watch import PeerWatch

PHASES = ["greeting", "open", "open-with-receipt"]
INPUTS: dict[str, Callable[[], Any]] = {
    "handshake": lambda: wire.handshake("again"),
    "bad-handshake": lambda: wire.control(0, b"{}"),
    "wrong-version": lambda: wire.handshake("again", version="2"),
    "ping": wire.ping,
    "pong": wire.pong,
    "close": lambda: wire.close(b"bye"),
    "reserved-op": lambda: wire.control(9, b"\x01"),
    "message": lambda: wire.message("app/x", b"\x01"),
    "ack": lambda: wire.ack(wire.new_id()),
    "error": lambda: wire.error(2000, "app"),
    "bad-flags": wire.bad_flags,
    "reserved-kind": lambda: wire.frame(4, b""),
    "short": lambda: b"\x00\x00\x01",
    "ping-data": lambda: wire.control(1, b"\x01"),
    "bad-length": lambda: wire.frame(1, b"\xff\xff\xff\xff"),
    "text": lambda: "hello",
}
HOST_INPUTS: dict[str, Callable[[], Any]] = {
    "sends": lambda: Send("app/host", b"\x02"),
    "pings": SendPing,
    "closes": lambda: SendClose("done"),
}


async def begin(peer: PeerUnderTest, side: str, phase: str) -> PeerWatch:
    """A session in that phase."""
    config = {"receipt": True} if phase == "open-with-receipt" else {}
    for capability in config:
        await peer.trial.need(capability)
    watch = await PeerWatch.begin(peer.trial, peer, side, **config)
    if phase != "greeting":
        await watch.greet()
    return watch


@clauses("SBP-CMP-02", "SBP-HS-03", "SBP-HSP-10", "SBP-FLAGS-06", "SBP-SES-10")
@clauses("SBP-ACK-03", "SBP-HS-02", "SBP-SES-08")
@axis("side", SIDES)
@axis("phase", PHASES)
@axis("input", INPUTS)
async def test_every_input_in_every_phase(peer: PeerUnderTest, side: str, phase: str, input: Any) -> None:
    """Whatever comes in whatever phase, the peer says what the machine owes, and nothing else."""
    watch = await begin(peer, side, phase)
    watch.line.peer_id = "again"  # in the greeting phase this is who we are
    said = input()
    await (watch.say_text(said) if isinstance(said, str) else watch.say(said))
    await watch.settle()
    if input is not INPUTS["close"]:
        await watch.end()


@clauses("SBP-SEM-01", "SBP-PING-01", "SBP-CLOSE-01", "SBP-SES-09")
@axis("side", SIDES)
@axis("phase", PHASES[1:])
@axis("host", HOST_INPUTS)
async def test_every_wish_of_the_host(peer: PeerUnderTest, side: str, phase: str, host: Any) -> None:
    """What the host wants is said, and nothing else."""
    watch = await begin(peer, side, phase)
    wish = host()
    await watch.ask(wish)
    await watch.settle()
    if not isinstance(wish, SendClose):
        await watch.end()
