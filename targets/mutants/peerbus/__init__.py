"""Peerbus mutants."""

from targets.mutants.peerbus import (
    broker_keeping,
    broker_register,
    broker_routing,
    broker_traffic,
    broker_wire,
    client,
    codec,
)
from targets.mutants.peerbus.shelf import shelf

__all__ = [
    "MUTANTS",
    "broker_keeping",
    "broker_register",
    "broker_routing",
    "broker_traffic",
    "broker_wire",
    "client",
    "codec",
]
MUTANTS = shelf.mutants
