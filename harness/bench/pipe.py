"""The other end of a bare lock-step pipe: a line of JSON in, a line of JSON out, nothing else."""

import json
import sys

for line in sys.stdin.buffer:
    request = json.loads(line)
    sys.stdout.buffer.write(json.dumps({"id": request["id"], "result": request["args"]}).encode() + b"\n")
    sys.stdout.buffer.flush()
