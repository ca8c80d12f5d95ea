"""A plain server: prints, writes a line to its state, listens after a while, and answers each connection with its state."""

import socketserver
import sys
import time
from pathlib import Path

port, state = int(sys.argv[1]), Path(sys.argv[2]) / "lives"
print("about to listen", file=sys.stderr, flush=True)
time.sleep(float(sys.argv[3]))
with state.open("a") as file:
    file.write("x")


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(state.read_bytes())


socketserver.TCPServer.allow_reuse_address = True
socketserver.TCPServer(("0.0.0.0", port), Handler).serve_forever()
