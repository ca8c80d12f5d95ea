"""Sections 5 to 7 at a server: each vector that has to be refused, where it would otherwise be legal."""

from __future__ import annotations

import re

import msgspec

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Each, Trial
from suites.frog.codec.under_test import wire_of
from suites.frog.server.under_test import PeerLine, ServerUnderTest

REFUSED = load("frog/refused")
ERROR = b"ERR "  # whether that is answered is open, see test_states
MINE = [v for v in REFUSED.vectors if v.input["direction"] == "to_server" and not v.given("wire").startswith(ERROR)]
STATE = {"JOIN": "hello-ok", "GETSERVERS": "hello-ok", "LEAVE": "hello-ok", "AUTH": "auth-pending"}
STATE |= dict.fromkeys(
    ["FIND", "LOOKUP", "SIGNAL", "SIGNAL-FROM", "OK", "CHAL", "TRY", "FOUND", "PEERS", "ERR"], "registered"
)
WHOLE = re.compile(rb"[ -~]+\n", re.DOTALL)
"""Well-framed: visible ASCII up to one line feed, and nothing behind it."""


TOO_LARGE_TOO = {"FROG-5-17": ("BAD_REQUEST",)}
"""Over-long payloads are malformed too, though they have a code of their own (AMB-03): see test_signals for the advice."""


def state_of(vector: Vector) -> str:
    """Where the command would be legal without its fault; what is no command at all is said first."""
    word = wire_of(vector)[:64].split(b"\n")[0].split(b" ")[0].decode("latin-1").upper()
    return "registered" if word.startswith("@") else STATE.get(word, "new")


def ids_of(vector: Vector) -> tuple[str, ...]:
    """What an error may echo: a CID has to be where only a value is wrong (AMB-06), else it should."""
    wire, id = wire_of(vector), str(vector.expected["id"])
    words = wire.split(b"\n")[0].decode("latin-1").split()
    if id != "-":
        only_a_value = words[0] in ("GETSERVERS", "FIND", "LOOKUP") and len(words) == 3 and WHOLE.fullmatch(wire)
        return (id,) if only_a_value else (id, "-")
    perhaps = [word for word in words[1:2] if re.fullmatch(r"[A-Z0-9_-]{1,32}", word)]
    framed = WHOLE.fullmatch(wire) and b"  " not in wire and not wire.endswith(b" \n")
    return ("-",) if framed and not words[0].startswith("@") else ("-", *perhaps)


def severe(vector: Vector) -> bool:
    """Broken framing: a close without a word will do (FROG-15-08)."""
    return vector.clauses[0].split("-")[1] in ("4", "5", "6")


@clauses(
    *dict.fromkeys(clause for vector in MINE for clause in vector.clauses),
    "FROG-5-24",
    "FROG-15-05",
    "FROG-15-06",
    "FROG-15-07",
    "FROG-15-14",
    "FROG-38-01",
    "FROG-38-03",
    "FROG-38-04",
)
async def test_broken_message_is_refused(server: ServerUnderTest, each: Each, trial: Trial) -> None:
    """With an error of the right code and id, and without any effect; broken framing may end the connection at once."""

    async def judge(vector: Vector) -> None:
        line = await server.in_state(state_of(vector))
        await line.raw(wire_of(vector))
        clause = vector.clauses[0]
        codes = tuple(dict.fromkeys((*vector.expected["codes"], *TOO_LARGE_TOO.get(clause, ()))))
        if await line.expect_refusal(clause, codes, ids_of(vector), severe(vector)):
            await unharmed(line, state_of(vector))
        await line.leave()

    await each([also(vector) for vector in MINE], judge)


def also(vector: Vector) -> Vector:
    """What a refusal by a server shows beyond the fault itself: its code, its id, and that nothing came of it."""
    echoes = ("FROG-15-07", "FROG-38-04") if vector.expected["id"] == "-" else ("FROG-15-06", "FROG-38-03")
    shown = (*vector.clauses, "FROG-15-05", "FROG-5-24", "FROG-15-14", "FROG-38-01", *echoes)
    return msgspec.structs.replace(vector, clauses=list(dict.fromkeys(shown)))


async def unharmed(line: PeerLine, state: str) -> None:
    """A rejected message changes nothing; a failed AUTH may (AMB-13)."""
    if state != "auth-pending":
        await line.expect_state(state, "FROG-5-24")
