"""Works, but neither SIGTERM nor the end of stdin makes it leave."""

import signal

from honest import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve()
while True:
    signal.pause()
