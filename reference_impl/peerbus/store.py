"""The broker's durable half in SQLite: written ahead, synced before anything is delivered."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from immutables import Map

from reference_impl.io import sqlite
from reference_impl.io.durable import LONG, Shelved
from reference_impl.peerbus import audit
from reference_impl.peerbus.broker import Durable, Effect, Message, MessageAcked, MessageStored, PeerKnown
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope

SCHEMA = """
CREATE TABLE IF NOT EXISTS peers (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY, key TEXT UNIQUE, recipient TEXT, sender TEXT, envelope BLOB, acked INTEGER DEFAULT 0
);
CREATE INDEX IF NOT EXISTS waiting ON messages (recipient) WHERE acked = 0;
CREATE TABLE IF NOT EXISTS audit (n INTEGER PRIMARY KEY, event BLOB, hash TEXT);
"""


class Store(sqlite.Store):
    """Peers, messages and the audit chain in one file."""

    schema = SCHEMA

    def __init__(self, path: Path, codec: Codec) -> None:
        super().__init__(path)
        self._codec = codec
        last = self._db.execute("SELECT hash FROM audit ORDER BY n DESC LIMIT 1").fetchone()
        self._last_hash = last[0] if last else audit.GENESIS

    def load(self) -> Durable:
        """What an earlier broker left here."""
        keys: dict[str, None] = {}
        pending: dict[str, dict[str, Message]] = {}
        next_seq = 0
        rows = self._db.execute("SELECT seq, key, recipient, sender, envelope, acked FROM messages ORDER BY seq")
        for seq, key, recipient, sender, wire, acked in rows:
            keys[key], next_seq = None, seq + 1
            if not acked:
                message = Message(key, recipient, sender, seq, self.read(wire))
                pending.setdefault(recipient, {})[key] = shelved(message)
        peers = {name: None for (name,) in self._db.execute("SELECT name FROM peers")}
        return Durable(Map(peers), Map(keys), Map({name: Map(mine) for name, mine in pending.items()}), next_seq)

    def read(self, wire: bytes) -> Envelope:
        envelope = self._codec.decode(wire)
        assert isinstance(envelope, Envelope), "only envelopes are stored"
        return envelope

    def envelope(self, seq: int) -> Envelope:
        """That of a row; rows stay."""
        [wire] = self._db.execute("SELECT envelope FROM messages WHERE seq = ?", (seq,)).fetchone()
        return self.read(wire)

    def commit(self, effects: Sequence[Effect]) -> None:
        """The rows, all or none; then their audit events, in a transaction of their own (PB-6-11)."""
        if any(not isinstance(e, MessageAcked) or e.cleared for e in effects):
            self._db.execute("PRAGMA synchronous=FULL")
            super().commit(effects)
        self.append([event for effect in effects if (event := self.event(effect))])

    def write(self, effect: Effect) -> None:
        match effect:
            case PeerKnown(name):
                self._db.execute("INSERT OR IGNORE INTO peers VALUES (?)", (name,))
            case MessageStored(m):
                row = (m.seq, m.key, m.recipient, m.sender, self._codec.kept(m.envelope))
                self._db.execute(
                    "INSERT INTO messages (seq, key, recipient, sender, envelope) VALUES (?, ?, ?, ?, ?)", row
                )
            case MessageAcked(key, _, cleared) if cleared:
                self._db.execute("UPDATE messages SET acked = 1 WHERE key = ?", (key,))

    def event(self, effect: Effect) -> bytes | None:
        match effect:
            case MessageStored(m):
                return audit.event_bytes("send", m.key, m.sender, m.recipient)
            case MessageAcked(key, by, _):
                return audit.event_bytes("ack", key, by, "")
        return None

    def delivered(self, deliveries: Sequence[tuple[str, Deliver]]) -> None:
        """Audit deliveries that were written to a connection (PB-6-15)."""
        self.append([audit.event_bytes("deliver", d.delivery_key, d.envelope.sender, to) for to, d in deliveries])

    def append(self, events: Sequence[bytes]) -> None:
        """Without a sync: a power cut may take the chain's last events, never break it (PB-6-13). What cannot be written is no
        reason to hold a message back (PB-6-12)."""
        if not events:
            return
        rows, last = [], self._last_hash
        for event in events:
            last = audit.link(last, event)
            rows.append((event, last))
        self._db.execute("PRAGMA synchronous=NORMAL")
        with contextlib.suppress(sqlite3.Error), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT INTO audit (event, hash) VALUES (?, ?)", rows)
            self._last_hash = last

    def chain(self) -> list[tuple[bytes, str]]:
        """The audit chain, oldest first."""
        return list(self._db.execute("SELECT event, hash FROM audit ORDER BY n"))


def shelved(message: Message) -> Message:
    """The message without its bytes, if they are many."""
    if len(message.envelope.body) < LONG:
        return message
    return replace(message, envelope=replace(message.envelope, body=Shelved(message.seq), wire=b""))
