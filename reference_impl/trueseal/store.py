"""The durable halves in SQLite: written ahead, synced before anything is said of it."""

from __future__ import annotations

from immutables import Map

from reference_impl.io.durable import LONG, Shelved
from reference_impl.io.sqlite import Store
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.codec import U64
from reference_impl.trueseal.frames import Push


class RelayStore(Store):
    """The inboxes. A number is never used again, so that no late ack hits another blob."""

    schema = """
        CREATE TABLE IF NOT EXISTS blobs (number INTEGER PRIMARY KEY AUTOINCREMENT, device BLOB, envelope BLOB);
    """

    def load(self) -> relay.Durable:
        """What an earlier relay left here."""
        inboxes: dict[bytes, dict[int, bytes]] = {}
        rows = self._db.execute(
            "SELECT number, device, CASE WHEN length(envelope) < ? THEN envelope END FROM blobs", (LONG,)
        )
        for number, device, envelope in rows:
            inboxes.setdefault(device, {})[number] = Shelved(number) if envelope is None else envelope
        [last] = self._db.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()
        found = {device: relay.Inbox(Map(blobs)) for device, blobs in inboxes.items()}
        return relay.Durable(Map(found), (last or 0) + 1)

    def envelope(self, number: int) -> bytes | None:
        """That of a blob, if it is not deleted."""
        row = self._db.execute("SELECT envelope FROM blobs WHERE number = ?", (number,)).fetchone()
        return row[0] if row else None

    def write(self, effect: relay.Effect) -> None:
        match effect:
            case relay.Stored(number, device, envelope):
                self._db.execute("INSERT INTO blobs VALUES (?, ?, ?)", (number, device, envelope))
            case relay.Deleted(number):
                self._db.execute("DELETE FROM blobs WHERE number = ?", (number,))


class ClientStore(Store):
    """Outbox and received messages. An id has 64 bits without a sign, which SQLite's integers have not."""

    schema = """
        CREATE TABLE IF NOT EXISTS outbox (blob INTEGER PRIMARY KEY AUTOINCREMENT, recipient BLOB, envelope BLOB);
        CREATE TABLE IF NOT EXISTS received (n INTEGER PRIMARY KEY, blob_id BLOB, envelope BLOB);
    """

    def load(self) -> client.Durable:
        """What an earlier client left here."""
        outbox = {blob: Push(*rest) for blob, *rest in self._db.execute("SELECT blob, recipient, envelope FROM outbox")}
        [last] = self._db.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()
        ids: dict[int, None] = {}
        envelopes: dict[bytes, None] = {}
        for id, envelope in self._db.execute("SELECT blob_id, envelope FROM received"):
            ids[U64.unpack(id)[0]] = envelopes[envelope] = None
        return client.Durable(Map(outbox), (last or 0) + 1, Map(envelopes), Map(ids))

    def received(self) -> list[bytes]:
        """Every message once, oldest first."""
        rows = self._db.execute("SELECT envelope FROM received ORDER BY n")
        return list(dict.fromkeys(envelope for (envelope,) in rows))

    def write(self, effect: client.Effect) -> None:
        match effect:
            case client.Outgoing(blob, push):
                self._db.execute("INSERT INTO outbox VALUES (?, ?, ?)", (blob, push.recipient, push.envelope))
            case client.Settled(blob):
                self._db.execute("DELETE FROM outbox WHERE blob = ?", (blob,))
            case client.Kept(blob_id, envelope):
                row = (U64.pack(blob_id), envelope)
                self._db.execute("INSERT INTO received (blob_id, envelope) VALUES (?, ?)", row)
