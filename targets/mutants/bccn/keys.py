"""Nodes that do not use a key where they have one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from reference_impl.bccn.frames import Send
from reference_impl.bccn.node import NodeMachine, State
from targets.mutants.bccn.shelf import shelf


@contextmanager
def without_key(machine: NodeMachine) -> Iterator[None]:
    """A while in which the node has forgotten its key."""
    config = machine.config
    machine.config = replace(config, key=b"")
    try:
        yield
    finally:
        machine.config = config


@shelf.breaks("BCCN-API-04", role="node")
class KeyOfOpenIsNotUsed(NodeMachine):
    """Signs with the key of a call, but not with that of open."""

    def datagram(self, state: State, event: Send) -> bytes:
        with without_key(self):
            return super().datagram(state, event)


@shelf.breaks("BCCN-INT-19", role="node")
class KeyOfACallIsNotUsed(NodeMachine):
    """Does not sign with the key of a call."""

    def datagram(self, state: State, event: Send) -> bytes:
        return super().datagram(state, replace(event, key=b""))
