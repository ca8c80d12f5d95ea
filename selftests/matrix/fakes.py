"""Implementations that misbehave as a whole: the reference behind a shim that does one thing to its host or its machine.

`python -m selftests.matrix.fakes KIND` is a shim over stdin and stdout.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

from harness.shim import serve_stdio
from harness.shim.messages import Notice
from harness.shim.python import Emit, encoder
from targets.reference import Reference


class Fake(Reference):
    """As the reference."""


class Dies(Fake):
    """Dies when the first Message comes."""

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def until_a_message(event: str, data: dict[str, Any]) -> None:
            if event == "message":
                os._exit(3)
            emit(event, data)

        return await super().start(instance, role, config, until_a_message)


class Elsewhere(Fake):
    """Says an address on which nobody listens."""

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        told = await super().start(instance, role, config, emit)
        return {**told, "address": "ws://127.0.0.1:9"} if "address" in told else told


class Another(Fake):
    """Tells of every session as if it were another instance's."""

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def as_another(event: str, data: dict[str, Any]) -> None:
            os.write(1, encoder.encode(Notice(event, f"not {instance}", data)) + b"\n")

        return await super().start(instance, role, config, as_another)


class Litters(Fake):
    """Leaves a child behind with every start; its number is in the file that LITTER names."""

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: ASYNC220
        with open(os.environ["LITTER"], "a") as file:  # noqa: ASYNC230
            file.write(f"{child.pid}\n")
        return await super().start(instance, role, config, emit)


FAKES = {"dies": Dies, "elsewhere": Elsewhere, "another": Another, "litters": Litters}

if __name__ == "__main__":
    asyncio.run(serve_stdio(FAKES[sys.argv[1]]()))
