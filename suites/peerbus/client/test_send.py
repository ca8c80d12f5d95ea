"""Section 3 from the client's side: what goes out when the host sends."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from harness.targets import Target
from reference_impl.peerbus.frames import Envelope
from reference_impl.peerbus.signing import Profile
from suites.common.names import unique
from suites.peerbus import wire
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.profiles import profile_of

SENDS = 1_000
RECIPIENTS = {
    "name": "bob",
    "unicode": "bøb-名",
    "decomposed": "be\u0301b",
    "spaces": "bob the 1st",
    "blanks-around": " bob ",
    "star": "*ops",
    "100-characters": "b" * 100,
    "self": "",
}


async def sent(
    client: ClientUnderTest, line: ClientLine, to: str = "bob", body: str = '{"n":1}'
) -> tuple[Envelope, dict[str, str]]:
    """What the host's send puts on the wire, as a frame and as the JSON text of its members."""
    await (client.broadcast(body) if to == "*" else client.send(to, body))
    envelope = await line.expect(Envelope)
    names = ("protocol_version", "id", "from", "to", "ts", "source", "kind", "hmac")
    value = json.loads(envelope.wire)
    texts = {name: json.dumps(value[name], ensure_ascii=False) for name in names}
    return envelope, texts | {"body": envelope.body.decode()}


@clauses("PB-7-03", "PB-3-01", "PB-3-13")
@axis("to", {"direct": "bob", "broadcast": "*"})
async def test_a_send_is_a_bare_envelope(client: ClientUnderTest, line: ClientLine, trial: Trial, to: str) -> None:
    """Nine fields, no type and no wrapper."""
    _, texts = await sent(client, line, to)
    wanted = {*wire.SIGNED, "hmac"}
    trial.expect(set(texts) == wanted, f"exactly {sorted(wanted)}", sorted(texts))


@clauses("PB-3-15", "PB-3-06", "PB-3-09", "PB-3-05", "PB-3-16")
@axis("to", RECIPIENTS)
async def test_a_direct_message_names_its_recipient(
    client: ClientUnderTest, line: ClientLine, trial: Trial, to: str
) -> None:
    """`to` is the recipient, `kind` is msg, `from` is the sender's own name."""
    to = to or client.name
    envelope, _ = await sent(client, line, to)
    trial.expect(envelope.to == to, f"to {to}", envelope, "PB-3-15")
    trial.expect(envelope.kind == "msg", "kind msg", envelope, "PB-3-15")
    trial.expect(envelope.sender == client.name, f"from {client.name}", envelope, "PB-3-05")


@clauses("PB-3-16", "PB-3-06", "PB-3-09", "PB-3-05")
async def test_a_broadcast_goes_to_the_star(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """`to` is *, `kind` is broadcast."""
    envelope, _ = await sent(client, line, "*")
    trial.expect((envelope.to, envelope.kind) == ("*", "broadcast"), "to * and kind broadcast", envelope, "PB-3-16")
    trial.expect(envelope.sender == client.name, f"from {client.name}", envelope, "PB-3-05")


@clauses("PB-3-12", "PB-7-03")
@axis("to", {"direct": "bob", "broadcast": "*"})
async def test_the_signature_is_right(client: ClientUnderTest, line: ClientLine, trial: Trial, to: str) -> None:
    """The MAC is recomputed from the wire, by hand."""
    _, texts = await sent(client, line, to)
    wanted = wire.mac(wire.canonical(texts))
    trial.expect(json.loads(texts["hmac"]).lower() == wanted, f"hmac {wanted}", texts)


@clauses("PB-4-14")
async def test_the_signature_is_lower_case_hex(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """64 characters of lower-case hex; several, since one may lack letters."""
    for n in range(8):
        envelope, _ = await sent(client, line, body=str(n))
        trial.expect(re.fullmatch("[0-9a-f]{64}", envelope.hmac) is not None, "64 lower-case hex digits", envelope.hmac)


@clauses("PB-3-04")
async def test_ids_are_unique(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """A thousand sends have a thousand ids, none of them empty."""
    for _ in range(10):
        await asyncio.gather(*(client.send("bob", "1") for _ in range(SENDS // 10)))
    ids = [(await line.expect(Envelope)).id for _ in range(SENDS)]
    trial.expect(all(ids) and len(set(ids)) == SENDS, f"{SENDS} ids", f"{len(set(ids))} different ones")


@clauses("PB-3-04")
async def test_two_clients_choose_different_ids(
    target: Target, clients: Callable[..., ClientUnderTest], trial: Trial
) -> None:
    """Two processes that never met do not choose the same ids."""
    ids: list[str] = []
    for _ in range(2):
        session = target.private()
        try:
            await session.open()
            client = await clients(session=session).start()
            line = await client.online()
            ids += [(await sent(client, line))[0].id for _ in range(50)]
            await client.close()
        finally:
            await session.close()
    trial.expect(len(set(ids)) == 100, "100 different ids", f"{len(set(ids))}")


@clauses("PB-3-07")
async def test_ts_is_a_string(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """`ts` is a string of the sender's choice."""
    await client.send("bob")
    envelope = await line.expect(Envelope)
    ts = json.loads(envelope.wire)["ts"]
    trial.expect(isinstance(ts, str), "a string", repr(ts))


SPELLINGS = {
    "object": '{"z":1,"a":2}',
    "array": "[1,[2,[]],{}]",
    "string": '"text"',
    "empty-string": '""',
    "number": "-12.5",
    "true": "true",
    "false": "false",
    "null": "null",
    "unicode": '"é名😀"',
    "numbers": "[1.0,1e5,1E+5,-0,0.10,12345678901234567890,1e400]",
    "duplicates": '{"a":1,"a":2}',
    "escapes": r'{"t":"\/\u0041\ud83d\ude00"}',
    "lone-surrogate": r'{"t":"\ud800"}',
    "upper-hex": r'{"t":"\u00E9"}',
    "key-order": '{"b":1,"B":2,"a":{"y":0,"x":0}}',
    "long": '"%s"' % ("x" * 100_000),
}


@clauses("PB-3-11", "PB-3-10", "PB-3-12")
@axis("body", SPELLINGS)
async def test_the_body_goes_out_as_it_is_spelled(
    client: ClientUnderTest, line: ClientLine, trial: Trial, body: str
) -> None:
    """What the host gave is sent and signed byte for byte: nothing is decoded and written again."""
    envelope, texts = await sent(client, line, body=body)
    trial.expect(envelope.body == body.encode(), body[:200], envelope.body[:200], "PB-3-11")
    trial.expect(json.loads(texts["hmac"]) == wire.mac(wire.canonical(texts)), "its MAC", texts, "PB-3-12")


@clauses("PB-4-11")
@axis("body", {"spaces": '{ "z" : 1 , "a" : [ 1 , 2 ] }', "lines": '{\n\t"z": 1,\r\n\t"a": [1, 2]\n}\n'})
async def test_a_spaced_body_goes_out_compact(
    client: ClientUnderTest, line: ClientLine, trial: Trial, body: str
) -> None:
    """Insignificant whitespace is neither sent nor signed."""
    envelope, _ = await sent(client, line, body=body)
    trial.expect(envelope.body == b'{"z":1,"a":[1,2]}', "no whitespace between tokens", envelope.body)


@clauses("PB-3-02")
async def test_an_empty_body_is_explicit(client: ClientUnderTest, line: ClientLine, trial: Trial) -> None:
    """A message without content still has its body, as null."""
    envelope, _ = await sent(client, line, body="null")
    trial.expect(json.loads(envelope.wire).get("body", "absent") is None, "body null", envelope.wire)


@clauses("PB-3-12", "PB-3-11")
async def test_characters_of_html_are_signed_as_the_profile_says(client: ClientUnderTest, line: ClientLine) -> None:
    """`<`, `>`, `&`, U+2028 and U+2029 are signed as they stand, in the code profile as their lower-case escapes."""
    body = '{"t":"<a>&b\u2028\u2029"}'
    _, texts = await sent(client, line, body=body)
    if await profile_of(client.trial) is Profile.CODE:
        body = wire.escaped(body)  # whichever way it stands on the wire
    wanted = wire.mac(wire.canonical(texts | {"body": body}))
    if json.loads(texts["hmac"]) != wanted:
        raise Broken("PB-3-12", f"the MAC {wanted} of the body {body}", str(texts), wire.CONTESTED)


@clauses("PB-3-05")
async def test_from_is_the_registered_name(clients: Callable[..., ClientUnderTest], trial: Trial) -> None:
    """Whatever the name is, `from` is what was registered."""
    client = clients()
    client.name = unique("名 peer")
    line = await (await client.start()).online()
    envelope, _ = await sent(client, line)
    trial.expect(line.register is not None and envelope.sender == line.register.name, client.name, envelope.sender)
