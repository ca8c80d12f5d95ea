"""Sections 2.2 to 2.4 from the client's side: what is surfaced, what is acked, by which key and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from harness.targets import Target
from reference_impl.peerbus.frames import Ack, Close, Deliver, Peers
from reference_impl.peerbus.host import UNTOLD, Surfaced
from suites.common.names import unique
from suites.peerbus import wire
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import codec, forged, message


@clauses("PB-7-02", "PB-2.4-15", "PB-2.4-16", "PB-2.4-17", "PB-2.4-18", "PB-2.2-05", "PB-5-17")
async def test_verify_dedupe_surface_ack(client: ClientUnderTest, line: ClientLine) -> None:
    """The whole order: a forgery is dropped, the message surfaced once, not acked before it is consumed, acked by its key."""
    mail, key = client.mail(), unique("key")
    await line.send(Deliver(key, forged(replace(mail, body=b'"forged"'))), Deliver(key, mail))
    await client.expect_surfaced(mail, "PB-2.4-15")
    await client.expect_unacked(line, "PB-2.4-18")
    await client.consume(mail.id)
    await line.expect_ack(key, "PB-2.4-18")
    await client.suppresses(line, mail, key, "PB-2.4-16")
    await client.expect_ignored(line, "PB-2.4-16")


def expect_told(trial: Trial, got: Surfaced, to: str, kind: str) -> None:
    """Recipient and kind are right, or the host is not told them: section 2.4 does not say that it is."""
    told = {"to": (got.to, to), "kind": (got.kind, kind)}
    for name, (value, wanted) in told.items():
        if value == UNTOLD:
            trial.info(f"the host is not told `{name}`")
        else:
            trial.expect(value == wanted, f"{name} {wanted}", got, "PB-2.4-17")


@clauses("PB-2.4-17", "PB-3-08")
async def test_the_host_gets_id_sender_and_body(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """What is surfaced is what was sent: id, sender, source and body, and recipient and kind where the host is told them."""
    mail = message("carol", client.name, b'{"text":"hello","n":[1,2,null]}', source="touch/stone")
    got = await client.handles(line, mail)
    trial.expect(got.source == "touch/stone", "source touch/stone", got, "PB-3-08")
    expect_told(trial, got, client.name, "msg")


@clauses("PB-3-08")
@axis("source", {"unicode": "quelle-源-é", "spaces": " a b ", "empty": "", "quotes": '"\\/', "controls": "\t\n\u007f"})
async def test_source_is_shown_verbatim(client: ClientUnderTest, line: ClientLine, trial: Trial, source: str) -> None:
    """Whatever the sender calls its source, the host sees that text."""
    got = await client.handles(line, client.mail(source=source))
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
async def test_any_json_is_a_body(client: ClientUnderTest, line: ClientLine, body: bytes) -> None:
    """Each kind of JSON value reaches the host as that value."""
    await client.handles(line, client.mail(body))


@clauses("PB-2.2-01")
async def test_an_ack_is_version_type_and_id(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """The ack is a control frame with the key as its `id`."""
    mail, key = client.mail(), unique("key")
    await line.deliver(mail, key)
    await client.expect_surfaced(mail)
    await client.consume(mail.id)
    frame = await line.next(key=key)
    trial.expect(frame == Ack(key), str(Ack(key)), frame)


@clauses("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-2.4-18")
async def test_no_ack_before_the_host_has_consumed(client: ClientUnderTest, line: ClientLine) -> None:
    """Surfacing is not consuming: the ack waits for the host."""
    mail = client.mail()
    await client.surfaces(line, mail)
    await client.expect_unacked(line)
    await client.consume(mail.id)
    await line.expect_ack(mail.id, "PB-2.4-18")


@clauses("PB-2.2-05", "PB-5-17")
@needs("kill")
async def test_a_killed_client_has_not_acked(target: Target, clients: Callable[..., ClientUnderTest]) -> None:
    """Killed before the host consumed it: no ack, so the broker delivers it again, and the next life surfaces it."""
    doomed, heir = target.private(), target.private()
    try:
        await doomed.open()
        client = await clients(session=doomed).start()
        line, mail = await client.online(), client.mail()
        await client.surfaces(line, mail)
        await client.kill()
        await line.expect_closed()
        await heir.open()
        await client.restart(heir, **client.config)
        await client.handles(await client.online(), mail)
        await client.close()
    finally:
        await doomed.close()
        await heir.close()


KEYS = {"other": "some-key", "id-and-name": "{id}|{name}", "unicode": "schlüssel", "spaces": " k ", "long": "k" * 500}


@clauses("PB-2.4-09", "PB-4-24", "PB-2.2-01")
@axis("key", KEYS)
async def test_acks_the_delivery_key(client: ClientUnderTest, line: ClientLine, key: str) -> None:
    """The ack names the delivery key, whatever it is, and not the envelope's id; no signature covers the key."""
    mail = client.mail()
    await client.handles(line, mail, key.format(id=mail.id, name=client.name))


@clauses("PB-4-25", "PB-2.4-09")
async def test_a_broadcast_copy_is_acked_by_its_key(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """A broadcast copy verifies like any message, and its ack names the recipient's row."""
    mail = message("alice", "*")
    got = await client.handles(line, mail, f"{mail.id}|{client.name}")
    expect_told(trial, got, "*", "broadcast")


KEYLESS = {"empty": '"delivery_key":"",', "absent": "", "null": '"delivery_key":null,'}


async def deliver_keyless(client: ClientUnderTest, line: ClientLine, key: str) -> dict[str, str]:
    texts = wire.signed(wire.members(client.name))
    await line.text(f'{{"protocol_version":"v1","type":"deliver",{key}"envelope":{wire.object_text(texts)}}}')
    return texts


@clauses("PB-2.4-12", "PB-2.4-13", "PB-5-19")
@axis("key", KEYLESS)
async def test_without_a_key_it_is_dropped(client: ClientUnderTest, line: ClientLine, key: str) -> None:
    """A delivery without a key is neither surfaced nor acked, and the connection stays."""
    await deliver_keyless(client, line, key)
    await client.expect_ignored(line, "PB-2.4-12" if key else "PB-2.4-13")


@clauses("PB-2.4-14")
@axis("key", KEYLESS)
async def test_a_keyless_delivery_leaves_no_trace(
    client: ClientUnderTest, line: ClientLine, key: str, trial: Trial
) -> None:
    """The same message under a key is surfaced and acked: what was dropped is not seen."""
    texts = await deliver_keyless(client, line, key)
    await line.text(wire.delivery(texts))
    got = await client.message()
    trial.expect(got.id == wire.id_of(texts), f"{texts['id']} surfaced", got)
    await client.consume(got.id)
    await line.expect_ack(got.id)


# -- peers -------------------------------------------------------------------------------------------------------------


async def asked(client: ClientUnderTest, line: ClientLine) -> asyncio.Task[list[str]]:
    """The host has asked for peers, and the request has arrived."""
    asking = asyncio.create_task(client.peers(line))
    try:
        await line.expect(Peers, "PB-2.3-01")
    except Broken:
        asking.cancel()
        raise
    return asking


async def told(asking: asyncio.Task[list[str]], trial: Trial, clause: str = "") -> list[str]:
    try:
        return await asyncio.wait_for(asking, trial.patience_s)
    except TimeoutError:
        raise Broken(clause or trial.own_clause, "the names for the host", "no answer") from None


@clauses("PB-7-04", "PB-2.3-05")
async def test_two_questions_are_both_answered(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """Asked twice before there is an answer: each question gets one, whether the client asks once or twice."""
    questions = [await asked(client, line), asyncio.create_task(client.peers(line))]
    await client.send("bob")  # so it has heard the second question

    async def answer() -> None:
        await line.send(Peers(("bob",)))
        while True:
            if isinstance(await line.next(), Peers):
                await line.send(Peers(("bob",)))

    answering = asyncio.create_task(answer())
    try:
        names = [await told(question, trial, "PB-7-04") for question in questions]
    finally:
        answering.cancel()
    trial.expect(names == [["bob"], ["bob"]], "bob, twice", names, "PB-7-04")


@clauses("PB-2.3-01", "PB-7-04")
async def test_asks_for_peers_and_tells_the_host(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """The request has no names; the reply's names reach the host."""
    asking = await asked(client, line)
    await line.send(Peers(("alice", "bob", client.name)))
    names = await told(asking, trial, "PB-7-04")
    if sorted(names) == ["alice", "bob"]:
        return trial.info("the host is told of others only")
    trial.expect(sorted(names) == sorted(["alice", "bob", client.name]), "the names of the reply", names, "PB-7-04")


@clauses("PB-2.3-05")
@axis("order", {"deliver-first": "dp", "peers-first": "pd", "between": "dpd"})
async def test_peers_and_deliver_are_told_apart(
    client: ClientUnderTest, line: ClientLine, trial: Trial, order: str
) -> None:
    """A reply may come between deliveries: each goes to who waits for it, and nothing is lost."""
    asking = await asked(client, line)
    mails = [client.mail() for _ in range(order.count("d"))]
    waiting = iter(mails)
    for step in order:
        await (line.send(Peers(("zoe",))) if step == "p" else line.deliver(next(waiting)))
    for mail in mails:
        await client.expect_handled(line, mail)
    names = await told(asking, trial)
    trial.expect(names == ["zoe"], "the names of the reply", names)


@clauses("PB-2.3-05", "PB-7-04")
async def test_a_second_question_gets_the_second_answer(
    client: ClientUnderTest, line: ClientLine, trial: Trial
) -> None:
    """Each question is a request of its own, and the list may have changed."""
    for names in (["a"], ["b", "c"]):
        asking = await asked(client, line)
        await line.send(Peers(tuple(names)))
        got = await told(asking, trial)
        trial.expect(sorted(got) == names, str(names), got)


@clauses("PB-2.4-02")
async def test_never_sends_a_deliver(client: ClientUnderTest, line: ClientLine) -> None:
    """Clients send bare envelopes: not even what they received goes out as a deliver; `lint` looks at each frame."""
    await client.handles(line, client.mail())
    for to in ("bob", client.name):
        await client.send(to)
        frame = await line.next()
        client.trial.expect(not isinstance(frame, Deliver), "an envelope", frame)
    await client.broadcast()
    frame = await line.next()
    client.trial.expect(not isinstance(frame, Deliver), "an envelope", frame)


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
}
WRONG_TYPES = {
    "envelope-array": '{"protocol_version":"v1","type":"deliver","delivery_key":"k","envelope":[]}',
    "number-as-key": '{"protocol_version":"v1","type":"deliver","delivery_key":1,"envelope":{}}',
    "number-as-id": '{"protocol_version":"v1","type":"deliver","delivery_key":"k","envelope":{"id":1}}',
}


@clauses("PB-5-25")
@axis("noise", NOISE)
async def test_noise_does_not_stop_the_pump(client: ClientUnderTest, line: ClientLine, noise: str) -> None:
    """What is no delivery changes nothing: the next good one is handled on the same connection."""
    await line.text(noise)
    await line.text(noise)
    await client.expect_ignored(line)


@clauses("PB-5-25")
@axis("noise", WRONG_TYPES)
async def test_a_member_of_a_wrong_type_is_survived(
    client: ClientUnderTest, line: ClientLine, trial: Trial, noise: str
) -> None:
    """A delivery that cannot be read is no message that failed: the next good one is handled, here or on the next connection."""
    mail, consuming = client.mail(), list[asyncio.Task[None]]()

    def surfaced(message: Surfaced | Exception) -> None:
        id = message.id if isinstance(message, Surfaced) else repr(message)
        consuming.append(asyncio.create_task(client.consume(id)))

    client.messages.hand_over(surfaced)
    await line.text(noise)
    await line.deliver(mail)
    if isinstance(end := await line.next("an ack, or the end", key=mail.id), Close):
        trial.info(f"it hangs up with {end.code}, and comes back")
        line = await client.online()
        await line.deliver(mail)
        end = await line.next("an ack", key=mail.id)
    trial.expect(end == Ack(mail.id), f"an ack of {mail.id}", end)
    await asyncio.gather(*consuming)
    trial.expect(len(consuming) == 1, f"{mail.id} surfaced once", f"{len(consuming)} times", "PB-5-07")
