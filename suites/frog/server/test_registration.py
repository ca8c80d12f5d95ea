"""Section 17: a key is claimed, challenged and proven; and nobody is registered without a proof."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Each, Trial
from harness.targets import Target
from reference_impl.frog.frames import Chal, Err, Joined
from suites.frog.server.under_test import ROLE, PeerLine, ServerUnderTest
from suites.frog.wire import ALPHABET, Peer, an_id, base32, message

PROOFS = load("frog/proofs")


@clauses("FROG-17-11", "FROG-17-01", "FROG-12.1-01", "FROG-9.1-01", "FROG-10-01", "FROG-3.4-01")
async def test_a_proof_registers(server: ServerUnderTest, trial: Trial) -> None:
    """Whoever signs the challenge is registered: others look it up, and it looks up others."""
    a, b = await server.peers()
    await a.route(b)
    await b.route(a)


@clauses("FROG-7.1-01", "FROG-7.4-01", "FROG-17-02", "FROG-10-02")
@axis("network", ["A", "0", "_", "ABCDEFGHIJKLMNOP", "________________"])
async def test_any_network_name_is_taken(server: ServerUnderTest, network: str) -> None:
    """Of one to sixteen characters."""
    await server.peer(Peer(network))


@clauses("FROG-7.4-01", "FROG-17-01")
async def test_a_fingerprint_of_no_key_is_challenged(server: ServerUnderTest, trial: Trial) -> None:
    """Whether a key belongs to a fingerprint shows only in AUTH (AMB-69)."""
    line = await server.in_state("hello-ok")
    await line.raw(message(f"JOIN {server.network}:{'0' * 26}"))
    heard = await line.next("CHAL", "FROG-17-01")
    trial.expect(not isinstance(heard, Err), "CHAL", heard)


def lines_changed(line: PeerLine) -> dict[str, dict[str, str]]:
    """One line of what is signed is another: each in turn."""
    other = Peer(line.peer.network)
    uri = line.server.uri
    return {
        "nonce": {"nonce": an_id()},
        "uri-of-another": {"uri": "ws://127.0.0.1:9/"},
        "uri-without-path": {"uri": uri.rstrip("/")},
        "uri-as-localhost": {"uri": uri.replace("127.0.0.1", "localhost")},
        "uri-in-capitals": {"uri": uri.replace("ws://", "WS://")},
        "other-key": {"peer_key": other.key},
        "other-network": {"peer_key": line.peer.elsewhere("OTHER").key},
        "fingerprint-alone": {"peer_key": line.peer.fingerprint},
        "server-id": {"server_id": an_id()},
        "prefix": {"prefix": "FROG-AUTH-V2"},
        "prefix-of-servers": {"prefix": "FROG-SERVER-AUTH-V1"},
        "prefix-in-lower-case": {"prefix": "frog-auth-v1"},
    }


CHANGED = {
    "nonce": "FROG-17-10",
    "uri-of-another": "FROG-12.1-04",
    "uri-without-path": "FROG-8-22",
    "uri-as-localhost": "FROG-12.1-04",
    "uri-in-capitals": "FROG-8-22",
    "other-key": "FROG-17-10",
    "other-network": "FROG-12.1-06",
    "fingerprint-alone": "FROG-12.1-01",
    "server-id": "FROG-17-10",
    "prefix": "FROG-12.1-01",
    "prefix-of-servers": "FROG-12.1-01",
    "prefix-in-lower-case": "FROG-12.1-01",
}


async def refused(
    server: ServerUnderTest, line: PeerLine, clause: str, codes: tuple[str, ...] = ("AUTH_FAILED",)
) -> None:
    """AUTH is refused, and the peer is nobody."""
    if await line.expect_refusal(clause, codes):
        asked = f"F_{an_id()[:6]}"
        await line.raw(message(f"FIND {asked} 1"))
        await line.expect_error(asked, "BAD_STATE", "FROG-17-12")
    await (await server.peer()).expect_miss(line.key, "FROG-17-12")


@clauses(*dict.fromkeys(CHANGED.values()), "FROG-17-12", "FROG-18-07")
@axis("line", list(CHANGED))
async def test_one_line_wrong(server: ServerUnderTest, line: str) -> None:
    """A signature over any other string than the one for this challenge registers nobody."""
    peer = await server.in_state("auth-pending")
    await peer.auth(**lines_changed(peer)[line])
    await refused(server, peer, CHANGED[line])


OTHER_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "line-feed-at-the-end": lambda right: right + b"\n",
    "cr-lf": lambda right: right.replace(b"\n", b"\r\n"),
    "nothing": lambda right: b"",
    "no-server-id": lambda right: right.rpartition(b"\n")[0],
    "server-id-before-key": lambda right: b"\n".join(right.split(b"\n")[n] for n in (0, 1, 2, 4, 3)),
    "no-prefix": lambda right: right.partition(b"\n")[2],
    "a-digest": lambda right: hashlib.sha256(right).digest(),
}


@clauses("FROG-12-01", "FROG-12.1-01", "FROG-17-10")
@axis("text", OTHER_BYTES)
async def test_other_bytes_signed(server: ServerUnderTest, text: Callable[[bytes], bytes]) -> None:
    """Five lines in their order, line feeds between, none at the end."""
    peer = await server.in_state("auth-pending")
    await peer.auth(signature=peer.peer.sign(text(peer.proof())))
    await refused(server, peer, "FROG-12-01")


@clauses("FROG-17-09", "FROG-12.1-05", "FROG-17-12")
async def test_a_key_of_another_name(server: ServerUnderTest) -> None:
    """A good signature by a key that does not hash to the claimed fingerprint."""
    peer, other = await server.in_state("auth-pending"), Peer(server.network)
    await peer.auth(public_key=other.public_key, signature=other.sign(peer.proof()))
    await refused(server, peer, "FROG-17-09")


@clauses("FROG-17-09", "FROG-12.1-05")
async def test_a_name_that_is_nearly_right(server: ServerUnderTest) -> None:
    """All but the last symbol of the fingerprint are the key's: that is another name."""
    line = await server.in_state("hello-ok")
    near = line.key[:-1] + "01"[line.key[-1] == "0"]
    await line.raw(message(f"JOIN {near}"))
    line.nonce = getattr(await line.next("CHAL", "FROG-17-01"), "nonce", "")
    await line.auth(peer_key=near)
    await line.expect_refusal("FROG-17-09", ("AUTH_FAILED",))
    await (await server.peer()).expect_miss(near, "FROG-17-12")


@clauses("FROG-10-01")
async def test_the_raw_key_is_hashed(server: ServerUnderTest) -> None:
    """A fingerprint made of the key's text belongs to nobody."""
    peer = Peer(server.network)
    false = f"{server.network}:{base32(hashlib.sha256(peer.public_key.encode()).digest())[:26]}"
    line = await server.in_state("hello-ok", peer)
    await line.raw(message(f"JOIN {false}"))
    line.nonce = getattr(await line.next("CHAL", "FROG-17-01"), "nonce", "")
    await line.auth(peer_key=false)
    await line.expect_refusal("FROG-10-01", ("AUTH_FAILED",))
    await (await server.peer()).expect_miss(false, "FROG-17-12")


def spki(key: str) -> str:
    """The key in the structure that certificates have it in (RFC 8410)."""
    bits = "".join(f"{ALPHABET.index(symbol):05b}" for symbol in key)[:256]
    return base32(bytes.fromhex("302a300506032b6570032100") + int(bits, 2).to_bytes(32, "big"))


ODD: dict[str, tuple[str, Callable[[str, str], tuple[str, str]]]] = {
    "key-unused-bits": ("FROG-7.3-03", lambda key, sig: (key[:-1] + ("1" if key[-1] == "0" else "H"), sig)),
    "key-lower-case": ("FROG-7.2-03", lambda key, sig: (key.lower(), sig)),
    "key-short": ("FROG-17-07", lambda key, sig: (key[:-1], sig)),
    "key-long": ("FROG-17-07", lambda key, sig: (key + "0", sig)),
    "key-with-hyphens": ("FROG-7.2-04", lambda key, sig: (f"{key[:26]}-{key[26:]}", sig)),
    "signature-unused-bits": ("FROG-7.3-03", lambda key, sig: (key, sig[:-1] + ALPHABET[ALPHABET.index(sig[-1]) + 1])),
    "signature-lower-case": ("FROG-7.2-03", lambda key, sig: (key, sig.lower())),
    "signature-short": ("FROG-17-08", lambda key, sig: (key, sig[:-1])),
    "signature-long": ("FROG-17-08", lambda key, sig: (key, sig + "0")),
    "key-as-spki": ("FROG-9.1-04", lambda key, sig: (spki(key), sig)),
    "swapped": ("FROG-17-07", lambda key, sig: (sig, key)),
    "signature-of-zeros": ("FROG-17-10", lambda key, sig: (key, "0" * 103)),
}


@clauses(*dict.fromkeys(clause for clause, _ in ODD.values()), "FROG-9.2-01", "FROG-9.3-01", "FROG-17-12")
@axis("fault", list(ODD))
async def test_another_spelling_of_a_good_proof(server: ServerUnderTest, fault: str) -> None:
    """Key and signature have one canonical text of one length each (AMB-14 leaves the code open)."""
    clause, change = ODD[fault]
    peer = await server.in_state("auth-pending")
    key, signature = change(peer.peer.public_key, peer.peer.sign(peer.proof()))
    await peer.auth(public_key=key, signature=signature)
    await refused(server, peer, clause, ("AUTH_FAILED", "BAD_REQUEST"))


@clauses("FROG-9.1-02", "FROG-9.1-03", "FROG-9.1-05", "FROG-9.1-01")
@axis("kind", ["other-bits", "s-plus-l"])
async def test_only_pure_ed25519(server: ServerUnderTest, kind: str) -> None:
    """A signature with one bit flipped, and the malleable twin of a good one."""
    peer = await server.in_state("auth-pending")
    raw = peer.peer.raw_signature(peer.proof())
    if kind == "other-bits":
        raw = bytes([raw[0] ^ 1]) + raw[1:]
    else:
        order = 2**252 + 27742317777372353535851937790883648493
        raw = raw[:32] + (int.from_bytes(raw[32:], "little") + order).to_bytes(32, "little")
    await peer.auth(signature=base32(raw))
    await refused(server, peer, "FROG-9.1-05" if kind == "s-plus-l" else "FROG-9.1-01")


@clauses("FROG-12.1-04", "FROG-12.1-01", "FROG-17-10")
@axis("signed", ["public-uri", "address"])
async def test_the_configured_uri_counts(trial: Trial, target: Target, signed: str) -> None:
    """A server behind a proxy is signed by its public URI, not by the address where it was reached."""
    await target.need(ROLE, "uri")
    server = await ServerUnderTest(trial, uri="wss://rv.example.net/").start()
    peer = await server.in_state("auth-pending")
    await peer.auth(uri=server.uri if signed == "public-uri" else server.instance.address)
    if signed == "public-uri":
        await peer.expect(Joined, "FROG-12.1-04")
    else:
        await refused(server, peer, "FROG-12.1-04")
    await server.close()


@clauses("FROG-17-10", "FROG-17-03")
async def test_a_proof_counts_once(server: ServerUnderTest) -> None:
    """The AUTH of one connection is worth nothing on the next."""
    first = await server.in_state("auth-pending")
    signature = first.peer.sign(first.proof())
    await first.auth()
    await first.expect(Joined, "FROG-17-11")
    second = await server.in_state("auth-pending", first.peer)
    await second.auth(signature=signature)
    await second.expect_refusal("FROG-17-10", ("AUTH_FAILED",))


@clauses("FROG-17-03", "FROG-7.8-02", "FROG-17-10")
async def test_a_second_challenge_is_another(server: ServerUnderTest, trial: Trial) -> None:
    """Where a connection may JOIN again after a failure, its nonce is new, and a proof of the first one counts no more."""
    peer = await server.in_state("auth-pending")
    old, late = peer.nonce, peer.peer.sign(peer.proof())
    await peer.auth(nonce=an_id())
    if await peer.expect_refusal("FROG-17-10", ("AUTH_FAILED",)):
        await peer.raw(message(f"JOIN {peer.key}"))
        again = await peer.next("CHAL, or an error", "FROG-17-01")
        if isinstance(again, Chal):
            trial.expect(again.nonce != old, "another nonce", again, "FROG-17-03")
            await peer.auth(signature=late)
            await refused(server, peer, "FROG-17-10")
            return
    trial.info("a failed AUTH leads to no state from which it may join again (AMB-13)")


@clauses("FROG-17-12")
async def test_after_a_failure_one_may_leave(server: ServerUnderTest, trial: Trial) -> None:
    """Closed, or open and not registered: LEAVE is answered (AMB-13)."""
    peer = await server.in_state("auth-pending")
    await peer.auth(nonce=an_id())
    if await peer.expect_refusal("FROG-17-10", ("AUTH_FAILED",)):
        await peer.raw(message("LEAVE"))
        said = await peer.next("OK LEAVE, or the end", "FROG-19-03")
        trial.expect(not isinstance(said, Err), "OK LEAVE, or the end", said, "FROG-19-03")


@clauses("FROG-7.8-02", "FROG-7.8-01", "FROG-17-03", "FROG-7.8-03")
async def test_nonces_are_random(server: ServerUnderTest, trial: Trial) -> None:
    """Two hundred challenges: all different, every place takes many symbols."""
    nonces = [(await server.in_state("auth-pending")).nonce for _ in range(200)]
    spread_out(trial, nonces, "FROG-7.8-02", "FROG-7.8-03")


def spread_out(trial: Trial, ids: list[str], clause: str, advice: str) -> None:
    """130 random bits look like this; 128 leave the last symbol to eight values, which is allowed."""
    trial.expect(len(set(ids)) == len(ids), "ids that do not repeat", Counter(ids).most_common(1), clause)
    seen = [len({id[place] for id in ids}) for place in range(26)]
    trial.expect(min(seen[:-1]) >= 20, "at least 20 symbols in every place", seen, clause)
    trial.expect(seen[-1] >= 6, "several symbols in the last place", seen, clause)
    if all(ALPHABET.index(id[-1]) % 4 == 0 for id in ids):
        trial.warn(advice, "the last symbol has three bits only: 128 bits in all")


@clauses(*dict.fromkeys(clause for vector in PROOFS.within(["verify"]) for clause in vector.clauses))
async def test_no_stored_proof_registers(server: ServerUnderTest, each: Each) -> None:
    """Signatures of another time and place, good or bad, register nobody."""

    async def judge(vector: Vector) -> None:
        line = await server.in_state("hello-ok")
        await line.raw(message(f"JOIN {vector.input['peer_key']}"))
        await line.next("CHAL", "FROG-17-01")
        await line.raw(message(f"AUTH {vector.input['public_key']} {vector.input['signature']}"))
        await line.expect_refusal(vector.clauses[0], ("AUTH_FAILED", "BAD_REQUEST"))
        await line.leave()

    await each([vector for vector in PROOFS.within(["verify"]) if vector.input["role"] == "client"], judge)
