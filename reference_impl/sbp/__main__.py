"""`python -m reference_impl.sbp`: an accepting peer for anyone to play against; it prints what it is told."""

from __future__ import annotations

import secrets

from reference_impl.io.serving import command_line, serve
from reference_impl.io.websocket import Listener, WebSocket
from reference_impl.sbp.frames import MAX_FRAME, HostEvent
from reference_impl.sbp.peer import Config, PeerMachine
from reference_impl.sbp.peer_io import Session, settings


def show(session: Session, event: HostEvent) -> None:
    print(str(event)[:400], flush=True)


def main() -> None:
    parser = command_line("sbp", "An SBP v1 peer that accepts connections.", port=5481)
    parser.add_argument("--peer-id", default="", help="empty: one of its own choice")
    parser.add_argument("--receipt", default="no", type=str.lower, help="yes: acknowledge each Message")
    parser.add_argument("--limit", type=int, default=MAX_FRAME, help="bytes of the largest frame it takes")
    told = parser.parse_args()
    config = Config(
        told.peer_id or f"peer-{secrets.token_hex(4)}", receipt=told.receipt in ("yes", "true", "1"), limit=told.limit
    )

    async def handle(carrier: WebSocket) -> None:
        await Session(carrier, PeerMachine(config, remembers=False), on_event=show).run()

    listener = Listener(handle, settings(config.limit))
    serve(listener, told, lambda address: f"sbp peer {config.peer_id} on ws://{address}")


if __name__ == "__main__":
    main()
