"""The same for what stands around a machine: Noise on a stream, a store, and a shell on real sockets."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.catalogue import vectors
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.frames import Push
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.relay_io import Relay
from selftests.trueseal.probes import BEHIND, CUT, KEY, LARGE, OTHER, said

RELAY_KEY, DEVICE_KEY, WRONG_KEY = (bytes([n]) * 32 for n in (1, 2, 3))
PAYLOAD = bytes.fromhex("0300000000")


def of_noise(made: type[Noise]) -> list[str]:
    """What comes of the known answers."""
    found = [*vectors.load("trueseal/noise").vectors, *vectors.load("trueseal/sessions").vectors]
    return [said(lambda vector=vector: played(made, vector.input)) for vector in found]


def played(made: type[Noise], given: dict[str, Any]) -> list[str]:
    def key(name: str) -> bytes | None:
        return bytes.fromhex(given[f"{name}_hex"]) if given.get(f"{name}_hex") else None

    noise = made(
        Pattern[given["pattern"]],
        initiator=given["side"] == "initiator",
        entropy=lambda size: key("ephemeral") or b"",
        static=key("static"),
        remote_static=key("remote_static"),
        prologue=key("prologue") or b"",
    )
    steps = zip(given["verbs"], given["script_hex"], strict=True)
    return [(noise.write if verb == "write" else noise.read)(bytes.fromhex(data)).hex() for verb, data in steps]


# -- Noise on a stream -------------------------------------------------------------------------------------------------


@functools.cache
def like(key: bytes) -> bytes:
    """Another private key whose public half begins with the same byte."""
    tries = (n.to_bytes(32, "big") for n in range(1, 10_000))
    return next(other for other in tries if public_key(other)[0] == public_key(key)[0] and other != key)


class Other(Secured):
    """The honest other end; its handshake messages may carry something."""

    payload = b""

    def seal(self, plaintext: bytes) -> bytes:
        return super().seal(plaintext if self.noise.finished else self.payload)


def honest(pattern: Pattern, initiator: bool, key: bytes, payload: bytes = b"") -> Other:
    """A device or pusher that knows this relay's key, or a relay that has it."""
    if not initiator:
        keys = {"static": key}
    else:
        keys = {"remote_static": public_key(key)} if pattern is Pattern.NK else {"static": DEVICE_KEY}
    other = Other(Noise(pattern, initiator=initiator, entropy=secrets.token_bytes, **keys))
    other.payload = payload
    return other


def shaken(mine: Secured, other: Other, i_begin: bool, flip: int = -1, cut: int = 65_537) -> list[Any]:
    """A handshake; the last bit of the other end's n-th message may be flipped, and its bytes come in pieces."""
    trace: list[Any] = []
    to_other, to_mine = (mine.opening(), b"") if i_begin else (b"", other.opening())
    for turn in range(3):
        if to_other:
            trace.append(len(to_other))
            other.feed(to_other)
            read = other.read()
            to_mine = read[0] if read else b""
        to_other, message = b"", bytearray(to_mine)
        if message:
            message[-1] ^= turn == flip
        for at in range(0, len(message), cut):
            mine.feed(bytes(message[at : at + cut]))
            to_other = read[0] if (read := mine.read()) else to_other
        to_mine = b""
    return [*trace, mine.noise.finished, other.noise.finished]


def talk(mine: Secured, other: Other) -> list[Any]:
    """Some messages both ways, large ones, many, several at once, and one that was tampered with."""
    trace: list[Any] = []
    for sizes in ((0, 5), (40_000,), (65_519,), *[(1,)] * 260):
        mine.feed(b"".join(other.seal(LARGE[:size]) for size in sizes))
        trace += [len(read[1] or b"") for _ in sizes if (read := mine.read())]
    for _ in range(3):
        other.feed(mine.seal(b"up"))
        trace.append(other.read())
    spoilt = bytearray(other.seal(b"tampered"))
    spoilt[-1] ^= 1
    mine.feed(bytes(spoilt))
    return [*trace, said(mine.read)]


def of_stream(secured: Callable[[Pattern], Secured], i_begin: bool) -> list[str]:
    told: list[str] = []

    def meet(pattern: Pattern, other: Other, flip: int = -1, cut: int = 65_537) -> Secured:
        mine = secured(pattern)
        told.append(said(lambda: shaken(mine, other, i_begin, flip, cut)))
        told.append(said(mine.read))
        return mine

    for pattern in Pattern:
        for key in (RELAY_KEY, WRONG_KEY, like(RELAY_KEY)):
            other = honest(pattern, not i_begin, key)
            mine = meet(pattern, other)
            told += [said(lambda m=mine, o=other: talk(m, o)), str(other.noise.remote_static)]
        for flip, cut in ((0, 65_537), (1, 65_537), (2, 65_537), (-1, 1)):
            meet(pattern, honest(pattern, not i_begin, RELAY_KEY), flip, cut)
        meet(pattern, honest(pattern, not i_begin, RELAY_KEY, PAYLOAD))
        meet(pattern, honest(Pattern.XX if pattern is Pattern.NK else Pattern.NK, not i_begin, RELAY_KEY))
        one, two = (secured(pattern).noise._handshake.e.public_bytes for _ in range(2))
        told.append(str((one == two, one == public_key(DEVICE_KEY))))
    return told


# -- stores ------------------------------------------------------------------------------------------------------------

ENVELOPES = (b"", b"\xff", BEHIND, LARGE, b"x", b"\xff", b"a\x00b", b"8", b"9", b"10", b"11")
RELAY_EFFECTS: list[list[relay.Effect]] = [[relay.Stored(n, KEY, envelope)] for n, envelope in enumerate(ENVELOPES, 1)]
RELAY_EFFECTS += [[relay.Stored(12, OTHER, b"\xff"), relay.Stored(13, CUT[0], b"at once")]]
CLIENT_EFFECTS: list[list[client.Effect]] = [
    [client.Outgoing(1, Push(KEY, BEHIND))],
    [client.Outgoing(2, Push(OTHER, b"two"))],
    *([client.Outgoing(n, Push(KEY if n % 2 else OTHER, b"%d" % (n % 5)))] for n in range(3, 23)),
    [client.Settled(2)],
    [client.Settled(4)],
    [client.Kept(2**63, LARGE)],
    *([client.Kept(n, b"%d" % n)] for n in range(20)),
]


def of_relay_store(shell: Relay, state_dir: Path) -> list[str]:
    """What the next ones find, each having deleted some blobs and stored another."""
    told, store = [], shell.store
    for effects in RELAY_EFFECTS:
        store.commit(effects)
    for numbers in ((2,), (4, 8), (5,), (1,), ()):
        store.commit([relay.Deleted(number) for number in numbers])
        store.close()
        store = shell.open_store(state_dir)
        found = store.load()
        blobs = [(d, number, id) for d, inbox in found.inboxes.items() for number, id, _ in inbox.envelopes()]
        told.append(f"{sorted((*blob, store.envelope(blob[1])) for blob in blobs)} {found.next}")
        store.commit([relay.Stored(found.next, OTHER, b"more")])
    store.close()
    return told


def of_client_store(shell: Client, state_dir: Path) -> list[str]:
    for effects in CLIENT_EFFECTS:
        shell.store.commit(effects)
    told, store = [], shell.store
    for _ in range(3):
        store.close()
        store = shell.open_store(state_dir)
        found = store.load()
        told += [str(sorted(found.outbox.items(), key=str)), str(sorted(found.envelopes))]
        told += [str(found.next), str(store.received())]
    store.close()
    return told
