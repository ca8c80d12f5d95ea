"""Servers that nobody should meet: `python hostile.py NAME PORT`. Standard library only; each is its fault and little else."""

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter
Handler = Callable[[Reader, Writer], Awaitable[None]]
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CHUNK = bytes(1 << 16)
HOSTILE: dict[str, Handler] = {}


def hostile(handler: Handler) -> Handler:
    HOSTILE[handler.__name__] = handler
    return handler


# -- parts that are honest ---------------------------------------------------------------------------------------------


async def request(reader: Reader) -> bytes:
    """The key of an upgrade."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [line.partition(b":") for line in head.split(b"\r\n")]
    return next((value.strip() for name, _, value in lines if name.lower() == b"sec-websocket-key"), b"")


def accepting(key: bytes, extra: bytes = b"") -> bytes:
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
    return head + accept + b"\r\n" + extra + b"\r\n"


async def upgraded(reader: Reader, writer: Writer, extra: bytes = b"") -> None:
    writer.write(accepting(await request(reader), extra))
    await writer.drain()


def frame(data: bytes, opcode: int = 1, announced: int | None = None) -> bytes:
    size = len(data) if announced is None else announced
    length = bytes([size]) if size < 126 else b"\x7e" + struct.pack("!H", size) if size < 65_536 else None
    return bytes([0x80 | opcode]) + (length or b"\x7f" + struct.pack("!Q", size)) + data


async def heard(reader: Reader) -> bytes:
    """The next message; fragments are not put together."""
    _, second = await reader.readexactly(2)
    size = second & 0x7F
    if size > 125:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8))
    key = await reader.readexactly(4)
    data = await reader.readexactly(size)
    return bytes(byte ^ key[n % 4] for n, byte in enumerate(data))


def peers(*names: str) -> bytes:
    return json.dumps({"protocol_version": "v1", "type": "peers", "names": names}).encode()


async def for_ever(writer: Writer, data: bytes) -> None:
    while True:
        writer.write(data)
        await writer.drain()


async def silence() -> None:
    await asyncio.Event().wait()


# -- before there is a connection --------------------------------------------------------------------------------------


@hostile
async def never_upgrades(reader: Reader, writer: Writer) -> None:
    await silence()


@hostile
async def drips_its_header(reader: Reader, writer: Writer) -> None:
    for byte in accepting(await request(reader)) * 1_000:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.5)


@hostile
async def has_an_endless_header(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nX: ")
    await for_ever(writer, b"x" * 65_536)


@hostile
async def has_endless_headers(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
    await for_ever(writer, b"X: y\r\n" * 10_000)


@hostile
async def accepts_with_another_key(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(accepting(b"another"))
    await silence()


@hostile
async def has_an_endless_error_page(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\n\r\n")
    await for_ever(writer, CHUNK)


@hostile
async def redirects_to_a_file(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


@hostile
async def redirects_in_circles(reader: Reader, writer: Writer) -> None:
    await request(reader)
    writer.write(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


@hostile
async def compresses_unasked(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer, b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
    await silence()


@hostile
async def resets_at_once(reader: Reader, writer: Writer) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


# -- on a connection ---------------------------------------------------------------------------------------------------


@hostile
async def announces_a_tebibyte(reader: Reader, writer: Writer) -> None:
    """And begins to send it."""
    await upgraded(reader, writer)
    writer.write(frame(b"", announced=2**40))
    await for_ever(writer, CHUNK)


@hostile
async def announces_a_tebibyte_and_stops(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    writer.write(frame(b"{", announced=2**40))
    await silence()


@hostile
async def never_ends_its_fragments(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    writer.write(b"\x01\x01{")
    await for_ever(writer, b"\x00\x7e\xff\xff" + bytes(65_535))


@hostile
async def answers_at_length(reader: Reader, writer: Writer) -> None:
    """Sixteen megabytes to each message, in names that are right for a `peers`."""
    await upgraded(reader, writer)
    long = frame(peers("x" * (16 << 20)))
    while await heard(reader):
        writer.write(long)
        await writer.drain()


@hostile
async def answers_nearly_a_mebibyte(reader: Reader, writer: Writer) -> None:
    """As much as it may, to each message a hundred times."""
    await upgraded(reader, writer)
    long = frame(peers("x" * 1_000_000))
    while await heard(reader):
        for _ in range(100):
            writer.write(long)
            await writer.drain()


@hostile
async def answers_in_crumbs(reader: Reader, writer: Writer) -> None:
    """A frame of two megabytes that would take fifty times as much once it is read."""
    await upgraded(reader, writer)
    many = frame(b'{"protocol_version":"v1","type":"peers","names":[' + b'{"":1},' * 290_000 + b"1]}")
    while await heard(reader):
        writer.write(many)
        await writer.drain()


@hostile
async def delivers_crumbs(reader: Reader, writer: Writer) -> None:
    """Deliveries of as many small values as a message may have."""
    await upgraded(reader, writer)
    head = b'{"protocol_version":"v1","type":"deliver","delivery_key":"k","envelope":{"protocol_version":"v1","id":"i",'
    rest = b'"from":"a","to":"b","kind":"msg","ts":"2026-01-01T00:00:00Z","source":"s","body":[' + b"[]," * 120_000
    await for_ever(writer, frame(head + rest + b'1],"hmac":""}}'))


@hostile
async def nests_its_answers(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    while await heard(reader):
        writer.write(frame(b'{"type":"peers","names":' + b"[" * 100_000 + b"]" * 100_000 + b"}"))


@hostile
async def floods_pings(reader: Reader, writer: Writer) -> None:
    """And reads nothing."""
    await upgraded(reader, writer)
    await for_ever(writer, frame(bytes(125), 9) * 500)


@hostile
async def floods_peers(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    await for_ever(writer, frame(peers("a", "b")) * 500)


@hostile
async def floods_empty_messages(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    await for_ever(writer, frame(b"") * 10_000)


@hostile
async def goes_on_behind_its_close(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    writer.write(frame(struct.pack("!H", 1000), 8))
    await for_ever(writer, frame(peers("a")) * 500)


@hostile
async def says_nothing(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    await silence()


@hostile
async def hangs_up_at_the_first_word(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    await heard(reader)


@hostile
async def echoes(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    while message := await heard(reader):
        writer.write(frame(message))


@hostile
async def masks_its_frames(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    writer.write(b"\x81\x82\x00\x00\x00\x00{}")
    await silence()


@hostile
async def has_reserved_opcodes(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    await for_ever(writer, frame(b"x", 0xB))


@hostile
async def says_no_utf8(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    while await heard(reader):
        writer.write(frame(b'{"type":"peers","names":["\xff\xc0"]}'))


@hostile
async def writes_to_the_terminal(reader: Reader, writer: Writer) -> None:
    await upgraded(reader, writer)
    while await heard(reader):
        writer.write(frame(peers("\x1b]0;owned\x07\x1b[2J", "\u202egnp.exe", "\u0000")))


# -- bytes without a WebSocket -----------------------------------------------------------------------------------------


@hostile
async def floods_noise(reader: Reader, writer: Writer) -> None:
    await for_ever(writer, os.urandom(1 << 16))


@hostile
async def answers_everything_with_noise(reader: Reader, writer: Writer) -> None:
    while await reader.read(65_536):
        writer.write(os.urandom(512))


async def main(name: str, *ports: int) -> None:
    async def handle(reader: Reader, writer: Writer) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await HOSTILE[name](reader, writer)
        with contextlib.suppress(OSError):
            writer.close()

    servers = [await asyncio.start_server(handle, "127.0.0.1", port) for port in ports]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
