"""`python -m reference_impl.frog`: a server for anyone to play against."""

from __future__ import annotations

import argparse
import secrets
from dataclasses import fields

from reference_impl.frog.identity import Identities
from reference_impl.frog.known import MOST_WAITS, Backoff
from reference_impl.frog.limits import Bounds, Rates, Timers
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.frog.server_io import Server
from reference_impl.frog.sisters import Mesh, Seed
from reference_impl.frog.uri import why_not
from reference_impl.io.serving import command_line, serve

TIMERS = {
    "challenge_s": "auth-challenge-ttl-ms",
    "route_s": "route-ttl-ms",
    "lookup_s": "lookup-timeout-ms",
    "find_s": "find-timeout-ms",
}
FLOODS = ("lookup_ttl", "find_ttl", "lookup_fanout", "find_fanout")


def arguments() -> argparse.Namespace:
    parser = command_line("frog", "A FROG/1 rendezvous server. Times are in ms, 0 is no bound.", port=5482)
    parser.add_argument("--uri", default="", help="the canonical public URI; its address if not given")
    parser.add_argument("--seed", default="", help="64 hex digits, the server's key; a new one if not given")
    for name, option in TIMERS.items():
        parser.add_argument(f"--{option}", dest=name, type=int, default=int(1000 * getattr(Timers(), name)))
    for bound in fields(Bounds):
        option = bound.name.replace("_", "-")
        parser.add_argument(f"--max-{option}", dest=f"max_{bound.name}", type=int, default=0)
    for rate in fields(Rates):
        option = rate.name.replace("_", "-")
        parser.add_argument(f"--rate-{option}", dest=f"rate_{rate.name}", type=int, default=rate.default)
    federating(parser.add_argument_group("federation", "a server is a URI, or ID@URI where its id is known"))
    told = parser.parse_args()
    if told.uri and (fault := why_not(told.uri)):
        parser.error(f"--uri {told.uri} is not canonical: {fault}")
    try:
        told.mesh = mesh_of(told)
    except ValueError as error:
        parser.error(str(error))
    return told


def federating(group: argparse._ArgumentGroup) -> None:
    mesh = Mesh()
    group.add_argument("--sister", action="append", default=[], metavar="SERVER", help="dial it; may be repeated")
    group.add_argument("--sisters", default="", metavar="SERVER,...", help="the same, in one word")
    group.add_argument("--allow", default="", metavar="ID,...", help="let these federate when they dial")
    group.add_argument("--discover", type=int, choices=(0, 1), default=0, help="ask for more servers and verify them")
    group.add_argument("--redial-ms", type=int, default=int(1000 * mesh.redial.first_s))
    for name in FLOODS:
        group.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(mesh, name))


def mesh_of(told: argparse.Namespace) -> Mesh:
    seeds = [*told.sister, *filter(None, told.sisters.split(","))]
    return Mesh(
        tuple(Seed.of(seed) for seed in seeds),
        frozenset(filter(None, told.allow.split(","))),
        bool(told.discover),
        redial=Backoff(told.redial_ms / 1000, MOST_WAITS * told.redial_ms / 1000),
        **{name: getattr(told, name) for name in FLOODS},
    )


def config_of(told: argparse.Namespace) -> Config:
    identities = Identities()
    seed = bytes.fromhex(told.seed) if told.seed else secrets.token_bytes(32)
    return Config(
        identities.id_of(identities.public_key(seed)),
        told.uri,
        Timers(**{name: getattr(told, name) / 1000 for name in TIMERS}),
        Bounds(**{bound.name: getattr(told, f"max_{bound.name}") for bound in fields(Bounds)}),
        Rates(**{rate.name: getattr(told, f"rate_{rate.name}") for rate in fields(Rates)}),
        seed,
        told.mesh,
    )


def main() -> None:
    told = arguments()
    server = Server(ServerMachine(config_of(told)))
    serve(server, told, lambda _: f"frog server {server.machine.config.server_id} as {server.uri}")


if __name__ == "__main__":
    main()
