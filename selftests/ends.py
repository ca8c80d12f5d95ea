"""`python -m selftests.ends [COMMAND...]`: each long command is ended at random moments; what does it leave behind?

Asked for are exit 130 or 143, one sentence, streams that are whole up to a footer that says so, and nothing else: no process, no
temporary folder. A command that had come to its end by then is not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.places import ROOT
from harness.running.stream import EVENTS, read_run
from selftests.interrupts import interruptible

COMMANDS = {
    "check": "check peerbus -n 2",
    "check-process": "check peerbus --target reference-process -n 2",
    "matrix": "matrix sbp --targets reference,reference-process --reps 200 -n 2",
    "matrix-mutants": "matrix sbp --mutants --most 3 -n 1",
    "mutants": "mutants sbp -n 2",
    "generated": "mutants sbp --generated --most 3 -n 2",
    "soak": "soak sbp --minutes 5",
    "simulate": "simulate frog --worlds 1000",
    "nightly": "nightly --site {folder}/site",
    "report": "report {streams} --out {folder}/site",
    "serve": "serve peerbus --port 0 --state-dir {folder}/state",
}
"""Each goes on for longer than the latest moment."""

KEEPS_RUNS = {"check", "check-process", "matrix", "mutants", "generated", "simulate", "nightly"}
SENTENCES = (
    "touchstone: interrupted; what had been judged is in the run's folder\n",
    "touchstone: interrupted before anything was judged\n",
)
BORN_S, LATEST_S, END_S = 0.3, 12.0, 30.0
"""When Python itself may be expected to listen, the last moment that is drawn, and what putting things in order may take."""


@dataclass(frozen=True)
class Ended:
    """What was seen of one command that was ended."""

    command: str
    number: signal.Signals
    after_s: float
    code: int
    said: str
    took_s: float
    left: list[str]

    def faults(self) -> list[str]:
        """Nothing, where all is well."""
        wrong = list(self.left)
        served = self.command == "serve"  # whoever ends it has what they want: they are told nothing
        if self.code != (
            -self.number if served and self.number == signal.SIGTERM else 0 if served else 128 + self.number
        ):
            wrong.append(f"exit {self.code}")
        if self.said not in (("",) if served else SENTENCES):
            wrong.append(f"said {self.said[-600:]!r}")
        if self.took_s > END_S:
            wrong.append(f"took {self.took_s:.0f} s to end")
        return wrong


def ended(command: str, number: signal.Signals, after_s: float, streams: str) -> Ended | None:
    """None: it had come to its end before."""
    with tempfile.TemporaryDirectory(prefix="ends-") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        words = COMMANDS[command].format(folder=folder, streams=streams).split()
        words += ["--runs", str(folder / "runs")] * (command in KEEPS_RUNS)
        surroundings = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_STATE_HOME": str(folder)}
        with (folder / "out").open("wb") as out, (folder / "said").open("w+") as said:
            run = [sys.executable, "-m", "harness.cli", *words]
            with interruptible(run, cwd=ROOT, env=surroundings, stdout=out, stderr=said) as running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(after_s)
                if running.poll() is not None:
                    return None
                running.send_signal(number)
                began = time.monotonic()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(4 * END_S)
                took = time.monotonic() - began
            said.seek(0)
            left = [*processes(str(folder)), *leftovers(folder / "tmp"), *cut_streams(folder / "runs")]
            return Ended(command, number, after_s, running.returncode, said.read(), took, left)


def processes(mark: str) -> Iterator[str]:
    """Whoever has this folder in the environment or on the command line is a descendant; it is ended here, and told of."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (path / "environ").read_bytes() + (path / "cmdline").read_bytes():
                words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                os.kill(int(path.name), signal.SIGKILL)
                yield f"left process {words[:200]}"


def leftovers(temporary: Path) -> Iterator[str]:
    for path in temporary.iterdir():
        yield f"left {path.name} in the temporary folder"
        shutil.rmtree(path, ignore_errors=True)


def cut_streams(runs: Path) -> Iterator[str]:
    for stream in runs.glob(f"*/{EVENTS}"):
        try:
            run = read_run(stream)
        except Exception as error:
            yield f"a stream that cannot be read: {error}"
            continue
        if not run.footer:
            yield f"a stream without a footer, {len(run.cases)} cases"


def main() -> None:
    parser = argparse.ArgumentParser(prog="ends", description=__doc__)
    parser.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)}; all")
    parser.add_argument("--times", type=int, default=4, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", default="runs", help="of which a report is ended")
    told = parser.parse_args()
    dice, bad, count, early = random.Random(told.seed), 0, 0, 0
    for _ in range(told.times):
        for command in told.commands or COMMANDS:
            number = dice.choice([signal.SIGINT, signal.SIGTERM])
            seen = ended(command, number, dice.uniform(BORN_S, LATEST_S), told.runs)
            if seen is None:
                early += 1
                print(f"{command:16} had come to its end", flush=True)
                continue
            count, faults = count + 1, seen.faults()
            bad += bool(faults)
            word = "; ".join(faults) or "fine"
            print(
                f"{command:16} {number.name:8} after {seen.after_s:5.1f} s, ended in {seen.took_s:4.1f} s: {word}",
                flush=True,
            )
    print(f"{count} commands were ended, {early} had come to their end before, {bad} not as they should")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
