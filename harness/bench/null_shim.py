"""A shim that does nothing, over stdio, in as few steps as the protocol allows."""

import json
import sys

HELLO = {"name": "null", "version": "0", "language": "python", "protocol": 1, "roles": {"peerbus/codec": []}}

for line in sys.stdin.buffer:
    request = json.loads(line)
    result = HELLO if request["verb"] == "hello" else request.get("args", {})
    sys.stdout.buffer.write(json.dumps({"id": request["id"], "result": result}).encode() + b"\n")
    sys.stdout.buffer.flush()
