"""Nodes that deliver the wrong message, to the wrong listener or in the wrong way."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.bccn.frames import UNKNOWN, Delivered, Heard, Message, Mode, Reason, Sent, SetName
from reference_impl.bccn.node import WIRE, NodeMachine, NodeStep, State
from reference_impl.core import Channel, Expectation
from targets.mutants.bccn.shelf import shelf


class OtherDelivery(NodeMachine):
    """Changes what is delivered."""

    def other(self, delivered: Delivered) -> Delivered:
        return delivered

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        owes = tuple(
            replace(e, template=self.other(e.template)) if isinstance(e.template, Delivered) else e for e in step.owes
        )
        return replace(step, owes=owes)


@shelf.breaks("BCCN-DLV-01", "BCCN-CNV-01", role="node")
class ListenersAreNotCalled(NodeMachine):
    """Does not pass plain messages to listeners."""

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        return () if not message.chan.startswith("!") else super().callees(state, message)


@shelf.breaks("BCCN-DLV-01", role="node")
class DeliversTwice(NodeMachine):
    """Delivers each plain message twice."""

    def track(self, state: State, event: Heard) -> NodeStep:
        step = super().track(state, event)
        return step if event.message.chan.startswith("!") else replace(step, owes=step.owes * 2)


@shelf.breaks("BCCN-DLV-02", "BCCN-CHN-06", role="node")
class AllByPattern(NodeMachine):
    """Passes ALL only to listeners whose pattern matches it."""

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        return tuple(p for p in state.listeners if self.addressing.interested(p, message.chan))


@shelf.breaks("BCCN-DLV-04", role="node")
class PeerWithoutPort(OtherDelivery):
    """Tells the sender's IP, but not its port."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, peer=(delivered.peer[0], 0))


@shelf.breaks("BCCN-DLV-04", role="node")
class PeerIsAlwaysHere(OtherDelivery):
    """Tells its own address as the sender's."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, peer=("127.0.0.1", delivered.peer[1]))


@shelf.breaks("BCCN-DLV-05", role="node")
class ModeIsAlwaysPlain(OtherDelivery):
    """Does not tell ALL and DIRECTED from PLAIN."""

    def other(self, delivered: Delivered) -> Delivered:
        return replace(delivered, mode=Mode.PLAIN)


@shelf.breaks("BCCN-DLV-06", "BCCN-TRN-05", role="node")
class ComplainsAboutOthersMail(NodeMachine):
    """Broadcasts an error when a directed message is for somebody else."""

    def drop(self, state: State, reason: Reason) -> NodeStep:
        step = super().drop(state, reason)
        if reason is not Reason.ADDRESS:
            return step
        return replace(step, owes=(*step.owes, Expectation("BCCN-DLV-06", Sent(b"BCCN1[14]?:1:error|no-me"), WIRE)))


@shelf.breaks("BCCN-SRC-07", role="node")
class UnknownSendersAreDropped(NodeMachine):
    """Drops what comes from "?"."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        if event.message.src == UNKNOWN:
            return self.drop(state, Reason.ADDRESS)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-SRC-09", role="node")
class WildcardNamesAreNotHeard(NodeMachine):
    """Drops what comes from a name that it would not take itself."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        src = event.message.src
        return self.drop(state, Reason.BODY) if "*" in src or src.endswith("/") else super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-17", role="node")
class FirstNameForEver(NodeMachine):
    """Matches directed messages with the first name it was given."""

    first = ""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        self.first = self.first or event.name
        return super().set_name(state, channel, event)

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        step = super().hear(replace(state, name=self.first or UNKNOWN), channel, event)
        return replace(step, state=replace(step.state, name=state.name))


@shelf.breaks("BCCN-DIR-20", role="node")
class SenderIsMatchedToo(NodeMachine):
    """Takes a message whose own src matches its target."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        if self.addressing.is_for(event.message.src, event.message.chan):
            return self.track(state, event)
        return super().hear(state, channel, event)


@shelf.breaks("BCCN-DIR-13", "BCCN-DLV-06", role="node")
class HearsEverything(NodeMachine):
    """Delivers directed messages whoever they are for."""

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        return self.track(state, event)
