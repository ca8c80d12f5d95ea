"""What a target made of a datagram, and whether that is what a vector says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.catalogue.vectors import Vector
from harness.errors import ShimBroken, TargetUnsupported
from harness.judging.trial import Broken
from suites.bccn.wire import mode_of

Message = tuple[str, int, str, bytes]
"""src, seq, chan and payload."""


@dataclass(frozen=True)
class Reading:
    """A message as a target says it decoded or delivered it."""

    src: str
    number: int | None  # None: an API that does not tell it
    chan: str
    payload: bytes
    mode: str = ""
    peer: tuple[str, int] = ("", 0)
    authenticated: bool = False
    pattern: str = ""  # of the listener that was called

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Reading:
        """From the shim's words; what cannot be understood is the shim's fault."""
        try:
            host, port = answer.get("peer") or ("", 0)
            return cls(
                str(answer["src"]),
                int(answer["seq"]) if answer.get("seq") is not None else None,
                str(answer["chan"]),
                bytes.fromhex(answer["payload"]),
                str(
                    answer.get("mode") or mode_of(str(answer["chan"]))[1]
                ).lower(),  # a "!" on chan tells it (BCCN-DLV-05)
                (str(host), int(port)),
                bool(answer.get("authenticated", False)),
                str(answer.get("pattern", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ShimBroken(f"this is no message ({error!r}): {str(answer)[:200]}") from None

    @property
    def seq(self) -> int:
        if self.number is None:
            raise TargetUnsupported("this API does not tell the seq of a message")
        return self.number

    @property
    def message(self) -> Message:
        return self.src, self.seq, self.chan, self.payload


def wanted(vector: Vector) -> Message:
    expected = vector.expected
    return expected["src"], int(expected["seq"]), expected["chan"], vector.wanted("payload")


def judge_reading(vector: Vector, said: Reading | None) -> None:
    """Does what a target made of a vector's datagram (None: it refused or dropped it) fit?

    Where both may be, it is refused or read as the vector says: what is read as anything else is wrong in full.
    """
    if vector.refused:
        if said is not None:
            raise Broken.of(vector, f"no message ({vector.comment})", str(said))
        return
    if said is None:
        if vector.result == "valid":
            raise Broken.of(vector, str(wanted(vector)), "no message")
        return
    if said.message != wanted(vector):
        raise Broken(vector.clauses[0], str(wanted(vector)), str(said))
    if said.authenticated and "key_hex" not in vector.input:
        raise Broken("BCCN-INT-18", "not called authenticated: there is no key", str(said))
    mode_clause, mode = mode_of(said.chan)
    if said.mode not in ("", mode):
        raise Broken(mode_clause, f"delivery mode {mode}", str(said))


def key_of(vector: Vector) -> bytes:
    return vector.given("key") if "key_hex" in vector.input else b""


def keyed(key: bytes) -> dict[str, str]:
    """The key as an argument of an operation, where there is one."""
    return {"key": key.hex()} if key else {}
