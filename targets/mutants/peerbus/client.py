"""Clients with one fault each."""

from __future__ import annotations

import binascii
import hmac
import json
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map
from websockets.asyncio.client import ClientConnection
from websockets.frames import Opcode

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus import jsontext
from reference_impl.peerbus.client import ClientMachine, ClientStep, Config, Copy, Phase, Seen, State
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import (
    MAX_MESSAGE,
    Ack,
    Binary,
    Close,
    Deliver,
    Envelope,
    Frame,
    Garbage,
    Input,
    Opened,
    Peers,
    Register,
)
from reference_impl.peerbus.host import HOST, Consumed, PeersListed, PeersRequest, SendRequest, Status, Surfaced
from reference_impl.peerbus.signing import Profile, Signing, canonical_string
from targets.mutants.peerbus.shelf import shelf


def also(step: ClientStep, *expectations: Expectation) -> ClientStep:
    return replace(step, owes=(*step.owes, *expectations))


# -- section 1 ---------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-1-01", role="client")
class DialsAPath(Client):
    """Dials /bus below the URL it was given."""

    def __init__(self, url: str, *args: Any, **parts: Any) -> None:
        super().__init__(f"{url}/bus", *args, **parts)


@shelf.breaks("PB-1-01", role="client")
class NeverSpeaksTls(Client):
    """Takes wss for ws."""

    def __init__(self, url: str, *args: Any, **parts: Any) -> None:
        super().__init__(url.replace("wss:", "ws:"), *args, **parts)


@shelf.breaks("PB-1-02", role="client")
class WritesBinary(Client):
    """Sends its frames as binary messages."""

    def write(self, frame: Frame) -> str | bytes:
        return self.codec.encode(frame)


@shelf.breaks("PB-1-03", role="client")
class SaysItTwice(Codec):
    """Puts an ack's object into its frame twice."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text + text if isinstance(frame, Ack) else text


@shelf.breaks("PB-1-04", role="client")
class EndsWithALineFeed(Codec):
    """Ends each WebSocket message with a line feed."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame) + b"\n"


@shelf.breaks("PB-1-11", role="client")
class ReadsBinary(Client):
    """Reads a binary message like a text message."""

    def read(self, message: str | bytes) -> Frame | Garbage | Binary:
        return self.codec.decode(message if isinstance(message, bytes) else message.encode())


@shelf.breaks("PB-1-11", role="client")
class HangsUpOnBinary(ClientMachine):
    """Hangs up when a binary message comes."""

    def receive(self, state: State, channel: Channel, event: object) -> ClientStep:
        if isinstance(event, Binary) and channel == state.connection:
            return self.give_up(state, channel, event)
        return super().receive(state, channel, event)


@shelf.breaks("PB-1-12", role="client")
class HangsUpWhenPinged(Client):
    """Drops the connection when it is pinged."""

    async def _converse(self, websocket: ClientConnection) -> None:
        read = websocket.process_event

        def process(event: Any) -> None:
            if getattr(event, "opcode", None) is Opcode.PING:
                websocket.transport.abort()
            read(event)

        websocket.process_event = process  # type: ignore[method-assign]  # the only place where a ping is seen
        await super()._converse(websocket)


@shelf.breaks("PB-1-14", role="client")
class ReadsLess(Client):
    """Reads no message longer than 64 KiB."""

    max_message = 65_536


@shelf.breaks("PB-1-14", role="client")
class ReadsEverything(Client):
    """Reads messages of any length."""

    max_message = None


@shelf.breaks("PB-1-15", role="client")
class SendsAnyBody(Client):
    """Sends bodies that no broker reads."""

    max_body = 1 << 30


@shelf.breaks("PB-1-15", role="client")
class CountsTheBodyOnly(Client):
    """Holds its bodies, and not the frames around them, against the limit."""

    max_body = MAX_MESSAGE


# -- section 2, in general ---------------------------------------------------------------------------------------------


@shelf.breaks("PB-0-02", "PB-6-02", role="client")
class AcksAsV2(ClientMachine):
    """Says v2 in its acks."""

    def acking(self, key: str, *args: Any, **parts: Any) -> tuple[Expectation, Expectation]:
        ack, again = super().acking(key, *args, **parts)
        return replace(ack, template=Ack(key, "v2")), again


@shelf.breaks("PB-2-02", "PB-6-02", role="client")
class AcksWithoutVersion(Codec):
    """Leaves the version out of its acks."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"protocol_version":"v1",', b"") if isinstance(frame, Ack) else text


@shelf.breaks("PB-2-03", "PB-2-01", role="client")
class AsksWithAnotherType(Codec):
    """Asks for peers with a frame of type `list`."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"type":"peers"', b'"type":"list"') if isinstance(frame, Peers) else text


@shelf.breaks("PB-2-01", role="client")
class NumbersItsTypes(Codec):
    """Writes the type of an ack as a number."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"type":"ack"', b'"type":2') if isinstance(frame, Ack) else text


# -- section 2.1 -------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.1-01", "PB-7-01", role="client")
class AsksFirst(ClientMachine):
    """Asks for peers before it registers."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Peers(), channel), *step.owes))


@shelf.breaks("PB-2.1-01", role="client")
class AcksBeforeItRegisters(ClientMachine):
    """Begins a new connection with the acks that the old one did not carry."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        keys = [key for keys in state.seen.keys.values() for key in keys]
        return replace(step, owes=(*(Expectation("", Ack(key), channel) for key in keys), *step.owes))


@shelf.breaks("PB-2.1-03", "PB-6-06", role="client")
class RegistersWithoutToken(ClientMachine):
    """Leaves the token of its register empty."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Register("", self.config.name), channel),))


@shelf.breaks("PB-2.1-03", role="client")
class FoldsItsName(ClientMachine):
    """Registers under its name without the characters that are not ASCII."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        name = self.config.name.encode("ascii", "ignore").decode()
        return replace(step, owes=(Expectation("", Register(self.config.token, name), channel),))


@shelf.breaks("PB-2.1-04", "PB-6-10", role="client")
class TellsItsSecret(ClientMachine):
    """Signs its messages with the secret in plain sight."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        step = super().send(state, channel, request)
        [owed] = step.owes
        told = replace(owed.template, source=self.config.secret.hex())
        return replace(step, owes=(replace(owed, template=told),))


@dataclass(frozen=True, slots=True)
class Careless(Config):
    """Takes whatever it is given."""

    def __post_init__(self) -> None:
        pass


@shelf.breaks("PB-2.1-06", role="client")
class HasNoName(ClientMachine):
    """Registers under an empty name."""

    config_type = Careless


@shelf.breaks("PB-2.1-15", role="client")
class TrustsTheBroker(ClientMachine):
    """Takes itself for connected as soon as the register is sent."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        up = Expectation("", Status(True), HOST)
        return also(replace(step, state=replace(step.state, phase=Phase.ONLINE)), up)


@shelf.breaks("PB-2.1-15", role="client")
class TakesGoodbyeForYes(ClientMachine):
    """Reports a connection when the broker closes the handshake with 1000."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        clean = state.phase is Phase.REGISTERING and isinstance(event, Close) and event.code == 1000
        return also(step, Expectation("", Status(True), HOST)) if clean else step


@shelf.breaks("PB-2.1-29", role="client")
class LooksForItself(ClientMachine):
    """Takes a peers frame that does not list its own name for a rejection."""

    def accepted(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        if self.config.name not in frame.names:
            return self.give_up(state, channel, frame)
        return super().accepted(state, channel, frame)


@shelf.breaks("PB-2.1-30", "PB-7-01", role="client")
class TakesAnyAnswer(ClientMachine):
    """Takes whatever comes first for the broker's consent."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        return self.accepted(state, channel, Peers())


@shelf.breaks("PB-2.1-30", role="client")
class WaitsForPeers(ClientMachine):
    """Skips what comes before the peers frame instead of giving up."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        return Step(state)


@shelf.breaks("PB-2.1-30", role="client")
class SurfacesTooEarly(ClientMachine):
    """Gives up on a delivery that comes first, but surfaces it all the same."""

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().give_up(state, channel, event)
        if not isinstance(event, Deliver):
            return step
        return also(step, Expectation("", self.surfaced(event.envelope), HOST))


@shelf.breaks("PB-2.1-31", role="client")
class DislikesNews(ClientMachine):
    """Hangs up when peers come that nobody asked for."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        return super().listed(state, channel, frame) if state.asked else self.give_up(state, channel, frame)


@shelf.breaks("PB-2.1-33", role="client")
class RegistersAgain(ClientMachine):
    """Registers once more on the same connection when unasked peers do not list it."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        step = super().listed(state, channel, frame)
        again = Expectation("", Register(self.config.token, self.config.name), channel)
        return step if state.asked or self.config.name in frame.names else also(step, again)


@shelf.breaks("PB-2.1-34", "PB-5-21", "PB-7-05", role="client")
class ComesBackAsAnother(ClientMachine):
    """Redials under another name."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        name = f"{self.config.name}-{state.attempt}" if state.attempt else self.config.name
        return replace(step, owes=(Expectation("", Register(self.config.token, name), channel),))


# -- sections 2.2 and 2.3 ----------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.2-01", role="client")
class AcksUnderAnotherKey(Codec):
    """Calls the id of an ack `delivery_key`."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"id":', b'"delivery_key":') if isinstance(frame, Ack) else text


@shelf.breaks("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-2.4-18", "PB-7-02", role="client")
class AcksOnReceipt(ClientMachine):
    """Acks what it has surfaced, consumed or not."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        if not any(isinstance(owed.template, Surfaced) for owed in step.owes):
            return step
        return also(step, *self.acking(frame.delivery_key, channel, ""))

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return replace(super().consumed(state, channel, event), owes=())


@shelf.breaks("PB-2.2-05", "PB-2.2-02", "PB-5-17", role="client")
class AcksWhatItHasSeen(ClientMachine):
    """Acks a repeat at once, though the host has not consumed the first."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return also(super().repeated(state, channel, frame), *self.acking(frame.delivery_key, channel, ""))


@shelf.breaks("PB-2.4-18", "PB-7-02", role="client")
class NeverAcks(ClientMachine):
    """Acks nothing that is consumed."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return replace(super().consumed(state, channel, event), owes=())


@shelf.breaks("PB-2.3-01", role="client")
class AsksWithNames(ClientMachine):
    """Asks for peers with its own name in the list."""

    def ask_peers(self, state: State, channel: Channel, event: PeersRequest) -> ClientStep:
        step = super().ask_peers(state, channel, event)
        return replace(step, owes=(Expectation("", Peers((self.config.name,)), state.connection),))


@shelf.breaks("PB-2.3-05", role="client")
class ExpectsTheReplyNext(ClientMachine):
    """Loses a delivery that comes while it waits for a peers reply."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state) if state.asked else super().deliver(state, channel, frame)


@shelf.breaks("PB-7-04", "PB-2.3-05", role="client")
class TellsNoNames(ClientMachine):
    """Answers its host's question with an empty list."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        step = super().listed(state, channel, frame)
        return replace(step, owes=tuple(replace(owed, template=PeersListed(())) for owed in step.owes))


# -- section 2.4 -------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.4-02", role="client")
class SendsDelivers(Codec):
    """Sends its messages as deliver frames."""

    def encode(self, frame: Frame) -> bytes:
        return self.encode_deliver(Deliver(frame.id, frame)) if isinstance(frame, Envelope) else super().encode(frame)


@shelf.breaks("PB-2.4-09", "PB-4-25", role="client")
class AcksById(ClientMachine):
    """Acks the envelope's id."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.envelope.id if frame.delivery_key else ""
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-4-25", role="client")
class AcksBroadcastsById(ClientMachine):
    """Acks the id of a broadcast copy, and the key of a direct message."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.delivery_key.split("|")[0] if frame.envelope.to == "*" else frame.delivery_key
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-2.4-12", "PB-2.4-13", "PB-5-19", role="client")
class InventsAKey(ClientMachine):
    """Takes the id for the key where there is none."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.delivery_key or frame.envelope.id
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-2.4-14", role="client")
class RemembersTheKeyless(ClientMachine):
    """Drops a delivery without a key, but counts its message as seen."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key:
            return super().deliver(state, channel, frame)
        return Step(replace(state, seen=state.seen.add(frame.envelope.id)))


@shelf.breaks("PB-2.4-14", "PB-5-25", role="client")
class ClosesOnTheKeyless(ClientMachine):
    """Hangs up on a delivery without a key."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return super().deliver(state, channel, frame) if frame.delivery_key else self.give_up(state, channel, frame)


@shelf.breaks("PB-2.4-17", role="client")
class SwapsTheNames(ClientMachine):
    """Tells its host the recipient as the sender."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, sender=envelope.to, to=envelope.sender))


# -- section 3 ---------------------------------------------------------------------------------------------------------


class SendsOtherwise(ClientMachine):
    """Base of machines whose envelopes differ in one field."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        step = super().send(state, channel, request)
        return replace(step, owes=tuple(replace(owed, template=self.other(owed.template)) for owed in step.owes))

    def other(self, envelope: Envelope) -> Envelope:
        raise TypeError(type(self))


@shelf.breaks("PB-3-01", role="client")
class AddsAField(Codec):
    """Sends a tenth field."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return super().encode_envelope(envelope)[:-1] + b',"priority":1}'


@shelf.breaks("PB-3-02", role="client")
class OmitsANullBody(Codec):
    """Leaves out a body that is null."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return super().encode_envelope(envelope).replace(b'"body":null,', b"")


@shelf.breaks("PB-3-03", "PB-6-03", role="client")
class ReadsTheDocument(ClientMachine):
    """Rejects envelopes of another version, though it claims the code's profile."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return super().deliver(state, channel, frame) if frame.envelope.protocol_version == "v1" else Step(state)


@shelf.breaks("PB-3-04", role="client")
class CountsItsMessages(SendsOtherwise):
    """Numbers its messages from 1, as every other client does."""

    sent = 0

    def other(self, envelope: Envelope) -> Envelope:
        self.sent += 1
        return replace(envelope, id=str(self.sent))


@shelf.breaks("PB-3-04", role="client")
class HasFewIds(Client):
    """Draws its ids from two bytes."""

    def __init__(self, *args: Any, **parts: Any) -> None:
        super().__init__(*args, **parts)
        entropy = self.player._entropy
        self.player._entropy = lambda size: entropy(2).ljust(size, b"\0")


@shelf.breaks("PB-3-05", role="client")
class SendsAnonymously(SendsOtherwise):
    """Does not say who sends."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, sender="anonymous")


@shelf.breaks("PB-3-06", "PB-3-16", role="client")
class BroadcastsToAll(SendsOtherwise):
    """Addresses broadcasts to `all`."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to="all") if envelope.to == "*" else envelope


@shelf.breaks("PB-3-07", role="client")
class SendsATimeNumber(Codec):
    """Writes `ts` as a number."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        text = super().encode_envelope(envelope)
        return text.replace(self.signing.string(envelope.ts), b"1779105600")


@shelf.breaks("PB-3-08", role="client")
class TrimsTheSource(ClientMachine):
    """Trims the source that it shows to its host."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, source=envelope.source.strip()))


@shelf.breaks("PB-3-09", "PB-3-16", role="client")
class BroadcastsAsMessages(SendsOtherwise):
    """Calls everything a msg."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, kind="msg")


@shelf.breaks("PB-3-15", "PB-3-09", role="client")
class CallsItDirect(SendsOtherwise):
    """Calls a direct message `direct`."""

    def other(self, envelope: Envelope) -> Envelope:
        return envelope if envelope.to == "*" else replace(envelope, kind="direct")


@shelf.breaks("PB-3-10", role="client")
class KnowsOnlyObjects(ClientMachine):
    """Shows its host every body that is no object as an empty one."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(envelope if envelope.body[:1] == b"{" else replace(envelope, body=b"{}"))


@shelf.breaks("PB-3-11", role="client")
class SortsWhatItSends(SendsOtherwise):
    """Decodes its host's body and writes it again, members sorted."""

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        body = json.dumps(json.loads(request.body), sort_keys=True, separators=(",", ":"))
        return ClientMachine.send(self, state, channel, replace(request, body=body.encode()))


@shelf.breaks("PB-3-12", "PB-7-03", role="client")
class DoesNotSignTheSource(ClientMachine):
    """Signs its messages as if their source were empty."""

    def signature(self, envelope: Envelope) -> str:
        return super().signature(replace(envelope, source=""))


@shelf.breaks("PB-3-13", role="client")
class TypesItsEnvelopes(Codec):
    """Gives its envelopes a type."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        return b'{"type":"envelope",' + super().encode_envelope(envelope)[1:]


# -- section 4 ---------------------------------------------------------------------------------------------------------


class SignsOtherwise(Codec):
    """Base of codecs with other signature rules."""

    rules: type[Signing] = Signing

    def __init__(self, profile: Profile = Profile.CODE) -> None:
        super().__init__(profile, self.rules(profile))


@shelf.breaks("PB-4-11", role="client")
class SendsSpaces(Codec):
    """Sends its bodies with a space behind each comma, signed without."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        text = super().encode_envelope(envelope)
        return text.replace(envelope.body, envelope.body.replace(b",", b", "))


@shelf.breaks("PB-4-14", role="client")
class ShoutsItsMac(ClientMachine):
    """Writes its MAC in upper-case hex."""

    def signature(self, envelope: Envelope) -> str:
        return super().signature(envelope).upper()


@shelf.breaks("PB-4-15", role="client")
class VerifiesWireOrder(SignsOtherwise):
    """Verifies over the members in the order they came."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            if not envelope.wire.startswith(b"{"):
                return False
            pairs = [(key, value) for key, value in jsontext.members(envelope.wire) if key != b'"hmac"']
            text = b"{" + b",".join(key + b":" + jsontext.compact(value) for key, value in pairs) + b"}"
            return hmac.digest(secret, text, "sha256").hex() == envelope.hmac.lower()


@shelf.breaks("PB-4-15", "PB-3-11", role="client")
class SortsBodies(SignsOtherwise):
    """Verifies over a body that it has decoded and written again."""

    class rules(Signing):
        def body(self, body: bytes) -> bytes:
            return json.dumps(json.loads(body or b"null"), sort_keys=True, separators=(",", ":")).encode()


@shelf.breaks("PB-4-15", "PB-3-12", role="client")
class LeavesHtmlRaw(SignsOtherwise):
    """Signs `<`, `>`, `&`, U+2028 and U+2029 as they stand, though it declares the code profile."""

    class rules(Signing):
        def string(self, value: str) -> bytes:
            return canonical_string(value, Profile.DOCUMENT)

        def body(self, body: bytes) -> bytes:
            return jsontext.compact(body or b"null")


@shelf.breaks("PB-4-17", role="client")
class ComparesText(SignsOtherwise):
    """Compares the MAC as text, so that upper-case hex fails."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return envelope.hmac == self.sign(envelope, secret)


@shelf.breaks("PB-4-18", "PB-2.4-15", "PB-7-02", role="client")
class VerifiesNothing(SignsOtherwise):
    """Takes every message for genuine."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return True


@shelf.breaks("PB-4-18", role="client")
class TrustsKnownSenders(SignsOtherwise):
    """Does not look at the body when it verifies a message that has a MAC of some other message."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            first = replace(envelope, body=b'{"n":1}')
            return super().verify(envelope, secret) or super().verify(first, secret)


@shelf.breaks("PB-4-19", role="client")
class ComparesAPrefix(SignsOtherwise):
    """Compares as many bytes as the claimed MAC has."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            try:
                claimed = binascii.unhexlify(envelope.hmac)
            except ValueError:
                return False
            return claimed != b"" and self.mac(envelope, secret).startswith(claimed)


@shelf.breaks("PB-4-19", role="client")
class IgnoresTheRest(SignsOtherwise):
    """Compares the first 32 bytes of the claimed MAC, and nothing behind them."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return super().verify(replace(envelope, hmac=envelope.hmac[:64]), secret)


@shelf.breaks("PB-4-20", role="client")
class NeedsNoSecret(ClientMachine):
    """Works with a secret of any length."""

    config_type = Careless

    class Codec(SignsOtherwise):
        class rules(Signing):
            def verify(self, envelope: Envelope, secret: bytes) -> bool:
                return envelope.hmac.lower() == self.sign(envelope, secret)

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        super().__init__(config, self.Codec())


@shelf.breaks("PB-4-21", role="client")
class UnsignedIsFine(SignsOtherwise):
    """Rejects a wrong MAC, but not a missing one."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return not envelope.hmac or super().verify(envelope, secret)


@shelf.breaks("PB-4-21", role="client")
class ReadsHexLoosely(SignsOtherwise):
    """Reads a MAC with blanks or a prefix as if it were hex."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            return super().verify(replace(envelope, hmac=envelope.hmac.strip().removeprefix("0x")), secret)


@shelf.breaks("PB-4-22", role="client")
class AcksForgeries(ClientMachine):
    """Drops what does not verify, and acks it."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and not self.codec.signing.verify(frame.envelope, self.config.secret):
            return Step(state, self.acking(frame.delivery_key, channel, ""))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-4-24", "PB-2.4-09", role="client")
class ChecksTheKey(ClientMachine):
    """Drops a delivery whose key is not made of its id."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        fits = frame.delivery_key.split("|")[0] == frame.envelope.id
        return super().deliver(state, channel, frame) if fits else Step(state)


@shelf.breaks("PB-4-26", "PB-4-18", role="client")
class AssumesTheVersion(SignsOtherwise):
    """Verifies every message as if it said v1."""

    class rules(Signing):
        def verify(self, envelope: Envelope, secret: bytes) -> bool:
            assumed = replace(envelope, protocol_version="v1")
            return super().verify(envelope, secret) or super().verify(assumed, secret)


# -- section 5 ---------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-5-07", "PB-5-03", "PB-2.4-16", "PB-7-02", role="client")
class SurfacesEverything(ClientMachine):
    """Surfaces a message as often as it comes."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        fresh = replace(state, seen=Seen(self.config.cache_size), waiting=Map())
        return super().deliver(fresh, channel, frame)


@shelf.breaks("PB-5-07", role="client")
class RemembersTheConsumed(ClientMachine):
    """Surfaces a repeat again as long as the host has not consumed the first."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state, (Expectation("", self.surfaced(frame.envelope), HOST),))


@shelf.breaks("PB-5-05", "PB-5-08", role="client")
class DedupesByKey(ClientMachine):
    """Tells messages apart by their delivery key."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        verified = frame.delivery_key and self.codec.signing.verify(frame.envelope, self.config.secret)
        if not verified or frame.delivery_key in state.seen.keys:
            return Step(state, self.acking(frame.delivery_key, channel, "") if verified else ())
        seen = state.seen.add(frame.delivery_key)
        waiting = state.waiting.set(frame.envelope.id, (Copy(frame.delivery_key, channel),))
        return Step(replace(state, seen=seen, waiting=waiting), (Expectation("", self.surfaced(frame.envelope), HOST),))

    def remember(self, state: State, message: Surfaced) -> State:
        return state


@shelf.breaks("PB-5-08", role="client")
class ForgetsNoKey(ClientMachine):
    """Suppresses a new message under a key that it has acked before."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        used = any(frame.delivery_key in keys for keys in state.seen.keys.values())
        if used and frame.envelope.id not in state.seen.keys:
            return Step(state, self.acking(frame.delivery_key, channel, ""))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-5-05", role="client")
class FoldsIds(ClientMachine):
    """Takes ids that differ in case for the same."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        alike = any(id != frame.envelope.id and id.lower() == frame.envelope.id.lower() for id in state.seen.keys)
        return Step(state) if alike else super().deliver(state, channel, frame)


@shelf.breaks("PB-5-09", role="client")
class LeavesRepeatsUnacked(ClientMachine):
    """Suppresses a repeat without acking it."""

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state)


@shelf.breaks("PB-5-10", "PB-5-23", role="client")
class ForgetsWhenItRedials(ClientMachine):
    """Has a memory per connection."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        return replace(step, state=replace(step.state, seen=Seen(self.config.cache_size), waiting=Map()))


@shelf.breaks("PB-5-11", role="client")
class RemembersForgeries(ClientMachine):
    """Counts a message as seen before it has verified it."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        known = frame.envelope.id in state.seen.keys or frame.envelope.id in state.waiting
        if step.owes or known or not frame.delivery_key:
            return step
        return replace(step, state=replace(step.state, seen=state.seen.add(frame.envelope.id)))


@shelf.breaks("PB-5-04", role="client")
class RemembersForEver(ClientMachine):
    """Has no bound on its memory."""

    def initial(self) -> State:
        return State(Seen(1 << 40))


@shelf.breaks("PB-5-06", role="client")
class RemembersOneId(ClientMachine):
    """Remembers one id, whatever the configured size."""

    def initial(self) -> State:
        return State(Seen(1))


@shelf.breaks("PB-2.4-18", role="client")
class ForgetsAcksWhenFull(ClientMachine):
    """Forgets the key of a message that has dropped out of the memory before it was consumed."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return super().consumed(state, channel, event) if event.id in state.seen.keys else Step(state)


@shelf.breaks("PB-5-20", role="client")
class SendsACursor(Codec):
    """Says in its register where it wants to resume."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text[:-1] + b',"last_id":""}' if isinstance(frame, Register) else text


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class RetiresAfterGoodbye(ClientMachine):
    """Does not redial after a clean close."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        if isinstance(event, Close) and event.code == 1000:
            return replace(step, state=replace(step.state, phase=Phase.STOPPED))
        return step


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class RetiresAfterACrash(ClientMachine):
    """Does not redial when the connection broke without a close frame."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        if isinstance(event, Close) and event.code == 1006:
            return replace(step, state=replace(step.state, phase=Phase.STOPPED))
        return step


@shelf.breaks("PB-5-25", role="client")
class ClosesOnForgery(ClientMachine):
    """Hangs up on a message that does not verify."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and not self.codec.signing.verify(frame.envelope, self.config.secret):
            return self.give_up(state, channel, frame)
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-5-25", role="client")
class ClosesOnNoise(ClientMachine):
    """Hangs up on what it cannot parse."""

    def receive(self, state: State, channel: Channel, event: object) -> ClientStep:
        if isinstance(event, Garbage) and channel == state.connection:
            return self.give_up(state, channel, event)
        return super().receive(state, channel, event)


# -- section 6 ---------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-6-05", role="client")
class Negotiates(ClientMachine):
    """Tries another version when it is turned away."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        version = "v1" if state.attempt < 1 else "v0"
        register = Register(self.config.token, self.config.name, version)
        return replace(step, owes=(Expectation("", register, channel),))
