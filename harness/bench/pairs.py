"""`python -m harness.bench.pairs`: a cell of the matrix beside the same exchange written by hand, without the harness.

The exchange is that of SBP between two peers of the reference: what the hosts of a cell say is taken from its history, and said
again by two sessions that are joined with nothing but the reference's own shells. Both run in this one process, and wait for
nobody else: the processor time of alternating rounds is compared, by its medians.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import dataclass, field

from harness.judging.result import Verdict
from harness.matrix.block import Hall, scenario_of
from harness.matrix.cells import Block
from harness.matrix.history import History
from reference_impl.io.websocket import Listener, WebSocket, dial
from reference_impl.sbp.codec import to_json
from reference_impl.sbp.frames import Acked, Delivered, Established, HostEvent
from reference_impl.sbp.peer import Config, PeerMachine
from reference_impl.sbp.peer_io import Session, settings

ROUNDS = 40
CASE = "sbp/dialler-acceptor/interop/exchange[size=small]"
WITHIN = 1.5
"""A cell without faults costs at most so many times the exchange itself."""

Said = tuple[bool, str, bytes, int | None]
"""Does the dialler say it? Subject, data, timestamp."""


@dataclass
class Host:
    """Counts what it is told, and wakes who waits for it."""

    established: asyncio.Event = field(default_factory=asyncio.Event)
    owed: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, session: Session, event: HostEvent) -> None:
        if isinstance(event, Established):
            self.established.set()
        elif isinstance(event, Delivered | Acked):
            self.owed -= 1
            if not self.owed:
                self.done.set()


async def by_hand(listener: Listener, port: int, told: dict[str, Config], said: list[Said], hosts: list[Host]) -> None:
    """Dial, greet, say it all, until everything is delivered and acknowledged; then hang up."""
    dialler, acceptor = Host(owed=len(said)), Host(owed=len(said))
    hosts.append(acceptor)
    made = Session(
        await dial(f"ws://127.0.0.1:{port}", settings(told["dialler"].limit)),
        PeerMachine(told["dialler"], remembers=False),
        on_event=dialler.tell,
    )
    running = asyncio.create_task(made.run())
    await dialler.established.wait()
    await acceptor.established.wait()
    theirs = accepted_sessions[-1]
    for by_dialler, subject, data, ts in said:
        (made if by_dialler else theirs).send(subject, data, ts)
    await dialler.done.wait()
    await acceptor.done.wait()
    await made.carrier.close()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


accepted_sessions: list[Session] = []


def spoken(history: History) -> tuple[dict[str, Config], list[Said]]:
    """What the hosts of that cell said, in order, and how its peers were configured."""
    asked = {m.who.split()[0]: m.data for m in history.moments if m.what == "announces"}
    told = {
        who: Config(data["peer_id"], tuple(data["caps"]), to_json(data["metadata"]), True, int(data["limit"]))
        for who, data in asked.items()
    }
    sends = [m for m in history.moments if m.kind == "asked" and m.what == "send"]
    said = [
        (
            m.who != "acceptor",
            m.data["subject"],
            bytes.fromhex(m.data["data"]),
            int(m.data["ts"]) if "ts" in m.data else None,
        )
        for m in sends
    ]
    return told, said


async def measured() -> tuple[float, float, int]:
    """Median seconds of a cell and of the same by hand, and how many messages there are."""
    block = Block("sbp", "dialler-acceptor", "reference", "reference", "none")
    hall, scenario = Hall(block), scenario_of(block, CASE)
    assert (await hall.cell(scenario, 0)).verdict is Verdict.PASS
    told, said = spoken(hall.history)
    hosts: list[Host] = []

    async def accepted(carrier: WebSocket) -> None:
        made = Session(carrier, PeerMachine(told["acceptor"], remembers=False), on_event=hosts[-1].tell)
        accepted_sessions.append(made)
        await made.run()

    listener = Listener(accepted, settings(told["acceptor"].limit))
    port = await listener.start()
    cells, hands = [], []
    for repetition in range(ROUNDS):
        began = time.process_time()
        result = await hall.cell(scenario, repetition)
        cells.append(time.process_time() - began)
        assert result.verdict is Verdict.PASS
        began = time.process_time()
        await by_hand(listener, port, told, said, hosts)
        hands.append(time.process_time() - began)
    await listener.stop()
    await hall.close()
    return statistics.median(cells), statistics.median(hands), len(said)


def main() -> int:
    cell, hand, count = asyncio.run(measured())
    print(f"a cell of the matrix     {cell * 1000:8.2f} ms, {count} messages with their receipts")
    print(f"the same by hand         {hand * 1000:8.2f} ms")
    print(f"cell / by hand           {cell / hand:8.2f}, at most {WITHIN} is asked")
    return 0 if cell / hand <= WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
