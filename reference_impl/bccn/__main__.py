"""`python -m reference_impl.bccn`: a node that prints what it hears; with `send`, one that says one thing."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from reference_impl.bccn.frames import Delivered
from reference_impl.bccn.node_io import Node, NotSent, own_name, spelled
from reference_impl.io.serving import CommandLine


def listen(told: argparse.Namespace) -> None:
    node = Node.open(
        told.broadcast,
        told.port,
        os.fsencode(told.key),
        on_event=lambda event: print(spelled(event), flush=True) if isinstance(event, Delivered) else None,
    )
    node.name = told.name
    for pattern in told.pattern:
        node.listen(pattern)
    if told.heartbeat:
        node.start_heartbeat(told.heartbeat)
    print(f"bccn node {node.name} on {told.broadcast}:{told.port}", flush=True)
    try:
        node.run()
    except KeyboardInterrupt:
        node.close()


def send(told: argparse.Namespace) -> None:
    node = Node.open(told.broadcast, told.port, os.fsencode(told.key))
    node.name = told.name
    node.seq = told.seq
    node.send(None, told.chan, os.fsencode(told.payload))
    node.close()


def arguments(words: Sequence[str]) -> argparse.Namespace:
    common = CommandLine(add_help=False)
    common.add_argument("--broadcast", default="127.255.255.255", help="where notifications go; loopback if not given")
    common.add_argument("--port", type=int, default=5400)
    common.add_argument("--key", default="", help="the shared secret; without it nothing is signed or verified")
    common.add_argument("--name", default=own_name(), help="host/program/pid if not given")
    parser = CommandLine(prog="bccn", description="A BCCN1 node.", parents=[common])
    parser.set_defaults(run=listen, pattern=[], heartbeat=0.0)
    parser.add_argument("--heartbeat", type=float, default=0.0, metavar="SECONDS")
    commands = parser.add_subparsers(metavar="[send]")
    sending = commands.add_parser("send", help="send one notification and leave", parents=[common])
    sending.set_defaults(run=send)
    sending.add_argument("--seq", type=int, default=int(time.time()), help="epoch seconds if not given")
    sending.add_argument("chan", help='a topic, "!" for everybody, "!name" for whom it names')
    sending.add_argument("payload", nargs="?", default="")
    return parser.parse_args(words)


def main() -> None:
    told = arguments(sys.argv[1:])
    try:
        told.run(told)
    except (NotSent, OSError) as error:
        sys.exit(f"bccn: {error}")


if __name__ == "__main__":
    main()
