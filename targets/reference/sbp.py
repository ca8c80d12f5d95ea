"""The shim of reference_impl.sbp. A mutant replaces one of the class attributes of a role."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from typing import Any

from harness.errors import TargetRefused
from harness.shim import Emit
from harness.shim.roles import Role
from reference_impl.io.carrier import NoConnection
from reference_impl.io.websocket import Listener, WebSocket, dial
from reference_impl.sbp.codec import Codec, Unencodable, to_json
from reference_impl.sbp.frames import (
    MAX_FRAME,
    Ack,
    Acked,
    Answered,
    BadFlags,
    BadHandshake,
    Close,
    Delivered,
    Ended,
    Error,
    Established,
    Failed,
    Frame,
    Handshake,
    HostEvent,
    Malformed,
    Message,
    Ping,
    Pong,
    UnknownOp,
)
from reference_impl.sbp.peer import Config, PeerMachine
from reference_impl.sbp.peer_io import Session, SessionOver, settings


class CodecRole(Role):
    """Frames as the members of suites/sbp/README.md; bytes travel as hex, timestamps as decimal text."""

    codec: type[Codec] = Codec

    def __init__(self) -> None:
        self._codec = self.codec()

    async def do_encode(self, frame: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"wire": self._codec.encode(frame_of(frame)).hex()}
        except (Unencodable, ValueError, KeyError) as error:
            raise TargetRefused(str(error)) from None

    async def do_decode(self, wire: str) -> dict[str, Any]:
        frame = self._codec.decode(bytes.fromhex(wire))
        if isinstance(frame, BadFlags | Malformed | BadHandshake):
            raise TargetRefused(f"{frame.codes[0]:d} {frame.why}")
        return {"frame": fields_of(frame)}


class PeerRole(Role):
    """A peer that accepts any number of sessions, or connects one; each is known to the host by a name."""

    capabilities = ("accept", "connect", "host", "receipt", "limit", "hints")
    codec: type[Codec] = Codec
    machine: type[PeerMachine] = PeerMachine
    session: type[Session] = Session

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._names = (f"s{n}" for n in itertools.count(1))
        self._listener: Listener | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        told = config_of(config)
        try:
            self.codec().encode(Handshake(bytes(16), told.peer_id, told.caps, told.metadata))
        except Unencodable as error:  # what cannot be announced (SBP-HSP-07) is the operator's error, told at once
            raise TargetRefused(str(error)) from None

        def meet(carrier: WebSocket) -> Session:
            name = next(self._names)

            def tell(session: Session, event: HostEvent) -> None:
                kind, data = told_of(event)
                emit(kind, {"session": name, **data})
                if isinstance(event, Ended):
                    self._sessions.pop(name, None)

            made = self.session(carrier, self.machine(told, remembers=False), self.codec(), on_event=tell)
            self._sessions[name] = made
            return made

        async def accepted(carrier: WebSocket) -> None:
            await meet(carrier).run()

        if config.get("side", "accept") == "connect":
            try:
                carrier = await dial(config["url"], settings(told.limit))
            except NoConnection as error:
                raise TargetRefused(str(error)) from None
            self._tasks.add(asyncio.create_task(meet(carrier).run()))
            return {}
        self._listener = Listener(accepted, settings(told.limit))
        return {"address": f"ws://127.0.0.1:{await self._listener.start()}"}

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            raise TargetRefused(f"there is no session {name}")
        return self._sessions[name]

    async def do_send(self, session: str, subject: str, data: str = "", ts: str | None = None) -> dict[str, Any]:
        try:
            sent = self._session(session).send(subject, bytes.fromhex(data), None if ts is None else int(ts))
        except (SessionOver, Unencodable) as error:
            raise TargetRefused(str(error)) from None
        return {"id": sent.hex()}

    async def do_ping(self, session: str) -> dict[str, Any]:
        return {"id": self._session(session).ping().hex()}

    async def do_close(self, session: str, reason: str | None = None) -> dict[str, Any]:
        self._session(session).close(reason)
        return {}

    async def stop(self) -> None:
        if self._listener:
            await self._listener.stop()
        for session in list(self._sessions.values()):
            await session.carrier.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def config_of(config: dict[str, Any]) -> Config:
    caps, metadata = config.get("caps"), config.get("metadata")
    try:
        return Config(
            config.get("peer_id") or f"peer-{secrets.token_hex(8)}",
            None if caps is None else tuple(caps),
            None if metadata is None else to_json(metadata),
            bool(config.get("receipt", False)),
            int(config.get("limit") or MAX_FRAME),
        )
    except ValueError as error:
        raise TargetRefused(str(error)) from None


def told_of(event: HostEvent) -> tuple[str, dict[str, Any]]:
    """An event's name and data."""
    match event:
        case Established(peer_id, caps, metadata):
            hints = {"caps": list(caps or ()), "metadata": json.loads(metadata or "{}")}
            return "established", {"peer_id": peer_id, **hints}
        case Delivered(subject, data, ts):
            stamp = None if ts is None else str(ts)
            return "message", {"subject": subject, "data": data.hex(), "ts": stamp}
        case Answered():
            return "pong", {}
        case Acked(id):
            return "acked", {"id": id.hex()}
        case Failed(code, message, details):
            return "error", {"code": code, "message": message, "details": details.hex()}
        case Ended(reason):
            return "closed", {"reason": reason}


def ts_of(fields: dict[str, Any]) -> int | None:
    return None if fields.get("ts") is None else int(fields["ts"])


def frame_of(fields: dict[str, Any]) -> Frame:
    id, ts = bytes.fromhex(fields["id"]), ts_of(fields)
    match fields["kind"]:
        case "handshake":
            caps, metadata = fields.get("caps"), fields.get("metadata")
            return Handshake(
                id,
                fields["peer_id"],
                None if caps is None else tuple(caps),
                None if metadata is None else to_json(metadata),
                ts=ts,
            )
        case "ping":
            return Ping(id, ts)
        case "pong":
            return Pong(id, ts)
        case "close":
            return Close(id, fields.get("reason"), ts)
        case "control":
            return UnknownOp(id, fields["op"], bytes.fromhex(fields.get("data", "")), ts)
        case "message":
            return Message(id, fields["subject"], bytes.fromhex(fields.get("data", "")), ts)
        case "ack":
            return Ack(id, bytes.fromhex(fields["ack"]), ts)
        case "error":
            return Error(id, fields["code"], fields.get("message", ""), bytes.fromhex(fields.get("details", "")), ts)
        case kind:
            raise TargetRefused(f"there is no kind {kind!r}")


def fields_of(frame: Frame) -> dict[str, Any]:
    return {"id": frame.id.hex(), "ts": None if frame.ts is None else str(frame.ts)} | body_of(frame)


def body_of(frame: Frame) -> dict[str, Any]:
    match frame:
        case Handshake():
            return {
                "kind": "handshake",
                "protocol": frame.protocol,
                "version": frame.version,
                "peer_id": frame.peer_id,
                "caps": None if frame.caps is None else list(frame.caps),
                "metadata": None if frame.metadata is None else json.loads(frame.metadata),
            }
        case Ping():
            return {"kind": "ping"}
        case Pong():
            return {"kind": "pong"}
        case Close():
            return {"kind": "close", "reason": frame.reason}
        case UnknownOp():
            return {"kind": "control", "op": frame.op, "data": frame.data.hex()}
        case Message():
            return {"kind": "message", "subject": frame.subject, "data": frame.data.hex()}
        case Ack():
            return {"kind": "ack", "ack": frame.of.hex()}
        case Error():
            return {
                "kind": "error",
                "code": frame.code,
                "message": frame.message,
                "details": frame.details.hex(),
            }


ROLES: dict[str, type[Role]] = {"sbp/codec": CodecRole, "sbp/peer": PeerRole}
