"""A Touchstone shim for @ROLE@ in plain Python: JSON Lines on stdin and stdout, four verbs.

stdout is the protocol: print logs to stderr. Fill in `start`, `do` and `stop`; answer `unsupported` to what you do not offer.
Answers may come in any order: one that takes its time is better printed later, from a thread. One shim may serve several roles:
name them all in `hello`.
"""

import json
import sys
from typing import Any

ROLE = "@ROLE@"


class Refused(Exception):
    """Your implementation rejected the input. Often that is just what a case wants."""


class Unsupported(Exception):
    """You do not offer this."""


def start(instance: str, role: str, config: dict[str, Any]) -> dict[str, Any]:
    """Start an instance of the role; the harness gives it its name. A server answers {"address": "ws://127.0.0.1:1234"}."""
    if role != ROLE:
        raise Unsupported(f"role {role}")
    return {}


def do(instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
    """One operation on an instance; OPERATIONS.md lists them."""
    raise Unsupported(f"operation {op}")


def stop(instance: str) -> None:
    """End the instance."""


def emit(instance: str, event: str, data: dict[str, Any]) -> None:
    """Tell the harness that something happened at an instance."""
    print(json.dumps({"event": event, "instance": instance, "data": data}), flush=True)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    verb = request["verb"]
    if verb == "hello":
        return {"name": "@NAME@", "version": "0.1.0", "language": "python", "protocol": 1, "roles": {ROLE: []}}
    if verb == "start":
        return start(request["instance"], request["role"], request.get("args", {}))
    if verb == "do":
        return do(request["instance"], request["op"], request.get("args", {}))
    stop(request["instance"])
    return {}


for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"]}
    try:
        reply["result"] = answer(request)
    except Refused as error:
        reply["refused"] = str(error)
    except Unsupported as error:
        reply["unsupported"] = str(error)
    except Exception as error:
        reply["failed"] = f"{type(error).__name__}: {error}"
    print(json.dumps(reply), flush=True)
