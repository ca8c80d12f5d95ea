"""An honest server with a child; it ignores SIGTERM, and dies when it is told `die`."""

import os
import signal
import socket
import subprocess
import sys

mark, port = sys.argv[1:]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", mark])
listener = socket.create_server(("127.0.0.1", int(port)))
while True:
    connection, _ = listener.accept()
    with connection:
        if connection.recv(3) == b"die":
            os.kill(os.getpid(), signal.SIGSEGV)
