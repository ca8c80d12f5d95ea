"""A child process: a group of its own, what it prints as it comes, and an end that leaves nothing running.

asyncio's own `Process.wait` waits for the pipes as well, which a flooding target or a forgotten grandchild never
closes; so this stands one layer below it, on the subprocess protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.errors import Unavailable

STDIN, STDOUT, STDERR = 0, 1, 2

MARK = "TOUCHSTONE_CHILD"
"""Environment variable by which a target's descendants are known, wherever they went."""

LAUNCHER = Path(__file__).with_name("launcher.py")

GRACE_S = 2.0
"""How long a target may take to end by itself when asked to; paid only by one that does not."""

KEPT_LINES, KEPT_LINE = 200, 2_000
"""Lines, and characters of each, kept of what a target prints for people: enough for a stack trace."""

READ_SIZE = 256 * 1024
"""Bytes taken of a pipe at once, as the transport does."""

Hear = Callable[[int, bytes], None]
"""Called with (STDOUT or STDERR, bytes) as they come."""


class Child(asyncio.SubprocessProtocol):
    """Made by `spawn`. `exited` gives its exit code, `quiet` is set once nobody holds its stdout any more, `deaf`
    once nobody holds its stdin, though we have not closed it."""

    def __init__(self, hear: Hear, mark: str, lifeline: socket.socket | None = None) -> None:
        self._hear, self._mark, self._lifeline = hear, mark, lifeline
        self._transport: asyncio.SubprocessTransport | None = None
        self._killed = self._stdin_closed = False
        self._stdout = -1
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.quiet = asyncio.Event()
        self.deaf = asyncio.Event()

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
        elif fd == STDIN and not self._stdin_closed:
            self.deaf.set()

    def process_exited(self) -> None:
        assert self._transport, "a process is connected before it exits"
        self._let_go()
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

    async def pids(self) -> list[int]:
        """The launcher, and below it the target."""
        return [self._transport.get_pid()] if self._transport else []

    def terminate(self) -> None:
        """SIGTERM to the whole group."""
        if not self.exited.done():
            self._signal(signal.SIGTERM)

    def pause(self) -> None:
        """SIGSTOP to the whole group."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT to the whole group."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL to all of it, once: later its number may be someone else's."""
        if self._killed:
            return
        self._killed = True
        if self._lifeline is None:
            self._signal(signal.SIGKILL)
        elif not self.exited.done():
            self._signal(signal.SIGCONT)  # the launcher may have been paused with the rest
            self._let_go()

    def _let_go(self) -> None:
        """The launcher ends everything when nobody holds its line any more."""
        if self._lifeline:
            self._lifeline.close()

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

    async def started(self) -> None:
        """Raises OSError as a start of the command itself would."""
        if self._lifeline:
            self._lifeline.setblocking(False)
            if fault := int(await asyncio.get_running_loop().sock_recv(self._lifeline, 16) or b"0"):
                raise OSError(fault, os.strerror(fault))

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


@functools.cache
def unconfined() -> str:
    """Why what a target starts cannot be kept below a launcher here; empty where it can."""
    if sys.platform != "linux" or not Path("/proc/self/stat").exists():
        return "there is no Linux kernel with /proc: what a target leaves behind is found by its process group only"
    return ""


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
    try:
        return await _spawn(command, cwd, {**os.environ, **(env or {})}, hear, stdin)
    except FileNotFoundError:
        raise Unavailable(f"there is no command {command[0]!r} here: install it or give its full path") from None
    except PermissionError:
        raise Unavailable(f"{command[0]!r} may not be executed: chmod +x it") from None
    except OSError as error:
        raise Unavailable(f"{command[0]!r} cannot be started: {error.strerror}") from None


async def _spawn(command: Sequence[str], cwd: str | None, env: Mapping[str, str], hear: Hear, stdin: int) -> Child:
    """Below a launcher, where the kernel lets one keep everything together."""
    mark, ours, theirs = uuid.uuid4().hex, *socket.socketpair()
    launcher = [] if unconfined() else [sys.executable, "-I", "-S", str(LAUNCHER), str(theirs.fileno())]
    with theirs:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(hear, mark, ours if launcher else None),
            *launcher,
            *command,
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=stdin,
            start_new_session=True,
            pass_fds=[theirs.fileno()] if launcher else [],
        )
    try:
        await child.started()
    except BaseException:
        await child.end()
        raise
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
        self.count = 0  # lines that have ended, kept or not

    def add(self, data: bytes) -> None:
        *lines, begun = (self._begun + data.decode(errors="replace")).split("\n")
        self._lines.extend(line[:KEPT_LINE] for line in lines)
        self.count += len(lines)
        self._begun = begun[-KEPT_LINE:]

    def text(self, since: int = 0) -> str:
        """All that is kept, or what was printed since there were so many lines."""
        lines = list(self._lines)[-(self.count - since) :] if self.count > since else []
        return "\n".join([*lines, self._begun]).rstrip()

    def whole_lines(self) -> str:
        """Without the line that has begun and not ended."""
        return "\n".join(self._lines)

    def last_line(self) -> str:
        return self.text().rpartition("\n")[2].strip()
