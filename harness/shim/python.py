"""Write a shim in Python: subclass `Shim`, and it serves in-process as it is and over stdio through `serve_stdio`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from harness.errors import TargetFailed, TargetRefused, TargetUnsupported
from harness.shim.messages import MAX_LINE, Answer, Hello, Notice, Request, decode_request, encoder

Emit = Callable[[str, dict[str, Any]], None]
"""Called by an instance with (event, data)."""


class Shim:
    """The four verbs. Raise TargetRefused, TargetUnsupported or TargetFailed for the other three answers."""

    async def hello(self) -> Hello:
        raise TargetUnsupported("hello")

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        raise TargetUnsupported(f"role {role}")

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        raise TargetUnsupported(f"operation {op}")

    async def stop(self, instance: str) -> None:
        raise TargetUnsupported("stop")

    def kill(self) -> None:
        """In-process only: end everything at once, as SIGKILL ends a process."""
        raise TargetUnsupported("kill")


async def answer(shim: Shim, request: Request, emit: Callable[[Notice], None]) -> Answer:
    """Run one request; whatever it raises is an answer too."""
    try:
        result = await _perform(shim, request, emit)
    except TargetRefused as error:
        return Answer(request.id, refused=spelled(error))
    except TargetUnsupported as error:
        return Answer(request.id, unsupported=spelled(error))
    except TargetFailed as error:
        return Answer(request.id, failed=spelled(error))
    except Exception as error:  # an implementation may raise anything: it is its answer, not our crash
        return Answer(request.id, failed=f"{type(error).__name__}: {spelled(error)}")
    if not isinstance(result, dict):
        return Answer(request.id, failed=f"the shim answered with a {type(result).__name__} instead of a dict")
    return Answer(request.id, result=result)


def spelled(error: Exception) -> str:
    """An error's words, with what UTF-8 cannot carry (a lone surrogate in a quoted input) written as an escape."""
    return str(error).encode(errors="backslashreplace").decode()


async def _perform(shim: Shim, request: Request, emit: Callable[[Notice], None]) -> dict[str, Any]:
    match request.verb:
        case "hello":
            return msgspec.structs.asdict(await shim.hello())
        case "start":
            instance = request.instance
            return await shim.start(
                instance, request.role, request.args, lambda event, data: emit(Notice(event, instance, data))
            )
        case "do":
            return await shim.do(request.instance, request.op, request.args)
        case "stop":
            await shim.stop(request.instance)
            return {}


async def serve_stdio(shim: Shim) -> None:
    """Answer requests from stdin on stdout until stdin ends, side by side, each as soon as it is ready.

    What the implementation prints goes to stderr meanwhile: stdout is the protocol's.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    out, sys.stdout = sys.stdout.buffer, sys.stderr

    def say(message: Answer | Notice) -> None:
        out.write(encoder.encode(message) + b"\n")
        out.flush()

    async def handle(request: Request) -> None:
        said = await answer(shim, request, say)
        try:
            say(said)
        except (TypeError, ValueError) as error:  # what it returned is not JSON
            say(Answer(request.id, failed=f"the shim's answer cannot be written: {spelled(error)}"))

    tasks: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        task = asyncio.create_task(handle(decode_request(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
