"""A target that does nothing right, in one way, in all roles of a protocol: `python nothing.py WAY ROLE...`.

It says hello as it should, so that there are cases. What it then is asked, who connects to it, and whom it shall connect to meet
the same: silence, an end at once, a byte now and then, noise, or a beginning without an end.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter
Message = dict[str, Any]
DRIP_S = 0.5
PLACE = re.compile(r"127\.0\.0\.1:(\d+)")


class Way:
    """Silence."""

    async def greets(self, reader: Reader, writer: Writer) -> None:
        """Whoever is at the other end of a connection."""
        await asyncio.Event().wait()

    async def starts(self, request: Message, details: Message) -> None:
        await say({"id": request["id"], "result": details})

    async def does(self, request: Message) -> None:
        pass


class Closes(Way):
    """Each connection at once, and itself at the first operation."""

    async def greets(self, reader: Reader, writer: Writer) -> None:
        writer.close()

    async def does(self, request: Message) -> None:
        os._exit(0)


class Drips(Way):
    async def greets(self, reader: Reader, writer: Writer) -> None:
        for byte in b"HTTP/1.1 101 Switching Protocols\r\n" * 1_000:
            writer.write(bytes([byte]))
            await asyncio.sleep(DRIP_S)

    async def does(self, request: Message) -> None:
        for letter in json.dumps({"id": request["id"], "result": {}}):
            print(letter, end="", flush=True)
            await asyncio.sleep(DRIP_S)
        print(flush=True)


class Garbage(Way):
    async def greets(self, reader: Reader, writer: Writer) -> None:
        while True:
            writer.write(os.urandom(1 << 14))
            await writer.drain()

    async def does(self, request: Message) -> None:
        await say({"id": request["id"], "result": {os.urandom(4).hex(): os.urandom(8).hex()}})


class Hangs(Way):
    """In the handshake: a beginning, and nothing more; no start is ever answered."""

    async def greets(self, reader: Reader, writer: Writer) -> None:
        await reader.read(1)
        writer.write(b"HTTP")
        await asyncio.Event().wait()

    async def starts(self, request: Message, details: Message) -> None:
        pass


WAYS: dict[str, Way] = {
    "silence": Way(),
    "closes": Closes(),
    "drips": Drips(),
    "garbage": Garbage(),
    "hangs": Hangs(),
}


async def say(message: Message) -> None:
    print(json.dumps(message), flush=True)


def quietly(greets: Callable[[Reader, Writer], Awaitable[None]]) -> Callable[[Reader, Writer], Awaitable[None]]:
    async def greet(reader: Reader, writer: Writer) -> None:
        with contextlib.suppress(OSError):
            await greets(reader, writer)

    return greet


async def dial(way: Way, port: int) -> None:
    with contextlib.suppress(OSError):
        await way.greets(*await asyncio.open_connection("127.0.0.1", port))


async def serve(way: Way, roles: list[str]) -> None:
    server = await asyncio.start_server(quietly(way.greets), "127.0.0.1", 0)
    place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    addresses = {"push": f"tcp://{place}", "receive": f"tcp://{place}"}
    server_details = {"address": f"ws://{place}/", "addresses": addresses, "public_key": "02" * 32}
    busy = set[asyncio.Task[None]]()
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        task = asyncio.create_task(answer(way, roles, request, server_details))
        busy.add(task)
        task.add_done_callback(busy.discard)
        if request["verb"] == "start" and request["role"] in roles:
            busy |= {asyncio.create_task(dial(way, int(port))) for port in PLACE.findall(line)}


async def answer(way: Way, roles: list[str], request: Message, details: Message) -> None:
    match request["verb"]:
        case "hello":
            capabilities = {role: ["accept", "connect"] * (role == "sbp/peer") for role in roles}
            await say({"id": request["id"], "result": {"name": "nothing", "protocol": 1, "roles": capabilities}})
        case "start" if request["role"] not in roles:
            await say({"id": request["id"], "unsupported": request["role"]})
        case "start":
            await way.starts(request, details)
        case "do":
            await way.does(request)
        case _:
            await say({"id": request["id"], "result": {}})


if __name__ == "__main__":
    asyncio.run(serve(WAYS[sys.argv[1]], sys.argv[2:]))
