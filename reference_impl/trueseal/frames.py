"""What can cross a TrueSeal session, the inputs that are no frame, and what passes between a client and its host."""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import Any, cast

KEY_SIZE = 32  # an X25519 public key
ID_SIZE = 8
MAX_ID = 2**64 - 1
MAX_ENVELOPE = 1_048_576  # TS-SIZE-01: bytes behind the recipient's key
MOST_SHOWN = 48  # bytes of one field in a sentence for people


class Tag(enum.IntEnum):
    """First byte of a frame (TS-TYP-01)."""

    PUSH = 0x01
    DELIVER = 0x02
    HEARTBEAT = 0x03
    ACK = 0x04
    ERROR = 0x05
    DELIVER_ACK = 0x06


class Shown:
    """Prints bytes in hex, long ones cut."""

    __slots__ = ()

    def __str__(self) -> str:
        given = [(f.name, getattr(self, f.name)) for f in fields(cast(Any, self))]
        return f"{type(self).__name__}({', '.join(f'{name}={in_text(value)}' for name, value in given)})"

    def __repr__(self) -> str:
        return str(self)


def in_text(value: object) -> str:
    if not isinstance(value, bytes):
        return repr(value)
    return value.hex() if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN].hex()}… ({len(value)} bytes)"


# -- frames ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Push(Shown):
    """A blob for a device, client to relay."""

    recipient: bytes
    envelope: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Deliver(Shown):
    """A blob from the inbox, relay to client."""

    blob_id: int
    envelope: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Heartbeat(Shown):
    """Either side, to be answered in kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Ack(Shown):
    """The oldest Push without an answer is stored."""


@dataclass(frozen=True, slots=True, repr=False)
class Error(Shown):
    """The oldest Push without an answer is rejected for good."""


@dataclass(frozen=True, slots=True, repr=False)
class DeliverAck(Shown):
    """The client holds this blob durably."""

    blob_id: int


Frame = Push | Deliver | Heartbeat | Ack | Error | DeliverAck


# -- inputs that are no frame ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class UnknownType(Shown):
    """A message with a tag that nobody has defined (TS-TYP-02)."""

    tag: int


@dataclass(frozen=True, slots=True, repr=False)
class ShortPush(Shown):
    """A Push whose body does not even hold a key (TS-PUSH-06)."""

    size: int


@dataclass(frozen=True, slots=True, repr=False)
class Oversize(Shown):
    """A Push whose envelope is over the protocol's limit: it was counted, not kept (TS-SIZE-05)."""

    size: int


@dataclass(frozen=True, slots=True, repr=False)
class BadHeartbeat(Shown):
    """A Heartbeat with a body (TS-HB-04)."""

    body: bytes


@dataclass(frozen=True, slots=True, repr=False)
class BadAnswer(Shown):
    """An Ack or an Error with a body. Nothing says that a reader looks for one (TS-ACK-02, TS-ERR-02)."""

    answer: Ack | Error
    body: bytes


@dataclass(frozen=True, slots=True, repr=False)
class BadDeliverAck(Shown):
    """A DeliverAck whose body is not 8 bytes long (TS-DACK-08)."""

    body: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Malformed(Shown):
    """A message that is no frame for any other reason; `tag` is its first byte, if it has one."""

    why: str
    tag: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Trailing(Shown):
    """A message that goes on behind the end of its frame (TS-FRM-08)."""

    front: Frame | NoFrame
    extra: bytes


NoFrame = UnknownType | ShortPush | Oversize | BadHeartbeat | BadAnswer | BadDeliverAck | Malformed | Trailing
NO_FRAMES = (UnknownType, ShortPush, Oversize, BadHeartbeat, BadAnswer, BadDeliverAck, Malformed, Trailing)


@dataclass(frozen=True, slots=True, repr=False)
class PushOpened(Shown):
    """A Push Session is up: nobody knows who pushes (TS-SES-03)."""


@dataclass(frozen=True, slots=True, repr=False)
class ReceiveOpened(Shown):
    """A Receive Session is up, with the device of this key (TS-SES-06)."""

    device: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Hangup(Shown):
    """The connection ends."""


FRAMES = (Push, Deliver, Heartbeat, Ack, Error, DeliverAck)
OPENINGS = (PushOpened, ReceiveOpened)


# -- between a client and its host, and what it wants of the network ---------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Start(Shown):
    """Open a Receive Session, push what the outbox holds."""


@dataclass(frozen=True, slots=True, repr=False)
class Submit(Shown):
    """Push this envelope to that device."""

    recipient: bytes
    envelope: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Beat(Shown):
    """Send a Heartbeat on the Receive Session."""


@dataclass(frozen=True, slots=True, repr=False)
class Queued(Shown):
    """What was submitted is in the outbox; `blob` is its number there."""

    blob: int


@dataclass(frozen=True, slots=True, repr=False)
class Refused(Shown):
    """What was asked for cannot be done: an envelope that can never be pushed (TS-SIZE-03), a beat without a session."""

    what: str


@dataclass(frozen=True, slots=True, repr=False)
class Pushed(Shown):
    """The blob is at the relay (TS-ACK-07)."""

    blob: int


@dataclass(frozen=True, slots=True, repr=False)
class Rejected(Shown):
    """The relay will not store the blob, now or ever (TS-ERR-04)."""

    blob: int


@dataclass(frozen=True, slots=True, repr=False)
class Received(Shown):
    """A message for the application."""

    envelope: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Dial(Shown):
    """Open a Receive Session."""


@dataclass(frozen=True, slots=True)
class PushSession:
    """The channel of one Push Session."""

    number: int


@dataclass(frozen=True, slots=True, repr=False)
class InSession(Shown):
    """A Push and the session it goes into, which is opened for it if there is none."""

    session: PushSession
    push: Push
