"""Before the cases: does the broker take any of the tokens that they register with? If not, all would fail for that alone."""

from __future__ import annotations

import asyncio

from harness.errors import TargetError, TargetRefused
from harness.targets import Target
from reference_impl.io.carrier import HungUp, NoConnection
from reference_impl.io.websocket import Settings, dial
from reference_impl.peerbus.frames import Register
from suites.common.connect import CLOSE_S, MOST_MESSAGE
from suites.common.names import unique
from suites.peerbus.broker.under_test import TOKENS, tokens_of
from suites.peerbus.envelopes import codec

ROLE = "peerbus/broker"
ANSWER_S = 5.0
UNTOLD = (1000, 1005, 1006)
"""Who refuses a register says why (PB-2.1-13); a broker that hangs up with none of that has another fault, which cases find."""

AT_AN_ADDRESS = "say which it takes with --option tokens=..., separated by commas"
STARTED = (
    "start it with those (`tokens` in a shim's start, {tokens} in a manifest's command), "
    "or have the shim answer start with `tokens` of its own"
)


async def smoke(target: Target) -> None:
    """Raise TargetRefused for a broker that refuses a good register with each of its tokens."""
    try:
        instance = await target.instance(ROLE, {"tokens": list(TOKENS)})
        address, tokens = instance.address, tokens_of(instance)
    except TargetError:
        return  # one that does not start is the cases' business
    how = ""
    for token in tokens:
        how = await refusal(address, token)
        if not how:
            return
    if how:
        todo = AT_AN_ADDRESS if target.info.reach == "remote" else STARTED
        raise TargetRefused(f"its broker refuses a register with {' or '.join(tokens)} ({how}): {todo}")


async def refusal(address: str, token: str) -> str:
    """How the broker refuses the token; empty where it does not, or does something that only a case can judge."""
    try:
        async with asyncio.timeout(ANSWER_S):
            carrier = await dial(address, Settings(MOST_MESSAGE, ANSWER_S, CLOSE_S))
            try:
                await carrier.send(codec.encode(Register(token, unique("smoke"))).decode())
                await carrier.receive()
            finally:
                await carrier.close()
    except HungUp as end:
        return "" if end.code in UNTOLD else f"close {end.code} {end.reason}".rstrip()
    except (NoConnection, TimeoutError):
        pass
    return ""
