"""Stores that forget one kind of thing."""

from __future__ import annotations

from reference_impl.peerbus.broker import Effect, MessageAcked, MessageStored, PeerKnown
from reference_impl.peerbus.store import Store


class ForgetfulStore(Store):
    """Forgets one kind of effect; which one is its subclass's fault."""

    forgets: type = type(None)

    def write(self, effect: Effect) -> None:
        if not isinstance(effect, self.forgets):
            super().write(effect)


class ForgetsPeers(ForgetfulStore):
    forgets = PeerKnown


class ForgetsMessages(ForgetfulStore):
    forgets = MessageStored


class ForgetsAcks(ForgetfulStore):
    forgets = MessageAcked
