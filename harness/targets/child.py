"""A child process: a group of its own, what it prints as it comes, and an end that leaves nothing running.

asyncio's own `Process.wait` waits for the pipes as well, which a flooding target or a forgotten grandchild never
closes; so this stands one layer below it, on the subprocess protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.errors import Unavailable

STDOUT, STDERR = 1, 2

MARK = "TOUCHSTONE_CHILD"
"""Environment variable by which a target's descendants are known, wherever they went."""

GRACE_S = 2.0
"""How long a target may take to end by itself when asked to; paid only by one that does not."""

KEPT_LINES, KEPT_LINE = 200, 2_000
"""Lines, and characters of each, kept of what a target prints for people: enough for a stack trace."""

READ_SIZE = 256 * 1024
"""Bytes taken of a pipe at once, as the transport does."""

Hear = Callable[[int, bytes], None]
"""Called with (STDOUT or STDERR, bytes) as they come."""


class Child(asyncio.SubprocessProtocol):
    """Made by `spawn`. `exited` gives its exit code, `quiet` is set once nobody holds its stdout any more."""

    def __init__(self, hear: Hear, mark: str) -> None:
        self._hear, self._mark = hear, mark
        self._transport: asyncio.SubprocessTransport | None = None
        self._killed = self._stdin_closed = False
        self._stdout = -1
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.quiet = asyncio.Event()

    # -- what asyncio calls ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        stdout = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(STDOUT))
        if stdout.is_closing():  # it has said all it will
            return
        # Read here, not by the transport: that passes data on a turn of the loop later, so two readers would swap lines.
        stdout.pause_reading()
        self._stdout = stdout.get_extra_info("pipe").fileno()
        asyncio.get_running_loop().add_reader(self._stdout, self._read)

    def _read(self) -> bool:
        """Take what is there to read; False when there is nothing yet."""
        try:
            data = os.read(self._stdout, READ_SIZE)
        except BlockingIOError:
            return False
        if data:
            self._hear(STDOUT, data)
        else:
            self._give_back()
        return True

    def _give_back(self) -> None:
        """The end of stdout is for the transport to see, and to tell."""
        asyncio.get_running_loop().remove_reader(self._stdout)
        self._stdout = -1
        assert self._transport, "connected before anything is read"
        cast(asyncio.ReadTransport, self._transport.get_pipe_transport(STDOUT)).resume_reading()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._hear(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == STDOUT:
            self.quiet.set()

    def process_exited(self) -> None:
        assert self._transport, "a process is connected before it exits"
        if not self.exited.done():
            self.exited.set_result(self._transport.get_returncode() or 0)

    # -- what a session calls -------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Queue bytes for its stdin, until that is closed. A target that does not read them answers nothing: that is noticed."""
        if (stdin := self._stdin()) and not self._stdin_closed:
            stdin.write(data)

    def hear_now(self, seconds: float) -> None:
        """Take what it prints within that time at once, without a turn of the event loop."""
        until = time.perf_counter() + seconds
        while self._stdout >= 0 and time.perf_counter() < until:
            if self._read():
                return

    def close_stdin(self) -> None:
        if stdin := self._stdin():
            self._stdin_closed = True
            stdin.close()

    def _stdin(self) -> Any:
        return self._transport.get_pipe_transport(0) if self._transport else None

    def terminate(self) -> None:
        """SIGTERM to the whole group."""
        if not self.exited.done():
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to the whole group, once: later its number may be someone else's."""
        if not self._killed:
            self._killed = True
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        assert self._transport, "a process is connected before it is signalled"
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)

    def kill_escaped(self) -> None:
        """SIGKILL to descendants that left the group, as daemons do: the mark in their environment gives them away."""
        mark = f"{MARK}={self._mark}".encode()
        for environ in Path("/proc").glob("[0-9]*/environ"):  # none where there is no /proc
            with contextlib.suppress(OSError):  # it has just ended, or is someone else's
                if mark in environ.read_bytes():
                    os.kill(int(environ.parent.name), signal.SIGKILL)

    async def ends_within(self, seconds: float) -> bool:
        """Does it end by itself within that time?"""
        await asyncio.wait({self.exited}, timeout=seconds)
        return self.exited.done()

    async def end(self) -> None:
        """Kill what is left of it, wait until it is gone, free its pipes."""
        self.kill()
        await asyncio.wait({self.exited})
        self.kill_escaped()
        if self._stdout >= 0:
            self._give_back()
        if self._transport:
            self._transport.close()


async def spawn(
    command: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str] | None,
    hear: Hear,
    stdin: int = asyncio.subprocess.DEVNULL,
) -> Child:
    """Start a command, or say in one sentence why it cannot be started."""
    if cwd and not os.path.isdir(cwd):  # noqa: ASYNC240  # one stat, before anything runs
        raise Unavailable(f"there is no folder {cwd!r} to run {command[0]!r} in")
    mark = uuid.uuid4().hex
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(hear, mark),
            *command,
            cwd=cwd,
            env={**os.environ, **(env or {}), MARK: mark},
            stdin=stdin,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise Unavailable(f"there is no command {command[0]!r} here: install it or give its full path") from None
    except PermissionError:
        raise Unavailable(f"{command[0]!r} may not be executed: chmod +x it") from None
    except OSError as error:
        raise Unavailable(f"{command[0]!r} cannot be started: {error.strerror}") from None
    return child


def how_it_ended(code: int) -> str:
    """An exit status in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # real-time signals have no names
        return f"signal {-code}"


class Kept:
    """The last lines of what a target prints for people: shown, never judged."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._begun = ""

    def add(self, data: bytes) -> None:
        *lines, begun = (self._begun + data.decode(errors="replace")).split("\n")
        self._lines.extend(line[:KEPT_LINE] for line in lines)
        self._begun = begun[-KEPT_LINE:]

    def text(self) -> str:
        return "\n".join([*self._lines, self._begun]).rstrip()

    def last_line(self) -> str:
        return self.text().rpartition("\n")[2].strip()
