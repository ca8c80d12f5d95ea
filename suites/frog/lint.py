"""Rules that hold for every message a server or a client emits, checked on its raw bytes as they arrive."""

from __future__ import annotations

import re

from harness.judging.trial import Broken, need
from reference_impl.frog.uri import why_not
from suites.frog.wire import ALPHABET, MAX_PAYLOAD

ID = f"[{ALPHABET}]{{26}}"
CID = r"(?!- )(?!-$)[A-Z0-9_-]{1,32}"
KEY = f"[A-Z0-9_]{{1,16}}:{ID}"
KIND = "(?:OFFER|ANSWER|ICE)"
CODES = (
    "BAD_REQUEST|BAD_STATE|AUTH_REQUIRED|AUTH_FAILED|PEER_NOT_FOUND|LOOKUP_TIMEOUT|ROUTE_NOT_FOUND|ROUTE_EXPIRED|"
    "TARGET_MISMATCH|PAYLOAD_TOO_LARGE|RATE_LIMITED|SERVER_UNAVAILABLE|INTERNAL"
)
LENGTH = "(?P<length>0|[1-9][0-9]*)"
FROM_SERVER = {  # word -> the rest of its header, and the clause that a deviation breaks
    "HELLO": (f"FROG/1 {ID}", "FROG-16-02"),
    "CHAL": (ID, "FROG-7.8-01"),
    "OK": ("(?:JOIN|LEAVE)", "FROG-13.1-02"),
    "TRY": (rf"(?:-|{CID}) (?P<count>[0-7])(?P<list>(?: [^ ]+)*)", "FROG-13.1-06"),
    "PEERS": (rf"{CID} (?P<count>[0-7])(?P<list>(?: {KEY})*)", "FROG-13.1-07"),
    "FOUND": (f"{CID} {KEY} {ID}", "FROG-13.1-02"),
    "SIGNAL-FROM": (f"{ID} {KEY} {KIND} {LENGTH}", "FROG-13.1-02"),
    "ERR": (f"[A-Z0-9_-]{{1,32}} (?:{CODES})", "FROG-38-05"),
}
FROM_CLIENT = {
    "HELLO": ("FROG/1", "FROG-16-01"),
    "JOIN": (KEY, "FROG-7.5-01"),
    "AUTH": (f"[{ALPHABET}]{{51}}[0G] [{ALPHABET}]{{102}}[08GR]", "FROG-7.3-02"),
    "LEAVE": ("", "FROG-13.1-01"),
    "GETSERVERS": (f"{CID} [1-7]", "FROG-21-02"),
    "FIND": (f"{CID} [1-7]", "FROG-22-01"),
    "LOOKUP": (f"{CID} {KEY}", "FROG-23-01"),
    "SIGNAL": (f"{ID} {KIND} {LENGTH}", "FROG-13.1-03"),
}
FROM_SISTER = {
    "@HELLO": (f"FROG/1 {ID} (?P<uri>[^ ]+)", "FROG-29-01"),
    "@CHAL": (ID, "FROG-7.8-01"),
    "@AUTH": (f"[{ALPHABET}]{{51}}[0G] [{ALPHABET}]{{102}}[08GR]", "FROG-7.3-02"),
    "@OK": ("AUTH", "FROG-13.2-01"),
    "@ERR": (f"[A-Z0-9_-]{{1,32}} (?:{CODES})", "FROG-38-05"),
    "@LIST": (f"{CID} [1-7]", "FROG-33-02"),
    "@SERVERS": (rf"{CID} (?P<count>[0-7])(?P<list>(?: {ID} [^ ]+)*)", "FROG-33-03"),
    "@FIND": (f"{CID} {ID} {KEY} [1-7] [0-7]", "FROG-13.2-01"),
    "@PEERS": (rf"{CID} {ID} (?P<count>[0-7])(?P<list>(?: {KEY})*)", "FROG-13.2-04"),
    "@LOOKUP": (f"{ID} {ID} {KEY} {KEY} [0-7]", "FROG-13.2-01"),
    "@FOUND": (f"{ID} {KEY}", "FROG-13.2-01"),
    "@SIGNAL": (f"{ID} {KEY} {KIND} {LENGTH}", "FROG-13.2-01"),
}
SHAPES = {"server": FROM_SERVER, "client": FROM_CLIENT, "sister": FROM_SISTER}
FOREIGN = {"server": "FROG-13.1-02", "client": "FROG-13-02", "sister": "FROG-13-03"}
"""What a word breaks that this side never says."""


def lint(message: str | bytes, role: str) -> None:
    """Raises Broken for a message that this role may not emit."""
    need(isinstance(message, bytes), "FROG-4-05", "a binary message", f"text {message[:60]!r}")
    assert isinstance(message, bytes)
    header, newline, payload = message.partition(b"\n")
    need(newline == b"\n", "FROG-5-23", "a header that ends with a line feed", message[:200])
    need(len(header) <= 4096, "FROG-5-23", "a header of at most 4096 bytes", f"{len(header)} bytes")
    need(all(0x20 <= byte <= 0x7E for byte in header), "FROG-5-23", "visible ASCII in the header", header)
    text = header.decode("ascii")
    need("" not in text.split(" "), "FROG-6-02", "exactly one space between fields", repr(text))
    word, _, rest = text.partition(" ")
    if role != "sister":
        need(not word.startswith("@"), "FROG-14-04", "no sister's command on a client's connection", text)
    need(word in SHAPES[role], FOREIGN[role], f"a command that a {role} says", text)
    shape, clause = SHAPES[role][word]
    found = re.fullmatch(shape, rest)
    if found is None:
        raise Broken(clause, f"{word} {shape}"[:300], text[:300])
    carried(found.groupdict(), word, text, payload)


def carried(parts: dict[str, str | None], word: str, text: str, payload: bytes) -> None:
    """Counts and lengths say what is there."""
    if (count := parts.get("count")) is not None:
        listed, width = (parts["list"] or "").split(), 2 if word == "@SERVERS" else 1
        clause = {"@SERVERS": "FROG-33-03", "@PEERS": "FROG-13.2-04"}.get(word, "FROG-13.1-05")
        need(len(listed) == int(count) * width, clause, f"{count} entries", text)
        if word in ("TRY", "@SERVERS"):
            for uri in listed[width - 1 :: width]:
                need(why_not(uri) is None, "FROG-30-04", "canonical URIs", f"{uri}: {why_not(uri)}")
    if (own := parts.get("uri")) is not None:
        need(why_not(own) is None, "FROG-8-27", "a canonical URI of its own", f"{own}: {why_not(own)}")
    if (length := parts.get("length")) is not None:
        need(
            int(length) == len(payload) <= MAX_PAYLOAD,
            "FROG-5-23",
            f"{length} bytes of payload",
            f"{len(payload)} bytes",
        )
    else:
        need(not payload, "FROG-13.3-01", "no payload behind this command", f"{text}: {payload[:40]!r}")
