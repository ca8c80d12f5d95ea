"""Any command goes round; any bytes get a clean answer, and the right one."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalogue.cases import clauses
from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from harness.targets import Target
from suites.frog.codec.under_test import CodecUnderTest, Refusal
from suites.frog.wire import ALPHABET, base32, pack

MANY = settings(max_examples=100)
ids = st.text(ALPHABET, min_size=26, max_size=26)
cids = st.text("ABCXYZ019_-", min_size=1, max_size=32).filter(lambda id: id != "-")
keys = st.builds("{}:{}".format, st.text("AZ09_", min_size=1, max_size=16), ids)
kinds = st.sampled_from(["OFFER", "ANSWER", "ICE"])
payloads = st.binary(max_size=80).map(bytes.hex)
limits, ttls = st.integers(1, 7), st.integers(0, 7)
uris = st.integers(81, 400).map("ws://h:{}/".format)


def command(word: str, **members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"command": st.just(word), **members})


def of_one_network(lookup: dict[str, Any]) -> dict[str, Any]:
    """Networks do not see one another (FROG-36-01): a codec may know that already."""
    return {**lookup, "target": f"{lookup['source'].partition(':')[0]}:{lookup['target'].partition(':')[2]}"}


SAYS = {
    "to_server": st.one_of(
        command("JOIN", peer_key=keys),
        command("GETSERVERS", cid=cids, limit=limits),
        command("FIND", cid=cids, limit=limits),
        command("LOOKUP", cid=cids, peer_key=keys),
        command("SIGNAL", route_id=ids, kind=kinds, payload=payloads),
    ),
    "to_client": st.one_of(
        command("TRY", cid=cids | st.just("-"), uris=st.lists(uris, max_size=7)),
        command("PEERS", cid=cids, peer_keys=st.lists(keys, max_size=7)),
        command("FOUND", cid=cids, peer_key=keys, route_id=ids),
        command("SIGNAL-FROM", route_id=ids, peer_key=keys, kind=kinds, payload=payloads),
    ),
    "sister": st.one_of(
        command("@LIST", fcid=cids, limit=limits),
        command("@SERVERS", fcid=cids, servers=st.lists(st.tuples(ids, uris).map(list), max_size=7)),
        command("@FIND", fcid=cids, server_id=ids, peer_key=keys, limit=limits, ttl=ttls),
        command("@LOOKUP", route_id=ids, server_id=ids, source=keys, target=keys, ttl=ttls).map(of_one_network),
    ),
}
said = st.sampled_from(sorted(SAYS)).flatmap(lambda way: st.tuples(st.just(way), SAYS[way]))


async def speaks(target: Target, direction: str) -> bool:
    return direction in await target.capabilities("frog/codec")


@clauses("FROG-13.1-01", "FROG-13.1-02", "FROG-13.2-01", "FROG-5-19")
@MANY
@given(said=said)
async def test_any_command_goes_round(
    codec: CodecUnderTest, trial: Trial, target: Target, said: tuple[str, dict[str, Any]]
) -> None:
    """Written as the grammar says, and read back as it was."""
    trial.restart()
    direction, fields = said
    if await speaks(target, direction):
        await codec.must_write(fields, pack(fields), trial.own_clause)
        await codec.must_mean(direction, pack(fields), fields, trial.own_clause)


@clauses("FROG-13-01", "FROG-5-23")
@MANY
@given(said=said, at=st.integers(0, 300), byte=st.integers(0, 255))
async def test_a_damaged_command_is_refused_or_another(
    codec: CodecUnderTest, trial: Trial, target: Target, said: tuple[str, dict[str, Any]], at: int, byte: int
) -> None:
    """One byte changed: what is still taken has exactly these bytes."""
    trial.restart()
    direction, fields = said
    if not await speaks(target, direction):
        return
    wire = bytearray(pack(fields))
    wire[at % len(wire)] = byte
    got = await codec.decode(direction, bytes(wire))
    if not isinstance(got, Refusal) and got.get("command") != "TRY":
        await codec.must_write(got, bytes(wire), "FROG-13-01")


STRAY = [b"\r", b"\t", b"\0", b"\x0b", b"\x1f", b"\x7f", b"\x80", b"\xff", b"\xc2\xa0"]


@clauses("FROG-13-01", "FROG-5-01", "FROG-5-03", "FROG-5-05", "FROG-5-08", "FROG-6-03")
@MANY
@given(noise=st.binary(max_size=60), said=said, at=st.integers(0, 300), stray=st.sampled_from(STRAY))
async def test_noise_is_refused(
    codec: CodecUnderTest,
    trial: Trial,
    target: Target,
    noise: bytes,
    said: tuple[str, dict[str, Any]],
    at: int,
    stray: bytes,
) -> None:
    """Random bytes are no command, nor is one with a byte in its header that no header has."""
    trial.restart()
    direction, fields = said
    if not await speaks(target, direction):
        return
    header, end, payload = pack(fields).partition(b"\n")
    at %= len(header) + 1
    await codec.must_refuse(direction, noise, "FROG-13-01")
    await codec.must_refuse(direction, header[:at] + stray + header[at:] + end + payload, "FROG-13-01")


@clauses("FROG-7.3-01", "FROG-7.3-02")
@MANY
@given(raw=st.binary(min_size=32, max_size=32) | st.binary(min_size=64, max_size=64))
async def test_any_bytes_go_round_in_base32(codec: CodecUnderTest, trial: Trial, raw: bytes) -> None:
    """Big-endian, five bits to a symbol, zeros at the end."""
    trial.restart()
    got = await codec.told("base32_encode", "text", bytes=raw.hex())
    trial.expect(got == base32(raw), base32(raw), got)
    back = await codec.told("base32_decode", "bytes", text=base32(raw), size=len(raw))
    trial.expect(back == raw.hex(), raw.hex(), back, "FROG-7.3-01")


@clauses("FROG-7.3-03", "FROG-7.2-01")
@MANY
@given(raw=st.binary(min_size=32, max_size=32), at=st.integers(0, 51), symbol=st.characters(max_codepoint=126))
async def test_another_text_is_refused_or_other_bytes(
    codec: CodecUnderTest, trial: Trial, raw: bytes, at: int, symbol: str
) -> None:
    """One character changed: refused, unless it is the encoding of other bytes."""
    trial.restart()
    text = base32(raw)
    text = text[:at] + symbol + text[at + 1 :]
    try:
        got = await codec.told("base32_decode", "bytes", text=text, size=32)
    except TargetUnsupported:
        raise
    if not isinstance(got, Refusal):
        trial.expect(base32(bytes.fromhex(got)) == text, f"a refusal of {text!r}", got)
