"""Where TrueSeal mutants are collected."""

from functools import partial

from harness.mutation.mutant import Shelf
from reference_impl.trueseal.client import ClientMachine
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.noise import Noise
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay
from targets.reference.trueseal import ROLES

shelf = Shelf(
    "trueseal",
    {name.split("/")[1]: role for name, role in ROLES.items()},
    {
        "codec": {"codec": Codec, "noise": Noise},
        "relay": {"machine": RelayMachine, "relay": Relay, "codec": Codec},
        "client": {"machine": ClientMachine, "client": Client, "codec": Codec},
    },
)

broken_codec = partial(shelf.breaks, role="codec")
broken_relay = partial(shelf.breaks, role="relay")
broken_client = partial(shelf.breaks, role="client")
