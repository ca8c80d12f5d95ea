"""Relays that get a Push wrong: whom it is for, and what is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import HEADER, Codec, Reader
from reference_impl.trueseal.frames import KEY_SIZE, Ack, Error, Push, ReceiveOpened, ShortPush, Tag
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal.protobuf import fields_of, named_recipient, sorted_fields
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also


@broken("TS-PUSH-01")
class RoutesByTheLastBytes(Codec):
    """Looks for the recipient behind the envelope."""

    def push(self, body: bytes) -> Push | ShortPush:
        front = super().push(body)
        return Push(body[-KEY_SIZE:], body[:-KEY_SIZE]) if isinstance(front, Push) else front


@broken("TS-PUSH-01", "TS-PUSH-04")
class StoresTheKeyToo(RelayMachine):
    """Stores the whole body, key and all."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return super().push(state, channel, Push(frame.recipient, frame.recipient + frame.envelope))


class FoldsKeys(RelayMachine):
    """Takes different keys for one; which ones is its subclass's fault."""

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        match event:
            case Push(recipient, _):
                event = replace(event, recipient=self.folded(recipient))
            case ReceiveOpened(device):
                event = ReceiveOpened(self.folded(device))
        return super().receive(state, channel, event)

    def folded(self, key: bytes) -> bytes:
        return key


@broken("TS-PUSH-02", "TS-DLV-10", "TS-SES-07")
class IgnoresTheLastByte(FoldsKeys):
    """Tells inboxes apart by the first 31 bytes of a key."""

    def folded(self, key: bytes) -> bytes:
        return key[:-1]


@broken("TS-PUSH-02", "TS-DLV-10", "TS-SES-07")
class IgnoresTheFirstByte(FoldsKeys):
    """Tells inboxes apart by the last 31 bytes of a key."""

    def folded(self, key: bytes) -> bytes:
        return key[1:]


@broken("TS-PUSH-02", "TS-DLV-10", "TS-SES-07")
class KeysAreText(FoldsKeys):
    """Ends a key at its first zero byte, as a string of C."""

    def folded(self, key: bytes) -> bytes:
        return key.split(b"\x00")[0]


@broken("TS-PUSH-03")
class RoutesByTheEnvelope(RelayMachine):
    """Believes the recipient that an Envelope names, if it names one."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        named = named_recipient(frame.envelope)
        return super().push(state, channel, replace(frame, recipient=named or frame.recipient))


class Alters(RelayMachine):
    """Changes what it is given to store."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return super().push(state, channel, replace(frame, envelope=self.altered(frame.envelope)))

    def altered(self, envelope: bytes) -> bytes:
        return envelope


@broken("TS-PUSH-04", "TS-DLV-05")
class TrimsZeros(Alters):
    """Takes zeros at the end of an envelope for padding."""

    def altered(self, envelope: bytes) -> bytes:
        return envelope.rstrip(b"\x00")


@broken("TS-PUSH-04", "TS-DLV-05")
class EnvelopesAreText(Alters):
    """Reads an envelope as UTF-8, so that what is none is replaced."""

    def altered(self, envelope: bytes) -> bytes:
        return envelope.decode("utf-8", "replace").encode()


@broken("TS-PUSH-04", "TS-DLV-05")
class UnixLineEnds(Alters):
    """Writes line ends as one byte, as a file in text mode does."""

    def altered(self, envelope: bytes) -> bytes:
        return envelope.replace(b"\r\n", b"\n")


@broken("TS-PUSH-04", "TS-DLV-05")
class SerializesAgain(Alters):
    """Parses an Envelope and stores its fields in the order of their numbers."""

    def altered(self, envelope: bytes) -> bytes:
        return sorted_fields(envelope)


@broken("TS-PUSH-04", "TS-ERR-06")
class RejectsWhatIsNoProtobuf(RelayMachine):
    """Rejects an envelope that does not parse."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if fields_of(frame.envelope) is None:
            return self.reject_short(state, channel, frame)
        return super().push(state, channel, frame)


@broken("TS-PUSH-05")
class RejectsEmptyEnvelopes(RelayMachine):
    """Takes a Push with an empty envelope for a malformed one."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if not frame.envelope:
            return self.reject_short(state, channel, frame)
        return super().push(state, channel, frame)


@broken("TS-PUSH-05", "TS-ACK-03")
class NothingToStore(RelayMachine):
    """Acks an empty envelope, and does not think it worth storing."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return super().push(state, channel, frame) if frame.envelope else also(Step(state), channel, Ack())


@broken("TS-PUSH-06", "TS-ERR-01")
class EndsForShortPushes(RelayMachine):
    """Ends the session for a Push that is too short, without an Error."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return self.malformed(state, channel, event)


@broken("TS-PUSH-06", "TS-PUSH-07", "TS-PUSH-08")
class AKeyOf31Bytes(Codec):
    """Takes a Push body of 31 bytes for a key, and stores it for nobody."""

    def push(self, body: bytes) -> Push | ShortPush:
        return super().push(body.ljust(KEY_SIZE, b"\x00") if len(body) == KEY_SIZE - 1 else body)


@broken("TS-PUSH-06", "TS-ERR-01")
class OverlooksEmptyPushes(RelayMachine):
    """Does not answer a Push without a body."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        empty = isinstance(event, ShortPush) and event.size == 0
        return Step(state) if empty else super().reject_short(state, channel, event)


@broken("TS-PUSH-07")
class AcksBehindTheError(RelayMachine):
    """Rejects a short Push, and Acks it as well."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return also(super().reject_short(state, channel, event), channel, Ack())


@broken("TS-PUSH-07", "TS-PUSH-06")
class AcksShortPushes(RelayMachine):
    """Acks a short Push instead of rejecting it."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return also(Step(state), channel, Ack())


@broken("TS-PUSH-06", "TS-ACK-06")
class TwoErrorsForOne(RelayMachine):
    """Sends two Errors for a short Push."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return also(super().reject_short(state, channel, event), channel, Error())


@broken("TS-PUSH-08", "TS-ERR-03")
class StoresShortPushes(Relay):
    """Rejects a short Push, and stores it under its key filled with zeros."""

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        first = not reader.inside
        super().heard(channel, reader, message)
        short = HEADER.size < len(message) < HEADER.size + KEY_SIZE
        if not (first and short and message[0] == Tag.PUSH and self._batch):
            return
        hidden = Push(message[HEADER.size :].ljust(KEY_SIZE, b"\x00"), b"")
        step = self.player.machine.receive(self.player.state, channel, hidden)
        self.player.state = step.state
        self._batch.effects += step.effects
