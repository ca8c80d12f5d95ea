"""A plain server with two ports: prints its key, opens one after the other, and says on each which it is."""

import socketserver
import sys
import threading
import time


def serve(name: str, port: str) -> None:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(name.encode())

    socketserver.TCPServer.allow_reuse_address = True
    server = socketserver.TCPServer(("0.0.0.0", int(port)), Handler)
    threading.Thread(target=server.serve_forever).start()


push, receive = sys.argv[1:]
print("key 0123", flush=True)
serve("push", push)
time.sleep(0.5)  # published ports accept from the beginning: who dials now finds nobody
serve("receive", receive)
