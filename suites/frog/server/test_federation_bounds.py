"""Section 40: no more sisters than the bound, where a target lets itself be told one."""

from __future__ import annotations

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.frog.frames import Hangup, SisterErr, SisterHello
from suites.frog.line import OVERLOAD
from suites.frog.server.sisters import Federation, SisterLine


async def is_turned_away(line: SisterLine) -> bool:
    """@HELLO is answered with one of the two codes, or the end, and not with a greeting (FROG-40-04)."""
    await line.hello()
    heard = await line.any_next(f"@ERR - {' or '.join(OVERLOAD)}, or the end", "FROG-40-02")
    return isinstance(heard, Hangup) or (isinstance(heard, SisterErr) and heard.code in OVERLOAD)


@needs("sister", "max_sisters")
@clauses("FROG-40-02")
async def test_a_server_with_enough_sisters_takes_no_more(federation: Federation, trial: Trial) -> None:
    """Two are live; the third is turned away, and the two are served."""
    federation.config["max_sisters"] = 2
    await federation.start()
    lines = await federation.sisters(2)
    third = await federation.line(2)
    trial.expect(await is_turned_away(third), "no third sister", "a greeting")
    for line in lines:
        await line.listed()


@needs("sister", "max_sisters")
@clauses("FROG-40-02")
async def test_a_sisters_place_is_given_back(federation: Federation, trial: Trial) -> None:
    """Two are live, and one of them leaves: there is room for another."""
    federation.config["max_sisters"] = 2
    await federation.start()
    first, _ = await federation.sisters(2)
    await first.close()
    for _ in trial.patiently():
        line = await federation.line(2)
        await line.hello()
        if isinstance(await line.any_next("a greeting", "FROG-40-02"), SisterHello):
            return
    raise Broken("FROG-40-02", "room for one more", "everybody is turned away")
