"""Whose fault a red cell is: two opinions, and the shortest fault schedule that is still red.

*Substitution* plays the same cell with the reference on either side, under the same seed: a side that is red with the reference
too is guilty. *Reading along* plays it through the proxy and gives both directions to the protocol's oracle: the first illegal
frame names its speaker and its clause.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from harness.errors import TouchstoneError
from harness.judging.result import BAD, CaseResult, TimelineEntry, Verdict
from harness.matrix.along import Said, Unreadable, websocket_messages
from harness.matrix.block import MOST_ENTRIES, Hall, columns, scenario_of
from harness.matrix.cells import REFERENCE, Block
from harness.matrix.faults import Schedule, drawn, shorter
from harness.matrix.history import Moment
from harness.matrix.pairing import CLIENT, SERVER
from harness.matrix.play import LEAST_S
from harness.matrix.streams import StreamProxy

BOTH, PAIR = "both", "pair"
MOST_TRIES = 6
"""Schedules tried in search of a shorter one."""


def is_red(result: CaseResult) -> bool:
    return result.verdict in BAD and result.verdict is not Verdict.ERROR


async def investigated(block: Block, results: list[CaseResult]) -> list[CaseResult]:
    """The red cells with their culprit; of several repetitions of a scenario the first is looked into."""
    found: dict[str, CaseResult] = {}
    for result in results:
        if is_red(result) and result.case not in found:
            found[result.case] = await _looked_into(block, result)
    return [
        _like(result, found[result.case]) if result.case in found and is_red(result) else result for result in results
    ]


def _like(result: CaseResult, first: CaseResult) -> CaseResult:
    if result.repetition == first.repetition:
        return first
    return msgspec.structs.replace(result, culprit=first.culprit, reading_along=first.reading_along)


async def _looked_into(block: Block, result: CaseResult) -> CaseResult:
    scenario = scenario_of(block, result.case)
    schedule = drawn(block.profile, block.of, scenario, result.case, block.seed, result.repetition)
    one = replace(block, scenarios=(result.case,), alone=True)
    culprit = await by_substitution(one, result, schedule)
    if culprit == PAIR:  # it may take what was played before it on the same bench
        culprit = await by_substitution(block, result, schedule)
    schedule = await shortest(one, result, schedule)
    reading, timeline = await by_reading(one, result, schedule)
    return msgspec.structs.replace(
        result,
        culprit=culprit,
        reading_along=reading,
        example="; ".join(map(str, schedule)),
        timeline=timeline or result.timeline,
    )


# -- substitution --------------------------------------------------------------------------------------------------------


async def by_substitution(block: Block, result: CaseResult, schedule: Schedule) -> str:
    """A control that is red convicts; only two that are green acquit both and leave the combination.

    Of a block with more scenarios than this one, those before it are played first.
    """
    if await _is_red_again(replace(block, client=REFERENCE, server=REFERENCE), result, schedule):
        return REFERENCE
    client = await _is_red_again(block.with_reference(SERVER), result, schedule)
    server = await _is_red_again(block.with_reference(CLIENT), result, schedule)
    if client and server:
        return BOTH
    return CLIENT if client else SERVER if server else PAIR


async def _is_red_again(block: Block, result: CaseResult, schedule: Schedule) -> bool:
    hall = Hall(block)
    hall.patience_s = LEAST_S
    last = scenario_of(block, result.case)
    try:
        for scenario, repetition in () if block.alone else block.cells():
            if (scenario, repetition) == (last, result.repetition):
                break
            await hall.cell(scenario, repetition)
        return is_red(await hall.cell(last, result.repetition, schedule))
    finally:
        await hall.close()


async def shortest(block: Block, result: CaseResult, schedule: Schedule) -> Schedule:
    """Leave out one fault after the other for as long as the cell stays red."""
    for _ in range(MOST_TRIES):
        for fewer in shorter(schedule)[:MOST_TRIES]:
            if await _is_red_again(block, result, fewer):
                schedule = fewer
                break
        else:
            return schedule
    return schedule


# -- reading along -------------------------------------------------------------------------------------------------------


async def by_reading(block: Block, result: CaseResult, schedule: Schedule) -> tuple[str, list[TimelineEntry]]:
    """The opinion, and the timeline with what passed the proxy."""
    pairing = block.of
    hall = Hall(block, proxied=True)
    hall.patience_s = LEAST_S
    try:
        again = await hall.cell(scenario_of(block, result.case), result.repetition, schedule)
        said = _said(hall)
    except (Unreadable, TouchstoneError) as error:
        return f"not read: {error}", []
    finally:
        await hall.close()
    if not is_red(again):
        return "not read: it was green when it was read", []
    shown = pairing.shown or (lambda one: one.text)
    hall.history.moments += [_moment(one, shown(one), hall.history.began) for one in said]
    hall.history.moments.sort(key=lambda moment: moment.t)
    client, server = hall.targets[CLIENT].info, hall.targets[SERVER].info
    timeline = hall.history.timeline(columns(pairing.seats, client, server))[:MOST_ENTRIES]
    if pairing.read is None:
        return f"not read: {pairing.unread}", timeline
    illegal = pairing.read(said)
    if illegal is None:
        return "nothing that was said is illegal by itself", timeline
    side = pairing.seats[illegal.seat].side
    return f"{side}: {illegal.seat} broke {illegal.clause}: {illegal.what}", timeline


async def readings(block: Block) -> list[str]:
    """Every scenario of a block, read along: who said something illegal, if anybody did."""
    pairing, found = block.of, []
    hall = Hall(block, proxied=True)
    hall.patience_s = LEAST_S
    try:
        for scenario, repetition in block.cells():
            await hall.cell(scenario, repetition)
            if pairing.read and (illegal := pairing.read(_said(hall))):
                found.append(
                    f"{pairing.seats[illegal.seat].side}: {illegal.seat} broke {illegal.clause}: {illegal.what}"
                )
    except Unreadable:
        pass
    finally:
        await hall.close()
    return found


def _said(hall: Hall) -> list[Said]:
    """What passed every stream of the bench; a bench that broke down has told what it had.

    Up to the first connection that was cut, or machine that was killed, or stopped by its operator: what an end owes behind that
    is not seen from the path.
    """
    if not hall.pairing.read:
        return []
    violence = [hall.history.began + moment.t for _, moment in hall.history.faults("cut", "killed", "stopped")]
    until = min(violence, default=float("inf"))
    proxies = [(line, proxy) for line, proxy in hall.proxies.items() if isinstance(proxy, StreamProxy)]
    return list(
        websocket_messages((line, piece) for line, proxy in proxies for piece in proxy.passed if piece.t < until)
    )


def _moment(one: Said, text: str, began: float) -> Moment:
    raw = one.message.encode(errors="replace") if isinstance(one.message, str) else one.message or b""
    data = {"way": one.way, "text": text, "raw": raw[:64].hex(), "size": len(raw)}
    return Moment(one.t - began, one.line, "wire", "frame", data)
