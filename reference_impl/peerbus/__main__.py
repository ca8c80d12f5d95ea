"""`python -m reference_impl.peerbus`: a broker for anyone to play against."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from pathlib import Path

from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker


async def serve(host: str, port: int, state_dir: Path, tokens: frozenset[str]) -> None:
    broker = Broker(BrokerMachine(tokens), state_dir)
    await broker.start(host, port)
    print(f"peerbus broker on ws://{host}:{broker.port}, state in {state_dir}", flush=True)
    await asyncio.get_running_loop().create_future()


def main() -> None:
    parser = argparse.ArgumentParser(prog="peerbus", description="A peerbus v1 broker.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5480)
    parser.add_argument("--state-dir", type=Path, help="where messages are kept; a fresh folder if not given")
    parser.add_argument("--tokens", default="token", help="accepted bearer tokens, separated by commas")
    told = parser.parse_args()
    state_dir = told.state_dir or Path(tempfile.mkdtemp(prefix="peerbus-"))
    state_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(told.host, told.port, state_dir, frozenset(told.tokens.split(","))))


if __name__ == "__main__":
    main()
