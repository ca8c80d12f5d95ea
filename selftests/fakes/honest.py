"""The honest part that fake shims share, standard library only: each fake is its fault and little else."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Message = dict[str, Any]
ROLE = "peerbus/codec"


def requests() -> Iterator[Message]:
    for line in sys.stdin:
        yield json.loads(line)


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def answer(request: Message) -> None:
    hello = {"name": "fake", "protocol": 1, "roles": {ROLE: []}}
    if request["verb"] == "start" and request["role"] != ROLE:
        say(id=request["id"], unsupported=request["role"])
        return
    say(id=request["id"], result=hello if request["verb"] == "hello" else {})


def serve(**faults: Callable[[Message], None]) -> None:
    """Answer every request, except that a verb with a fault is answered by it."""
    for request in requests():
        faults.get(request["verb"], answer)(request)
