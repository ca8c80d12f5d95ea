"""A server with two ports that says its key in two breaths, and opens the second port once somebody was at the first."""

import socket
import sys
import time

mark, push, receive = sys.argv[1:]
sys.stdout.write("relay key 0123")
sys.stdout.flush()
time.sleep(0.05)  # the point is that the line comes in two pieces
sys.stdout.write("4567\n")
sys.stdout.flush()
first = socket.create_server(("127.0.0.1", int(push)))
first.accept()[0].close()
second = socket.create_server(("127.0.0.1", int(receive)))
while True:
    second.accept()[0].close()
