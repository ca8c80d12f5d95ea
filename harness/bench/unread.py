"""`python -m harness.bench.unread [PROTOCOL...]`: a peer that does not read, and megabytes for it: what does the reference hold?

Its queue is bounded, and what does not fit waits in the store: memory is to grow by far less than what was sent.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.bench.ends import PeerbusEnds, TrueSealEnds, serve_broker, serve_relay
from harness.bench.kills import Serve, started
from harness.targets.outside import usage

MB = 1024 * 1024

SIZE, AT_ONCE = 16_000, 25
"""Bytes of a message, and how many are sent before their promise is waited for."""

SERVERS: dict[str, tuple[Serve, Callable[[bytes], Any]]] = {
    "peerbus": (serve_broker, PeerbusEnds),
    "trueseal": (serve_relay, TrueSealEnds),
}


async def unread(protocol: str, megabytes: int) -> tuple[float, float]:
    """Its memory before and after."""
    serve, ends_of = SERVERS[protocol]
    ends = ends_of(b"x" * SIZE)
    with tempfile.TemporaryDirectory() as folder:
        process, where = await asyncio.to_thread(started, serve, Path(folder))
        try:
            await ends.connect(where)
            before = usage([process.pid]).memory
            for turn in range(megabytes * 1_000_000 // (SIZE * AT_ONCE)):
                await ends.send([f"{turn}.{n}" for n in range(AT_ONCE)])
            return before / MB, usage([process.pid]).memory / MB
        finally:
            ends.cut()
            process.kill()
            await asyncio.to_thread(process.join)


def main() -> None:
    parser = argparse.ArgumentParser(prog="unread", description=__doc__)
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(SERVERS)}; all")
    parser.add_argument("--megabytes", type=int, default=200)
    told = parser.parse_args()
    for protocol in told.protocols or SERVERS:
        before, after = asyncio.run(unread(protocol, told.megabytes))
        load = os.getloadavg()[0]
        print(
            f"{protocol:10} {told.megabytes} MB for who does not read: memory {before:.0f} to {after:.0f} MB; load {load:.0f}"
        )


if __name__ == "__main__":
    main()
