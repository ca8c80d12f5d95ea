"""The vectors of vectors/frog: messages that mean something, both ways, and what has to be refused; names and proofs."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from harness.targets import Target
from suites.frog.codec.under_test import CodecUnderTest, Refusal, wire_of

COMMANDS, REFUSED, URIS = load("frog/commands"), load("frog/refused"), load("frog/uris")
IDENTIFIERS, IDENTITIES, PROOFS = load("frog/identifiers"), load("frog/identities"), load("frog/proofs")


def meant(vector: Vector) -> dict[str, Any]:
    """The command of a vector, its payload written out."""
    command = dict(vector.expected["command"])
    if count := vector.expected.get("payload_count"):
        command["payload"] = vector.expected["payload_fill_hex"] * count
    return command


@clauses(*COMMANDS.clauses)
async def test_command_decodes(codec: CodecUnderTest, each: Each) -> None:
    """A message means what it says."""
    await each(
        COMMANDS,
        lambda v: codec.must_mean(v.input["direction"], wire_of(v), meant(v), v.clauses[0]),
    )


WRITTEN = ("FROG-5-23", "FROG-6-02", "FROG-6-04")
"""What everything that is written obeys: the format, single spaces, numbers without leading zeros."""


@clauses(*COMMANDS.clauses, *WRITTEN)
async def test_command_encodes(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """A command has one spelling."""
    commands = COMMANDS.within(await target.capabilities("frog/codec"))
    await each(
        [also(vector, *WRITTEN) for vector in commands],
        lambda v: codec.must_write(meant(v), wire_of(v), v.clauses[0]),
    )


def also(vector: Vector, *clauses: str) -> Vector:
    """The vector, for a case that shows more by it."""
    return msgspec.structs.replace(vector, clauses=list(dict.fromkeys((*vector.clauses, *clauses))))


@clauses(*REFUSED.clauses)
async def test_broken_message_is_refused(codec: CodecUnderTest, each: Each, trial: Trial) -> None:
    """What breaks a rule is no command; where the codec says which error that is, it is the right one."""

    async def judge(vector: Vector) -> None:
        way, wire = vector.input["direction"], wire_of(vector)
        if "command" in vector.expected:
            await codec.must_mean(way, wire, vector.expected["command"], vector.clauses[0])
            return
        got = await codec.decode(way, wire)
        if not isinstance(got, Refusal):
            raise Broken.of(vector, f"a refusal: {vector.comment}", str(got)[:300])
        if got.error and "codes" in vector.expected:
            code, id = got.error
            if code not in (*vector.expected["codes"], "BAD_REQUEST"):  # AMB-03: of an over-long payload too
                raise Broken.of(vector, f"one of {vector.expected['codes']}", got, "FROG-38-06")
            if id not in (vector.expected["id"], "-"):
                raise Broken.of(vector, f"the id {vector.expected['id']} echoed", got, "FROG-38-04")

    await each(REFUSED, judge)


@clauses(*URIS.clauses)
async def test_uri_is_canonical_or_not(codec: CodecUnderTest, each: Each) -> None:
    """A server has one URI, in one spelling."""
    await each(
        URIS,
        lambda v: codec.must_say(v, v.expected["valid"], "check", "valid", kind="uri", text=v.input["uri"]),
    )


CANONICAL = [also(vector, "FROG-13.2-01") for vector in URIS.vectors if vector.expected["valid"]]


@clauses(*dict.fromkeys(clause for vector in CANONICAL for clause in vector.clauses))
async def test_a_canonical_uri_may_stand_in_a_command(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """No character that a URI may have is too much for a header: a greeting has it as it stands."""

    async def judge(vector: Vector) -> None:
        command = {"command": "@HELLO", "server_id": "4KVETTPBZR80KG1GTZ55CZ1KS9", "uri": vector.input["uri"]}
        wire = f"@HELLO FROG/1 {command['server_id']} {command['uri']}\n".encode()
        await codec.must_mean("sister", wire, command, vector.clauses[0])

    strict = [vector for vector in CANONICAL if vector.result == "valid"]
    await each(strict if "sister" in await target.capabilities("frog/codec") else [], judge)


@clauses(*IDENTIFIERS.clauses)
async def test_identifier_is_one_or_not(codec: CodecUnderTest, each: Each) -> None:
    """Networks, keys, ids, nonces and signatures have a syntax, and nothing is forgiven."""
    await each(IDENTIFIERS, lambda v: codec.must_say(v, v.expected["valid"], "check", "valid", **v.input))


@clauses(*IDENTITIES.clauses)
async def test_name_follows_from_its_key(codec: CodecUnderTest, each: Each) -> None:
    """Base32 of any bytes, and the first 130 bits of a key's hash."""

    async def judge(vector: Vector) -> None:
        if "public_key" in vector.input:
            await codec.must_say(vector, vector.expected["id"], "identify", "id", **vector.input)
            return
        raw, text = vector.input["bytes_hex"], vector.expected["text"]
        await codec.must_say(vector, text, "base32_encode", "text", bytes=raw)
        await codec.must_say(vector, raw, "base32_decode", "bytes", text=text, size=len(raw) // 2)

    await each(IDENTITIES, judge)


def proof_of(vector: Vector) -> dict[str, str]:
    return {name: text for name, text in vector.input.items() if name not in ("role", "seed_hex")}


@clauses(*PROOFS.clauses)
async def test_proof_holds_or_not(codec: CodecUnderTest, each: Each) -> None:
    """A signature counts over exactly one string, by the key that has the name."""
    await each(
        PROOFS,
        lambda v: codec.must_say(v, v.expected["valid"], f"verify_{v.input['role']}", "valid", **proof_of(v)),
    )


ENCODED = [
    vector
    for vector in IDENTIFIERS.vectors
    if vector.input["kind"] in ("public_key", "signature") and not vector.expected["valid"]
]


@clauses(*dict.fromkeys(clause for vector in ENCODED for clause in vector.clauses))
async def test_text_that_is_not_canonical_is_not_decoded(codec: CodecUnderTest, each: Each) -> None:
    """Bytes have one text: what would not be written for them is refused."""

    async def judge(vector: Vector) -> None:
        size = 32 if vector.input["kind"] == "public_key" else 64
        got = await codec.told("base32_decode", "bytes", text=vector.input["text"], size=size)
        if not isinstance(got, Refusal):
            raise Broken.of(vector, f"a refusal: {vector.comment}", repr(got))

    await each(ENCODED, judge)


PURE = ("FROG-9.1-01", "FROG-9.1-02", "FROG-9.1-03", "FROG-10-01", "FROG-12-01")
"""What a signature shows that is the right one to the bit."""


@clauses("FROG-12.1-01", "FROG-12.2-01", "FROG-50-01", *PURE)
async def test_proof_is_made(codec: CodecUnderTest, each: Each, target: Target) -> None:
    """Ed25519 is deterministic: seed and string give one signature."""

    async def judge(vector: Vector) -> None:
        given, seed = proof_of(vector), vector.input["seed_hex"]
        signature = given.pop("signature")
        del given["public_key"]
        if vector.input["role"] == "client":
            network = given.pop("peer_key").partition(":")[0]
            await codec.must_say(vector, signature, "client_auth", "signature", seed=seed, network=network, **given)
        else:
            del given["self_id"]
            await codec.must_say(vector, signature, "server_auth", "signature", seed=seed, **given)

    declared = {*await target.capabilities("frog/codec"), "verify"}  # who cannot verify may still sign
    await each([also(v, *PURE) for v in PROOFS.within(declared) if "seed_hex" in v.input], judge)
