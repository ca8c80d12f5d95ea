"""Where peerbus mutants are collected."""

from functools import partial

from harness.mutation.mutant import Shelf
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.client import ClientMachine
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.codec import Codec
from targets.reference.peerbus import ROLES, DocumentBrokerRole, DocumentCodec

shelf = Shelf(
    "peerbus",
    {name.split("/")[1]: role for name, role in ROLES.items()},
    {
        "codec": {"codec": Codec},
        "broker": {"machine": BrokerMachine, "broker": Broker, "codec": Codec},
        "client": {"machine": ClientMachine, "client": Client, "codec": Codec},
    },
)

broken_broker = partial(shelf.breaks, role="broker")

document = Shelf("peerbus", {"broker": DocumentBrokerRole}, {"broker": {"codec": DocumentCodec}})
"""Those of a broker that declares the document's authority."""

broken_document_broker = partial(document.breaks, role="broker")
