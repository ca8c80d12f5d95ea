"""`python -m reference_impl.trueseal`: a relay for anyone to play against; it prints its public key and its two ports."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from reference_impl.io.serving import command_line, serve
from reference_impl.trueseal.frames import KEY_SIZE, MAX_ENVELOPE
from reference_impl.trueseal.noise import public_key
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay


class Service:
    """The relay as something with one port; the other one is configured."""

    def __init__(self, relay: Relay, receive_port: int) -> None:
        self.relay, self._receive_port = relay, receive_port

    async def start(self, host: str, port: int) -> int:
        await self.relay.start(host, port, self._receive_port)
        return self.relay.ports[0]

    async def stop(self) -> None:
        await self.relay.stop()


def kept_key(path: Path) -> bytes:
    """The key of an earlier relay on this folder, or a new one."""
    if not path.exists():
        path.write_text(secrets.token_hex(KEY_SIZE))
        path.chmod(0o600)
    return bytes.fromhex(path.read_text())


def main() -> None:
    parser = command_line("trueseal", "A TrueSeal relay; --port is where pushes go.", port=5484)
    parser.add_argument("--receive-port", type=int, default=5485)
    parser.add_argument("--state-dir", type=Path, help="where the inboxes are kept; a fresh folder if not given")
    parser.add_argument("--private-key", type=bytes.fromhex, help="64 hex digits; without it one kept in the folder")
    parser.add_argument("--limit", type=int, default=MAX_ENVELOPE, help="bytes of the largest envelope it stores")
    parser.add_argument("--handshake-s", type=float, default=Relay.handshake_s, help="for a handshake to be done in")
    parser.add_argument("--most-sessions", type=int, default=Relay.most_sessions)
    told = parser.parse_args()
    state_dir = told.state_dir or Path(tempfile.mkdtemp(prefix="trueseal-"))
    state_dir.mkdir(parents=True, exist_ok=True)
    key = told.private_key or kept_key(state_dir / "relay.key")
    relay = Relay(RelayMachine(told.limit), state_dir, key)
    relay.handshake_s, relay.most_sessions = told.handshake_s, told.most_sessions

    def hello(address: str) -> str:
        return (
            f"trueseal relay {public_key(key).hex()}\n"
            f"push {address}, receive {told.host}:{relay.ports[1]}, state in {state_dir}"
        )

    serve(Service(relay, told.receive_port), told, hello)


if __name__ == "__main__":
    main()
