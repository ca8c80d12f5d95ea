"""A server that runs and listens nowhere."""

import signal

signal.pause()
