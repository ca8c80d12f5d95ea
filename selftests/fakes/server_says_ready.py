"""A server that opens no TCP port and says in its log, in two breaths, when it is ready."""

import signal
import sys
import time

sys.stderr.write("not read")
sys.stderr.flush()
time.sleep(0.05)  # the point is that the line comes in two pieces
sys.stderr.write("y yet\nready to serve\n")
sys.stderr.flush()
signal.pause()
