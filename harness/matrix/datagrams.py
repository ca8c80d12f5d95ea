"""The proxy in the path of datagrams: two segments of the loopback's broadcast address, joined by one that loses and repeats."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from typing import Any

from harness.matrix.along import Passed
from harness.matrix.faults import Fault
from harness.matrix.streams import Tell

BROADCAST = "127.255.255.255"
MOST = 65_536
BUFFER = 1 << 20


class Segment:
    """One port of the broadcast address: bound exclusively first and only then shared, so that no two runs meet."""

    def __init__(self) -> None:
        self.ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.ear.bind((BROADCAST, 0))
        self.ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.ear.setblocking(False)
        self.port: int = self.ear.getsockname()[1]
        self.mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.mouth.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.mouth.bind(("127.0.0.1", 0))
        self._own = self.mouth.getsockname()

    def heard(self) -> list[bytes]:
        """What others have said on it."""
        found: list[bytes] = []
        with contextlib.suppress(BlockingIOError):
            while True:
                data, peer = self.ear.recvfrom(MOST)
                if peer != self._own:
                    found.append(data)
        return found

    def say(self, data: bytes) -> None:
        self.mouth.sendto(data, (BROADCAST, self.port))

    def close(self) -> None:
        self.ear.close()
        self.mouth.close()


class DatagramProxy:
    """Carries from the first segment to the second as the schedule says, and back as it is."""

    def __init__(self, line: str, tell: Tell) -> None:
        self.line, self._tell = line, tell
        self.near, self.far = Segment(), Segment()
        self.begin(())

    def begin(self, schedule: Sequence[Fault]) -> None:
        self.faults = {fault.at: fault for fault in schedule if fault.where == self.line}
        self.passed: list[Passed] = []
        self.count = 0
        self.quiet = False  # nothing is disturbed any more: what comes now proves what came before
        self._held: bytes | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self.near.ear, self._up)
        loop.add_reader(self.far.ear, self._down)

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        for segment in (self.near, self.far):
            loop.remove_reader(segment.ear)
            segment.close()

    def _down(self) -> None:
        for data in self.far.heard():
            self.passed.append(Passed(0, "down", data))
            self.near.say(data)

    def _up(self) -> None:
        for data in self.near.heard():
            self.passed.append(Passed(0, "up", data))
            fault = None if self.quiet else self.faults.get(self.count)
            self.count += 1
            for carried in self._carried(data, fault):
                self.far.say(carried)

    def _carried(self, data: bytes, fault: Fault | None) -> list[bytes]:
        """What goes on in place of this datagram."""
        held, self._held = self._held, None
        behind = [held] if held is not None else []
        if fault is None:
            return [data, *behind]
        self._tell(self.line, fault.what, {"fault": str(fault), "data": data.hex()})
        match fault.what:
            case "lose":
                return behind
            case "twice":
                return [data, *behind, data]
            case "flip":
                return [flipped(data, fault.connection), *behind]
        self._held = data
        return behind

    def flush(self) -> None:
        """What is held back goes on now."""
        if self._held is not None:
            self.far.say(self._held)
            self._held = None


def flipped(data: bytes, dice: int) -> bytes:
    """One bit of it changed."""
    place, bit = dice % len(data), dice // 2048 % 8
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def exclusive(config: dict[str, Any], segment: Segment) -> dict[str, Any]:
    """A node's configuration on that segment."""
    return {**config, "broadcast": BROADCAST, "port": segment.port}
