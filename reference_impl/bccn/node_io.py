"""A node on a real socket: datagrams in, events out. No rule of the protocol is decided here.

One socket serves a plain blocking loop (`recv`, `dispatch`, `run`) and asyncio (`attach`) alike.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import select
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reference_impl.bccn.frames import (
    UNKNOWN,
    Called,
    Close,
    Counted,
    Delivered,
    Dropped,
    Garbage,
    GetName,
    GetSeq,
    Heard,
    Input,
    Listen,
    Message,
    Named,
    Noise,
    Peer,
    Refused,
    Send,
    Sent,
    SetName,
    SetSeq,
    StartHeartbeat,
)
from reference_impl.bccn.node import API, WIRE, Config, NodeMachine
from reference_impl.core import Channel, Player, Turn
from reference_impl.io.timer import Clock, Timer

RECEIVE_BYTES = 65_536  # more than any UDP datagram: a buffer that cuts would make a wrong len look true (BCCN-ENV-09)
QUEUE_BYTES = 1 << 20  # asked of the kernel for what waits to be read; a burst is not a reason to lose
LOOK_S = 0.2  # how often a blocking loop looks whether it shall go on

Callback = Callable[[Message], None]


class NotSent(OSError):
    """The call was rejected or the datagram could not leave; no number was taken."""


def own_name(tag: str = "") -> str:
    """host/program/pid[/tag], the convention for names (BCCN-CNV-12)."""
    script = Path(sys.argv[0])
    program = script.parent.name if script.name == "__main__.py" else script.name
    return "/".join(filter(None, (socket.gethostname() or "host", program or "python", str(os.getpid()), tag)))


class Node:
    """One endpoint. Reads are handled one at a time, in the order in which they came."""

    def __init__(
        self,
        machine: NodeMachine,
        broadcast: str,
        port: int,
        *,
        on_event: Callable[[Delivered | Called | Dropped], None] = lambda event: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.machine = machine
        self.player = Player(machine, entropy=secrets.token_bytes, volunteers=lambda debt: True)
        self.address = (broadcast, port)
        self._socket = self.open_socket(broadcast, port)
        self._on_event, self._clock = on_event, clock
        self._callbacks: dict[str, list[Callback]] = {}
        self._timer = Timer(self.player, self._perform, clock)
        self._loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def open(cls, broadcast: str, port: int, key: bytes = b"", **ports: Any) -> Node:
        return cls(NodeMachine(Config(key=key)), broadcast, port, **ports)

    def open_socket(self, broadcast: str, port: int) -> socket.socket:
        """Bound to the broadcast address itself, so that nothing but broadcasts is heard (BCCN-TRN-03, -04, -06)."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE_BYTES)
        made.setblocking(False)
        made.bind((broadcast, port))
        return made

    def fileno(self) -> int:
        """For select, poll and epoll (BCCN-TRN-08)."""
        return self._socket.fileno()

    def close(self) -> None:
        self.detach()
        self.player.receive(API, Close())
        self._socket.close()

    # -- name and counter -----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return next(e.name for e in self._call(GetName()) if isinstance(e, Named))

    @name.setter
    def name(self, name: str | None) -> None:
        self._call(SetName(name or ""))

    @property
    def seq(self) -> int:
        return next(e.seq for e in self._call(GetSeq()) if isinstance(e, Counted))

    @seq.setter
    def seq(self, seq: int) -> None:
        self._call(SetSeq(seq))

    # -- sending --------------------------------------------------------------------------------------------------

    def send(self, src: str | None, chan: str, payload: bytes, key: bytes = b"") -> None:
        """One notification; without src it comes from this node's name."""
        self._call(Send(chan, payload, src or "", key))

    def send_all(self, payload: bytes, key: bytes = b"") -> None:
        self.send(None, "!", payload, key)

    def send_to(self, target: str, payload: bytes, key: bytes = b"") -> None:
        """Refuses an empty target, which would mean everybody."""
        if not target:
            raise NotSent("a directed message needs a target")
        self.send(None, f"!{target}", payload, key)

    def send_topic(self, topic: str, payload: bytes, key: bytes = b"") -> None:
        """Refuses a topic that begins with "!": it is none (BCCN-CHN-09)."""
        if topic.startswith("!"):
            raise NotSent(f"{topic!r} is no topic")
        self.send(None, topic, payload, key)

    def start_heartbeat(self, interval: float, payload: bytes = b"") -> None:
        self._call(StartHeartbeat(interval, self._clock(), payload))
        self.tick()

    def _call(self, event: Input) -> list[Any]:
        """A call of the host: what it answers. State is a value, so a datagram that cannot leave leaves no trace."""
        before = self.player.state
        try:
            return self._turn(API, event)
        except OSError as error:
            self.player.state = before
            raise error if isinstance(error, NotSent) else NotSent(str(error)) from error

    def _turn(self, channel: Channel, event: Input) -> list[Any]:
        return self._perform(self.player.receive(channel, event))

    def _perform(self, turn: Turn) -> list[Any]:
        """What the machine owes; what is left is for whoever asked."""
        answers = []
        for _, frame in turn.frames:
            match frame:
                case Sent(data=data):
                    self.transmit(data)
                case Refused(why=why):
                    raise NotSent(why)
                case Called(pattern=pattern, message=message):
                    for callback in self._callbacks.get(pattern, ()):
                        callback(message)
                    self._on_event(frame)
                case Dropped():
                    self._on_event(frame)
                case _:
                    answers.append(frame)
        return answers

    def transmit(self, data: bytes) -> None:
        self._socket.sendto(data, self.address)

    # -- receiving ------------------------------------------------------------------------------------------------

    def recv(self, timeout: float | None = 0.0) -> Delivered | None:
        """Handle one datagram, waiting for it as long as told; None where there was none, or it was dropped."""
        if not select.select([self._socket], [], [], timeout)[0]:
            return None
        return next((e for e in self._read() if isinstance(e, Delivered)), None)

    def _read(self) -> list[Any]:
        data, peer = self.receive()
        at = self._clock()
        read = self.interpret(data)
        return self._turn(WIRE, Noise(read, peer, at) if isinstance(read, Garbage) else Heard(read, peer, at))

    def interpret(self, data: bytes) -> Message | Garbage:
        return self.machine.codec.decode(data, self.machine.config.key)

    def receive(self) -> tuple[bytes, Peer]:
        data, (host, port) = self._socket.recvfrom(RECEIVE_BYTES)
        return data, (host, port)

    def listen(self, pattern: str, callback: Callback = lambda message: None) -> None:
        """Run the callback for every message on a channel that the pattern matches."""
        if pattern not in self._callbacks:
            self._call(Listen(pattern))
        self._callbacks.setdefault(pattern, []).append(callback)

    def dispatch(self) -> int:
        """Handle all that waits, and whatever time has made due; how many messages there were (BCCN-CNV-11)."""
        self.tick()
        count = 0
        while select.select([self._socket], [], [], 0)[0]:
            for event in self._read():
                count += 1
                self._on_event(event)
        return count

    def tick(self) -> None:
        """Do what has become due."""
        self._timer.check()

    def run(self, running: Callable[[], bool] = lambda: True) -> None:
        """The plain blocking loop."""
        while running():
            left = self._timer.left()
            select.select([self._socket], [], [], LOOK_S if left is None else min(LOOK_S, left))
            self.dispatch()

    # -- asyncio --------------------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        return self._loop is not None

    def attach(self) -> None:
        """Let the running event loop dispatch, or dispatch anew; events go to `on_event` and to the listeners."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._pump)
        self._pump()

    def _pump(self) -> None:
        self.dispatch()
        if self.attached:  # a callback may have closed it
            self._timer.set()

    def detach(self) -> None:
        if self._loop:
            self._loop.remove_reader(self._socket)
        self._loop = None
        self._timer.stop()


def spelled(event: Delivered) -> str:
    """One line for people."""
    message, (host, port) = event.message, event.peer
    sender = f"{host}:{port}" if message.src == UNKNOWN else message.src
    mark = " (authenticated)" if message.authenticated else ""
    return f"{sender} #{message.seq} -> {message.chan}{mark}: {message.payload!r}"
