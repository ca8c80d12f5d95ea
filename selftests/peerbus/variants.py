"""Implementations that conform in their own way, or err in one that was overlooked once.

The first take a freedom that most leave alone, and nobody may be failed for it; the others were passed or misjudged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from immutables import Map

from harness.shim import Emit
from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Step
from reference_impl.io.websocket import Message, WebSocket, dial
from reference_impl.peerbus.broker import ONE_ID, BrokerMachine, BrokerStep, State
from reference_impl.peerbus.client import ClientMachine, Copy
from reference_impl.peerbus.client import State as ClientState
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.frames import VERSION, Ack, Binary, Envelope, Frame, Garbage, Peers, Register
from targets.reference.peerbus import BrokerRole, ClientRole, CodecRole, DocumentBrokerMachine, DocumentClientRole


class OneAtATime(Client):
    """Reads on, and so notices that its connection is gone, only once its host has consumed the last message."""

    async def dial(self) -> WebSocket:
        carrier = await dial(self.url, self.settings)
        receive = carrier.receive

        async def when_consumed() -> Message:
            while self.connected and self.player.state.waiting:  # noqa: ASYNC110  a state has no event to wait for
                await asyncio.sleep(0.001)
            return await receive()

        carrier.receive = when_consumed  # type: ignore[method-assign]  # all else stays as it is
        return carrier


class SerialRole(DocumentClientRole):
    capabilities = (*DocumentClientRole.capabilities, "serial")
    client = OneAtATime


class Serial(RoleShim):
    def __init__(self) -> None:
        super().__init__("serial", "0", {"peerbus/client": SerialRole})


class SerialCodeRole(ClientRole):
    """The same under the code's authority: it surfaces what the other one drops."""

    capabilities = (*ClientRole.capabilities, "serial")
    client = OneAtATime


class SerialCode(RoleShim):
    def __init__(self) -> None:
        super().__init__("serial-code", "0", {"peerbus/client": SerialCodeRole})


class TersestRole(ClientRole):
    """Tells its host id, sender, source and body of a message, and only who else is there."""

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        self._name = config["name"]

        def tersely(event: str, data: dict[str, Any]) -> None:
            emit(event, {key: value for key, value in data.items() if key not in ("to", "kind")})

        return await super().start(config, tersely)

    async def do_peers(self) -> dict[str, Any]:
        names = (await super().do_peers())["names"]
        return {"names": [name for name in names if name != self._name]}


class Terse(RoleShim):
    def __init__(self) -> None:
        super().__init__("terse", "0", {"peerbus/client": TersestRole})


class Touchy(Client):
    """Hangs up on a delivery with a member of a wrong type, and redials."""

    def read(self, message: Message) -> Frame | Garbage | Binary:
        frame = super().read(message)
        if isinstance(frame, Garbage) and '"deliver"' in str(message) and self._line:
            self._line.hang_up(1007)
        return frame


class TouchyRole(ClientRole):
    client = Touchy


class WrongTypesEndIt(RoleShim):
    def __init__(self) -> None:
        super().__init__("touchy", "0", {"peerbus/client": TouchyRole})


class AcksAgain(ClientMachine):
    """Acks all that was consumed once more on each new connection: a late ack is expected (2.2)."""

    def accepted(self, state: ClientState, channel: Channel, frame: Peers) -> Step[ClientState]:
        step = super().accepted(state, channel, frame)
        keys = dict.fromkeys(key for keys in state.seen.keys.values() for key in keys)
        return replace(step, owes=(*step.owes, *(Expectation("PB-2.2-05", Ack(key), channel) for key in keys)))


class AcksAgainRole(ClientRole):
    machine = AcksAgain


class LateAcks(RoleShim):
    def __init__(self) -> None:
        super().__init__("late-acks", "0", {"peerbus/client": AcksAgainRole})


class AcksWhatItSurfaced(ClientMachine):
    """Of several copies acks the one that its host got, where that came; the others come again, and are acked then (PB-5-09)."""

    def acks(self, state: ClientState, copies: tuple[Copy, ...]) -> Iterator[Expectation]:
        return (debt for debt in super().acks(state, copies) if copies[0] == Copy(debt.template.id, state.connection))


class AcksWhatItSurfacedRole(ClientRole):
    machine = AcksWhatItSurfaced


class OneAck(RoleShim):
    def __init__(self) -> None:
        super().__init__("one-ack", "0", {"peerbus/client": AcksWhatItSurfacedRole})


class OneMessageToAnId(BrokerMachine):
    """Whoever uses an id again, for whatever and to whomever, has said nothing."""

    def initial(self) -> State:
        return replace(super().initial(), choices=Map({ONE_ID: True}))


class OneMessageRole(BrokerRole):
    machine = OneMessageToAnId


class OneMessage(RoleShim):
    def __init__(self) -> None:
        super().__init__("one-message", "0", {"peerbus/broker": OneMessageRole})


class StrictRole(BrokerRole):
    """Drops what is of another version or of a third kind, as the document says, and writes anew what it relays."""

    machine = DocumentBrokerMachine


class StrictBroker(RoleShim):
    def __init__(self) -> None:
        super().__init__("strict", "0", {"peerbus/broker": StrictRole})


# -- what errs ---------------------------------------------------------------------------------------------------------


class AnyVersion(BrokerMachine):
    """Looks neither at a register's version nor at its name."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        return super().register(state, channel, replace(frame, protocol_version=VERSION, name=frame.name or "nobody"))


class OtherTokensRole(BrokerRole):
    """Has tokens of its own, as a server that runs already."""

    machine = AnyVersion

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        tokens = ["first", "second"]
        return {**await super().start({**config, "tokens": tokens}, emit), "tokens": tokens}


class OtherTokens(RoleShim):
    def __init__(self) -> None:
        super().__init__("other-tokens", "0", {"peerbus/broker": OtherTokensRole})


class SecretTokensRole(BrokerRole):
    """Has tokens of its own, and tells nobody."""

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        return await super().start({**config, "tokens": ["secret"]}, emit)


class SecretTokens(RoleShim):
    def __init__(self) -> None:
        super().__init__("secret-tokens", "0", {"peerbus/broker": SecretTokensRole, "peerbus/codec": CodecRole})


class Strands(BrokerMachine):
    """The first message behind a takeover is stored, and nobody is told: it had gone to the old connection's queue."""

    taken = ""

    def take_over(self, state: State, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        self.taken = frame.name
        return super().take_over(state, channel, frame, holder)

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        if self.taken not in [recipient for _, recipient in rows]:
            return step
        self.taken = ""
        return replace(step, owes=())


class StrandsRole(BrokerRole):
    machine = Strands


class StrandsAtTakeover(RoleShim):
    def __init__(self) -> None:
        super().__init__("strands", "0", {"peerbus/broker": StrandsRole})
