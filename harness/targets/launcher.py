"""Runs one command and leaves nothing of it behind: `python -I -S launcher.py LIFELINE COMMAND...`, started by `child.spawn`.

A process of its own, because a kernel hands orphans to the nearest ancestor that asks for them (PR_SET_CHILD_SUBREAPER): whatever
the command starts, with a session of its own and an empty environment too, stays below this one, and ends with it. It ends when
the command does, in the same way; and it ends the command when the other side of LIFELINE, a socket, is closed, which the kernel
does for a harness that was killed. It says there with which errno the command could not be started, or 0. It imports nothing of
ours: a start costs ten milliseconds.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36
SPARED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
"""Those to the whole group are meant for the command."""

LIMITS = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 8 << 30, resource.RLIMIT_DATA: 8 << 30}
"""Bytes of a core dump, of one file, of memory. Address space has none: Go and the JVM reserve more than there is."""

ROUNDS = 1_000
"""Of killing what is there: it may fork meanwhile, but not for ever."""


def main() -> None:
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in SPARED:
        signal.signal(number, signal.SIG_IGN)
    failed, fail = os.pipe()  # closed by a start that works
    child = os.fork()
    if not child:
        run(command, fail)
    os.close(fail)
    os.write(lifeline, os.read(failed, 16) or b"0")
    quiet = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):  # else the harness would wait for an end of them that only we hold back
        os.dup2(quiet, fd)
    end_as(watched(child, lifeline, woken))


def run(command: list[str], fail: int) -> None:
    for number in (*SPARED, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    for kind, most in LIMITS.items():
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(fail, str(error.errno).encode())
        os._exit(127)


def watched(child: int, lifeline: int, woken: int) -> int:
    """The wait status of the command, once it has ended or been ended, and nothing else is left."""
    while (status := reaped(child)) is None:
        ready, _, _ = select.select([lifeline, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if lifeline in ready:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            sweep()
            return signal.SIGKILL
    sweep()
    return status


def reaped(child: int) -> int | None:
    """Collect whoever has ended; the status of the command, if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, found = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            status = found if pid == child else status
    return status


def sweep() -> None:
    """Stop everything below us so that it forks no more, then end it; orphans come to us, so that another round finds them."""
    for _ in range(ROUNDS):
        found = below(os.getpid())
        if not found:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        for pid in found:
            with contextlib.suppress(ChildProcessError):  # the others come to us when their parents end
                os.waitpid(pid, 0)


def below(pid: int) -> list[int]:
    """Its children, theirs, and so on."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # or it has just ended
            parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(pid, ()))
    for one in found:
        found += children.get(one, ())  # the list grows while it is walked
    return found


def end_as(status: int) -> None:
    """In the way in which the command did."""
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main()
