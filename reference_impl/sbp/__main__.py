"""`python -m reference_impl.sbp`: an accepting peer for anyone to play against; it prints what it is told."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets

from reference_impl.sbp.frames import MAX_FRAME, HostEvent
from reference_impl.sbp.peer import Config, PeerMachine
from reference_impl.sbp.peer_io import Carrier, Listener, Session


def show(session: Session, event: HostEvent) -> None:
    print(str(event)[:400], flush=True)


async def serve(host: str, port: int, config: Config) -> None:
    def make(carrier: Carrier) -> Session:
        return Session(carrier, PeerMachine(config, remembers=False), on_event=show)

    listener = Listener(make, config.limit)
    await listener.start(host, port)
    print(f"sbp peer {config.peer_id} on ws://{host}:{listener.port}", flush=True)
    await asyncio.get_running_loop().create_future()


def main() -> None:
    parser = argparse.ArgumentParser(prog="sbp", description="An SBP v1 peer that accepts connections.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5481)
    parser.add_argument("--peer-id", default="", help="empty: one of its own choice")
    parser.add_argument("--receipt", default="no", type=str.lower, help="yes: acknowledge each Message")
    parser.add_argument("--limit", type=int, default=MAX_FRAME, help="bytes of the largest frame it takes")
    told = parser.parse_args()
    config = Config(
        told.peer_id or f"peer-{secrets.token_hex(4)}", receipt=told.receipt in ("yes", "true", "1"), limit=told.limit
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(told.host, told.port, config))


if __name__ == "__main__":
    main()
