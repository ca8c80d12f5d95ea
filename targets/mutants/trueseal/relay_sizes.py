"""Relays that measure wrongly, or do the wrong thing with what is too large."""

from __future__ import annotations

from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import HEADER
from reference_impl.trueseal.frames import KEY_SIZE, MAX_ENVELOPE, Ack, Error, Oversize, Push
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also


class Measures(RelayMachine):
    """Weighs an envelope in another way."""

    def weighed(self, event: Any) -> Any:
        if not isinstance(event, Push):
            return event
        return Oversize(len(event.envelope)) if self.too_large(event) else event

    def too_large(self, push: Push) -> bool:
        return len(push.envelope) > self.limit


@broken("TS-SIZE-01", "TS-SIZE-02")
class TheLimitIsTooLarge(Measures):
    """Rejects an envelope of exactly the limit."""

    def too_large(self, push: Push) -> bool:
        return len(push.envelope) >= self.limit


@broken("TS-SIZE-01")
class AMillionBytes(Measures):
    """Takes the largest envelope to have 1,000,000 bytes."""

    def too_large(self, push: Push) -> bool:
        return len(push.envelope) > min(self.limit, 1_000_000)


@broken("TS-SIZE-02", "TS-SIZE-01")
class MeasuresTheBody(Measures):
    """Counts the recipient's key as well."""

    def too_large(self, push: Push) -> bool:
        return KEY_SIZE + len(push.envelope) > self.limit


@broken("TS-SIZE-02", "TS-SIZE-01")
class MeasuresTheFrame(Measures):
    """Counts the whole frame."""

    def too_large(self, push: Push) -> bool:
        return HEADER.size + KEY_SIZE + len(push.envelope) > self.limit


@broken("TS-SIZE-05", "TS-SIZE-02")
class OneMoreIsNotMuch(Measures):
    """Takes an envelope that is one byte over the operator's limit."""

    def too_large(self, push: Push) -> bool:
        return len(push.envelope) > self.limit + 1


@broken("TS-SIZE-06")
class AcksAndRejects(RelayMachine):
    """Answers an envelope over the limit with an Error and an Ack."""

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return also(super().reject_size(state, channel, event), channel, Ack())


@broken("TS-SIZE-06", "TS-SIZE-05", "TS-SIZE-09")
class AcksTheTooLarge(RelayMachine):
    """Acks an envelope over the limit, and forgets it."""

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return also(Step(state), channel, Ack())


@broken("TS-SIZE-07", "TS-ERR-03")
class StoresTheTooLarge(RelayMachine):
    """Rejects an envelope over the operator's limit, and stores it."""

    def weighed(self, event: Any) -> Any:
        return event

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        if len(frame.envelope) <= self.limit:
            return step
        return Step(step.state, (self.answer(Error(), channel, "TS-SIZE-05"),), step.effects)


@broken("TS-SIZE-07", "TS-SIZE-05")
class CutsTheTooLarge(RelayMachine):
    """Cuts an envelope to the operator's limit and stores that."""

    def weighed(self, event: Any) -> Any:
        return Push(event.recipient, event.envelope[: self.limit]) if isinstance(event, Push) else event


@broken("TS-SIZE-08", "TS-SIZE-05")
class IgnoresTheOperator(RelayMachine):
    """Knows the protocol's limit only."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(MAX_ENVELOPE)


@broken("TS-SIZE-09", "TS-SIZE-05")
class EndsForTheOperatorsLimit(RelayMachine):
    """Sends an Error for the protocol's limit only, and ends the session for the operator's."""

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        operators = isinstance(event, Oversize) and event.size <= MAX_ENVELOPE
        return (self.malformed if operators else super().reject_size)(state, channel, event)


@broken("TS-SIZE-09")
class EndsForTheProtocolsLimit(RelayMachine):
    """Sends an Error for the operator's limit only, and ends the session for the protocol's."""

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        protocols = isinstance(event, Oversize) and event.size > MAX_ENVELOPE
        return (self.malformed if protocols else super().reject_size)(state, channel, event)
