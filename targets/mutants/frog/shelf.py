"""Where FROG mutants are collected."""

from collections.abc import Callable
from typing import TypeVar

from harness.mutation.mutant import Shelf
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client_io import Client
from reference_impl.frog.codec import Codec
from reference_impl.frog.identity import Identities
from reference_impl.frog.server import ServerMachine
from reference_impl.frog.server_io import Server
from targets.reference.frog import ClientRole, CodecRole, Names, ServerRole

shelf = Shelf(
    "frog",
    {"codec": CodecRole, "server": ServerRole, "client": ClientRole},
    {
        "codec": {"codec": Codec, "names": Names, "identities": Identities},
        "server": {"machine": ServerMachine, "server": Server, "codec": Codec, "identities": Identities},
        "client": {"machine": ClientMachine, "client": Client, "codec": Codec, "identities": Identities},
    },
)
Part = TypeVar("Part", bound=type)


def in_codec(*clauses: str) -> Callable[[Part], Part]:
    """Also for what server and client have in common with it: they use the same classes."""
    return shelf.breaks(*clauses, role="codec")


def in_server(*clauses: str) -> Callable[[Part], Part]:
    return shelf.breaks(*clauses, role="server")


def in_client(*clauses: str) -> Callable[[Part], Part]:
    return shelf.breaks(*clauses, role="client")
