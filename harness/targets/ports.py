"""Ports for servers that are told where to listen: no two that are being started get the same one."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

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
    """A port nobody listens on now; SO_REUSEADDR lets the target bind it at once."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
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
