"""Where BCCN mutants are collected."""

from harness.mutants import Shelf
from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.node import NodeMachine
from reference_impl.bccn.node_io import Node
from reference_impl.bccn.tracker import Tracker
from targets.reference.bccn import ROLES

shelf = Shelf(
    "bccn",
    {name.split("/")[1]: role for name, role in ROLES.items()},
    {
        "codec": {"codec": Codec, "addressing": Addressing},
        "node": {"machine": NodeMachine, "node": Node, "codec": Codec, "addressing": Addressing, "tracker": Tracker},
    },
)
