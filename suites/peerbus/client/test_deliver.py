"""Sections 2.2 to 2.4 from the client's side: what is surfaced, what is acked, by which key and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Broken, Trial
from reference_impl.peerbus.frames import Ack, Deliver, Peers
from suites.peerbus import handmade
from suites.peerbus.adapter import Adapter, Link, forged
from suites.peerbus.bus import codec, message, unique


@clauses("PB-7-02", "PB-2.4-15", "PB-2.4-16", "PB-2.4-17", "PB-2.4-18", "PB-2.2-05", "PB-5-17")
async def test_verify_dedupe_surface_ack(adapter: Adapter, link: Link) -> None:
    """The whole order: a forgery is dropped, the message surfaced once, not acked before it is consumed, acked by its key."""
    mail, key = adapter.mail(), unique("key")
    await link.send(Deliver(key, forged(replace(mail, body=b'"forged"'))), Deliver(key, mail))
    await adapter.expect_surfaced(mail, "PB-2.4-15")
    await adapter.expect_unacked(link, "PB-2.4-18")
    await adapter.consume(mail.id)
    await link.expect_ack(key, "PB-2.4-18")
    await adapter.suppresses(link, mail, key, "PB-2.4-16")
    await adapter.expect_ignored(link, "PB-2.4-16")


@clauses("PB-2.4-17", "PB-3-08")
async def test_the_host_gets_id_sender_and_body(adapter: Adapter, link: Link, trial: Trial) -> None:
    """What is surfaced is what was sent: id, sender, recipient, source, kind and body."""
    mail = message("carol", adapter.name, b'{"text":"hello","n":[1,2,null]}', source="touch/stone")
    got = await adapter.handles(link, mail)
    wanted = (adapter.name, "touch/stone", "msg")
    trial.expect((got.to, got.source, got.kind) == wanted, f"to, source and kind {wanted}", got, "PB-3-08")


@clauses("PB-3-08")
@axis("source", {"unicode": "quelle-源-é", "spaces": " a b ", "empty": "", "quotes": '"\\/', "controls": "\t\n\u007f"})
async def test_source_is_shown_verbatim(adapter: Adapter, link: Link, trial: Trial, source: str) -> None:
    """Whatever the sender calls its source, the host sees that text."""
    got = await adapter.handles(link, adapter.mail(source=source))
    trial.expect(got.source == source, repr(source), repr(got.source))


BODIES = {
    "object": b'{"z":1,"a":2}',
    "array": b"[1,[2,[3]]]",
    "string": b'"text"',
    "number": b"-12.5",
    "true": b"true",
    "false": b"false",
    "null": b"null",
    "empty-object": b"{}",
    "unicode": '"é名"'.encode(),
}


@clauses("PB-3-10", "PB-2.4-17")
@axis("body", BODIES)
async def test_any_json_is_a_body(adapter: Adapter, link: Link, body: bytes) -> None:
    """Each kind of JSON value reaches the host as that value."""
    await adapter.handles(link, adapter.mail(body))


@clauses("PB-2.2-01")
async def test_an_ack_is_version_type_and_id(adapter: Adapter, link: Link, trial: Trial) -> None:
    """The ack is a control frame with the key as its `id`."""
    mail, key = adapter.mail(), unique("key")
    await link.deliver(mail, key)
    await adapter.expect_surfaced(mail)
    await adapter.consume(mail.id)
    frame = await link.next(key=key)
    trial.expect(frame == Ack(key), str(Ack(key)), frame)


@clauses("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-2.4-18")
async def test_no_ack_before_the_host_has_consumed(adapter: Adapter, link: Link) -> None:
    """Surfacing is not consuming: the ack waits for the host."""
    mail = adapter.mail()
    await link.deliver(mail)
    await adapter.expect_surfaced(mail)
    await adapter.expect_unacked(link)
    await adapter.consume(mail.id)
    await link.expect_ack(mail.id, "PB-2.4-18")


@clauses("PB-2.2-05", "PB-5-17")
async def test_a_killed_client_has_not_acked(target: Target, adapters: Callable[..., Adapter]) -> None:
    """Killed before the host consumed it: no ack, so the broker delivers it again, and the next life surfaces it."""
    await target.need("peerbus/client", "kill")
    doomed, heir = target.private(), target.private()
    try:
        await doomed.open()
        adapter = await adapters(session=doomed).start()
        link, mail = await adapter.online(), adapter.mail()
        await link.deliver(mail)
        await adapter.expect_surfaced(mail)
        await adapter.kill()
        await link.expect_closed()
        await heir.open()
        await adapter.restart(heir, **adapter.config)
        await adapter.handles(await adapter.online(), mail)
        await adapter.close()
    finally:
        await doomed.close()
        await heir.close()


KEYS = {"other": "some-key", "id-and-name": "{id}|{name}", "unicode": "schlüssel", "spaces": " k ", "long": "k" * 500}


@clauses("PB-2.4-09", "PB-4-24", "PB-2.2-01")
@axis("key", KEYS)
async def test_acks_the_delivery_key(adapter: Adapter, link: Link, key: str) -> None:
    """The ack names the delivery key, whatever it is, and not the envelope's id; no signature covers the key."""
    mail = adapter.mail()
    await adapter.handles(link, mail, key.format(id=mail.id, name=adapter.name))


@clauses("PB-4-25", "PB-2.4-09")
async def test_a_broadcast_copy_is_acked_by_its_key(adapter: Adapter, link: Link, trial: Trial) -> None:
    """A broadcast copy verifies like any message, and its ack names the recipient's row."""
    mail = message("alice", "*")
    got = await adapter.handles(link, mail, f"{mail.id}|{adapter.name}")
    trial.expect((got.to, got.kind) == ("*", "broadcast"), "to * and kind broadcast", got)


KEYLESS = {"empty": '"delivery_key":"",', "absent": "", "null": '"delivery_key":null,'}


async def deliver_keyless(adapter: Adapter, link: Link, key: str) -> dict[str, str]:
    texts = handmade.signed(handmade.members(adapter.name))
    await link.text(f'{{"protocol_version":"v1","type":"deliver",{key}"envelope":{handmade.object_text(texts)}}}')
    return texts


@clauses("PB-2.4-12", "PB-2.4-13", "PB-5-19")
@axis("key", KEYLESS)
async def test_without_a_key_it_is_dropped(adapter: Adapter, link: Link, key: str) -> None:
    """A delivery without a key is neither surfaced nor acked, and the connection stays."""
    await deliver_keyless(adapter, link, key)
    await adapter.expect_ignored(link, "PB-2.4-12" if key else "PB-2.4-13")


@clauses("PB-2.4-14")
@axis("key", KEYLESS)
async def test_a_keyless_delivery_leaves_no_trace(adapter: Adapter, link: Link, key: str, trial: Trial) -> None:
    """The same message under a key is surfaced and acked: what was dropped is not seen."""
    texts = await deliver_keyless(adapter, link, key)
    await link.text(handmade.delivery(texts))
    got = await adapter.message()
    trial.expect(got.id == handmade.id_of(texts), f"{texts['id']} surfaced", got)
    await adapter.consume(got.id)
    await link.expect_ack(got.id)


# -- peers -------------------------------------------------------------------------------------------------------------


async def asked(adapter: Adapter, link: Link) -> asyncio.Task[list[str]]:
    """The host has asked for peers, and the request has arrived."""
    asking = asyncio.create_task(adapter.peers(link))
    try:
        await link.expect(Peers, "PB-2.3-01")
    except Broken:
        asking.cancel()
        raise
    return asking


async def told(asking: asyncio.Task[list[str]], trial: Trial, clause: str = "") -> list[str]:
    try:
        return await asyncio.wait_for(asking, trial.patience_s)
    except TimeoutError:
        raise Broken(clause or trial.own_clause, "the names for the host", "no answer") from None


@clauses("PB-2.3-01", "PB-7-04")
async def test_asks_for_peers_and_tells_the_host(adapter: Adapter, link: Link, trial: Trial) -> None:
    """The request has no names; the reply's names reach the host."""
    asking = await asked(adapter, link)
    await link.send(Peers(("alice", "bob", adapter.name)))
    names = await told(asking, trial, "PB-7-04")
    trial.expect(sorted(names) == sorted(["alice", "bob", adapter.name]), "the names of the reply", names, "PB-7-04")


@clauses("PB-2.3-05")
@axis("order", {"deliver-first": "dp", "peers-first": "pd", "between": "dpd"})
async def test_peers_and_deliver_are_told_apart(adapter: Adapter, link: Link, trial: Trial, order: str) -> None:
    """A reply may come between deliveries: each goes to who waits for it, and nothing is lost."""
    asking = await asked(adapter, link)
    mails = [adapter.mail() for _ in range(order.count("d"))]
    waiting = iter(mails)
    for step in order:
        await (link.send(Peers(("zoe",))) if step == "p" else link.deliver(next(waiting)))
    for mail in mails:
        await adapter.expect_handled(link, mail)
    names = await told(asking, trial)
    trial.expect(names == ["zoe"], "the names of the reply", names)


@clauses("PB-2.3-05", "PB-7-04")
async def test_a_second_question_gets_the_second_answer(adapter: Adapter, link: Link, trial: Trial) -> None:
    """Each question is a request of its own, and the list may have changed."""
    for names in (["a"], ["b", "c"]):
        asking = await asked(adapter, link)
        await link.send(Peers(tuple(names)))
        got = await told(asking, trial)
        trial.expect(sorted(got) == names, str(names), got)


@clauses("PB-2.4-02")
async def test_never_sends_a_deliver(adapter: Adapter, link: Link) -> None:
    """Clients send bare envelopes: not even what they received goes out as a deliver; `lint` looks at each frame."""
    await adapter.handles(link, adapter.mail())
    for to in ("bob", adapter.name):
        await adapter.send(to)
        frame = await link.next()
        adapter.trial.expect(not isinstance(frame, Deliver), "an envelope", frame)
    await adapter.broadcast()
    frame = await link.next()
    adapter.trial.expect(not isinstance(frame, Deliver), "an envelope", frame)


# -- what is no frame --------------------------------------------------------------------------------------------------

NOISE = {
    "not-json": "{nope",
    "empty": "",
    "array": "[1,2]",
    "number": "17",
    "two-objects": "{}{}",
    "ack": codec.encode(Ack("k")).decode(),
    "register": '{"protocol_version":"v1","type":"register","token":"t","name":"n"}',
    "envelope": codec.encode(message("alice", "bob")).decode(),
    "unknown-type": '{"protocol_version":"v1","type":"gossip"}',
    "no-envelope": '{"protocol_version":"v1","type":"deliver","delivery_key":"k"}',
    "envelope-array": '{"protocol_version":"v1","type":"deliver","delivery_key":"k","envelope":[]}',
    "number-as-key": '{"protocol_version":"v1","type":"deliver","delivery_key":1,"envelope":{}}',
    "number-as-id": '{"protocol_version":"v1","type":"deliver","delivery_key":"k","envelope":{"id":1}}',
}


@clauses("PB-5-25")
@axis("noise", NOISE)
async def test_noise_does_not_stop_the_pump(adapter: Adapter, link: Link, noise: str) -> None:
    """What is no delivery changes nothing: the next good one is handled on the same connection."""
    await link.text(noise)
    await link.text(noise)
    await adapter.expect_ignored(link)
