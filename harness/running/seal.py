"""Which runs this harness wrote: a seal beside the stream, made with a key that is kept outside of every runs folder.

A target may write where it likes, a folder beside its own run too. What it cannot make is the seal of that folder's name; unless
it runs as the same user and reads the key, which a container cannot.
"""

from __future__ import annotations

import contextlib
import glob
import hmac
import os
import secrets
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SEAL = "seal"
STREAMS = ("events.ndjson", "events.parquet")
"""What a folder has in it that is a run; a report reads both."""


@cache
def key() -> bytes:
    """This user's; empty where no place keeps one, and then nothing is sealed."""
    path = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "touchstone" / "seal.key"
    if not path.exists():
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(f"{path.name}.{os.getpid()}")
            fresh.touch(mode=0o600)
            fresh.write_bytes(secrets.token_bytes(32))
            fresh.rename(path)
    try:
        return path.read_bytes()
    except OSError:
        return b""


def made_for(folder: Path) -> str:
    return hmac.new(key(), folder.name.encode(), "sha256").hexdigest()


def seal(folder: Path) -> None:
    if key():
        (folder / SEAL).write_text(made_for(folder))


def is_sealed(folder: Path) -> bool:
    try:
        found = (folder / SEAL).read_bytes()
    except OSError:
        return False
    return bool(key()) and hmac.compare_digest(found, made_for(folder).encode())


def is_run(path: Path) -> bool:
    """A folder with a stream in it, or a stream by itself, which nothing seals."""
    return path.suffix in (".ndjson", ".parquet") or any((path / name).exists() for name in STREAMS)


def strangers(runs: Iterable[Path]) -> list[Path]:
    """Runs that lie beside ours and are not: a target may have put them there.

    A folder in which none is ours came from another machine as a whole, such as the other shard's.
    """
    found = sorted(runs)
    homes = {run.parent for run in found if is_sealed(run)}
    return [run for run in found if run.parent in homes and not is_sealed(run)]


def beside(named: str) -> list[Path]:
    """The runs that a path or a pattern stands for without naming them; a run that is named by itself is meant."""
    if is_run(whole := Path(named)):
        return []
    roots = [whole] if whole.exists() else [Path(found) for found in glob.glob(named)]
    return [run for root in roots for run in ([root] if is_run(root) else root.iterdir()) if is_run(run)]
