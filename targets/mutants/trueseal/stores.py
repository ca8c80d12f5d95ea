"""Stores that forget, change or delay what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.io.sqlite import Store
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.store import ClientStore, RelayStore


class OneBehind(Store):
    """Writes what it is given together with what comes next; a proper end writes the rest."""

    late: Sequence[Any] = ()

    def commit(self, effects: Sequence[Any]) -> None:
        if not effects:
            return
        due, self.late = self.late, list(effects)
        super().commit(due)

    def finish(self) -> None:
        super().commit(self.late)
        self.late = ()


class OneBehindRelayStore(OneBehind, RelayStore):
    pass


class OneBehindClientStore(OneBehind, ClientStore):
    pass


class ForgetfulRelayStore(RelayStore):
    """Forgets one kind of effect."""

    forgets: type = type(None)

    def write(self, effect: relay.Effect) -> None:
        if not isinstance(effect, self.forgets):
            super().write(effect)


class ForgetfulClientStore(ClientStore):
    forgets: type = type(None)

    def write(self, effect: client.Effect) -> None:
        if not isinstance(effect, self.forgets):
            super().write(effect)


class AlteringRelayStore(RelayStore):
    """Writes another envelope than it is given."""

    def write(self, effect: relay.Effect) -> None:
        match effect:
            case relay.Stored(number, device, envelope):
                super().write(relay.Stored(number, device, self.altered(envelope)))
            case _:
                super().write(effect)

    def altered(self, envelope: bytes) -> bytes:
        return envelope


class OtherNumbers(RelayStore):
    """Finds the blobs of an earlier relay under other numbers than they were delivered under."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._numbers: dict[int, int] = {}  # those in the file, by the new ones

    def load(self) -> relay.Durable:
        found = super().load()
        inboxes = {}
        for device, inbox in found.inboxes.items():
            blobs = {}
            for number, envelope in sorted(inbox.new.items()):
                new = len(self._numbers) + 1
                self._numbers[new] = number
                blobs[new] = envelope
            inboxes[device] = relay.Inbox(Map(blobs))
        return relay.Durable(Map(inboxes), len(self._numbers) + 1)

    def write(self, effect: relay.Effect) -> None:
        match effect:
            case relay.Stored(number, device, envelope):
                row = self._db.execute("INSERT INTO blobs (device, envelope) VALUES (?, ?)", (device, envelope))
                assert row.lastrowid, "a row that was just written has a number"
                self._numbers[number] = row.lastrowid
            case relay.Deleted(number):
                super().write(relay.Deleted(self._numbers[number]))
