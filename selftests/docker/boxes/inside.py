"""A shim that looks around in its container: each operation tries one thing and says what came of it."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import honest

Message = dict[str, Any]
MIB = bytes(1024 * 1024)


def fill(path: str) -> str:
    """Write until it fails."""
    with open(path, "wb") as file:
        while True:
            file.write(MIB)


def use_memory(mib: int) -> str:
    kept = [bytearray(os.urandom(1024) * 1024) for _ in range(mib)]
    return f"{len(kept)} MiB"


def use_pids(count: int) -> str:
    children = []
    for _ in range(count):
        if (child := os.fork()) == 0:
            signal.pause()
        children.append(child)
    return f"{len(children)} children"


def dial(host: str, port: int) -> str:
    with socket.create_connection((host, port), timeout=2):
        return "connected"


def listen() -> str:
    """Where somebody may connect from now on."""
    listening.append(socket.create_server(("127.0.0.1", 0)))
    return str(listening[-1].getsockname()[1])


listening: list[socket.socket] = []


def capabilities() -> str:
    status = Path("/proc/self/status").read_text()
    return " ".join(line for line in status.splitlines() if line.startswith(("CapEff", "CapBnd", "NoNewPrivs")))


TRIES: dict[str, Callable[..., str]] = {
    "fill": fill,
    "write": lambda path: str(Path(path).write_text("x")),
    "read": lambda path: Path(path).read_text(),
    "memory": use_memory,
    "pids": use_pids,
    "dial": dial,
    "listen": listen,
    "capabilities": capabilities,
}


def started(request: Message) -> None:
    honest.say(id=request["id"], result={"config": request.get("args", {})})


def tried(request: Message) -> None:
    try:
        honest.say(id=request["id"], result={"said": TRIES[request["op"]](**request.get("args", {}))})
    except OSError as error:
        honest.say(id=request["id"], failed=f"{error.strerror or error}")


honest.serve(start=started, do=tried)
