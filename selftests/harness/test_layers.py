"""The import contracts hold a protocol that is added tomorrow: each forbidden import of it is seen, what is free stays free."""

from __future__ import annotations

import tomllib
from copy import deepcopy

import grimp
import pytest
from importlinter import Contract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract

from harness.places import ROOT
from selftests.layers import Apart, Pure

TYPES: dict[str, type[Contract]] = {
    "layers": LayersContract,
    "independence": IndependenceContract,
    "pure": Pure,
    "apart": Apart,
}


@pytest.fixture(scope="module")
def settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


@pytest.fixture(scope="module")
def code(settings: dict) -> grimp.ImportGraph:
    return grimp.build_graph(*settings["root_packages"], include_external_packages=True, cache_dir=None)


def broken(settings: dict, code: grimp.ImportGraph, importer: str, imported: str) -> list[str]:
    """The types of the contracts that one more import breaks."""
    graph = deepcopy(code)
    for module in (importer, imported):
        while module not in graph.modules:  # with its package, as a folder brings it
            graph.add_module(module, is_squashed=False)
            module = module.rpartition(".")[0] or module
    graph.add_import(importer=importer, imported=imported)
    contracts = [(c["type"], {k: v for k, v in c.items() if k not in ("name", "type")}) for c in settings["contracts"]]
    return [
        kind
        for kind, options in contracts
        if not TYPES[kind](kind, settings, options).check(deepcopy(graph), False).kept
    ]


@pytest.mark.parametrize(
    ("importer", "imported", "contract"),
    [
        ("harness.running.plan", "suites.new", "layers"),
        ("harness.running.plan", "targets.mutants.new", "layers"),
        ("targets.mutants.new.codec", "suites.new.wire", "layers"),
        ("suites.new.wire", "targets.reference.new", "layers"),
        ("reference_impl.new.codec", "harness.errors", "layers"),
        ("reference_impl.new.codec", "reference_impl.sbp.codec", "independence"),
        ("reference_impl.io.tcp", "reference_impl.new.codec", "independence"),
        ("reference_impl.new.relay", "asyncio", "pure"),
        ("reference_impl.new.anything", "time", "pure"),
        ("reference_impl.new", "random", "pure"),
        ("reference_impl.new.relay", "reference_impl.new.relay_io", "pure"),
        ("reference_impl.new.relay", "reference_impl.new.store", "pure"),
        ("reference_impl.core.oracle", "reference_impl.io.tcp", "pure"),
        ("spark_reports.job", "harness.errors", "apart"),
        ("spark_reports.job", "targets.reference", "apart"),
        ("derivations.new", "reference_impl.new.codec", "apart"),
        ("harness.judging.new", "harness.subscribers.junit", "layers"),
    ],
)
def test_an_import_against_the_layers_is_seen(settings, code, importer: str, imported: str, contract: str) -> None:
    assert broken(settings, code, importer, imported) == [contract]


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("reference_impl.new.relay_io", "asyncio"),
        ("reference_impl.new.relay_io", "reference_impl.io.tcp"),
        ("reference_impl.new.store", "sqlite3"),
        ("reference_impl.new.__main__", "time"),
        ("reference_impl.new.codec", "reference_impl.core"),
        ("reference_impl.new.codec", "struct"),
        ("targets.mutants.new.codec", "harness.mutation.mutant"),
        ("suites.new.wire", "reference_impl.new.codec"),
        ("spark_reports.job", "harness.judging.result"),
        ("derivations.new", "hashlib"),
    ],
)
def test_what_the_layers_allow_breaks_nothing(settings, code, importer: str, imported: str) -> None:
    assert broken(settings, code, importer, imported) == []
