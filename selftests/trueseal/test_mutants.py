"""Every planted mutant of TrueSeal starts, and does something else than the reference: none is inert."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue.requirements import catalogue
from harness.mutation.mutant import Mutant, mutants_of
from harness.shim.roles import Role, RoleShim
from reference_impl.trueseal.client import ClientMachine
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.noise import Noise
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay
from selftests.trueseal import probes, probes_io, probes_shells

MUTANTS = mutants_of("trueseal")


def role_of(mutant: Mutant) -> type[Role]:
    shim = mutant.factory()
    assert isinstance(shim, RoleShim)
    [role] = shim._roles.values()
    assert isinstance(role, type)
    return role


def part_of(mutant: Mutant) -> tuple[str, Any]:
    """Which part of the reference it replaces, and by what."""
    [(slot, part)] = [(name, value) for name, value in vars(role_of(mutant)).items() if not name.startswith("_")]
    return slot, part


def with_part(*slots: str) -> list[Mutant]:
    return [mutant for mutant in MUTANTS.values() if part_of(mutant)[0] in slots]


def test_every_row_has_a_mutant() -> None:
    """In one of the roles that it binds."""
    broken = {clause for mutant in MUTANTS.values() for clause in mutant.clauses}
    assert {row.id for row in catalogue("trueseal").values() if not row.excluded} - broken == set()


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
async def test_a_mutant_starts_and_stops(mutant: Mutant, tmp_path: Path) -> None:
    keys = {"private_key": "11" * 32, "relay_key": "09" + "00" * 31, "push_port": 9, "receive_port": 9}
    running = role_of(mutant)()
    await running.start({**keys, "state_dir": str(tmp_path)}, lambda event, data: None)
    await running.stop()


def of_machine(role: str, part: Any) -> list[str]:
    return probes.of_relay(part) if role == "relay" else probes.of_client(part)


HONEST: dict[str, Any] = {
    "codec": probes.of_codec(Codec()),
    "noise": probes_io.of_noise(Noise),
    "relay": probes.of_relay(RelayMachine),
    "client": probes.of_client(ClientMachine),
}


@pytest.mark.parametrize("mutant", with_part("codec"), ids=lambda mutant: mutant.name)
def test_a_codec_differs(mutant: Mutant) -> None:
    assert probes.of_codec(part_of(mutant)[1]()) != HONEST["codec"]


@pytest.mark.parametrize("mutant", with_part("noise"), ids=lambda mutant: mutant.name)
def test_noise_differs(mutant: Mutant) -> None:
    assert probes_io.of_noise(part_of(mutant)[1]) != HONEST["noise"]


@pytest.mark.parametrize("mutant", with_part("machine"), ids=lambda mutant: mutant.name)
def test_a_machine_differs(mutant: Mutant) -> None:
    assert of_machine(mutant.role, part_of(mutant)[1]) != HONEST[mutant.role]


# -- shells: their streams, their stores, then what they say ------------------------------------------------------------

Probe = Callable[[Any, Path], Awaitable[list[str]]]


async def relay_stream(made: type[Relay], folder: Path) -> list[str]:
    told = []
    for _ in range(2):  # the second one finds a store
        shell = probes_shells.relay_of(made, folder)
        told += probes_io.of_stream(shell.secured, i_begin=False)
        shell.store.close()
    return told


async def relay_store(made: type[Relay], folder: Path) -> list[str]:
    return probes_io.of_relay_store(probes_shells.relay_of(made, folder), folder)


async def relay_lines(made: type[Relay], folder: Path) -> list[str]:
    shell = probes_shells.relay_of(made, folder)
    try:
        return await probes_shells.of_relay_shell(shell)
    finally:
        await shell.stop()


async def client_stream(made: type[Client], folder: Path) -> list[str]:
    shell = probes_shells.client_of(made, folder)
    shell.store.close()
    return probes_io.of_stream(shell.secured, i_begin=True)


async def client_store(made: type[Client], folder: Path) -> list[str]:
    return probes_io.of_client_store(probes_shells.client_of(made, folder), folder)


PROBES: dict[str, list[Probe]] = {"relay": [relay_stream, relay_store], "client": [client_stream, client_store]}
LINES: dict[str, Probe] = {"relay": relay_lines, "client": probes_shells.of_client_shell}
REFERENCE: dict[str, type] = {"relay": Relay, "client": Client}


@pytest.mark.parametrize("role", PROBES)
async def test_the_shells_differ(role: str, tmp_path: Path) -> None:
    """Whose stream and store are honest is asked on lines, all at once and the reference among them."""

    async def asked(probe: Probe, name: str, made: type) -> list[str]:
        folder = tmp_path / f"{name}-{probe.__name__}"
        folder.mkdir()
        return await probe(made, folder)

    honest = {probe: await asked(probe, "honest", REFERENCE[role]) for probe in (*PROBES[role], LINES[role])}
    left: dict[str, type] = {"reference": REFERENCE[role]}
    for mutant in with_part(role):
        made = part_of(mutant)[1]
        if all([await asked(probe, mutant.name, made) == honest[probe] for probe in PROBES[role]]):
            left[mutant.name] = made
    told = await asyncio.gather(*(asked(LINES[role], name, made) for name, made in left.items()))
    assert [name for name, said in zip(left, told, strict=True) if said == honest[LINES[role]]] == ["reference"]
