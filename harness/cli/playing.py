"""`serve` with a watcher or with a fault: the reference, its decoded frames printed, or one part of it put in by a mutant's.

It is a process of its own (`python -m harness.cli.playing`), for both change the reference where it stands.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from typing import Any

from harness.catalogue.protocols import roles, servers
from harness.errors import UsageError
from harness.mutation.mutant import Mutant, mutants_of
from harness.subscribers.text import printable
from reference_impl.core.machine import CLOCK
from reference_impl.core.player import Player, Turn

MOST_TEXT = 400
"""Characters shown of one frame."""


def played(protocol: str) -> str:
    """The role that `serve` plays: a server's, else the one that is no codec."""
    return next(iter([*servers([protocol]), *(role for role in roles([protocol]) if not role.endswith("/codec"))]))


def misbehave(mutant: Mutant) -> None:
    """Whatever has imported the honest part finds the mutant's in its place."""
    role = f"{mutant.protocol}/{mutant.role}"
    if role not in (played(mutant.protocol), f"{mutant.protocol}/codec"):
        raise UsageError(f"{mutant.name} is a mutant of {role}, and `serve` plays {played(mutant.protocol)}")
    for name, module in list(sys.modules.items()):
        if name.startswith(f"reference_impl.{mutant.protocol}"):
            for attribute in [key for key, value in vars(module).items() if value is mutant.honest]:
                setattr(module, attribute, mutant.wrong)


def trace(role: str) -> None:
    """Every input that a machine gets and every frame that it says, as it is decoded."""
    began, receive = time.monotonic(), Player.receive

    def say(sender: object, receiver: object, what: object) -> None:
        text = printable(str(what))
        short = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}... ({len(text)} characters)"
        print(f"{time.monotonic() - began:9.4f}  {sender} -> {receiver}  {short}", flush=True)

    def traced(self: Player[Any], channel: Any, event: Any) -> Turn:
        if channel != CLOCK:
            say(channel, role, event)
        turn = receive(self, channel, event)
        for receiver, frame in turn.frames:
            say(role, receiver, frame)
        return turn

    Player.receive = traced  # type: ignore[method-assign]  # in this process, which does nothing else


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False)  # what is not ours, --help too, is for the reference
    parser.add_argument("protocol")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--mutant", default="")
    told, rest = parser.parse_known_args(words)
    reference = importlib.import_module(f"reference_impl.{told.protocol}.__main__")
    if told.mutant:
        mutants = mutants_of(told.protocol)
        if told.mutant not in mutants:
            raise UsageError(
                f"there is no mutant {told.mutant!r}: `touchstone mutants {told.protocol} --list` names them"
            )
        misbehave(mutants[told.mutant])
        print(f"misbehaving: {mutants[told.mutant].fault}", flush=True)
    if told.trace:
        trace(played(told.protocol).split("/")[1])
    sys.argv = [f"reference_impl.{told.protocol}", *rest]
    reference.main()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(f"touchstone: {error}", file=sys.stderr)
        sys.exit(3)
