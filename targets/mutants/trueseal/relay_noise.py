"""Relays whose Noise sessions go wrong."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import ReceiveOpened
from reference_impl.trueseal.noise import Noise, NoiseFailed, Pattern, Secured
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal import noises
from targets.mutants.trueseal.shelf import broken_relay as broken


class OtherNoise(Relay):
    """Uses other Noise or another stream for one kind of session, or for both."""

    noise: type[Noise] = Noise
    stream: type[Secured] = Secured
    only: Pattern | None = None

    def secured(self, pattern: Pattern) -> Secured:
        if self.only not in (None, pattern):
            return super().secured(pattern)
        return self.stream(self.noise(pattern, initiator=False, entropy=self.entropy, static=self._private_key))


@broken("TS-SES-02", "TS-SES-01")
class AnswersForAnyKey(OtherNoise):
    """Answers an NK handshake that was made for another relay's key."""

    noise, only = noises.SkipsHandshakeTags, Pattern.NK


@broken("TS-SES-06")
class TakesForgedHandshakes(OtherNoise):
    """Does not check the tags of XX, so that a message which was tampered with opens a session."""

    noise, only = noises.SkipsHandshakeTags, Pattern.XX


@broken("TS-SES-01", "TS-SES-06")
class SpeaksSha256(OtherNoise):
    """Uses SHA-256 instead of BLAKE2s in both handshakes."""

    noise = noises.HashesWithSha256


@broken("TS-SES-01", "TS-SES-06")
class TakesForgedMessages(OtherNoise):
    """Does not check the tags of transport messages, and stores what was tampered with."""

    noise = noises.SkipsTags


@broken("TS-SES-01", "TS-SES-06")
class ReusesNonces(OtherNoise):
    """Uses nonce 0 for every transport message."""

    noise = noises.NonceStaysZero


@broken("TS-SES-04", "TS-SES-06")
class NoncesOfOneByte(OtherNoise):
    """Begins with nonce 0 again behind 256 messages."""

    noise = noises.NonceOfOneByte


@broken("TS-SES-01", "TS-SES-06")
class KeysOfTheOtherDirection(OtherNoise):
    """Encrypts with the key of the other direction."""

    noise = noises.SwapsDirections


@broken("TS-SES-04", "TS-SES-06")
class OneCounterOfBothWays(OtherNoise):
    """Counts the messages of both directions together, which is right as long as both are as talkative."""

    noise = noises.OneCounterForBoth


@broken("TS-SES-01", "TS-SES-06")
class TakesPayloadsForFrames(OtherNoise):
    """Takes what a handshake message carries for the first frame."""

    stream = noises.TakesPayloads


@broken("TS-SES-01", "TS-SES-06")
class DropsForAPayload(OtherNoise):
    """Drops a handshake whose message carries a payload."""

    class Refusing(Noise):
        def read(self, message: bytes) -> bytes:
            shaking = not self.finished
            payload = super().read(message)
            if shaking and payload:
                raise NoiseFailed("a payload")
            return payload

    noise = Refusing


@broken("TS-SES-06")
class AnotherKeyForReceivers(Relay):
    """Shows receivers another static key than it has for pushers."""

    def secured(self, pattern: Pattern) -> Secured:
        if pattern is Pattern.NK:
            return super().secured(pattern)
        key = hashlib.sha256(self._private_key).digest()
        return Secured(Noise(pattern, initiator=False, entropy=self.entropy, static=key))


@broken("TS-SES-02", "TS-SES-06")
class ANewKeyAfterARestart(Relay):
    """Has another static key once it finds a store of an earlier relay."""

    def __init__(self, machine: RelayMachine, state_dir: Path, private_key: bytes, *rest: Any) -> None:
        again = (state_dir / "relay.sqlite").exists()
        super().__init__(machine, state_dir, hashlib.sha256(private_key).digest() if again else private_key, *rest)


@broken("TS-SES-07", "TS-DLV-10")
class SharesTheIdentity(Relay):
    """Keeps the key of the device that connects in one place for all sessions, and reads it a moment later."""

    device: bytes = b""

    async def handle_receive(self, stream: Stream) -> None:
        if sealed := await self.shaken(stream, Pattern.XX):
            assert sealed.remote_static, "XX shows the device's key"
            self.device = sealed.remote_static
            await asyncio.sleep(0.02)  # a look into a table of devices, say
            await self.converse(sealed, ReceiveOpened(self.device))
