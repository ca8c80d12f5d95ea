"""Writes the FROG vector files. Stand-alone on purpose: standard library only, nothing of ours is imported.

Section 50's values are copied. Messages are written out by hand with what they mean beside them; nothing here decodes. Ed25519 is
RFC 8032, section 5.1, written out over Python integers; Crockford Base32 is written over a string of bits.
"""
# ruff: noqa: E501  a row of a table stays on its line

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "frog"
TO_SERVER, TO_CLIENT, SISTER = "to_server", "to_client", "sister"
Fields = dict[str, Any]
Refusal = tuple[str, str, str, str, str, str]  # direction, message, clause, why, codes, what an error echoes

# -- section 50 and what else is used by name --------------------------------------------------------------------------

NONCE, RID = "8QAK1JY7Z5T2N9VVK36ZP3JH2M", "2N9VVK36ZP3JH2M8QAK1JY7Z5T"
S0, S1 = "4KVETTPBZR80KG1GTZ55CZ1KS9", "9M4RX2C7DA8V6N0PGQBT3W5ZK1"
URI, URI2 = "wss://rv.example.net/", "wss://rv2.example.org/"
FP = "AS3NN9TMCD3MR0M5VXEVYAYAPW"
A, B, C = f"BLUTELLA:{FP}", "BLUTELLA:7XQ0J5M8V4K2R9N3T6W1CZEHYA", "BLUTELLA:B4V7K9MT2Q36X5ZR8C1JAYP0ND"
PEER_SEED, SERVER_SEED = bytes(range(32)), bytes(range(32, 64))
KEY = "0EGGFFZKSR8BW7BGVMCEEJY0K5KY9NHGKEJGTQRXVJ3684JN66W0"
KEY_HEX = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
SERVER_KEY = "56PBNRA1QK5F1CHE3AAD6K8BRWV1WMKD1FZ15J4QJJY968MPDQBG"
SERVER_KEY_HEX = "29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7"
SIG = "HAMFPA9XA6MWMRRS07F69D8NJN1F7FGP0X2V0MAJ62J9HE8YTE64KYTKWDTSS9HZSTATECCTQGJ8XTC9J66BS0NA03TXZGJBZT7TA30"
SERVER_SIG = "11Y0VX78BAMYRM1T40MPB68RNSEKN86NJSWPX6XSJ61P72MHPWH8YV1SZNQQZH0QJBY4X6PBJYYD74VA96SB4CMC72SS8JSW97D7E1G"

SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NUMBERED = [str(n) * 26 for n in range(1, 9)]
NAMED = {
    "{rid}": RID, "{nonce}": NONCE, "{s0}": S0, "{s1}": S1, "{fp}": FP, "{a}": A, "{b}": B, "{c}": C, "{key}": KEY, "{sig}": SIG,
    "{eight_peers}": " ".join(f"BLUTELLA:{n}" for n in NUMBERED),
    "{eight_uris}": " ".join(f"wss://rv{n}.example.net/" for n in range(1, 9)),
    "{eight_servers}": " ".join(f"{id} wss://rv{n}.example.net/" for n, id in enumerate(NUMBERED, 1)),
}  # fmt: skip


def spelled(message: str) -> bytes:
    """A message of the tables: names filled in, one character per byte."""
    for name, value in NAMED.items():
        message = message.replace(name, value)
    return message.encode("latin-1")


def crockford(raw: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in raw)
    bits += "0" * (-len(bits) % 5)
    return "".join(SYMBOLS[int(bits[at : at + 5], 2)] for at in range(0, len(bits), 5))


# -- Ed25519, RFC 8032 section 5.1 -------------------------------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]


def add(p: Point, q: Point) -> Point:
    (x1, y1), (x2, y2) = p, q
    k = D * x1 * x2 * y1 * y2 % P
    return (x1 * y2 + x2 * y1) * pow(1 + k, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, -1, P) % P


def times(n: int, p: Point) -> Point:
    sum: Point = (0, 1)
    while n:
        if n & 1:
            sum = add(sum, p)
        p, n = add(p, p), n >> 1
    return sum


def base() -> Point:
    y = 4 * pow(5, -1, P) % P
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (P - x if x & 1 else x), y


def packed(p: Point) -> bytes:
    return (p[1] | (p[0] & 1) << 255).to_bytes(32, "little")


def expanded(seed: bytes) -> tuple[int, bytes]:
    h = hashlib.sha512(seed).digest()
    return int.from_bytes(h[:32], "little") & (2**254 - 8) | 2**254, h[32:]


def public(seed: bytes) -> bytes:
    return packed(times(expanded(seed)[0], base()))


def signed(seed: bytes, message: bytes, dom: bytes = b"") -> bytes:
    """Pure with no `dom`; with dom2 it is Ed25519ctx, or Ed25519ph where the message is hashed."""
    scalar, prefix = expanded(seed)
    key = public(seed)
    r = int.from_bytes(hashlib.sha512(dom + prefix + message).digest(), "little") % L
    big_r = packed(times(r, base()))
    k = int.from_bytes(hashlib.sha512(dom + big_r + key + message).digest(), "little") % L
    return big_r + ((r + k * scalar) % L).to_bytes(32, "little")


def dom2(flag: int, context: bytes) -> bytes:
    return b"SigEd25519 no Ed25519 collisions" + bytes([flag, len(context)]) + context


def name_of(key: bytes) -> str:
    return crockford(hashlib.sha256(key).digest())[:26]


# -- messages: direction, wire, what it means --------------------------------------------------------------------------


def means(command: str, **members: Any) -> Fields:
    return {"command": command} | members


def payload(text: str) -> str:
    return text.encode("latin-1").hex()


LONGEST = [f"wss://rv{n}.example.net/" + "a" * 178 for n in range(7)]
assert {len(uri) for uri in LONGEST} == {200}

TAKEN: list[tuple[str, str, str, str, Fields]] = [
    ("hello", "13.1-01 51-01", TO_SERVER, "HELLO FROG/1\n", means("HELLO")),
    ("join", "13.1-01", TO_SERVER, "JOIN {a}\n", means("JOIN", peer_key=A)),
    ("join-network-of-one", "7.1-01", TO_SERVER, "JOIN A:{fp}\n", means("JOIN", peer_key=f"A:{FP}")),
    ("join-network-of-sixteen", "7.1-01", TO_SERVER, "JOIN ABCDEFGHIJKLMNOP:{fp}\n", means("JOIN", peer_key=f"ABCDEFGHIJKLMNOP:{FP}")),
    ("join-network-of-underscores", "7.1-01", TO_SERVER, "JOIN ____:{fp}\n", means("JOIN", peer_key=f"____:{FP}")),
    ("join-a-fingerprint-of-no-key", "7.4-01", TO_SERVER, "JOIN 0:" + "0" * 26 + "\n", means("JOIN", peer_key="0:" + "0" * 26)),
    ("auth", "13.1-01 47-01", TO_SERVER, "AUTH {key} {sig}\n", means("AUTH", public_key=KEY, signature=SIG)),
    ("leave", "13.1-01", TO_SERVER, "LEAVE\n", means("LEAVE")),
    ("getservers-least", "21-02", TO_SERVER, "GETSERVERS A1 1\n", means("GETSERVERS", cid="A1", limit=1)),
    ("getservers-most", "21-02", TO_SERVER, "GETSERVERS A1 7\n", means("GETSERVERS", cid="A1", limit=7)),
    ("cid-underscore", "7.9-01", TO_SERVER, "GETSERVERS _ 1\n", means("GETSERVERS", cid="_", limit=1)),
    ("cid-that-begins-with-a-dash", "7.9-01", TO_SERVER, "GETSERVERS -A 1\n", means("GETSERVERS", cid="-A", limit=1)),
    ("cid-two-dashes", "7.9-02", TO_SERVER, "GETSERVERS -- 3\n", means("GETSERVERS", cid="--", limit=3)),
    ("cid-zero", "7.9-01", TO_SERVER, "GETSERVERS 0 1\n", means("GETSERVERS", cid="0", limit=1)),
    ("cid-of-thirty-two", "7.9-01", TO_SERVER, "FIND " + "Z" * 32 + " 1\n", means("FIND", cid="Z" * 32, limit=1)),
    ("cid-like-a-route", "7.9-01", TO_SERVER, "FIND {rid} 1\n", means("FIND", cid=RID, limit=1)),
    ("find-least", "22-01", TO_SERVER, "FIND F1 1\n", means("FIND", cid="F1", limit=1)),
    ("find-most", "22-01", TO_SERVER, "FIND F1 7\n", means("FIND", cid="F1", limit=7)),
    ("lookup", "23-01", TO_SERVER, "LOOKUP L1 {b}\n", means("LOOKUP", cid="L1", peer_key=B)),
    ("signal-without-bytes", "5-21", TO_SERVER, "SIGNAL {rid} ICE 0\n", means("SIGNAL", route_id=RID, kind="ICE", payload="")),
    ("signal-of-one-byte", "13.1-03", TO_SERVER, "SIGNAL {rid} ANSWER 1\nx", means("SIGNAL", route_id=RID, kind="ANSWER", payload="78")),
    ("signal-of-no-text", "5-19", TO_SERVER, "SIGNAL {rid} OFFER 4\n\x00\xff\xfe\x80", means("SIGNAL", route_id=RID, kind="OFFER", payload="00fffe80")),
    ("signal-of-utf-8", "5-16 5-19", TO_SERVER, "SIGNAL {rid} OFFER 4\n\xc3\xa9\xc3\xa9", means("SIGNAL", route_id=RID, kind="OFFER", payload="c3a9c3a9")),
    ("signal-of-line-feeds", "5-19", TO_SERVER, "SIGNAL {rid} OFFER 4\n\n\r\n\n", means("SIGNAL", route_id=RID, kind="OFFER", payload=payload("\n\r\n\n"))),
    ("signal-of-a-command", "5-19", TO_SERVER, "SIGNAL {rid} OFFER 13\nHELLO FROG/1\n", means("SIGNAL", route_id=RID, kind="OFFER", payload=payload("HELLO FROG/1\n"))),
    ("signal-of-ten-bytes", "13.1-03", TO_SERVER, "SIGNAL {rid} OFFER 10\n0123456789", means("SIGNAL", route_id=RID, kind="OFFER", payload=payload("0123456789"))),
    ("welcome", "13.1-02", TO_CLIENT, "HELLO FROG/1 {s0}\n", means("HELLO", server_id=S0)),
    ("chal", "13.1-02 7.8-01", TO_CLIENT, "CHAL {nonce}\n", means("CHAL", nonce=NONCE)),
    ("ok-join", "13.1-02", TO_CLIENT, "OK JOIN\n", means("OK", what="JOIN")),
    ("ok-leave", "13.1-02", TO_CLIENT, "OK LEAVE\n", means("OK", what="LEAVE")),
    ("try-unsolicited-and-empty", "13.1-06 13.1-05", TO_CLIENT, "TRY - 0\n", means("TRY", cid="-", uris=[])),
    ("try-two", "13.1-05", TO_CLIENT, "TRY A1 2 wss://rv2.example.net/ wss://rv3.example.org/\n", means("TRY", cid="A1", uris=["wss://rv2.example.net/", "wss://rv3.example.org/"])),
    ("try-seven", "13.1-06", TO_CLIENT, "TRY - 7 " + " ".join(f"ws://h{n}/" for n in range(7)) + "\n", means("TRY", cid="-", uris=[f"ws://h{n}/" for n in range(7)])),
    ("try-seven-of-200-bytes", "5-04 13.1-02 8-21", TO_CLIENT, "TRY A1 7 " + " ".join(LONGEST) + "\n", means("TRY", cid="A1", uris=LONGEST)),
    ("peers-none", "13.1-07", TO_CLIENT, "PEERS F1 0\n", means("PEERS", cid="F1", peer_keys=[])),
    ("peers-two", "13.1-05", TO_CLIENT, "PEERS F1 2 {b} {c}\n", means("PEERS", cid="F1", peer_keys=[B, C])),
    ("peers-seven", "13.1-07", TO_CLIENT, "PEERS F1 7 " + " ".join(f"N:{n}" for n in NUMBERED[:7]) + "\n", means("PEERS", cid="F1", peer_keys=[f"N:{n}" for n in NUMBERED[:7]])),
    ("found", "13.1-02 7.7-01", TO_CLIENT, "FOUND L1 {b} {rid}\n", means("FOUND", cid="L1", peer_key=B, route_id=RID)),
    ("signal-from-without-bytes", "5-21", TO_CLIENT, "SIGNAL-FROM {rid} {b} OFFER 0\n", means("SIGNAL-FROM", route_id=RID, peer_key=B, kind="OFFER", payload="")),
    ("signal-from-with-line-feeds", "5-19", TO_CLIENT, "SIGNAL-FROM {rid} {b} ICE 5\na\nb\nc", means("SIGNAL-FROM", route_id=RID, peer_key=B, kind="ICE", payload=payload("a\nb\nc"))),
    ("err-of-nothing", "13.1-02", TO_CLIENT, "ERR - BAD_REQUEST\n", means("ERR", id="-", code="BAD_REQUEST")),
    ("err-of-a-route", "38-02", TO_CLIENT, "ERR {rid} ROUTE_EXPIRED\n", means("ERR", id=RID, code="ROUTE_EXPIRED")),
    *[(f"err-{code.lower().replace('_', '-')}", "38-05", TO_CLIENT, f"ERR L1 {code}\n", means("ERR", id="L1", code=code)) for code in (
        "BAD_STATE", "AUTH_REQUIRED", "AUTH_FAILED", "PEER_NOT_FOUND", "LOOKUP_TIMEOUT", "ROUTE_NOT_FOUND", "TARGET_MISMATCH", "PAYLOAD_TOO_LARGE", "RATE_LIMITED", "SERVER_UNAVAILABLE", "INTERNAL")],
    ("sister-hello", "13.2-01", SISTER, "@HELLO FROG/1 {s0} wss://rv1.example.net/\n", means("@HELLO", server_id=S0, uri="wss://rv1.example.net/")),
    ("sister-hello-by-address", "13.2-01", SISTER, "@HELLO FROG/1 {s1} ws://127.0.0.1:9001/\n", means("@HELLO", server_id=S1, uri="ws://127.0.0.1:9001/")),
    ("sister-chal", "13.2-01", SISTER, "@CHAL {nonce}\n", means("@CHAL", nonce=NONCE)),
    ("sister-auth", "13.2-01", SISTER, "@AUTH {key} {sig}\n", means("@AUTH", public_key=KEY, signature=SIG)),
    ("sister-ok", "13.2-01", SISTER, "@OK AUTH\n", means("@OK", what="AUTH")),
    ("sister-err", "13.2-01", SISTER, "@ERR R1 BAD_STATE\n", means("@ERR", id="R1", code="BAD_STATE")),
    ("list-least", "13.2-01", SISTER, "@LIST G1 1\n", means("@LIST", fcid="G1", limit=1)),
    ("list-most", "13.2-01 7.10-01", SISTER, "@LIST G1 7\n", means("@LIST", fcid="G1", limit=7)),
    ("servers-none", "13.2-03", SISTER, "@SERVERS G1 0\n", means("@SERVERS", fcid="G1", servers=[])),
    ("servers-two", "13.2-02", SISTER, "@SERVERS G1 2 {s0} wss://rv1.example.net/ {s1} wss://rv2.example.org/\n", means("@SERVERS", fcid="G1", servers=[[S0, "wss://rv1.example.net/"], [S1, URI2]])),
    ("servers-seven", "13.2-03", SISTER, "@SERVERS G1 7 " + " ".join(f"{id} ws://h{n}/" for n, id in enumerate(NUMBERED[:7])) + "\n", means("@SERVERS", fcid="G1", servers=[[id, f"ws://h{n}/"] for n, id in enumerate(NUMBERED[:7])])),
    *[(f"find-{limit}-{ttl}", "13.2-01", SISTER, f"@FIND R1 {S0} {A} {limit} {ttl}\n", means("@FIND", fcid="R1", server_id=S0, peer_key=A, limit=limit, ttl=ttl)) for limit, ttl in ((3, 3), (1, 0), (7, 7))],
    ("sister-peers-none", "13.2-05", SISTER, "@PEERS R1 {s0} 0\n", means("@PEERS", fcid="R1", server_id=S0, peer_keys=[])),
    ("sister-peers-two", "13.2-04", SISTER, "@PEERS R1 {s0} 2 {b} {c}\n", means("@PEERS", fcid="R1", server_id=S0, peer_keys=[B, C])),
    *[(f"sister-lookup-{ttl}", "13.2-01", SISTER, f"@LOOKUP {RID} {S0} {A} {B} {ttl}\n", means("@LOOKUP", route_id=RID, server_id=S0, source=A, target=B, ttl=ttl)) for ttl in (0, 5, 7)],
    ("sister-found", "13.2-01", SISTER, "@FOUND {rid} {b}\n", means("@FOUND", route_id=RID, peer_key=B)),
    ("sister-signal", "13.2-01 5-19", SISTER, "@SIGNAL {rid} {a} ICE 4\n\n\n\n\n", means("@SIGNAL", route_id=RID, peer_key=A, kind="ICE", payload="0a0a0a0a")),
]  # fmt: skip

LONG_TRY = "TRY - 2 wss://rv.example.net/ "
"""A text that is no URI may stand in a TRY, and makes its header as long as one likes."""

# The payload is the last bytes of the message: `fill` of it, so that the file stays small.
LARGEST: list[tuple[str, str, str, Fields]] = [
    ("signal-of-65536-bytes", TO_SERVER, "SIGNAL {rid} OFFER 65536\n", means("SIGNAL", route_id=RID, kind="OFFER")),
    ("signal-from-of-65536-bytes", TO_CLIENT, "SIGNAL-FROM {rid} ABCDEFGHIJKLMNOP:{fp} ANSWER 65536\n", means("SIGNAL-FROM", route_id=RID, peer_key=f"ABCDEFGHIJKLMNOP:{FP}", kind="ANSWER")),
    ("sister-signal-of-65536-bytes", SISTER, "@SIGNAL {rid} {a} ANSWER 65536\n", means("@SIGNAL", route_id=RID, peer_key=A, kind="ANSWER")),
]  # fmt: skip

REFUSED: list[Refusal] = [
    (TO_SERVER, "", "5-01", "empty message: no newline", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1", "5-01", "newline missing", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\r\n", "5-05", "CR in header", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\n\n", "5-18", "payload byte on non-payload command", "BAD_REQUEST", "-"),
    (TO_SERVER, "\nHELLO FROG/1\n", "5-10", "empty header then payload", "BAD_REQUEST", "-"),
    (TO_SERVER, " HELLO FROG/1\n", "5-06", "leading space", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO  FROG/1\n", "5-09", "double space", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\tFROG/1\n", "5-08", "tab", "BAD_REQUEST", "-"),
    (TO_SERVER, "\tHELLO FROG/1\n", "5-08", "leading tab", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO \tFROG/1\n", "5-08", "space and tab", "BAD_REQUEST", "-"),
    (TO_SERVER, " \n", "5-10", "only a space", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\n", "13.1-01", "missing field", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO \n", "5-07", "trailing space / empty field", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\x0bFROG/1\n", "6-03", "VT: split() treats as whitespace", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\x1fFROG/1\n", "6-03", "US", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\x00FROG/1\n", "6-03", "NUL", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\x00\n", "6-03", "trailing NUL", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\x0b\n", "6-03", "trailing VT", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\xc2\x85\n", "5-03", "NEL", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO \xff\n", "5-02", "invalid UTF-8", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\xc0\xa0FROG/1\n", "5-02", "overlong UTF-8 space", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/\xef\xbc\x91\n", "5-03", "fullwidth 1", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\xed\xa0\x80\n", "5-02", "UTF-8 surrogate", "BAD_REQUEST", "-"),
    (TO_SERVER, "H\x00E\x00L\x00L\x00O\x00 \x00F\x00R\x00O\x00G\x00/\x001\x00\n\x00", "5-03", "UTF-16", "BAD_REQUEST", "-"),
    (TO_SERVER, "Hello FROG/1\n", "6-01", "command case", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO frog/1\n", "13.1-01", "version case", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/2\n", "13.1-01 51-01", "version", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/01\n", "13.1-01", "version", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG\n", "13.1-01", "version", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLOFROG/1\n", "13-01", "no separator", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELO FROG/1\n", "5-12", "unknown", "BAD_REQUEST", "-"),
    (TO_SERVER, "# comment\n", "6-06", "comment line", "BAD_REQUEST", "-"),
    (TO_SERVER, "GET / HTTP/1.1\n", "5-12", "unknown", "BAD_REQUEST", "-"),
    (TO_SERVER, "A" * 4096 + "\n", "5-12", "4096-byte header: within size, unknown command", "BAD_REQUEST", "-"),
    (TO_SERVER, "A" * 4097 + "\n", "5-04", "4097-byte header", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1 " + "A" * 4084 + "\n", "5-04", "4097-byte header starting with a valid HELLO", "BAD_REQUEST", "-"),
    (TO_SERVER, "A" * 100000, "5-01", "100000 bytes, no newline", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1\n", "13.1-01", "limit missing", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1  3\n", "5-09", "double space", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1 0\n", "21-02", "limit 0", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 8\n", "21-02", "limit 8", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 +3\n", "6-05", "plus", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 1e0\n", "6-05", "exponent", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 THREE\n", "6-05", "word", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 4294967299\n", "6-07", "2^32+3", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 -\n", "6-05", "dash as limit", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS - 3\n", "7.9-02", "reserved CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA 3\n", "7.9-01", "33-char CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A.1 3\n", "7.9-01", "dot in CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1 3\nx", "5-18", "payload", "BAD_REQUEST", "A1"),
    (TO_SERVER, "getservers A1 3\n", "6-01", "case", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1 \xef\xbc\x97\n", "5-03", "fullwidth digit", "BAD_REQUEST", "-"),
    (TO_SERVER, "FIND F1 8\n", "22-01", "limit 8", "BAD_REQUEST", "F1"),
    (TO_SERVER, "FIND - 3\n", "7.9-02", "reserved CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "LOOKUP L1\n", "13.1-01", "target missing", "BAD_REQUEST", "L1"),
    (TO_SERVER, "LOOKUP L1 {fp}\n", "23-01", "fingerprint without network", "BAD_REQUEST", "L1"),
    (TO_SERVER, "LOOKUP L1 blutella:7xq0j5m8v4k2r9n3t6w1czehya\n", "23-01", "lowercase", "BAD_REQUEST", "L1"),
    (TO_SERVER, "LOOKUP L1 {b} 5\n", "5-11", "extra (ttl)", "BAD_REQUEST", "L1"),
    (TO_SERVER, "LOOKUP L1 BLUTELLA:7XQ0J5M8V4K2R9N3T6W1CZEHYU\n", "23-01", "U in fingerprint", "BAD_REQUEST", "L1"),
    (TO_SERVER, "JOIN {a} X\n", "5-11", "extra", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN blutella:{fp}\n", "7.1-02", "network case", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN WEB-GAME:{fp}\n", "7.1-02", "hyphen", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN ABCDEFGHIJKLMNOPQ:{fp}\n", "7.1-02", "17-char network", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN :{fp}\n", "7.1-02", "empty network", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN {fp}\n", "7.1-02", "no network", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN A:B:{fp}\n", "7.5-01", "two colons", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA:AS3NN9TMCD3MR0M5VXEVYAYAP\n", "7.4-01", "25", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA:as3nn9tmcd3mr0m5vxevyayapw\n", "7.4-01 7.2-03", "fingerprint case", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA {fp}\n", "7.5-01", "space for colon", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN {a}\n\n", "5-18", "payload", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH {key}\n", "13.1-01", "signature missing", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH {sig} {key}\n", "13.1-01", "swapped", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH {key}0 {sig}\n", "9.2-01", "key 53", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH {key} HAMFPA9XA6MWMRRS07F69D8NJN1F7FGP0X2V0MAJ62J9HE8YTE64KYTKWDTSS9HZSTATECCTQGJ8XTC9J66BS0NA03TXZGJBZT7TA3\n", "9.3-01", "sig 102", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH {key} {sig}0\n", "9.3-01", "sig 104", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH {key} HAMFPA9XA6MWMRRS07F69D8NJN1F7FGP0X2V0MAJ62J9HE8YTE64KYTKWDTSS9HZSTATECCTQGJ8XTC9J66BS0NA03TXZGJBZT7TA31\n", "7.3-03", "sig pad bits", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "LEAVE \n", "5-07", "trailing space", "BAD_REQUEST", "-"),
    (TO_SERVER, "LEAVE\nx", "5-18", "payload", "BAD_REQUEST", "-"),
    (TO_SERVER, "leave\n", "6-01", "case", "BAD_REQUEST", "-"),
    (TO_SERVER, "LEAVE A1\n", "5-11", "extra CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid}\n", "13.1-01", "kind missing", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER\n", "5-14", "length missing", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER\nhello", "5-14", "length missing with payload", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5\nhello!", "5-16", "payload one long", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5\nhello\n", "5-16", "trailing newline counted as payload", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5\n", "5-16", "payload absent", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5", "5-01", "newline missing", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid} OFFER 05\nhello", "5-15", "leading zero", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 00\n", "5-15", "double zero", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER +5\nhello", "5-15", "plus", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER -0\n", "5-15", "minus zero", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5.0\nhello", "5-15", "point", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5 \nhello", "5-07", "trailing space", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5\r\nhello", "5-05", "CR", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5 X\nhello", "5-11", "extra", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} offer 5\nhello", "13.1-03", "kind case", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} BYE 0\n", "13.1-03", "unknown kind", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL 2N9VVK36ZP3JH2M8QAK1JY7Z5 OFFER 5\nhello", "7.7-01", "route id 25", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid}0 OFFER 5\nhello", "7.7-01", "route id 27", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL {rid} {a} OFFER 5\nhello", "5-11", "source key is only in the delivered form", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL-FROM {rid} {a} OFFER 5\nhello", "5-13", "server-only command", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "SIGNAL {rid} OFFER 65537\nhello", "5-17", "declared 65537, 5 bytes present", "PAYLOAD_TOO_LARGE|BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 4294967301\nhello", "5-17 6-07", "2^32+5 with 5 bytes: wraps to 5 in 32-bit parsers", "PAYLOAD_TOO_LARGE|BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 18446744073709551621\nhello", "5-17", "2^64+5", "PAYLOAD_TOO_LARGE|BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 99999999999999999999999999\nhello", "5-17", "huge", "PAYLOAD_TOO_LARGE|BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 65537\n" + "a" * 65537, "5-17", "65537 declared and present", "PAYLOAD_TOO_LARGE", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 65536\n" + "a" * 65537, "5-16", "65536 declared, 65537 present", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "OK JOIN\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "OK LEAVE\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "CHAL {nonce}\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "TRY - 0\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "TRY A1 0\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "FOUND L1 {b} {rid}\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "SIGNAL-FROM {rid} {b} OFFER 0\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "ERR - BAD_REQUEST\n", "5-13", "server-to-client command sent by a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "@HELLO FROG/1 {s0} wss://rv.example.net/\n", "5-13", "sister command on a client connection", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "@OK AUTH\n", "5-13", "sister command on a client connection", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_CLIENT, "HELLO FROG/2 {s0}\n", "13.1-02", "version", "", ""),
    (TO_CLIENT, "HELLO FROG/1 {s0} wss://rv.example.net/\n", "5-11", "extra URI field", "", ""),
    (TO_CLIENT, "HELLO FROG/1 {s0}\r\n", "5-05", "CR", "", ""),
    (TO_CLIENT, "CHAL\n", "13.1-02", "nonce missing", "", ""),
    (TO_CLIENT, "CHAL 8QAK1JY7Z5T2N9VVK36ZP3JH2\n", "7.8-01", "nonce 25", "", ""),
    (TO_CLIENT, "CHAL 8qak1jy7z5t2n9vvk36zp3jh2m\n", "7.8-01", "nonce case", "", ""),
    (TO_CLIENT, "OK AUTH\n", "13.1-02", "not a client OK", "", ""),
    (TO_CLIENT, "OK JOIN X\n", "5-11", "extra", "", ""),
    (TO_CLIENT, "ok join\n", "6-01", "case", "", ""),
    (TO_CLIENT, "OK JOIN\n\n", "5-18", "payload", "", ""),
    (TO_CLIENT, "TRY - 0 wss://rv2.example.net/\n", "13.1-05", "count 0, one follows", "", ""),
    (TO_CLIENT, "TRY A1 8 {eight_uris}\n", "13.1-06", "count 8", "", ""),
    (TO_CLIENT, "TRY A1 01 wss://rv2.example.net/\n", "6-04", "leading zero", "", ""),
    (TO_CLIENT, "TRY a1 0\n", "7.9-01", "CID case", "", ""),
    (TO_CLIENT, "PEERS - 0\n", "13.1-02", "dash is not a CID here", "", ""),
    (TO_CLIENT, "PEERS F1 1\n", "13.1-05", "count 1, none follow", "", ""),
    (TO_CLIENT, "PEERS F1 8 {eight_peers}\n", "13.1-07", "count 8", "", ""),
    (TO_CLIENT, "PEERS F1 1 {fp}\n", "7.5-01", "not a peer key", "", ""),
    (TO_CLIENT, "FOUND - {b} {rid}\n", "13.1-02", "dash CID", "", ""),
    (TO_CLIENT, "SIGNAL {rid} OFFER 0\n", "5-13", "client-only command", "", ""),
    (TO_CLIENT, "ERR -\n", "13.1-02", "code missing", "", ""),
    (TO_CLIENT, "ERR - bad_request\n", "38-05", "code case", "", ""),
    (TO_CLIENT, "ERR - BAD_REQUEST oops\n", "5-11", "extra text", "", ""),
    (TO_CLIENT, "JOIN {a}\n", "5-13", "client-only command", "", ""),
    (TO_CLIENT, "@HELLO FROG/1 {s0} wss://rv.example.net/\n", "5-13", "sister command", "", ""),
    (TO_CLIENT, "NOTICE hi\n", "5-12", "unknown", "", ""),
    (SISTER, "@HELLO FROG/1 {s0} wss://rv.example.net:443/\n", "8-24", "default port", "BAD_REQUEST", "-"),
    (SISTER, "@ HELLO FROG/1 {s0} wss://rv.example.net/\n", "5-09", "space after @", "BAD_REQUEST", "-"),
    (SISTER, "@HELLO FROG/1 {s0} wss://rv.example.net/\n\n", "5-18", "payload", "BAD_REQUEST", "-"),
    (SISTER, "@CHAL\n", "13.2-01", "nonce missing", "BAD_REQUEST", "-"),
    (SISTER, "@CHAL 8QAK1JY7Z5T2N9VVK36ZP3JH2\n", "7.8-01", "nonce 25", "BAD_REQUEST", "-"),
    (SISTER, "@OK AUTH X\n", "5-11", "extra", "BAD_REQUEST", "-"),
    (SISTER, "@AUTH {key}\n", "13.2-01", "signature missing", "BAD_REQUEST", "-"),
    (SISTER, "@LIST G1\n", "13.2-01", "limit missing", "BAD_REQUEST", "G1"),
    (SISTER, "@LIST G1 0\n", "13.2-01", "limit 0", "BAD_REQUEST", "G1"),
    (SISTER, "@LIST G1 8\n", "13.2-01", "limit 8", "BAD_REQUEST", "G1"),
    (SISTER, "@LIST - 7\n", "7.10-02", "reserved FCID", "BAD_REQUEST", "-"),
    (SISTER, "@SERVERS G1 1 {s1}\n", "13.2-02", "odd number of fields", "BAD_REQUEST", "G1"),
    (SISTER, "@SERVERS G1 2 {s1} wss://rv2.example.net/\n", "13.2-02", "count counts pairs, not fields", "BAD_REQUEST", "G1"),
    (SISTER, "@SERVERS G1 8 {eight_servers}\n", "13.2-03", "count 8", "BAD_REQUEST", "G1"),
    (SISTER, "@SERVERS G1 2 {s0} wss://rv2.example.net/ {s1} wss://rv3.example.org:443/\n", "8-26", "one bad URI among two", "BAD_REQUEST", "G1"),
    (SISTER, "@FIND R1 {s0} {a} 0 3\n", "13.2-01", "limit 0", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {a} 8 3\n", "13.2-01", "limit 8", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {a} 3 8\n", "34-01", "ttl 8", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {a} 3 -1\n", "34-01", "ttl -1", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {a} 3\n", "13.2-01", "ttl missing", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} 3 3\n", "13.2-01", "peer key missing", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {fp} 3 3\n", "13.2-01", "peer key without network", "BAD_REQUEST", "R1"),
    (SISTER, "@PEERS R1 0\n", "13.2-01", "origin missing", "BAD_REQUEST", "R1"),
    (SISTER, "@PEERS R1 {s0} 8 {eight_peers}\n", "13.2-05", "count 8", "BAD_REQUEST", "R1"),
    (SISTER, "@LOOKUP {rid} {s0} {a} {b} 8\n", "34-01", "ttl 8", "BAD_REQUEST", "{rid}"),
    (SISTER, "@LOOKUP {rid} {s0} {a} {b} 4294967301\n", "6-07", "ttl 2^32+5", "BAD_REQUEST", "{rid}"),
    (SISTER, "@LOOKUP {rid} {s0} {a} {b}\n", "13.2-01", "ttl missing", "BAD_REQUEST", "{rid}"),
    (SISTER, "@LOOKUP {rid} {s0} {a} 5\n", "13.2-01", "target missing", "BAD_REQUEST", "{rid}"),
    (SISTER, "@LOOKUP 2n9vvk36zp3jh2m8qak1jy7z5t {s0} {a} {b} 5\n", "7.7-01", "route id case", "BAD_REQUEST", "-"),
    (SISTER, "@FOUND {rid}\n", "13.2-01", "target missing", "BAD_REQUEST", "{rid}"),
    (SISTER, "@NOTFOUND {rid}\n", "5-12", "no such command", "BAD_REQUEST", "-"),
    (SISTER, "@PING\n", "5-12", "no such command", "BAD_REQUEST", "-"),
    (SISTER, "@SIGNAL {rid} {a} BYE 0\n", "13.1-03", "kind", "BAD_REQUEST", "{rid}"),
    (SISTER, "@SIGNAL {rid} {a} OFFER 5\nhello!", "5-16", "long", "BAD_REQUEST", "{rid}"),
    (SISTER, "@SIGNAL {rid} {a} OFFER\n", "5-14", "length missing", "BAD_REQUEST", "{rid}"),
    (SISTER, "@ERR - TEAPOT X\n", "5-11", "extra", "BAD_REQUEST", "-"),
    (SISTER, "JOIN {a}\n", "5-13", "client command on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
    (SISTER, "GETSERVERS A1 3\n", "5-13", "client command on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
    (SISTER, "FIND F1 3\n", "5-13", "client command on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
    (SISTER, "LOOKUP L1 {b}\n", "5-13", "client command on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
    (SISTER, "SIGNAL {rid} OFFER 0\n", "5-13", "client command on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
]  # fmt: skip

MORE_REFUSED: list[Refusal] = [
    (TO_SERVER, "HELLO FROG/1\nGETSERVERS A1 1\n", "4-07", "two commands in one message", "BAD_REQUEST", "-"),
    (TO_SERVER, "\n", "5-10", "no header at all", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1 \n", "5-07", "trailing space behind a whole command", "BAD_REQUEST", "-"),
    (TO_SERVER, "\xef\xbb\xbfHELLO FROG/1\n", "5-03", "byte order mark", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\xc2\xa0FROG/1\n", "5-03", "no-break space", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO\x0cFROG/1\n", "6-03", "FF", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1\x7f\n", "6-03", "DEL", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1 {s0}\n", "13.1-01", "the server's HELLO to a server", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS\n", "13.1-01", "cid and limit missing", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1 3 X\n", "5-11", "one field too many", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 07\n", "6-04", "limit with a leading zero", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 00\n", "6-04", "limit of two zeros", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 -1\n", "6-05", "negative limit", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 3.0\n", "6-05", "limit with a point", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 0x3\n", "6-05", "hex limit", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 1_0\n", "6-05", "limit with digits in groups", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 18446744073709551619\n", "6-07", "limit of 2^64+3", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS A1 " + "9" * 400 + "\n", "6-07", "limit of 400 digits", "BAD_REQUEST", "A1"),
    (TO_SERVER, "GETSERVERS a1 3\n", "7.9-01", "lower-case CID", "BAD_REQUEST", "-"),
    (TO_SERVER, "GETSERVERS A1 3 key=value\n", "6-06", "metadata", "BAD_REQUEST", "A1"),
    (TO_SERVER, "X-FOO 1\n", "6-06", "extension header", "BAD_REQUEST", "-"),
    (TO_SERVER, "PING\n", "5-12", "PING is no command", "BAD_REQUEST", "-"),
    (TO_SERVER, "CLOSE {rid}\n", "25-10", "routes have no close command", "BAD_REQUEST", "-"),
    (TO_SERVER, "FIND F1 0\n", "22-01", "find limit 0", "BAD_REQUEST", "F1"),
    (TO_SERVER, "FIND F1\n", "13.1-01", "find limit missing", "BAD_REQUEST", "F1"),
    (TO_SERVER, "FIND F1 3 BLUTELLA\n", "5-11", "find with a network", "BAD_REQUEST", "F1"),
    (TO_SERVER, "LOOKUP L1 {a} \n", "5-07", "trailing space behind a key", "BAD_REQUEST", "-"),
    (TO_SERVER, "LOOKUP L1 BLUTELLA:{fp}0\n", "23-01", "fingerprint of 27", "BAD_REQUEST", "L1"),
    (TO_SERVER, "LOOKUP {b} L1\n", "7.9-01", "fields swapped", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN\n", "13.1-01", "key missing", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA:{fp}0\n", "7.4-01", "fingerprint of 27 in JOIN", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA;{fp}\n", "7.5-01", "semicolon for colon", "BAD_REQUEST", "-"),
    (TO_SERVER, "JOIN BLUTELLA:AS3NN9TMCD3MROM5VXEVYAYAPW\n", "7.2-02", "O in a fingerprint", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH {key} {sig} {sig}\n", "5-11", "AUTH with three fields", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH {key}\n{sig}", "5-18", "signature as a payload", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH " + KEY[:-1] + "1 {sig}\n", "7.3-03", "unused bits of the key set", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH " + KEY.lower() + " {sig}\n", "7.2-03", "lower-case key", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH " + KEY_HEX + " {sig}\n", "9.2-01", "key in hex", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "AUTH " + crockford(bytes.fromhex("302a300506032b6570032100" + KEY_HEX)) + " {sig}\n", "9.1-04", "key in SPKI", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "SIGNAL {rid} OFFER 5\nhell", "5-16", "payload one short", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER five\nhello", "5-15", "length in words", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER 0x5\nhello", "5-15", "length in hex", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} OFFER -5\nhello", "5-15", "negative length", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} 5 OFFER\nhello", "13.1-03", "kind and length swapped", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "SIGNAL {rid} CANDIDATE 0\n", "13.1-03", "a kind of WebRTC's own", "BAD_REQUEST", "{rid}"),
    (TO_SERVER, "PEERS F1 0\n", "5-13", "PEERS to a server", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "@LIST G1 7\n", "5-13", "@LIST from a client", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_CLIENT, "HELLO FROG/1\n", "13.1-02", "the client's HELLO to a client", "", ""),
    (TO_CLIENT, "HELLO FROG/1 BLUTELLA:{s0}\n", "7.6-02", "server id with a network", "", ""),
    (TO_CLIENT, "CHAL {nonce}0\n", "7.8-01", "nonce of 27", "", ""),
    (TO_CLIENT, "TRY A1 2 wss://rv2.example.net/\n", "13.1-05", "count 2, one follows", "", ""),
    (TO_CLIENT, "TRY A1\n", "13.1-02", "TRY without a count", "", ""),
    (TO_CLIENT, "TRY\n", "13.1-02", "TRY alone", "", ""),
    (TO_CLIENT, "PEERS F1 2 {b}\n", "13.1-05", "PEERS count 2, one follows", "", ""),
    (TO_CLIENT, "PEERS F1 0 {b}\n", "13.1-05", "PEERS count 0, one follows", "", ""),
    (TO_CLIENT, "FOUND L1 {b}\n", "13.1-02", "route missing", "", ""),
    (TO_CLIENT, "FOUND L1 {rid} {b}\n", "13.1-02", "key and route swapped", "", ""),
    (TO_CLIENT, "SIGNAL-FROM {rid} OFFER 0\n", "13.1-02", "source missing", "", ""),
    (TO_CLIENT, "SIGNAL-FROM {rid} {b} OFFER 5\nhello!", "5-16", "delivered payload one long", "", ""),
    (TO_CLIENT, "SIGNAL-FROM {rid} {b} OFFER 65537\n" + "a" * 65537, "5-17", "delivered payload over the maximum", "", ""),
    (SISTER, "@HELLO FROG/1 {s0}\n", "13.2-01", "URI missing", "BAD_REQUEST", "-"),
    (SISTER, "@HELLO FROG/1 wss://rv.example.net/ {s0}\n", "13.2-01", "id and URI swapped", "BAD_REQUEST", "-"),
    (SISTER, "@HELLO FROG/1 BLUTELLA:{s0} wss://rv.example.net/\n", "7.6-02", "id with a network", "BAD_REQUEST", "-"),
    (SISTER, "@HELLO FROG/1 @" + S0[1:] + " wss://rv.example.net/\n", "7.6-03", "id with a marker", "BAD_REQUEST", "-"),
    (SISTER, "@HELLO FROG/2 {s0} wss://rv.example.net/\n", "13.2-01", "version of a sister", "BAD_REQUEST", "-"),
    (SISTER, "@OK\n", "13.2-01", "@OK alone", "BAD_REQUEST", "-"),
    (SISTER, "@OK JOIN\n", "13.2-01", "@OK of a client's", "BAD_REQUEST", "-"),
    (SISTER, "@hello FROG/1 {s0} wss://rv.example.net/\n", "6-01", "lower-case @HELLO", "BAD_REQUEST", "-"),
    (SISTER, "@LIST g1 7\n", "7.10-01", "lower-case FCID", "BAD_REQUEST", "-"),
    (SISTER, "@SERVERS G1 0 {s1} wss://rv2.example.net/\n", "13.2-02", "count 0, a pair follows", "BAD_REQUEST", "G1"),
    (SISTER, "@SERVERS G1 1 wss://rv2.example.net/ {s1}\n", "13.2-02", "pair the wrong way round", "BAD_REQUEST", "G1"),
    (SISTER, "@PEERS R1 {s0} 2 {b}\n", "13.2-04", "@PEERS count 2, one follows", "BAD_REQUEST", "R1"),
    (SISTER, "@PEERS R1 {s0} 0 {b}\n", "13.2-04", "@PEERS count 0, one follows", "BAD_REQUEST", "R1"),
    (SISTER, "@FIND R1 {s0} {a} 3 08\n", "6-04", "ttl with a leading zero", "BAD_REQUEST", "R1"),
    (SISTER, "@SIGNAL {rid} {a} OFFER 65537\n" + "a" * 65537, "5-17", "a sister's payload over the maximum", "PAYLOAD_TOO_LARGE|BAD_REQUEST", "{rid}"),
    (SISTER, "@SIGNAL {rid} OFFER 0\n", "13.2-01", "source of a sister's signal missing", "BAD_REQUEST", "{rid}"),
    (SISTER, "TRY - 0\n", "5-13", "TRY on a sister connection", "BAD_REQUEST|BAD_STATE", "-"),
    (TO_SERVER, "LEAVES\n", "5-12", "a word that begins like a command", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH " + KEY[:-1] + " {sig}\n", "9.2-01", "key of 51", "BAD_REQUEST|AUTH_FAILED", "-"),
    (TO_SERVER, "LEAVE 5\nhello", "5-18 13.3-01", "a length and a payload on LEAVE", "BAD_REQUEST", "-"),
    (TO_SERVER, "HELLO FROG/1 5\nhello", "5-18 13.3-01", "a length and a payload on HELLO", "BAD_REQUEST", "-"),
    (TO_SERVER, "HEL\rLO FROG/1\n", "5-05", "CR inside of a word", "BAD_REQUEST", "-"),
    (TO_SERVER, "LEAVE\t\n", "5-08", "tab at the end", "BAD_REQUEST", "-"),
    (TO_SERVER, "LEAVE # bye\n", "6-06", "comment behind a command", "BAD_REQUEST", "-"),
    (TO_SERVER, "SIGNAL 2N9VVK36ZP3JH2M8QAKIJY7Z5T OFFER 0\n", "7.2-02", "letter I in a route id", "BAD_REQUEST", "-"),
    (TO_SERVER, "AUTH O" + KEY[1:] + " {sig}\n", "7.2-02", "letter O in a key", "BAD_REQUEST|AUTH_FAILED", "-"),
    (SISTER, "@LIST " + "G" * 33 + " 7\n", "7.10-01", "FCID of 33", "BAD_REQUEST", "-"),
    (TO_CLIENT, LONG_TRY + "x" * (4097 - len(LONG_TRY)) + "\n", "5-04", "4097-byte header of a TRY", "", ""),
]  # fmt: skip


# -- server URIs: text, clause, why ------------------------------------------------------------------------------------

CANONICAL = [
    ("ws://192.0.2.10:9000/", "8-06", "50.5"),
    ("wss://[2001:db8::1]:9443/", "8-07", "50.5"),
    ("wss://rv.example.net:8443/", "8-13", "non-default port"),
    ("ws://rv.example.net/", "8-01", "plain ws"),
    ("ws://rv.example.net:443/", "8-12", "443 is not the default of ws"),
    ("wss://rv.example.net:80/", "8-12", "80 is not the default of wss"),
    ("ws://127.0.0.1:9001/", "8-06", "loopback IPv4"),
    ("ws://0.0.0.0/", "8-06", "IPv4 zero"),
    ("ws://255.255.255.255/", "8-06", "IPv4 max"),
    ("ws://[::1]:9001/", "8-07", "IPv6 loopback"),
    ("wss://[::]/", "8-07", "unspecified"),
    ("wss://[1:2:3:4:5:6:7:8]/", "8-07", "eight groups"),
    ("wss://[2001:0:0:1::1]/", "8-07", "longer run (3) compressed"),
    ("wss://rv.example.net/frog/", "8-15", "trailing slash is a different but canonical path"),
    ("wss://rv.example.net/...", "8-16", "three dots is not a dot-segment"),
    ("wss://rv.example.net/.hidden", "8-16", "dots that are no dot-segment"),
    ("wss://rv.example.net/a..b", "8-16", "dots that are no dot-segment"),
    ("wss://rv.example.net/..a", "8-16", "dots that are no dot-segment"),
    ("wss://rv.example.net/a.", "8-16", "dots that are no dot-segment"),
    ("wss://rv.example.net/~user/-_.x", "8-16", "unreserved literal"),
    ("wss://rv.example.net/a%20b", "8-19 8-18", "escape of space"),
    ("wss://rv.example.net/a%2Fb", "8-19 8-18", "escape of reserved slash"),
    ("wss://rv.example.net/%C3%A9", "8-19", "UTF-8 escape"),
    ("wss://rv.example.net/a:b@c", "8-15", "colon and at in path"),
    ("wss://a-b.example/", "8-03", "inner hyphen"),
    ("wss://1a.example/", "8-03", "label may start with digit"),
    ("wss://" + "a" * 63 + ".example/", "8-03", "63-octet label"),
]  # fmt: skip
NOT_CANONICAL = [
    ("wss://rv.example.net:443/", "8-12", "50.6 default port"),
    ("wss://rv.example.net:0443/", "8-13", "50.6 port leading zero"),
    ("ws://rv.example.net:80/", "8-12", "default port of ws"),
    ("ws://192.0.2.10:80/", "8-12", "default port with IPv4"),
    ("", "8-01", "empty"),
    ("/", "8-01", "relative"),
    ("rv.example.net/", "8-01", "no scheme"),
    ("//rv.example.net/", "8-01", "network-path reference"),
    ("WSS://rv.example.net/", "8-02", "scheme case"),
    ("http://rv.example.net/", "8-01", "scheme"),
    ("https://rv.example.net/", "8-01", "scheme"),
    ("wss://RV.example.net/", "8-03", "host case"),
    ("wss://rv.example.NET/", "8-03", "host case"),
    ("wss://b%C3%BCcher.example/", "8-04", "escaped U-label"),
    ("wss://192.0.2.10./", "8-05", "trailing dot on IPv4"),
    ("wss://./", "8-05", "root"),
    ("wss://user@rv.example.net/", "8-09", "userinfo"),
    ("wss://@rv.example.net/", "8-09", "empty userinfo"),
    ("wss://:@rv.example.net/", "8-09", "empty userinfo"),
    ("wss://rv.example.net?x", "8-10", "query, no path"),
    ("wss://rv.example.net/#", "8-11", "empty fragment"),
    ("wss://rv.example.net/#f", "8-11", "fragment"),
    ("wss://rv.example.net#f", "8-11", "fragment, no path"),
    ("wss://rv.example.net:/", "8-13", "empty port"),
    ("wss://rv.example.net:0/", "8-13", "port 0"),
    ("wss://rv.example.net:65536/", "8-13", "port too high"),
    ("wss://rv.example.net:99999/", "8-13", "port too high"),
    ("wss://rv.example.net:+8443/", "8-13", "sign"),
    ("wss://rv.example.net:-1/", "8-13", "sign"),
    ("wss://rv.example.net:8443a/", "8-13", "letters"),
    ("wss://rv.example.net:8443:8444/", "8-13", "two ports"),
    ("wss://rv.example.net:4294967739/", "8-13", "2^32+443"),
    ("wss://rv.example.net/.", "8-16", "dot-segment"),
    ("wss://rv.example.net/../", "8-16", "dot-segment"),
    ("wss://rv.example.net/a/../b", "8-16", "dot-segment"),
    ("wss://rv.example.net/%2e", "8-18", "encoded dot-segment, lower hex"),
    ("wss://rv.example.net/%2E%2E/", "8-17", "encoded dot-segment"),
    ("wss://rv.example.net/.%2E", "8-17", "half-encoded dot-segment"),
    ("wss://rv.example.net/%2f", "8-18", "lowercase hex"),
    ("wss://rv.example.net/%c3%a9", "8-18", "lowercase hex"),
    ("wss://rv.example.net/%61", "8-19", "escape of a"),
    ("wss://rv.example.net/%30", "8-19", "escape of 0"),
    ("wss://rv.example.net/%2D", "8-19", "escape of hyphen"),
    ("wss://rv.example.net/%5F", "8-19", "escape of underscore"),
    ("wss://rv.example.net/%2", "8-18", "short escape"),
    ("wss://rv.example.net/a%", "8-18", "bare percent at end"),
    ("wss://rv.example.net/%%20", "8-18", "percent before escape"),
    ("wss://rv.example.net/a b", "8-01", "space"),
    ("wss://rv.example.net/a\tb", "8-01", "tab"),
    ("wss://rv.example.net/\xe9", "8-20", "non-ASCII"),
    ('wss://rv.example.net/a"b', "8-15", "double quote"),
    ("wss://rv.example.net/a\\b", "8-15", "backslash"),
    ("wss://rv.example.net/a`b", "8-15", "backtick"),
    ("wss://rv.example.net/a|b", "8-15", "pipe"),
    ("wss://rv.example.net/[x]", "8-15", "brackets in path"),
    ("wss://[2001:DB8::1]/", "8-08", "IPv6 upper hex"),
    ("wss://[2001:db8:0:0:0:0:0:1]/", "8-08", "IPv6 not compressed"),
    ("wss://[2001:db8::0:1]/", "8-08", "IPv6 not fully compressed"),
    ("wss://[2001:db8::01]/", "8-08", "IPv6 leading zero"),
    ("wss://[2001:db8:0:0:1::1]/", "8-08", "IPv6 second of two equal runs compressed"),
    ("wss://[g::1]/", "8-08", "bad hex"),
    ("wss://[]/", "8-08", "empty literal"),
    ("wss://[::1/", "8-08", "unclosed"),
    ("wss://::1/", "8-01", "no brackets"),
    ("wss://2001:db8::1/", "8-06", "no brackets"),
    ("wss://[fe80::1%eth0]/", "8-08", "raw zone id"),
    ("wss://[192.0.2.1]/", "8-08", "IPv4 in brackets"),
    ("wss://[::ffff:192.0.2.01]/", "8-08", "mapped, leading zero"),
    ("wss://rv.example.net/" + "a" * 180, "8-21", "201 bytes"),
    ("wss://rv.example.net/\n", "8-01", "trailing newline"),
    (" wss://rv.example.net/", "8-01", "leading space"),
]  # fmt: skip
OPEN = [
    ("wss://[::ffff:c000:201]/", "8-08", "IPv4-mapped in pure hex form: what WHATWG URL and Python<3.13 print (AMB-URI-4)", False),
    ("wss://[64:ff9b::192.0.2.33]/", "8-08", "NAT64 prefix in mixed form (AMB-URI-4)", False),
    ("wss://rv.example.net/a//b", "8-15", "empty segment (AMB-URI-6)", True),
    ("wss://.example.net/", "8-03", "empty first label (AMB-URI-7)", False),
    ("wss://rv-.example.net/", "8-03", "trailing hyphen label (AMB-URI-7)", False),
    ("wss://ab--cd.example/", "8-04", "R-LDH label that is not xn-- (AMB-URI-8)", True),
    ("wss://xn--zzzzzz99999.example/", "8-04", "A-label that does not decode/round-trip (AMB-URI-8)", False),
    ("ws://256.0.0.1/", "8-06", "not an IPv4 address; RFC 3986 would call it a reg-name (AMB-URI-5)", False),
    ("ws://192.0.2.010/", "8-06", "octal-looking octet (AMB-URI-5)", False),
    ("ws://192.0.2/", "8-06", "three octets (AMB-URI-5)", False),
    ("ws://3221225994/", "8-06", "single number (AMB-URI-5)", False),
    ("ws://0xc0.0.2.10/", "8-06", "hex octet first label, last label decimal: strict reading treats as bad IPv4 (AMB-URI-5)", False),
    ("ws://rv.123/", "8-06", "all-numeric last label (AMB-URI-5)", False),
    ("ws://0x7f000001/", "8-06", "hex number host (AMB-URI-5)", False),
]  # fmt: skip

MORE_CANONICAL = [
    (URI, "8-01", "50.5"),
    ("wss://rv.example.net:1/", "8-13", "the lowest port"),
    ("wss://rv.example.net:65535/", "8-13", "the highest port"),
    ("ws://127.0.0.1/", "8-06", "IPv4 without a port"),
    ("wss://[fe80::1]/", "8-07", "link-local, no zone"),
    ("wss://[2001:db8::]/", "8-08", "zeros at the end"),
    ("wss://[2001:db8:0:1:1:1:1:1]/", "8-08", "one zero group is not compressed"),
    ("wss://[2001:db8::1:0:0:1]/", "8-08", "the first of two equal runs"),
    ("wss://xn--bcher-kva.example/", "8-04", "an A-label"),
    ("wss://xn--fiqs8s/", "8-04", "an A-label as the whole host"),
    ("wss://localhost/", "8-01", "one label"),
    ("wss://rv.example.net/Frog", "8-15", "the path keeps its case"),
    ("wss://rv.example.net/a%252Eb", "8-19", "an escaped percent, not an escaped dot"),
    ("wss://rv.example.net/%21", "8-19", "an escaped sub-delimiter"),
    ("wss://rv.example.net/!$&'()*+,;=", "8-15", "sub-delimiters"),
    ("wss://rv.example.net/" + "a" * 179, "8-21", "200 bytes"),
]  # fmt: skip
MORE_NOT_CANONICAL = [
    ("wss://rv.example.net", "8-14", "50.6 path missing"),
    ("wss://rv.example.net/?x=1", "8-10", "50.6 query"),
    ("wss://[2001:0db8:0000:0000:0000:0000:0000:0001]/", "8-08", "50.6 IPv6 in full"),
    ("wss://rv.example.net./", "8-05", "50.6 trailing dot"),
    ("wss://rv.example.net:8443", "8-14", "port and no path"),
    ("wss:///", "8-01", "no host"),
    ("wss:rv.example.net/", "8-01", "no slashes"),
    ("wss:/rv.example.net/", "8-01", "one slash"),
    ("Wss://rv.example.net/", "8-02", "scheme with one capital"),
    ("wss://rv.example.net/?", "8-10", "empty query"),
    ("wss://rv.example.net/a?b#c", "8-10", "query and fragment"),
    ("wss://user:pass@rv.example.net/", "8-09", "user and password"),
    ("wss://rv.example.net:08443/", "8-13", "zero before a port"),
    ("wss://[2001:db8::1]:443/", "8-12", "default port with IPv6"),
    ("wss://[2001:db8::1]9443/", "8-13", "no colon before the port"),
    ("wss://[2001:db8::1::2]/", "8-08", "two runs compressed"),
    ("wss://[2001:db8:0:1::1:1:1:1]/", "8-08", "one zero group compressed"),
    ("wss://[2001:db8::1:1:1:1:1]/", "8-08", "a double colon for one group"),
    ("wss://[::FFFF:192.0.2.1]/", "8-08", "mapped in capitals"),
    ("wss://[1:2:3:4:5:6:7]/", "8-08", "seven groups"),
    ("wss://[1:2:3:4:5:6:7:8:9]/", "8-08", "nine groups"),
    ("wss://[12345::1]/", "8-08", "five digits in a group"),
    ("wss://[fe80::1%25eth0]/", "8-08", "escaped zone id"),
    ("wss://b\xfccher.example/", "8-20", "U-label"),
    ("wss://rv.example.net/./a", "8-16", "dot-segment at the front"),
    ("wss://rv.example.net/a/.", "8-16", "dot-segment at the end"),
    ("wss://rv.example.net/a/..", "8-16", "two dots at the end"),
    ("wss://rv.example.net/%2E", "8-17", "an escaped dot"),
    ("wss://rv.example.net/%2E.", "8-17", "an escaped dot and a dot"),
    ("wss://rv.example.net/a%2Eb", "8-19", "an escaped dot inside a segment"),
    ("wss://rv.example.net/%7E", "8-19", "escape of tilde"),
    ("wss://rv.example.net/%41", "8-19", "escape of A"),
    ("wss://rv.example.net/%5a", "8-18", "escape of Z in lower case"),
    ("wss://rv.example.net/%G0", "8-18", "escape that is no hex"),
    ("wss://rv.example.net/<", "8-15", "less-than"),
    ("wss://rv.example.net/a^b", "8-15", "caret"),
    ("wss://rv.example.net/\x00", "8-01", "NUL"),
    ("wss://rv.example.net/ ", "8-01", "trailing space"),
    ("wss://rv.example.net/\r", "8-01", "trailing CR"),
    ("wss://rv example.net/", "8-01", "space in the host"),
]  # fmt: skip
MORE_OPEN = [
    ("wss://[::ffff:192.0.2.1]/", "8-08", "IPv4-mapped in the dotted form that RFC 5952 recommends (AMB-URI-4)", True),
    ("wss://rv.example.net//", "8-15", "only empty segments (AMB-URI-6)", True),
    ("wss://rv_1.example.net/", "8-03", "underscore in a label (AMB-URI-7)", False),
    ("wss://-rv.example.net/", "8-03", "leading hyphen (AMB-URI-7)", False),
    ("wss://rv..example.net/", "8-03", "empty label (AMB-URI-7)", False),
    ("wss://" + "a" * 64 + ".example/", "8-03", "label of 64 (AMB-URI-7)", False),
    ("wss://rv~.example/", "8-03", "tilde in the host (AMB-URI-7)", False),
    ("wss://rv.example.net/%00", "8-19", "escaped NUL (AMB-URI-9)", True),
    ("wss://rv.example.net/%0A", "8-19", "escaped line feed (AMB-URI-9)", True),
    ("wss://rv.example.net/%80", "8-19", "escape that is no UTF-8 (AMB-URI-9)", True),
]  # fmt: skip

# -- identifiers: kind, text, valid, clause, why -----------------------------------------------------------------------

LOWER, ZEROS = KEY.lower(), "0" * 26
IDENTIFIERS: list[tuple[str, str, bool, str, str]] = [
    ("network", "A", True, "7.1-01", "one character"),
    ("network", "0", True, "7.1-01", "a digit"),
    ("network", "_", True, "7.1-01", "an underscore"),
    ("network", "FOO", True, "7.1-01", "7.1"),
    ("network", "P2PCHAT", True, "7.1-01", "7.1, with a digit"),
    ("network", "BLUTELLA", True, "7.1-01", "50.5"),
    ("network", "ABCDEFGHIJKLMNOP", True, "7.1-01", "sixteen"),
    ("network", "ABCDEFGHIJKLMNOPQ", False, "7.1-02", "seventeen"),
    ("network", "", False, "7.1-02", "empty"),
    ("network", "blutella", False, "7.1-02", "50.6 lower case"),
    ("network", "WEB-GAME", False, "7.1-02", "50.6 hyphen"),
    ("network", "THIS_NETWORK_NAME_IS_TOO_LONG", False, "7.1-02", "50.6 too long"),
    ("network", "A:B", False, "7.1-02", "colon"),
    ("network", "A B", False, "7.1-02", "space"),
    ("network", "A\n", False, "7.1-02", "line feed at the end, where some patterns still match"),
    ("network", "\u0410", False, "7.1-02", "Cyrillic A"),
    ("network", "\uff21", False, "7.1-02", "fullwidth A"),
    ("network", "\u0661", False, "7.1-02", "Arabic digit"),
    ("fingerprint", FP, True, "7.4-01", "50.5"),
    ("fingerprint", ZEROS, True, "7.4-01", "syntax only: it need not be of any key"),
    ("fingerprint", FP[:-1], False, "7.4-01", "25 characters"),
    ("fingerprint", FP + "0", False, "7.4-01", "27 characters"),
    ("fingerprint", "AS3NN9TMCD3MROM5VXEVYAYAPW", False, "7.2-02", "50.6 letter O"),
    ("fingerprint", FP.lower(), False, "7.2-03", "50.6 lower case"),
    ("fingerprint", FP[:-1] + "U", False, "7.2-02", "letter U"),
    ("fingerprint", FP[:-1] + "I", False, "7.2-02", "letter I"),
    ("fingerprint", FP[:-1] + "L", False, "7.2-02", "letter L"),
    ("fingerprint", FP + "\n", False, "7.4-01", "line feed at the end"),
    ("peer_key", A, True, "7.5-01", "50.5"),
    ("peer_key", f"_:{ZEROS}", True, "7.5-01", "any 26 symbols"),
    ("peer_key", f"ABCDEFGHIJKLMNOP:{FP}", True, "7.5-01", "the longest"),
    ("peer_key", f"BLUTELLA{FP}", False, "7.5-01", "50.6 no colon"),
    ("peer_key", f"blutella:{FP}", False, "7.5-01", "50.6 lower-case network"),
    ("peer_key", f"BLUTELLA:{FP.lower()}", False, "7.5-01", "50.6 lower-case fingerprint"),
    ("peer_key", f"ABCDEFGHIJKLMNOPQ:{FP}", False, "7.5-01", "network of seventeen"),
    ("peer_key", f":{FP}", False, "7.5-01", "empty network"),
    ("peer_key", "BLUTELLA:", False, "7.5-01", "empty fingerprint"),
    ("peer_key", f"A:B:{FP}", False, "7.5-01", "two colons"),
    ("peer_key", f"BLUTELLA::{FP}", False, "7.5-01", "two colons in a row"),
    ("peer_key", f"@BLUTELLA:{FP}", False, "7.5-01", "marker"),
    ("peer_key", f"BLUTELLA: {FP}", False, "7.5-01", "space"),
    ("server_id", S0, True, "7.6-01", "50.5"),
    ("server_id", f"BLUTELLA:{S0}", False, "7.6-02", "50.6 with a network"),
    ("server_id", f"@{S0[1:]}", False, "7.6-03", "marker in place of a symbol"),
    ("server_id", f"@{S0}", False, "7.6-03", "marker in front"),
    ("server_id", S0[:-1], False, "7.6-01", "25 characters"),
    ("server_id", S0 + "0", False, "7.6-01", "27 characters"),
    ("server_id", S0 * 2, False, "7.6-01", "52 characters, as a whole hash has"),
    ("server_id", S0.lower(), False, "7.2-03", "lower case"),
    ("route_id", RID, True, "7.7-01", "50.5"),
    ("route_id", ZEROS, True, "7.7-01", "130 bits leave none unused"),
    ("route_id", ZEROS[:-1] + "1", True, "7.7-01", "the last bit set: still canonical"),
    ("route_id", SYMBOLS[:26], True, "7.7-01", "the alphabet in order"),
    ("route_id", SYMBOLS[6:], True, "7.7-01", "the rest of the alphabet"),
    ("route_id", ZEROS[:-1], False, "7.7-01", "25 characters"),
    ("route_id", ZEROS + "0", False, "7.7-01", "27 characters"),
    ("route_id", "O" * 26, False, "7.2-02", "letter O, an alias of 0 for people"),
    ("route_id", "I" + ZEROS[1:], False, "7.2-02", "letter I"),
    ("route_id", RID.lower(), False, "7.2-03", "lower case"),
    ("route_id", "0000000000000-000000000000", False, "7.2-04", "hyphen in place of a symbol"),
    ("route_id", "0000000000000-0000000000000", False, "7.2-04", "hyphen between symbols"),
    ("nonce", NONCE, True, "7.8-01", "50.5"),
    ("nonce", RID, True, "7.8-01", "a route id looks the same"),
    ("nonce", NONCE[:-1], False, "7.8-01", "25 characters"),
    ("nonce", NONCE + "0", False, "7.8-01", "27 characters"),
    ("nonce", NONCE.lower(), False, "7.2-03", "lower case"),
    ("nonce", "-", False, "7.8-01", "dash"),
    ("cid", "A1", True, "7.9-01", "50.5"),
    ("cid", "_", True, "7.9-01", "an underscore"),
    ("cid", "--", True, "7.9-02", "only the single dash is reserved"),
    ("cid", "-A", True, "7.9-01", "a dash in front"),
    ("cid", "A" * 32, True, "7.9-01", "32 characters"),
    ("cid", "ILOU", True, "7.9-01", "letters that Base32 has not"),
    ("cid", RID, True, "7.9-01", "like a route id"),
    ("cid", "-", False, "7.9-02", "50.6 reserved"),
    ("cid", "", False, "7.9-01", "empty"),
    ("cid", "A" * 33, False, "7.9-01", "33 characters"),
    ("cid", "a1", False, "7.9-01", "lower case"),
    ("cid", "A:1", False, "7.9-01", "colon"),
    ("cid", "A.1", False, "7.9-01", "dot"),
    ("cid", "A 1", False, "7.9-01", "space"),
    ("cid", "A1\n", False, "7.9-01", "line feed at the end"),
    ("fcid", "R1", True, "7.10-01", "50.5"),
    ("fcid", RID, True, "7.10-01", "like a route id"),
    ("fcid", "-", False, "7.10-02", "reserved"),
    ("fcid", "r1", False, "7.10-01", "lower case"),
    ("fcid", "A.1", False, "7.10-01", "dot"),
    ("fcid", "A" * 33, False, "7.10-01", "33 characters"),
    ("public_key", KEY, True, "9.2-01", "50.1"),
    ("public_key", SERVER_KEY, True, "9.2-01", "50.2"),
    ("public_key", KEY[:-1], False, "9.2-01", "51 characters"),
    ("public_key", KEY + "0", False, "9.2-01", "53 characters"),
    ("public_key", LOWER, False, "7.2-03", "lower case"),
    ("public_key", "e" + KEY[1:], False, "7.2-03", "one lower-case character"),
    ("public_key", "L" + KEY[1:], False, "7.2-02", "L, an alias of 1 for people"),
    ("public_key", "O" + KEY[1:], False, "7.2-02", "O, an alias of 0 for people"),
    ("public_key", KEY[:26] + "-" + KEY[26:], False, "7.2-04", "hyphen between symbols"),
    *[("public_key", KEY[:-1] + symbol, False, "7.2-04", f"check symbol {symbol}") for symbol in "*~$="],
    *[(kind, text + symbol, False, "7.2-04", f"check symbol {symbol} behind") for kind, text in (("route_id", RID), ("public_key", KEY)) for symbol in "*~$=U"],
    ("public_key", crockford(bytes.fromhex("302a300506032b6570032100" + KEY_HEX)), False, "9.1-04", "SubjectPublicKeyInfo"),
    ("public_key", KEY + "====", False, "7.2-04", "padding"),
    ("public_key", KEY_HEX, False, "9.2-01", "hex"),
    ("public_key", "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", False, "7.2-05", "base64"),
    *[("public_key", KEY[:-1] + symbol, symbol == "G", "9.2-01" if symbol == "G" else "7.3-03", f"last character {symbol}") for symbol in SYMBOLS[1:]],
    ("signature", SIG, True, "9.3-01", "50.3"),
    ("signature", SERVER_SIG, True, "9.3-01", "50.4"),
    ("signature", "Z" * 102 + "R", True, "9.3-01", "every bit set"),
    ("signature", SIG[:-1], False, "9.3-01", "102 characters"),
    ("signature", SIG + "0", False, "9.3-01", "104 characters"),
    ("signature", "U" + SIG[1:], False, "7.2-02", "letter U"),
    *[("signature", SIG[:-1] + symbol, symbol in "8GR", "9.3-01" if symbol in "8GR" else "7.3-03", f"last character {symbol} of a signature") for symbol in SYMBOLS[1:]],
]  # fmt: skip
RAW = [
    bytes(range(32)),
    bytes(31) + b"\x01",
    bytes(32),
    b"\xff" * 32,
    bytes(64),
    b"\xff" * 64,
    bytes(63) + b"\x02",
    bytes(range(100, 164)),
]  # fmt: skip

FIXTURES = [
    ("a", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "0EGGFFZKSR8BW7BGVMCEEJY0K5KY9NHGKEJGTQRXVJ3684JN66W0", "AS3NN9TMCD3MR0M5VXEVYAYAPW"),
    ("b", "6a3eabbcfe7c47a8c4777b7fef817402347a3485a5e7d998148a7707dcd4ff4e", "NF9NAGV2310H82E275TP1JZMM9G301748S6FQTP7DWH6EX5R0CG0", "MQ7HP8WRNHQQ17C9EVDHC7H9RG"),
    ("c", "b05abd868490f12ebbd24bbfbe3336ba84abe59c896a114e2fd4dc3e25c29420", "5FECSCM3AM5JC7R1GEDG5R6GRH84RH0AZ2XB14Y5DXB2ZP5MTRDG", "8VB2N9Q2RDJ1Y4GA5KMS0ZT3D8"),
    ("d", "0584a8a17eea47465361924c24402ebf3bfe3e4a9b910723dd51b5a3c0377fa0", "1FT5G5JNV83TPV8NASFVX1VCJFRDXGG5TF6YETDWNB50B8XG5C8G", "EHCRT75B3AV0NMKXBEMCWYGQMY"),
    ("e", "87f42898bcf578204e5f66a2d3a455b4d1336c426a69a6f88a47311781c34d57", "ZNPFP7BMQPX594PP6CZQ5WBBJK8ZG6MJPKHRT3NBWDCC7Q1SRY50", "5F83DC75BMBXG18HESZKMWWCPE"),
    ("f", "9cf25c73262781e98c297b99b2855ac0c1bcad8eb5f6f1c64e83e02ea3b00fd4", "71BXTNJN8B3KXP3RPWER544P77CQDRAFDMA9D3CM9RGSPEDXZV80", "G7MHKEFV99JM4J70PF86886JQX"),
    ("g", "a9b5b50c414e58c6710fb0e37c6c4d05571c53f4f941677a1a31ce4071b36860", "W00AS22499106YKAN3YVJVA3Q4E2WSY1TM1ECN8R1TJD9F8BQA40", "56E1AX3AF92VFJ7YQNANGQWD2G"),
    ("h", "9a4f6aea1b663232484a9005cac0a91fc567d102b1633af75ce34959707057c1", "P609BKFGY85CVG87FS4ZTA2XDJFWPQCPFGE3F3KZ5NZRAH6GJ740", "7S0EYQAP9XRF70R3ZBAXDQ8AMT"),
    ("i", "570847a1c50b9e908b53b4ed7562d601034061bb31b1a1390f021bebc1cda153", "KMXM5BSMEG1BKAFSXJZ8JN4CR67ATDVTRV2NDSXRJA1TDV8BRG00", "5PQ8B4DYWRYA5KJPY8PMGHSXTN"),
    ("j", "b6db426c91be5764bc41bc67d599df9cc74fe72b5e1359e60ad78d9b4b949563", "Z08SHCEK00YR516QRM35FC7QTNB6ED5ZPPBC8MKSMV62GZSSPHJG", "H26PB0CTT3XSD22FR67EYKZP14"),
    ("s0", "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f", "56PBNRA1QK5F1CHE3AAD6K8BRWV1WMKD1FZ15J4QJJY968MPDQBG", "4KVETTPBZR80KG1GTZ55CZ1KS9"),
    ("x", "430797b2d18b35b9a214766df2720ff9958fdcd25a2b092a771d858eb873ea5e", "VG2NSBTYYYWBBKPTBKA46YPNVN8SS4NQK43AY4HFA5KDQ2MWTXYG", "53Q9VS067D3517SYVQTGV80DAE"),
    ("y", "91c813f38567b65b6074a60360cf381da0ef3f59eb7d769a99a267db45b26719", "FTC5YM0177T38X9KKV5Z2ZXR6V32HTFZDN5X1A7YGHKJQW64J4T0", "0DZ69CVZ8HYYV2P8RW0KMTD5YY"),
    ("z", "748ab18771a683386df19021ee74c6db59422920346ef47147082cfbba835e23", "WAR457KDANYY1EK523Z02DST76V34DK06DQ987Q9PTQCQ3HMPK30", "74CAZM64R6JMGHNZZHGRAGA9E4"),
    ("w", "5552db5b1db62f85450c0badd21b7d29a94e71fc8b1869ee36c7f6ba4aeebd19", "B1NTK77K05TZP0Y0NJZGJX23NA4VGCWS5HV8RZVNX9YCN6SDNYCG", "NR4FSZYYBESS629NM8AFQE1E60"),
    ("v", "15979341b6dde68e88030e1327147bb8fcde341dacfeb3989386900d1dde4124", "QR9E4CAXGC0G79CPH1J2V5M5AJKSN6ARNJHFD4GZTMN36R01CHMG", "JGW95VVKKB02VM73EW4DTDECBW"),
]  # fmt: skip


# -- proofs ------------------------------------------------------------------------------------------------------------

CLIENT_LINES = ["FROG-AUTH-V1", NONCE, URI, A, S0]
SERVER_LINES = ["FROG-SERVER-AUTH-V1", NONCE, URI, S0, URI2, S1]
CLIENT_PROOF = {"nonce": NONCE, "server_uri": URI, "peer_key": A, "server_id": S0}
SERVER_PROOF = {"nonce": NONCE, "self_uri": URI, "self_id": S0, "peer_uri": URI2, "peer_id": S1}


def lines(*fields: str, end: str = "", between: str = "\n") -> bytes:
    return (between.join(fields) + end).encode()


def instead(fields: list[str], **changes: str) -> bytes:
    """The lines with some replaced: `_2="x"` is the third."""
    return lines(*(changes.get(f"_{n}", field) for n, field in enumerate(fields)))


FALSE_CLIENT: list[tuple[str, str, bytes]] = [
    ("a line feed at the end is signed", "12-01", lines(*CLIENT_LINES, end="\n")),
    ("lines end with CR LF", "12-01", lines(*CLIENT_LINES, between="\r\n")),
    ("another nonce, as in a replay", "17-10", instead(CLIENT_LINES, _1=RID)),
    ("another server's URI, as in a relay", "12.1-04", instead(CLIENT_LINES, _2="wss://rv2.example.net/")),
    ("the URI in another spelling", "8-22", instead(CLIENT_LINES, _2="wss://RV.example.net/")),
    ("the URI with its default port", "8-22", instead(CLIENT_LINES, _2="wss://rv.example.net:443/")),
    ("the URI without its path", "8-22", instead(CLIENT_LINES, _2="wss://rv.example.net")),
    ("another network", "12.1-06", instead(CLIENT_LINES, _3=f"CHECKERS:{FP}")),
    ("the fingerprint alone", "12.1-01", instead(CLIENT_LINES, _3=FP)),
    ("another server id", "17-10", instead(CLIENT_LINES, _4=S1)),
    ("the prefix in lower case", "12.1-01", instead(CLIENT_LINES, _0="frog-auth-v1")),
    ("the prefix of servers", "12.1-01", instead(CLIENT_LINES, _0="FROG-SERVER-AUTH-V1")),
    ("URI and key swapped", "12.1-01", lines(*(CLIENT_LINES[n] for n in (0, 1, 3, 2, 4)))),
    ("key and server id swapped", "12.1-01", lines(*(CLIENT_LINES[n] for n in (0, 1, 2, 4, 3)))),
    ("no server id", "12.1-01", lines(*CLIENT_LINES[:4])),
    ("no prefix", "12.1-01", lines(*CLIENT_LINES[1:])),
    ("the nonce alone", "12.1-01", NONCE.encode()),
    ("nothing", "12.1-01", b""),
]  # fmt: skip
FALSE_SERVER: list[tuple[str, str, bytes]] = [
    ("own URI is another than in @HELLO", "12.2-02", instead(SERVER_LINES, _2="wss://rv1.example.net/")),
    ("own id is another than in @HELLO", "12.2-02", instead(SERVER_LINES, _3=S1)),
    ("the URI is not the verifier's, as in a relay", "12.2-03", instead(SERVER_LINES, _4="wss://rv3.example.org/")),
    ("the URI is the verifier's in another spelling", "12.2-04", instead(SERVER_LINES, _4="wss://RV2.example.org/")),
    ("the id is not the verifier's", "12.2-03", instead(SERVER_LINES, _5=S0)),
    ("the prefix of clients", "12.2-01", instead(SERVER_LINES, _0="FROG-AUTH-V1")),
    ("own and other values swapped", "12.2-01 12.2-02 12.2-03", lines(*(SERVER_LINES[n] for n in (0, 1, 4, 5, 2, 3)))),
    ("another nonce for a server", "12.2-01", instead(SERVER_LINES, _1=RID)),
    ("a line feed at the end for a server", "12-01", lines(*SERVER_LINES, end="\n")),
    ("own URI is the verifier's", "12.2-02", instead(SERVER_LINES, _2=URI2)),
    ("the signer names itself as the verifier", "12.2-03", instead(SERVER_LINES, _4=URI, _5=S0)),
    ("own URI without its path", "12.2-04", instead(SERVER_LINES, _2=URI.rstrip("/"))),
]  # fmt: skip


def odd_signatures() -> Iterator[tuple[str, str, str]]:
    """Over the right string, and still not a pure Ed25519 signature of it."""
    text, right = lines(*CLIENT_LINES), signed(PEER_SEED, lines(*CLIENT_LINES))
    s = int.from_bytes(right[32:], "little")
    yield "Ed25519ph", "9.1-02", crockford(signed(PEER_SEED, hashlib.sha512(text).digest(), dom2(1, b"")))
    yield "Ed25519ctx with an empty context", "9.1-03", crockford(signed(PEER_SEED, text, dom2(0, b"")))
    yield "Ed25519ctx with a context", "9.1-03", crockford(signed(PEER_SEED, text, dom2(0, b"FROG")))
    yield "S + L, which is the same modulo L", "9.1-05", crockford(right[:32] + (s + L).to_bytes(32, "little"))
    yield "one bit of R flipped", "9.1-01", crockford(bytes([right[0] ^ 1]) + right[1:])
    yield "one bit of S flipped", "9.1-01", crockford(right[:40] + bytes([right[40] ^ 0x10]) + right[41:])
    yield "all zero", "9.1-01", crockford(bytes(64))
    yield "R and S swapped", "9.1-01", crockford(right[32:] + right[:32])
    yield "unused bits set", "7.3-03", SIG[:-1] + "1"
    yield "in lower case", "7.2-03", SIG.lower()
    yield "one character short", "9.3-01", SIG[:-1]
    yield "in hex", "9.3-01", right.hex()


# -- files -------------------------------------------------------------------------------------------------------------


NEEDS = {"client": "verify", "server": "verify sister"}


def named(*words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def unique(vectors: list[Fields]) -> list[Fields]:
    seen: dict[str, int] = {}
    for vector in vectors:
        seen[vector["name"]] = count = seen.get(vector["name"], 0) + 1
        if count > 1:
            vector["name"] += f"-{count}"
    return vectors


def clauses(ids: str) -> list[str]:
    return [f"FROG-{id}" for id in ids.split()]


def vector(name: str, ids: str, result: str, why: str, given: Fields, expected: Fields, needs: str = "") -> Fields:
    made = {
        "name": name,
        "clauses": clauses(ids),
        "result": result,
        "comment": why,
        "needs": needs.split(),
        "input": given,
        "expected": expected,
    }
    return {key: value for key, value in made.items() if value not in ("", {}, [])}


def wire(message: bytes) -> Fields:
    """As hex; a long run of one byte at its end, or before a last line feed, as that byte and a number."""
    end = b"\n" if message.endswith(b"\n") else b""
    body = message.removesuffix(end) if end else message
    run = len(body) - len(body.rstrip(body[-1:])) if body else 0
    if run < 1000:
        return {"wire_hex": message.hex()}
    return {"wire_hex": body[:-run].hex(), "fill_hex": body[-1:].hex(), "fill_count": run, "end_hex": end.hex()}


def message(name: str, ids: str, result: str, why: str, way: str, raw: bytes, expected: Fields) -> Fields:
    return vector(name, ids, result, why, {"direction": way, **wire(raw)}, expected, way)


def taken() -> list[Fields]:
    made = [message(n, c, "valid", "", way, spelled(w), {"command": m}) for n, c, way, w, m in TAKEN]
    for name, way, header, command in LARGEST:
        expected = {"command": command, "payload_fill_hex": "61", "payload_count": 65536}
        made.append(message(name, "5-20", "valid", "", way, spelled(header) + b"a" * 65536, expected))
    return made


def refused() -> list[Fields]:
    made = []
    for way, text, clause, why, codes, echo in (*REFUSED, *MORE_REFUSED):
        expected = {"codes": codes.split("|"), "id": NAMED.get(echo, echo)} if codes else {}
        word = text.split(" ")[0].split("\n")[0]
        name = named("sister" if word.startswith("@") else "", word if re.fullmatch("@?[A-Z-]{2,}", word) else "", why)
        made.append(message(name, clause, "invalid", why, way, spelled(text), expected))
    raw = b"TRY A1 2 wss://rv2.example.net/ wss://rv3.example.org\n"
    kept = {"command": means("TRY", cid="A1", uris=["wss://rv2.example.net/"])}
    why = "the message stands, the URI that is not canonical is left out"
    made.append(message("try-with-a-uri-that-is-not-canonical", "8-25", "valid", why, TO_CLIENT, raw, kept))
    raw = (LONG_TRY + "x" * (4096 - len(LONG_TRY)) + "\n").encode()
    kept = {"command": means("TRY", cid="-", uris=[URI])}
    why = "a header of 4096 bytes is legal; a text that is too long for a URI is left out"
    made.append(message("try-with-a-header-of-4096-bytes", "5-04 8-25", "valid", why, TO_CLIENT, raw, kept))
    why = "AMB-45: a receiver may reject it or ignore it"
    raw = b"ERR - TEAPOT\n"
    made.append(
        message("err-with-a-code-outside-the-list", "38-05", "acceptable", why, TO_CLIENT, raw, {"refused": True})
    )
    return made


def uris() -> list[Fields]:
    made = []
    for rows, valid in ((CANONICAL + MORE_CANONICAL, True), (NOT_CANONICAL + MORE_NOT_CANONICAL, False)):
        made += [
            vector(named(why), clause, "valid" if valid else "invalid", why, {"uri": uri}, {"valid": valid})
            for uri, clause, why in rows
        ]
    made += [
        vector(named(why), clause, "acceptable", why, {"uri": uri}, {"valid": valid})
        for uri, clause, why, valid in OPEN + MORE_OPEN
    ]
    return made


def identifiers() -> list[Fields]:
    return [
        vector(
            named(kind, why),
            clause,
            "valid" if valid else "invalid",
            why,
            {"kind": kind, "text": text},
            {"valid": valid},
        )
        for kind, text, valid, clause, why in IDENTIFIERS
    ]


def identities() -> list[Fields]:
    assert (crockford(public(PEER_SEED)), crockford(public(SERVER_SEED))) == (KEY, SERVER_KEY)
    assert (public(PEER_SEED).hex(), public(SERVER_SEED).hex()) == (KEY_HEX, SERVER_KEY_HEX)
    made = [
        vector(
            f"base32-{raw.hex()[:4]}-{raw.hex()[-4:]}-{len(raw)}",
            "7.3-01",
            "valid",
            "",
            {"bytes_hex": raw.hex()},
            {"text": crockford(raw)},
        )
        for raw in RAW
    ]
    for name, seed, key, id in FIXTURES:
        assert (crockford(public(bytes.fromhex(seed))), name_of(public(bytes.fromhex(seed)))) == (key, id)
        made.append(vector(f"id-of-{name}", "7.4-02 10-01 50-01", "valid", "", {"public_key": key}, {"id": id}))
    return made


def proofs() -> list[Fields]:
    assert crockford(signed(PEER_SEED, lines(*CLIENT_LINES))) == SIG
    assert crockford(signed(SERVER_SEED, lines(*SERVER_LINES))) == SERVER_SIG
    made = [
        true("client", "12.1-01 50-01 47-01", "50.3", PEER_SEED, KEY, SIG, CLIENT_PROOF),
        true("server", "12.2-01 50-01", "50.4", SERVER_SEED, SERVER_KEY, SERVER_SIG, SERVER_PROOF),
    ]
    for name, seed_hex, key, id in FIXTURES[1:4]:
        seed, key_of_it = bytes.fromhex(seed_hex), f"N_{name.upper()}:{id}"
        proof = {"nonce": RID, "server_uri": "ws://127.0.0.1:9001/", "peer_key": key_of_it, "server_id": S0}
        signature = crockford(signed(seed, lines("FROG-AUTH-V1", *proof.values())))
        made.append(true("client", "12.1-01", f"peer {name}", seed, key, signature, proof))
    for why, clause, text in FALSE_CLIENT:
        made.append(false("client", why, clause, KEY, crockford(signed(PEER_SEED, text)), CLIENT_PROOF))
    for why, clause, text in FALSE_SERVER:
        made.append(false("server", why, clause, SERVER_KEY, crockford(signed(SERVER_SEED, text)), SERVER_PROOF))
    for why, clause, signature in odd_signatures():
        made.append(false("client", why, clause, KEY, signature, CLIENT_PROOF))
    return [*made, *false_names()]


def false_names() -> Iterator[Fields]:
    """A good signature, and a key that has not the name that is claimed."""
    other = bytes.fromhex(FIXTURES[1][1])
    by_other = crockford(signed(other, lines(*CLIENT_LINES)))
    yield false("client", "signed by a key of another name", "12.1-05", FIXTURES[1][2], by_other, CLIENT_PROOF)
    yield false("client", "signed by another key under the right one's name", "9.1-01", KEY, by_other, CLIENT_PROOF)
    by_other = crockford(signed(other, lines(*SERVER_LINES)))
    yield false("server", "signed by a key of another server id", "12.2-02", FIXTURES[1][2], by_other, SERVER_PROOF)
    spelled_so = {**SERVER_PROOF, "self_uri": "wss://RV.example.net/"}
    yield false(
        "server", "@HELLO had another spelling of what is signed", "12.2-04", SERVER_KEY, SERVER_SIG, spelled_so
    )
    claimed = {**CLIENT_PROOF, "peer_key": f"BLUTELLA:{name_of(KEY.encode())}"}
    signature = crockford(signed(PEER_SEED, lines("FROG-AUTH-V1", *claimed.values())))
    yield false("client", "the fingerprint is the hash of the key's text", "10-01", KEY, signature, claimed)


def true(role: str, ids: str, why: str, seed: bytes, key: str, signature: str, proof: Fields) -> Fields:
    given = {"role": role, **proof, "public_key": key, "signature": signature, "seed_hex": seed.hex()}
    return vector(named(role, why), ids, "valid", why, given, {"valid": True}, NEEDS[role])


def false(role: str, why: str, clause: str, key: str, signature: str, proof: Fields) -> Fields:
    return vector(
        named(role, why),
        clause,
        "invalid",
        why,
        {"role": role, **proof, "public_key": key, "signature": signature},
        {"valid": False},
        NEEDS[role],
    )


SOURCE = "seeds/003, sections 5 to 13 and 50, and the sheet's readings of them"


def write(group: str, derivation: str, notes: list[str], vectors: list[Fields]) -> None:
    file = {
        "protocol": "frog",
        "group": group,
        "provenance": {"source": SOURCE, "derivation": derivation},
        "notes": notes,
        "vectors": unique(vectors),
    }
    VECTORS.mkdir(exist_ok=True)
    (VECTORS / f"{group}.json").write_text(json.dumps(file, indent=1) + "\n")


def main() -> None:
    by_hand = "written out by hand in derivations/frog.py, the meaning beside the bytes"
    filled = (
        "The message is `wire_hex`, then `fill_count` times `fill_hex`, then `end_hex`; mostly there is only the first."
    )
    write(
        "commands",
        by_hand,
        [
            "Operation decode gives the command, encode of the command gives the message.",
            "A payload that is left out is `payload_count` times `payload_fill_hex`.",
            filled,
        ],
        taken(),
    )
    write(
        "refused",
        by_hand,
        ["Operation decode refuses these. An error about one has one of `codes` and echoes `id`.", filled],
        refused(),
    )
    write("uris", by_hand, ["Operation check with kind uri."], uris())
    write("identifiers", by_hand, ["Operation check."], identifiers())
    write(
        "identities",
        "section 50 copied; Base32 from bits, SHA-256 of the standard library, Ed25519 as RFC 8032 writes it",
        ["Operations base32_encode and base32_decode for bytes, identify for a public key."],
        identities(),
    )
    write(
        "proofs",
        "section 50 copied; signatures made with Ed25519 as RFC 8032 writes it",
        [
            "Operations verify_client and verify_server. Where there is a seed, client_auth and server_auth give key and signature."
        ],
        proofs(),
    )


if __name__ == "__main__":
    sys.exit(main())
