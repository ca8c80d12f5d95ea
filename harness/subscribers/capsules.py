"""Capsules: one file per failing case, to be tried again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from harness.files import write_whole
from harness.judging.capsule import KEPT, Capsule, path_of
from harness.judging.result import CaseResult, Event, Header, shown


class Capsules:
    """Writes the capsules of a run into its folder."""

    def __init__(
        self, run: Path, target: str = "", specs: Mapping[str, str] = MappingProxyType({}), **asked: Any
    ) -> None:
        """`asked` is how it was run. Without a target each result's own is meant: a run over mutants has many.

        `specs` says how each target of a matrix was spelled, by its name.
        """
        self._run, self._specs = run, specs
        self._target, self._asked = target, asked
        self._header: Header | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Header():
                self._header = event
            case CaseResult() if event.verdict in KEPT:
                self._keep(event)

    def _keep(self, result: CaseResult) -> None:
        assert self._header, "a run begins with its header"
        capsule = Capsule(
            target=self._target or self._specs.get(result.target, result.target),
            peer=self._specs.get(result.peer, result.peer),
            result=result,
            seed=result.seed or self._header.seed,
            **self._asked,
            harness_version=self._header.harness_version,
            commit=self._header.commit,
        )
        path = path_of(self._run, result)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, shown(msgspec.json.format(msgspec.json.encode(capsule), indent=2)) + b"\n")
