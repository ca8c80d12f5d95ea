"""The shells around the node's machine: blocking, asyncio, and the command line, on loopback."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from harness.places import ROOT
from reference_impl.bccn.frames import Delivered, Message
from reference_impl.bccn.node_io import Node, NotSent, own_name

BROADCAST = "127.255.255.255"


@pytest.fixture
def port() -> Iterator[int]:
    """Held by a socket that shares it, so that nobody else chooses it meanwhile."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind((BROADCAST, 0))
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield holder.getsockname()[1]


def test_the_blocking_calls(port: int) -> None:
    """send, recv, listen and dispatch in a plain program."""
    one, two = Node.open(BROADCAST, port), Node.open(BROADCAST, port)
    one.name, two.name = "h/one/1", "h/two/2"
    heard: list[Message] = []
    two.listen("a/*", heard.append)
    one.send(None, "a/b", b"first")
    one.send_to("h/two", b"second")
    got = two.recv(timeout=5.0)
    assert got is not None
    assert (got.message.src, got.message.payload) == ("h/one/1", b"first")
    assert two.dispatch() == 1
    assert [message.payload for message in heard] == [b"first", b"second"]
    assert two.recv() is None
    one.close()
    two.close()
    with pytest.raises(NotSent):
        one.send_all(b"x")


def test_the_blocking_loop(port: int) -> None:
    """run dispatches until it is told to stop, heartbeats included."""
    listener, beater = Node.open(BROADCAST, port), Node.open(BROADCAST, port)
    beater.name = "h/b/1"
    running, beats = threading.Event(), threading.Semaphore(0)
    listener.listen("heartbeat/>", lambda message: beats.release())
    running.set()
    threads = [threading.Thread(target=node.run, args=(running.is_set,)) for node in (listener, beater)]
    beater.start_heartbeat(0.02)
    for thread in threads:
        thread.start()
    came = [beats.acquire(timeout=5) for _ in range(3)]
    running.clear()
    for thread in threads:
        thread.join()
    assert came == [True] * 3
    listener.close()
    beater.close()


async def test_asyncio(port: int) -> None:
    """attach lets an event loop read."""
    came: asyncio.Queue[object] = asyncio.Queue()
    node, other = Node.open(BROADCAST, port, b"key", on_event=came.put_nowait), Node.open(BROADCAST, port, b"key")
    node.attach()
    other.send("me", "c", b"x")
    event = await asyncio.wait_for(came.get(), 5)
    assert isinstance(event, Delivered)
    assert event.message == Message("me", 1, "c", b"x", authenticated=True)
    node.close()
    other.close()


def test_own_name_follows_the_convention() -> None:
    assert own_name("tag").count("/") == 3


def test_the_command_line(port: int) -> None:
    """One process listens and prints, another sends one."""
    command = [sys.executable, "-m", "reference_impl.bccn"]
    listener = subprocess.Popen(
        [*command, "--port", str(port), "--name", "h/me/1"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert listener.stdout
        assert f"{BROADCAST}:{port}" in listener.stdout.readline()
        subprocess.run([*command, "send", "--port", str(port), "--name", "you", "!h/me", "hi"], check=True, cwd=ROOT)
        line = listener.stdout.readline()
    finally:
        listener.terminate()
        listener.wait()
    assert line.startswith("you #")
    assert line.endswith("-> !h/me: b'hi'\n")
    refused = subprocess.run([*command, "send", "--port", str(port), "a b"], capture_output=True, text=True, cwd=ROOT)
    assert refused.returncode == 1
    assert "bccn:" in refused.stderr
