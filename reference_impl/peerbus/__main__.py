"""`python -m reference_impl.peerbus`: a broker for anyone to play against."""

from __future__ import annotations

import tempfile
from pathlib import Path

from reference_impl.io.serving import command_line, serve
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker


def main() -> None:
    parser = command_line("peerbus", "A peerbus v1 broker.", port=5480)
    parser.add_argument("--state-dir", type=Path, help="where messages are kept; a fresh folder if not given")
    parser.add_argument("--tokens", default="token", help="accepted bearer tokens, separated by commas")
    parser.add_argument("--register-s", type=float, default=Broker.register_s, help="for a connection to register in")
    parser.add_argument("--most-connections", type=int, default=Broker.most_connections)
    told = parser.parse_args()
    state_dir = told.state_dir or Path(tempfile.mkdtemp(prefix="peerbus-"))
    state_dir.mkdir(parents=True, exist_ok=True)
    broker = Broker(BrokerMachine(frozenset(told.tokens.split(","))), state_dir)
    broker.register_s, broker.most_connections = told.register_s, told.most_connections
    serve(broker, told, lambda address: f"peerbus broker on ws://{address}, state in {state_dir}")


if __name__ == "__main__":
    main()
