"""Ports for servers that are told where to listen: no two that are being started get the same one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

RANGE = (10_000, 32_000)
"""Linux hands out ports from 32768, others from 49152."""

_promised: set[int] = set()  # by this process: a file lock does not keep its own holder out


@contextmanager
def reserved_port() -> Iterator[int]:
    """A free port, promised to nobody else while the block runs; by its end the server should listen on it.

    A Python server needs a quarter of a second from being told its port to listening on it. Two workers that chose the same
    port meanwhile would share one server, and each would judge what the other does to it.
    """
    port = free_port()
    while port in _promised or not _lock(port):
        port = free_port()
    _promised.add(port)
    try:
        yield port
    finally:
        _promised.remove(port)
        fcntl.lockf(_locks(), fcntl.LOCK_UN, 1, port)


def free_port() -> int:
    """A port nobody listens on now, outside of those that systems hand out by themselves: whoever asks for any port while the
    server is being started would be given it, and be taken for the server."""
    while True:
        port = random.randrange(*RANGE)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the target can bind it at once
            probe.bind(("127.0.0.1", port))
            return port


def _lock(port: int) -> bool:
    """Lock the byte at the port's number: the lock ends with its process, however that ends."""
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except BlockingIOError:
        return False
    return True


@cache  # closing any handle of the file would drop every lock of the process
def _locks() -> int:
    path = Path(tempfile.gettempdir(), f"touchstone-ports-{os.getuid()}")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
