"""Starts, then reads nothing more: a large request fills the pipe."""

import signal

from honest import answer, requests

for request in requests():
    answer(request)
    if request["verb"] == "start":
        signal.pause()
