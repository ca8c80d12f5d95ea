"""The form of every datagram that a node or a codec emits."""

from __future__ import annotations

import re


def fault(wanted: bytes, got: bytes | None) -> str:
    """The clause that a datagram breaks by its form; empty where its form is right and what it says is not."""
    shape = re.fullmatch(rb"(.*?)\[(.*?)\](.*)", got or b"", re.DOTALL)
    if not shape or shape[3] != wanted.partition(b"]")[2]:
        return ""
    magic, bracket, check = shape[1], shape[2], wanted.partition(b"]")[0].partition(b":")[2]
    length, colon, said = bracket.partition(b":")
    algo, _, sum = said.partition(b"=")
    faults = {
        "BCCN-ENV-01": magic != b"BCCN1",
        "BCCN-ENV-05": bracket.split() != [bracket],
        "BCCN-ENV-17": bool(colon and not check),
        "BCCN-INT-08": not length.isdigit() or (bool(check) and b"=" not in said),
        "BCCN-ENV-18": length != str(len(shape[3])).encode(),
        "BCCN-ENV-14": bool(check) and algo == b"HMAC",
        "BCCN-INT-04": bool(check) and algo != b"hmac",
        "BCCN-ENV-15": bool(check) and not re.fullmatch(rb"[0-9a-fA-F]+", sum),
        "BCCN-INT-07": bool(check) and not re.fullmatch(rb"[0-9a-f]{16}", sum),
        "BCCN-INT-05": bool(check) and said != check,
    }
    return next((clause for clause, broken in faults.items() if broken), "")
