"""Relays and clients that conform and yet take every freedom: the suites must not fail them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.shim import Emit
from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Level, Player
from reference_impl.trueseal.client import HOST, ClientMachine, ClientStep, any_session
from reference_impl.trueseal.client import State as ClientState
from reference_impl.trueseal.client_io import Client, Config
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    Ack,
    BadAnswer,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Hangup,
    Heartbeat,
    Oversize,
    Push,
    PushSession,
    Received,
    ReceiveOpened,
    ShortPush,
    Tag,
)
from reference_impl.trueseal.relay import Inbox, Phase, RelayMachine, RelayStep, Serving, State
from reference_impl.trueseal.relay_io import Line, Relay
from targets.reference.trueseal import ClientRole, CodecRole, RelayRole

LINGER_S = 0.2
SHOWN_S = 0.01


class OtherChoices(RelayMachine):
    """Takes the last alternative wherever there is one."""

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        choices = self.alternatives(state, channel, event)
        return choices[-1] if choices else super().receive(state, channel, event)

    def front(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return super().receive(state, channel, event.front)

    def reject_and_end(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return self.then_end(super().receive(state, channel, event), channel)


class FirstAlternatives(RelayMachine):
    """Takes the first alternative, but for a second session of a device: what is odd it passes over."""

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        choices = () if isinstance(event, ReceiveOpened) else self.alternatives(state, channel, event)
        kept = [step for step in choices if channel in step.state.sessions]
        return kept[0] if kept else super().receive(state, channel, event)

    def reject_and_end(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return super().receive(state, channel, event)


class Shuffled(RelayMachine):
    """Ids in no order, and of several things to deliver the last comes first."""

    def delivery(
        self, inbox: Inbox, number: int, id: int | None, envelope: bytes, channel: Channel, clause: str
    ) -> tuple[Expectation, Expectation]:
        return super().delivery(inbox, number, self.own_id(number) if id is None else id, envelope, channel, clause)

    def shown(self, inbox: Inbox, frame: Deliver) -> int | None:
        """Whose id it is, also among blobs with equal envelopes: their ids come from their numbers again after a crash."""
        return next((number for number in inbox.new if self.own_id(number) == frame.blob_id), None)

    def own_id(self, number: int) -> int:
        return int.from_bytes(hashlib.blake2b(str(number).encode(), digest_size=8).digest(), "big")

    def serve(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        step = super().serve(state, channel, event)
        pairs = [step.owes[at : at + 2] for at in range(1, len(step.owes), 2)]
        return replace(step, owes=tuple(debt for pair in reversed(pairs) for debt in pair))


class NewestFirst(RelayMachine):
    """Serves the newest session of a device alone; when it ends, the one before it gets all that is in the inbox.

    A Push in a Receive Session it passes over, but one that no session could take ends it with an Error.
    """

    def malformed(self, state: State, channel: Channel, event: Any) -> RelayStep:
        if isinstance(event, ShortPush | Oversize) and state.phase(channel) is Phase.RECEIVE:
            return self.turn_away(state, channel, event)
        return (self.ignore if isinstance(event, Push) else super().malformed)(state, channel, event)

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        return super().receive_opened(replace(state, serving=Serving.NEWEST), channel, event)

    def over(self, state: State, channel: Channel) -> RelayStep:
        step = super().over(state, channel)
        return replace(step, owes=tuple(replace(debt, level=Level.MUST, repeats=False) for debt in step.owes))

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(replace(state, displaced=frozenset()), channel, frame)
        return replace(step, state=replace(step.state, displaced=state.displaced))


class SlowRelay(Relay):
    """Says everything a little later than it could, but for Heartbeats."""

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if isinstance(frame, Heartbeat):
            super().put(line, frame)
        else:
            asyncio.get_running_loop().call_later(0.005, super().put, line, frame)


class BeatingRelay(Relay):
    """Says a Heartbeat of its own before each answer and each delivery."""

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if not isinstance(frame, Hangup | Heartbeat):
            super().put(line, Heartbeat())
        super().put(line, frame)


class LazyRelay(Relay):
    """Beats when a device or its ack comes; an ack, and a Heartbeat behind it, it reads when something else comes, or later."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._put_off: list[tuple[int, Reader, bytes]] = []

    def heard(self, channel: int, reader: Reader, message: bytes) -> None:
        if [channel] == [other for other, _, _ in self._put_off] and message[:1] == bytes([Tag.HEARTBEAT]):
            self._put_off.append((channel, reader, message))
            return
        self._look()
        if message[:1] == bytes([Tag.DELIVER_ACK]):
            self._put_off.append((channel, reader, message))
            self.put(self._lines[channel], Heartbeat())
            asyncio.get_running_loop().call_later(LINGER_S, self._look)
        else:
            super().heard(channel, reader, message)

    def _look(self) -> None:
        put_off, self._put_off = self._put_off, []
        for each in put_off:
            super().heard(*each)

    def turn(self, channel: Channel, event: object) -> None:
        self._look()
        super().turn(channel, event)
        if isinstance(event, ReceiveOpened):
            self.put(self._lines[channel], Heartbeat())

    def kill(self) -> None:
        self._put_off.clear()
        super().kill()


class EagerRelay(Relay):
    """Says whatever it may: Heartbeats of its own, each delivery twice."""

    def __init__(self, machine: RelayMachine, state_dir: Path, private_key: bytes, codec: Codec | None = None) -> None:
        super().__init__(machine, state_dir, private_key, codec)
        self.player = Player(machine, entropy=self.entropy, state=self.player.state, volunteers=lambda debt: True)


class BareRelay(RelayRole):
    """Offers nothing beyond the protocol, and has no large frames."""

    capabilities = ()

    class codec(Codec):  # a slot of the role
        def __init__(self) -> None:
            super().__init__(large_frames=False)


class OneByOne(ClientMachine):
    """A session for each blob, and duplicates are known by their ids."""

    def pushes(self, state: ClientState, blobs: Iterable[int]) -> tuple[Expectation, ...]:
        def alone(debt: Expectation, blob: int) -> Expectation:
            session = any_session(PushSession(state.session.number * 1000 + blob))
            return replace(debt, template=replace(debt.template, session=session))

        return tuple(map(alone, super().pushes(state, blobs), sorted(blobs)))

    def deliver(self, state: ClientState, channel: Channel, frame: Deliver) -> ClientStep:
        return self.deliver_otherwise(state, channel, frame)


class OneAtATime(ClientMachine):
    """Holds a push back until the one before it was answered; of those that wait the newest goes first.

    An answer is one whatever its body; an answer to nothing is passed over.
    """

    most = 1

    def receive(self, state: ClientState, channel: Channel, event: Any) -> ClientStep:
        event = event.answer if isinstance(event, BadAnswer) else event
        if isinstance(event, Ack | Error) and isinstance(channel, PushSession) and not state.pushing.get(channel, (1,)):
            return self.ignore(state, channel, event)
        return super().receive(state, channel, event)

    def pushes(self, state: ClientState, blobs: Iterable[int]) -> tuple[Expectation, ...]:
        free = self.most - len(state.under_way)
        return super().pushes(state, blobs)[-free:] if free > 0 else ()


class TwoAtATime(OneAtATime):
    most = 2


class Literal(ClientMachine):
    """Answers every Heartbeat, whatever it was for, acks each delivery twice, and passes over what is odd."""

    def acking(self, channel: Channel, frame: Deliver) -> tuple[Expectation, Expectation]:
        ack, again = super().acking(channel, frame)
        return ack, replace(again, level=Level.MUST, repeats=False)

    def answer_beat(self, state: ClientState, channel: Channel, _: Heartbeat | BadHeartbeat) -> ClientStep:
        return replace(super().answer_beat(replace(state, beats=0), channel, Heartbeat()), state=state)

    def end(self, state: ClientState, channel: Channel, event: Any, clause: str = "TS-FRM-05") -> ClientStep:
        return (
            super().end(state, channel, event, clause) if clause == "TS-TYP-03" else self.ignore(state, channel, event)
        )


class LingeringClient(Client):
    """Keeps a Push Session for a while, in case there is more to push; its own Heartbeats come and go.

    What came together it shows its host together, the newest first.
    """

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._unshown: list[Received] = []

    def _perform(self, channel: Channel, frame: object) -> None:
        if not isinstance(frame, Received):
            return super()._perform(channel, frame)
        if not self._unshown:
            asyncio.get_running_loop().call_later(SHOWN_S, self._show)
        self._unshown.append(frame)

    def _show(self) -> None:
        unshown, self._unshown = self._unshown, []
        for received in () if self._over else reversed(unshown):
            super()._perform(HOST, received)

    def put(self, line: Any, frame: Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            asyncio.get_running_loop().call_later(LINGER_S, super().put, line, frame)
        else:
            super().put(line, Heartbeat())
            super().put(line, frame)


class EagerClient(Client):
    """Says whatever it may: Heartbeats of its own, whose answers it does not answer; two acks of each delivery."""

    def __init__(self, config: Config, machine: ClientMachine, *given: Any, **more: Any) -> None:
        super().__init__(config, machine, *given, **more)
        state = self.player.state
        self.player = Player(machine, entropy=self.entropy, state=state, volunteers=lambda debt: True)

    def put(self, line: Any, frame: Frame | Hangup) -> None:
        """Acks come late, and behind the Heartbeats."""
        if isinstance(frame, DeliverAck):
            asyncio.get_running_loop().call_later(0.005, super().put, line, frame)
        else:
            super().put(line, frame)


class Forgiving(ClientMachine):
    """Answers a Heartbeat for all its body."""

    def receive(self, state: ClientState, channel: Channel, event: Any) -> ClientStep:
        return super().receive(state, channel, Heartbeat() if isinstance(event, BadHeartbeat) else event)


class PromptClient(Client):
    """Dials again soon: with many sessions side by side, several attempts are no sign of trouble."""

    def __init__(self, config: Config, *given: Any, **more: Any) -> None:
        super().__init__(replace(config, most_wait_s=0.05), *given, **more)


class QuietClient(ClientRole):
    """Tells nothing of its blobs, calls them by words, and has no Heartbeat to ask for."""

    capabilities = ("restart", "kill", "retry_ms", "large_frames")
    machine, client = OneByOne, PromptClient

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        def tell(event: str, data: dict[str, Any]) -> None:
            if event == "received":
                emit(event, {"envelope": data["envelope"].upper()})

        return await super().start(config, tell)

    async def do_push(self, recipient: str, envelope: str) -> dict[str, Any]:
        return {"id": f"blob-{(await super().do_push(recipient, envelope))['id']}"}


class LiteralClient(ClientRole):
    machine, client = Literal, LingeringClient


class SerialClient(ClientRole):
    machine = OneAtATime


class PairingClient(ClientRole):
    machine, client = TwoAtATime, LingeringClient


class TalkativeClient(ClientRole):
    machine, client = Forgiving, EagerClient


class SmallCodec(CodecRole):
    """One Noise message to a frame, and no known answers."""

    capabilities = ()

    class codec(Codec):  # a slot of the role
        def __init__(self) -> None:
            super().__init__(large_frames=False)


def relay_of(name: str, **parts: type) -> type[RoleShim]:
    """A target with such a relay."""

    def init(self: RoleShim) -> None:
        RoleShim.__init__(self, name, "0", {"trueseal/relay": type(name, (RelayRole,), parts)})

    return type(name, (RoleShim,), {"__init__": init})


Free = relay_of("free", machine=OtherChoices)
Patient = relay_of("patient", machine=FirstAlternatives, relay=SlowRelay)
Newest = relay_of("newest", machine=NewestFirst, relay=BeatingRelay)
Lazy = relay_of("lazy", relay=LazyRelay)
Eager = relay_of("eager", machine=Shuffled, relay=EagerRelay)


class Bare(RoleShim):
    def __init__(self) -> None:
        super().__init__("bare", "0", {"trueseal/relay": BareRelay, "trueseal/codec": SmallCodec})


class Quiet(RoleShim):
    def __init__(self) -> None:
        super().__init__("quiet", "0", {"trueseal/client": QuietClient})


class Serial(RoleShim):
    def __init__(self) -> None:
        super().__init__("serial", "0", {"trueseal/client": SerialClient})


class Windowed(RoleShim):
    def __init__(self) -> None:
        super().__init__("windowed", "0", {"trueseal/client": PairingClient})


class Wordy(RoleShim):
    def __init__(self) -> None:
        super().__init__("wordy", "0", {"trueseal/client": LiteralClient})


class Talkative(RoleShim):
    def __init__(self) -> None:
        super().__init__("talkative", "0", {"trueseal/client": TalkativeClient})
