"""Noise over TCP: a carrier of plaintexts around a stream of bytes."""

from __future__ import annotations

from reference_impl.io.carrier import ENDED, LOST, HungUp
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.noise import NoiseFailed, Secured


class Sealed:
    """One session. Whatever does not authenticate is its end."""

    def __init__(self, stream: Stream, secured: Secured) -> None:
        self.stream, self.secured = stream, secured

    @property
    def remote_static(self) -> bytes | None:
        """Who the other side is, where the handshake shows it."""
        return self.secured.noise.remote_static

    async def shake_hands(self, initiator: bool) -> None:
        """Raises HungUp where it comes to nothing."""
        if initiator:
            await self.stream.send(self.secured.opening())
        while not self.secured.noise.finished:
            await self._read()

    async def send(self, plaintext: bytes) -> None:
        await self.stream.send(self.secured.seal(plaintext))

    async def receive(self) -> bytes:
        while (plaintext := await self._read()) is None:
            pass
        return plaintext

    async def _read(self) -> bytes | None:
        """The next Noise message; None where it was one of the handshake."""
        try:
            while (read := self.secured.read()) is None:
                self.secured.feed(await self.stream.receive())
        except NoiseFailed as error:
            raise HungUp(LOST, str(error)) from None
        reply, plaintext = read
        if reply:
            await self.stream.send(reply)
        return plaintext

    async def close(self, code: int = ENDED) -> None:
        await self.stream.close(code)

    def cut(self) -> None:
        self.stream.cut()
