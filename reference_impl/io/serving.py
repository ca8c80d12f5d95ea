"""A reference on the command line: start it, say where it is, and keep it until somebody presses Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Callable
from typing import NoReturn, Protocol

USAGE = 3
"""The exit code of bad usage, as everywhere in the project; argparse's own means something else."""


class Service(Protocol):
    """What listens on a port."""

    async def start(self, host: str, port: int, /) -> int:
        """The port that it listens on."""

    async def stop(self) -> None:
        """Say goodbye to everybody."""


class CommandLine(argparse.ArgumentParser):
    """A wrong call gets one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}: --help names what there is\n")


def command_line(prog: str, description: str, port: int) -> argparse.ArgumentParser:
    """With the options that every service has."""
    parser = CommandLine(prog=prog, description=description)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=port)
    return parser


def serve(service: Service, told: argparse.Namespace, hello: Callable[[str], str]) -> None:
    """Until it is interrupted. Once connections are accepted it prints `hello` of its host:port."""

    async def run() -> None:
        port = await service.start(told.host, told.port)
        print(hello(f"{told.host}:{port}"), flush=True)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await service.stop()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
