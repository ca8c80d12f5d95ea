"""Section 4: which bytes are signed, and with what."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from reference_impl.peerbus.signing import Profile
from suites.peerbus.codec.strategies import BODIES, Parts, Tokens, bodies, parts, wires
from suites.peerbus.codec.under_test import CodecUnderTest
from suites.peerbus.profiles import need_profile

VECTORS = load("peerbus/canonical")


def shown(text: bytes | None) -> str:
    return "a refusal" if text is None else text.decode(errors="replace")


async def assert_signed_bytes(
    codec: CodecUnderTest, wire: bytes, wanted: bytes, clause: str, contested: str = ""
) -> None:
    got = await codec.canonical(wire)
    if got != wanted:
        raise Broken(clause, shown(wanted), shown(got), contested)


async def assert_mac(codec: CodecUnderTest, wire: bytes, wanted: str, contested: str = "") -> None:
    """The MAC of bytes that are right: another value is another algorithm, the same in capitals another spelling."""
    got = await codec.sign(wire)
    if got != wanted:
        same_bytes = got is not None and got.lower() == wanted
        raise Broken("PB-4-14" if same_bytes else "PB-4-13", wanted, str(got), contested)


@clauses(*VECTORS.clauses)
async def test_vector(codec: CodecUnderTest, each: Each) -> None:
    """An envelope's signed bytes and MAC are the vector's; what is no envelope is refused."""

    async def try_one(vector: Vector) -> None:
        wire = vector.given("wire")
        got, wanted = await codec.canonical(wire), None if vector.refused else vector.wanted("canonical")
        if got != wanted:
            raise Broken.of(vector, shown(wanted), shown(got))
        if wanted is not None:
            await assert_mac(codec, wire, vector.expected["hmac"], vector.contested)

    await each(VECTORS, try_one, declared=[await codec.profile()])


@clauses("PB-4-02", "PB-4-01", "PB-4-03", "PB-4-05", "PB-4-13", "PB-4-15", "PB-4-27")
@given(data=st.data())
async def test_spelling_and_order_on_the_wire_do_not_matter(
    codec: CodecUnderTest, trial: Trial, data: st.DataObject
) -> None:
    """The signed bytes follow from what an envelope says: not from its member order, spaces or header escapes."""
    trial.restart()
    said = data.draw(parts())
    wire = data.draw(wires(said))
    await assert_signed_bytes(codec, wire, said.signed(), "PB-4-02")
    await assert_mac(codec, wire, said.mac())


CLAUSE = {"member-order": "PB-4-06", "numbers": "PB-4-07", "duplicates": "PB-4-08", "escapes": "PB-4-09"}


@clauses("PB-4-06", "PB-4-07", "PB-4-08", "PB-4-09")
@axis("kept", {name: (CLAUSE.get(name, "PB-4-06"), body) for name, body in BODIES.items()})
@given(data=st.data())
async def test_body_is_kept_verbatim(
    codec: CodecUnderTest, trial: Trial, kept: tuple[str, st.SearchStrategy[Tokens]], data: st.DataObject
) -> None:
    """A compact body is signed byte for byte: member order, numbers, duplicates and escapes as they were written."""
    trial.restart()
    clause, body = kept
    said = Parts(("v1", "m1", "alice", "bob", "", "", "msg"), tuple(data.draw(body)))
    await assert_signed_bytes(codec, said.wire(), said.signed(), clause)


@clauses("PB-4-10", "PB-4-04")
@given(data=st.data())
async def test_whitespace_in_the_body_is_not_signed(codec: CodecUnderTest, trial: Trial, data: st.DataObject) -> None:
    """The original compacts a body before it signs; whitespace inside strings stays."""
    await need_profile(trial, Profile.CODE)
    trial.restart()
    said = data.draw(parts())
    wire = data.draw(wires(said, spaced_body=True))
    await assert_signed_bytes(codec, wire, said.signed(), "PB-4-04", "the document only permits to compact")


SPACED = {  # a body as it is written, and without what is insignificant in it
    "escaped-backslash": (r'{ "a" : "x\\" , "b c" : " y z " }', r'{"a":"x\\","b c":" y z "}'),
    "escaped-quote": (r'[ "\" , " , 1 ]', r'["\" , ",1]'),
    "both": (r'[ "\\\" " , " \\" ]', r'["\\\" "," \\"]'),
    "brackets-in-text": ('{ "{ [" : "] }" , "e" : [ ] }', '{"{ [":"] }","e":[]}'),
}


@clauses("PB-4-10", "PB-4-09", "PB-4-04")
@axis("body", SPACED)
async def test_only_what_is_outside_of_strings_is_whitespace(
    codec: CodecUnderTest, trial: Trial, body: tuple[str, str]
) -> None:
    """Where a string ends is told by its backslashes: blanks behind it go, blanks inside it stay."""
    await need_profile(trial, Profile.CODE)
    spaced, compact = body
    said = Parts(("v1", "m1", "alice", "bob", "", "", "msg"), (compact,))
    wire = said.wire().replace(compact.encode(), spaced.encode())
    await assert_signed_bytes(codec, wire, said.signed(), "PB-4-10", "the document only permits to compact")


@clauses("PB-4-04", "PB-4-06")
@given(said=parts())
async def test_canonical_form_is_idempotent(codec: CodecUnderTest, trial: Trial, said: Parts) -> None:
    """The canonical form of a canonical form is itself."""
    trial.restart()
    once = await codec.canonical(said.wire())
    trial.expect(once is not None, "signed bytes", "a refusal")
    assert once is not None
    await assert_signed_bytes(codec, once[:-1] + b',"hmac":""}', once, "PB-4-04")


texts = st.one_of(
    st.text('{}[],:"\\ntrue01.-e \n', max_size=40).map(str.encode),
    st.binary(max_size=40),
    st.builds(lambda said, cut: said.wire()[:cut], parts(), st.integers(0, 200)),
    st.builds(lambda said, junk: said.wire() + junk, parts(), st.text('{}[],:"x0 ', max_size=3).map(str.encode)),
    bodies.map(lambda tokens: "".join(tokens).encode()),
)


@clauses("PB-1-03")
@given(wire=texts)
async def test_garbage_is_refused(codec: CodecUnderTest, trial: Trial, wire: bytes) -> None:
    """Text that is no JSON object is refused; whatever comes, the codec answers."""
    trial.restart()
    got = await codec.canonical(wire)
    await codec.verify(wire)
    if got is not None and not _may_be_read(wire):
        raise Broken("PB-1-03", "a refusal", shown(got))


def _may_be_read(wire: bytes) -> bool:
    """Is it an object, as the standard library reads JSON? `null` and bytes that are no UTF-8 are contested."""

    def never(name: str) -> Any:
        raise ValueError(name)

    try:
        value = json.loads(wire.decode(), parse_constant=never)
    except UnicodeDecodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or value is None
