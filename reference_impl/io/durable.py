"""A server whose words are promises: what one turn of the loop brought is made durable once, and only then said.

A sync costs more than a message, so messages share one: the first turn of the machine asks for a `flush` when the loop comes
round, and whatever came meanwhile is in the same batch. A peer that does not read costs a bounded queue: deliveries that do not
fit stay where they are safe anyway, and are taken from there once it reads on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from reference_impl.core import Channel, Player
from reference_impl.io.carrier import ENDED
from reference_impl.io.conversation import Conversation
from reference_impl.io.sqlite import Store, StoreFailed

S = TypeVar("S")
Said = TypeVar("Said", str, bytes, str | bytes)

LONG = 4_096
"""Bytes from which on a message that waits is kept in the store alone; memory holds who it is for."""


class Shelved(bytes):
    """Stands in a machine's state for bytes that are in the store. It is empty; the shell fetches what is to be said."""

    def __new__(cls, place: int) -> Shelved:
        made = super().__new__(cls)
        made.place = place
        return made

    place: int  # of its row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shelved) and other.place == self.place

    def __hash__(self) -> int:
        return hash(self.place)


@dataclass
class Batch(Generic[S]):
    """What some turns brought, from the state before the first of them."""

    before: S
    channels: dict[Channel, None] = field(default_factory=dict)
    effects: list[Any] = field(default_factory=list)
    frames: list[tuple[Channel, Any]] = field(default_factory=list)


class DurableShell(Generic[S, Said]):
    """Turns of one player, its store and its lines. A protocol says how a frame is put on a line, and what may wait."""

    most_waiting = 2**18  # bytes that wait for a peer to read; deliveries on top of that stay in the store
    most_unread = 2**24  # bytes of answers that wait for a peer which asks and does not read; then it is hung up on

    store: Store

    def __init__(self, player: Player[S]) -> None:
        self.player = player
        self._lines: dict[Channel, Conversation[Said, Said]] = {}
        self._batch: Batch[S] | None = None
        self._behind: dict[Channel, int] = {}  # the first delivery that did not fit

    # -- what a protocol says -------------------------------------------------------------------------------------

    def put(self, line: Conversation[Said, Said], frame: Any) -> None:
        raise TypeError(f"{type(self).__name__} does not say how a frame is put on a line")

    goodbye: object  # the input by which the machine learns that a connection is gone
    sorry = ENDED  # the transport's code for who is hung up on because nothing can be stored

    def place(self, channel: Channel, frame: Any) -> int | None:
        """Where a delivery stands in its recipient's queue; None for one that was acked meanwhile."""

    def waiting(self, channel: Channel, first: int) -> Iterable[Any]:
        """The deliveries of a connection from that place on, in order, as the store has them."""
        raise TypeError(f"{type(self).__name__} does not say what waits")

    def shelve(self, effects: Sequence[Any]) -> None:
        """They are in the store: long ones need not be in memory."""

    def said(self, frames: Sequence[tuple[Channel, Any]]) -> None:
        """These went on their way."""

    # -- the machine's turns --------------------------------------------------------------------------------------

    def turn(self, channel: Channel, event: object) -> None:
        """One input. What it changes is durable with all else that this turn of the loop brings."""
        if not self._batch:
            self._batch = Batch(self.player.state)
            asyncio.get_running_loop().call_soon(self.flush)
        turn = self.player.receive(channel, event)
        self._batch.channels[channel] = None
        self._batch.effects += turn.effects
        self._batch.frames += turn.frames

    def flush(self) -> None:
        """First it is durable, then it is said."""
        batch, self._batch = self._batch, None
        if not batch:
            return
        try:
            self.store.commit(batch.effects)
        except StoreFailed:
            self.undo(batch)
            return
        self.shelve(batch.effects)
        self.said([(channel, frame) for channel, frame in batch.frames if self.pay(channel, frame)])

    def undo(self, batch: Batch[S]) -> None:
        """As if nothing had been read: neither yes nor no, since it may go better another time."""
        self.player.state = batch.before
        for channel in batch.channels:
            self.player.receive(channel, self.goodbye)
            if line := self._lines.get(channel):
                line.hang_up(self.sorry)

    # -- peers that do not read -----------------------------------------------------------------------------------

    def pay(self, channel: Channel, frame: Any) -> bool:
        """Put it on its line, unless it is a delivery that does not fit."""
        if not (line := self._lines.get(channel)):
            return False
        if (channel in self._behind or line.waiting > self.most_waiting) and self.may_wait(frame):
            if channel not in self._behind and (place := self.place(channel, frame)) is not None:
                self._behind[channel] = place
            return False
        self.put(line, frame)
        return True

    def may_wait(self, frame: Any) -> bool:
        """Is it a delivery, which the store still has?"""
        return False

    def catch_up(self, channel: Channel) -> None:
        """Its peer reads on: what did not fit, as far as it fits now."""
        if (first := self._behind.pop(channel, None)) is None:
            return
        said = []
        for frame in self.waiting(channel, first):
            if self.pay(channel, frame):
                said.append((channel, frame))
            if channel in self._behind:
                break
        self.said(said)

    def forget(self, channel: Channel) -> None:
        """Its connection is gone."""
        del self._lines[channel]
        self._behind.pop(channel, None)
