"""Where BCCN mutants are collected."""

from typing import Any

from harness.mutation.mutant import Shelf
from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.node import NodeMachine
from reference_impl.bccn.node_io import Node, own_name
from reference_impl.bccn.tracker import Tracker
from targets.reference.bccn import CodecRole, NodeRole


class Identity:
    """What a process is called by the convention: a part of its own here, so that it can be wrong."""

    def name(self) -> str:
        return own_name()


class Identified(NodeRole):
    """The reference's role, with a slot for its identity."""

    identity: type[Identity] = Identity

    async def do_own_name(self) -> dict[str, Any]:
        return {"name": self.identity().name()}


shelf = Shelf(
    "bccn",
    {"codec": CodecRole, "node": Identified},
    {
        "codec": {"codec": Codec, "addressing": Addressing},
        "node": {
            "machine": NodeMachine,
            "node": Node,
            "codec": Codec,
            "addressing": Addressing,
            "tracker": Tracker,
            "identity": Identity,
        },
    },
)
