"""Every decoder that sees foreign bytes, as a function of bytes that raises for what a decoder may never do.

A decoder has an answer to everything: a frame, or that it is none. And what it has read it can write so that it reads the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ShimBroken
from harness.judging.result import decode as decode_event
from harness.judging.result import encode as encode_event
from harness.shim.messages import decode_reply, decode_request
from harness.subscribers.text import printable
from harness.targets.child import Kept
from harness.targets.manifest import Manifest
from harness.targets.process import Lines
from reference_impl.bccn import codec as bccn
from reference_impl.frog import codec as frog
from reference_impl.frog.frames import Frame as FrogFrame
from reference_impl.peerbus import codec as peerbus
from reference_impl.peerbus.frames import Garbage
from reference_impl.peerbus.signing import Profile
from reference_impl.sbp import codec as sbp
from reference_impl.sbp.frames import Frame as SbpFrame
from reference_impl.sbp.frames import UnknownOp
from reference_impl.trueseal import codec as trueseal
from reference_impl.trueseal.frames import FRAMES

CORPUS = Path(__file__).parent / "corpus"
DECODERS: dict[str, Callable[[bytes], None]] = {}


def decoder(function: Callable[[bytes], None]) -> Callable[[bytes], None]:
    DECODERS[function.__name__] = function
    return function


def same(first: Any, again: Any) -> None:
    if first != again:
        raise AssertionError(f"{first!r} is read again as {again!r}")


def cuts(data: bytes) -> list[bytes]:
    """The same bytes in pieces, whose sizes they say themselves."""
    pieces, at = [], 0
    while at < len(data):
        size = 1 + data[at] % 16
        pieces.append(data[at : at + size])
        at += size
    return pieces


# -- the reference -----------------------------------------------------------------------------------------------------


@decoder
def peerbus_frames(data: bytes) -> None:
    for profile in Profile:
        codec = peerbus.Codec(profile)
        if not isinstance(frame := codec.decode(data), Garbage):
            again = codec.decode(codec.encode(frame))
            same(codec.encode(frame), codec.encode(again) if not isinstance(again, Garbage) else again)


@decoder
def peerbus_lines(data: bytes) -> None:
    """However a stream is cut, its lines are the same."""
    whole, cut = peerbus.Codec().lines(), peerbus.Codec().lines()
    same(list(whole.feed(data)), [frame for piece in cuts(data) for frame in cut.feed(piece)])


@decoder
def sbp_frames(data: bytes) -> None:
    codec = sbp.Codec()
    if isinstance(frame := codec.decode(data), SbpFrame) and not isinstance(frame, UnknownOp):  # which nobody may say
        same(frame, codec.decode(codec.encode(frame)))


@decoder
def bccn_messages(data: bytes) -> None:
    codec = bccn.Codec()
    for key in (b"", b"a key of somebody's"):
        message = codec.decode(data, key)
        if type(message).__name__ == "Message":
            same(message, codec.decode(codec.encode(message, key), key))  # type: ignore[arg-type]


@decoder
def trueseal_frames(data: bytes) -> None:
    codec = trueseal.Codec()
    for frame in codec.decode(cuts(data)):
        if isinstance(frame, FRAMES):
            same([frame], codec.decode(codec.encode(frame)))


@decoder
def frog_commands(data: bytes) -> None:
    codec = frog.Codec()
    for hear in (codec.heard_by_server, codec.heard_by_client):
        if isinstance(frame := hear(data), FrogFrame):
            same(frame, hear(codec.encode(frame)))


# -- the harness -------------------------------------------------------------------------------------------------------


@decoder
def shim_replies(data: bytes) -> None:
    """Through the very lines that a process prints."""
    try:
        for line in Lines().feed(data + b"\n"):
            decode_reply(line)
    except (msgspec.MsgspecError, ShimBroken):
        pass


@decoder
def shim_requests(data: bytes) -> None:
    """A shim's own end of the wire: whatever it raises is answered."""
    with contextlib.suppress(msgspec.MsgspecError, RecursionError):
        decode_request(data)


@decoder
def run_streams(data: bytes) -> None:
    try:
        event = decode_event(data)
    except msgspec.MsgspecError:
        return
    same(event, decode_event(encode_event(event)))


@decoder
def manifests(data: bytes) -> None:
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        msgspec.toml.decode(data, type=Manifest)


@decoder
def printed_words(data: bytes) -> None:
    """What a target prints is kept in bounds, and shown without what a terminal would obey."""
    kept = Kept()
    for piece in cuts(data):
        kept.add(piece)
    shown = printable(kept.text())
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in shown):
        raise AssertionError(f"a control character is shown: {shown!r}")
