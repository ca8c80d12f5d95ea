"""Section 4 from the client's side: what verifies is surfaced, everything else is dropped without a word.

The deliveries here are written and signed by hand; header strings and bodies are in normal form unless the case is about them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused
from harness.judging.trial import Broken, Trial
from reference_impl.peerbus.client import same_json
from reference_impl.peerbus.signing import Profile
from suites.peerbus import wire
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import SECRET
from suites.peerbus.profiles import need_profile, profile_of

Members = dict[str, str]


async def assert_accepted(client: ClientUnderTest, line: ClientLine, texts: Members, clause: str = "") -> None:
    """The delivery is surfaced with its body, and acked once consumed."""
    await line.text(wire.delivery(texts))
    got = await client.message(clause)
    client.trial.expect(got.id == wire.id_of(texts), f"{texts['id']} surfaced", got, clause)
    same = same_json(got.body, texts.get("body", "null").encode())
    client.trial.expect(same, f"the body {texts.get('body')}", got.body, clause)
    await client.consume(got.id)
    await line.expect_ack(got.id, clause)


async def assert_rejected(client: ClientUnderTest, line: ClientLine, texts: Members, clause: str = "") -> None:
    """The delivery is neither surfaced nor acked, and the connection goes on."""
    await line.text(wire.delivery(texts, key=wire.id_of(texts) or "key"))
    await client.expect_ignored(line, clause)


# -- tampering ---------------------------------------------------------------------------------------------------------

TAMPERED = {
    "protocol_version": '"v2"',
    "id": '"another-id"',
    "from": '"mallory"',
    "to": '"somebody-else"',
    "ts": '"2030-01-01T00:00:00Z"',
    "source": '"elsewhere"',
    "kind": '"broadcast"',
    "body": '{"n":2}',
    "hmac": '"%s"' % ("ab" * 32),
}


@clauses("PB-4-18", "PB-4-22", "PB-2.4-15")
@axis("field", list(TAMPERED))
async def test_a_tampered_field_is_rejected(client: ClientUnderTest, line: ClientLine, field: str) -> None:
    """One signed field, or the MAC itself, changed after signing: dropped, not surfaced, not acked."""
    texts = wire.signed(wire.members(client.name))
    await assert_rejected(client, line, texts | {field: TAMPERED[field]})


@clauses("PB-4-26")
@axis("version", {"v2": '"v2"', "V1": '"V1"', "empty": '""'})
async def test_the_version_is_signed(client: ClientUnderTest, line: ClientLine, version: str) -> None:
    """A version changed after signing breaks the signature."""
    texts = wire.signed(wire.members(client.name))
    await assert_rejected(client, line, texts | {"protocol_version": version})


@clauses("PB-4-18")
async def test_a_single_bit_is_enough(client: ClientUnderTest, line: ClientLine) -> None:
    """A MAC wrong in its last bit, or in its first, is wrong."""
    texts = wire.signed(wire.members(client.name))
    right = bytes.fromhex(json.loads(texts["hmac"]))
    for wrong in (right[:-1] + bytes([right[-1] ^ 1]), bytes([right[0] ^ 128]) + right[1:]):
        await assert_rejected(client, line, texts | {"hmac": f'"{wrong.hex()}"'})


@clauses("PB-4-18", "PB-4-22")
async def test_another_secret_is_rejected(client: ClientUnderTest, line: ClientLine) -> None:
    """A message signed with a secret that is not ours."""
    texts = wire.members(client.name)
    other = wire.mac(wire.canonical(texts), SECRET[::-1])
    await assert_rejected(client, line, texts | {"hmac": f'"{other}"'})


@clauses("PB-5-11", "PB-5-25", "PB-4-22")
async def test_bad_bad_good(client: ClientUnderTest, line: ClientLine) -> None:
    """Forged copies of a message do not keep the genuine one out, and do not stop the pump."""
    texts = wire.signed(wire.members(client.name))
    for field in ("body", "hmac"):
        await line.text(wire.delivery(texts | {field: TAMPERED[field]}))
    await assert_accepted(client, line, texts)


# -- the MAC's own spelling --------------------------------------------------------------------------------------------

SHORT: dict[str, Callable[[str], str]] = {
    "half": lambda mac: mac[:32],
    "one-byte-short": lambda mac: mac[:-2],
    "one-byte": lambda mac: mac[:2],
    "one-byte-long": lambda mac: mac + "00",
    "doubled": lambda mac: mac + mac,
}
UNREADABLE: dict[str, Callable[[str], str | None]] = {
    "empty": lambda _: "",
    "absent": lambda _: None,
    "no-hex": lambda _: "zz",
    "one-letter-no-hex": lambda mac: "g" + mac[1:],
    "odd": lambda mac: mac[:-1],
    "spaced": lambda mac: f" {mac}",
    "prefixed": lambda mac: f"0x{mac}",
}


@clauses("PB-4-19", "PB-4-22")
@axis("spelling", SHORT)
async def test_a_mac_of_another_length_is_rejected(
    client: ClientUnderTest, line: ClientLine, spelling: Callable[[str], str]
) -> None:
    """A prefix of the right MAC is not the right MAC, nor is anything longer."""
    texts = wire.signed(wire.members(client.name))
    await assert_rejected(client, line, texts | {"hmac": json.dumps(spelling(json.loads(texts["hmac"])))})


@clauses("PB-4-21", "PB-4-22")
@axis("spelling", UNREADABLE)
async def test_a_mac_that_is_no_hex_is_rejected(
    client: ClientUnderTest, line: ClientLine, spelling: Callable[[str], str | None]
) -> None:
    """Missing, empty or not hexadecimal: rejected like a wrong one."""
    texts = wire.signed(wire.members(client.name))
    mac = spelling(json.loads(texts.pop("hmac")))
    await assert_rejected(client, line, texts if mac is None else texts | {"hmac": json.dumps(mac)})


@clauses("PB-4-17")
@axis("case", {"upper": str.upper, "mixed": lambda mac: "".join(c.upper() if i % 2 else c for i, c in enumerate(mac))})
async def test_hex_of_either_case_verifies(
    client: ClientUnderTest, line: ClientLine, case: Callable[[str], str]
) -> None:
    """The comparison is of the bytes that the hex stands for."""
    texts = wire.signed(wire.members(client.name))
    await assert_accepted(client, line, texts | {"hmac": json.dumps(case(json.loads(texts["hmac"])))})


# -- the canonical form ------------------------------------------------------------------------------------------------


def shuffled(texts: Members) -> list[str]:
    return random.Random(7).sample(list(texts), len(texts))


@clauses("PB-4-15")
@axis("order", {"shuffled": shuffled, "reversed": lambda texts: list(texts)[::-1], "sorted": sorted})
async def test_the_order_on_the_wire_is_free(
    client: ClientUnderTest, line: ClientLine, order: Callable[[Members], list[str]]
) -> None:
    """The canonical form is built from the parsed fields, in whatever order they came."""
    texts = wire.signed(wire.members(client.name))
    await assert_accepted(client, line, {name: texts[name] for name in order(texts)})


@clauses("PB-4-15", "PB-4-18")
@axis("order", {"shuffled": shuffled, "sorted": sorted})
async def test_signed_in_wire_order_is_rejected(
    client: ClientUnderTest, line: ClientLine, order: Callable[[Members], list[str]]
) -> None:
    """A signature over the members in another order than section 4's is no signature."""
    plain = wire.members(client.name)
    texts = {name: plain[name] for name in order(plain)}
    await assert_rejected(client, line, wire.signed(texts, over=wire.object_text(texts)))


@clauses("PB-4-15")
@axis(
    "spelling", {"id": r'"\u0069d-%s"', "solidus": r'"a\/%s"', "unicode": r'"\u00e9-%s"', "upper-hex": r'"\u00E9-%s"'}
)
async def test_escapes_in_a_header_are_read(client: ClientUnderTest, line: ClientLine, spelling: str) -> None:
    """A header string counts by its value: however it is escaped on the wire, it is signed in canonical spelling."""
    texts = wire.members(client.name)
    texts["id"] = spelling % wire.id_of(texts)
    plain = texts | {"id": json.dumps(json.loads(texts["id"]), ensure_ascii=False)}
    await assert_accepted(client, line, wire.signed(texts, over=wire.canonical(plain)))


@clauses("PB-4-15")
@axis("extra", {"member": {"extra": "1"}, "type": {"type": '"chat"'}, "first": {"aaa": "null"}})
async def test_other_members_are_not_signed(client: ClientUnderTest, line: ClientLine, extra: Members) -> None:
    """A member that is not one of the nine is ignored."""
    await assert_accepted(client, line, extra | wire.signed(wire.members(client.name)))


@clauses("PB-4-15")
@axis("empty", ["ts", "source"])
async def test_empty_fields_are_signed_as_empty(client: ClientUnderTest, line: ClientLine, empty: str) -> None:
    """An empty string is a member of the signed form like any other."""
    texts = wire.members(client.name) | {empty: '""'}
    await assert_accepted(client, line, wire.signed(texts))


@clauses("PB-4-18", "PB-4-15")
@axis("empty", ["ts", "source"])
async def test_signed_without_the_empty_field_is_rejected(
    client: ClientUnderTest, line: ClientLine, empty: str
) -> None:
    """Nothing is left out of the signed form, not even what is empty."""
    texts = wire.members(client.name) | {empty: '""'}
    order = [name for name in wire.SIGNED if name != empty]
    await assert_rejected(client, line, wire.signed(texts, over=wire.object_text(texts, order)))


SPELLINGS = {
    "order": '{"z":1,"a":2}',
    "numbers": "[1.0,1e5,1E+5,-0,0.10,12345678901234567890]",
    "duplicates": '{"a":1,"a":2}',
    "escapes": r'{"t":"\/\u0041\ud83d\ude00"}',
    "upper-hex": r'{"t":"\u00E9"}',
    "nested": '{"b":{"d":[{"z":0,"y":0}],"c":""}}',
    "empty-string": '""',
    "null": "null",
}


@clauses("PB-3-11", "PB-4-15")
@axis("body", SPELLINGS)
async def test_a_body_verifies_as_it_is_spelled(client: ClientUnderTest, line: ClientLine, body: str) -> None:
    """The body is signed as its text, never decoded and written again."""
    await assert_accepted(client, line, wire.signed(wire.members(client.name, body=body)))


@clauses("PB-4-18", "PB-3-11")
@axis("rewritten", {"sorted": '{"a":2,"z":1.0}', "number": '{"z":1,"a":2}', "spaced": '{"z": 1.0, "a": 2}'})
async def test_signed_over_a_rewritten_body_is_rejected(
    client: ClientUnderTest, line: ClientLine, rewritten: str
) -> None:
    """An equal value in another spelling is another body; spaces that are not on the wire are in nobody's canonical form."""
    texts = wire.members(client.name, body='{"z":1.0,"a":2}')
    await assert_rejected(client, line, wire.signed(texts, wire.canonical(texts | {"body": rewritten})))


@clauses("PB-4-15")
async def test_an_absent_body_is_null(client: ClientUnderTest, line: ClientLine) -> None:
    """Without a body the signed form says null."""
    texts = wire.members(client.name)
    del texts["body"]
    await assert_accepted(client, line, wire.signed(texts))


SPACED = {"spaces": '{ "z" : 1 , "a" : [ 1 , 2 ] }', "lines": '{\n\t"z": 1,\r\n\t"a": [1, 2]\n}'}


@clauses("PB-4-15")
@axis("body", SPACED)
async def test_a_spaced_body_is_signed_compact(client: ClientUnderTest, line: ClientLine, body: str) -> None:
    """Code profile: whitespace between tokens is not signed."""
    await need_profile(client.trial, Profile.CODE)
    texts = wire.members(client.name, body=body)
    await assert_accepted(client, line, wire.signed(texts, wire.canonical(texts | {"body": '{"z":1,"a":[1,2]}'})))


@clauses("PB-4-18")
@axis("body", SPACED)
async def test_signed_over_the_spaced_body_is_rejected(client: ClientUnderTest, line: ClientLine, body: str) -> None:
    """Code profile: a signature over the whitespace is no signature."""
    await need_profile(client.trial, Profile.CODE)
    await assert_rejected(client, line, wire.signed(wire.members(client.name, body=body)))


@clauses("PB-4-15")
@axis("field", {"source": "source", "body": "body"})
async def test_characters_of_html_verify_as_the_profile_says(
    client: ClientUnderTest, line: ClientLine, field: str
) -> None:
    """Signed as they stand, in the code profile as their lower-case escapes; the host sees the characters."""
    texts = wire.members(client.name) | {field: '"<a>&b\u2028\u2029"'}
    code = await profile_of(client.trial) is Profile.CODE
    over = wire.canonical(texts | {field: wire.escaped(texts[field])} if code else texts)
    try:
        await assert_accepted(client, line, wire.signed(texts, over))
    except Broken as broken:
        raise Broken(broken.clause, broken.expected, broken.observed, wire.CONTESTED) from None


# -- secrets and versions ----------------------------------------------------------------------------------------------


@clauses("PB-4-20", "PB-4-19")
@axis("size", [0, 1, 16, 31])
async def test_with_a_short_secret_nothing_is_surfaced(
    clients: Callable[..., ClientUnderTest], trial: Trial, size: int
) -> None:
    """A client with less than 32 bytes of secret refuses to start, or at least takes nothing for verified."""
    client = clients()
    client.secret = SECRET[:size]
    try:
        await client.start()
        line = await client.online()
    except (TargetRefused, TargetFailed):
        return
    texts = wire.members(client.name)
    texts["hmac"] = json.dumps(wire.mac(wire.canonical(texts), client.secret))
    await line.text(wire.delivery(texts))
    line.cut()
    await client.registering()
    seen = client.messages.drain()
    trial.expect(not seen, "nothing surfaced", seen)


@clauses("PB-4-20")
async def test_a_secret_of_32_bytes_is_enough(clients: Callable[..., ClientUnderTest]) -> None:
    """The shortest secret that is allowed works; so does a longer one."""
    for secret in (SECRET, SECRET * 3):
        client = clients()
        client.secret = secret
        line = await (await client.start()).online()
        texts = wire.members(client.name)
        texts["hmac"] = json.dumps(wire.mac(wire.canonical(texts), secret))
        await assert_accepted(client, line, texts)


@clauses("PB-3-03", "PB-6-03")
@axis("version", {"v2": '"v2"', "empty": '""', "V1": '"V1"'})
async def test_an_envelope_of_another_version(
    client: ClientUnderTest, line: ClientLine, version: str, trial: Trial
) -> None:
    """Signed with another version: the code does not look at it, the document says reject; judged by profile."""
    texts = wire.signed(wire.members(client.name, protocol_version=version))
    if await profile_of(client.trial) is Profile.DOCUMENT:
        await assert_rejected(client, line, texts)
        trial.info(f"an envelope of version {version} is dropped, as the document says; the original does not look")
    else:
        await assert_accepted(client, line, texts)
        trial.info(f"an envelope of version {version} is surfaced, as by the original; the document says reject")
