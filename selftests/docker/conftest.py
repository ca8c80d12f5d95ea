"""A real engine, or none: without one these tests are skipped, unless TOUCHSTONE_REQUIRE names docker."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from harness.errors import Unavailable
from harness.targets import Target, resolve
from harness.targets.docker import Docker, Image
from harness.targets.engine import LABEL, OWNER, Engine, is_gone, the_engine

FAKES = Path(__file__).parents[1] / "fakes"
BASE = "touchstone-reference"

DOCKERFILE = """
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY . /fakes
CMD ["python3", "/fakes/honest_shim.py"]
"""

HONEST = "import honest\n\nhonest.serve()\n"


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def engine() -> Engine:
    try:
        return await the_engine()
    except Unavailable as error:
        if "docker" in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def target(engine: Engine) -> AsyncIterator[Target]:
    """The reference in a container; its image is built if need be."""
    made = resolve("reference-docker")
    await made.hello()
    yield made
    await made.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shelf(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """An image with the shelf of broken shims in it, built by the harness from a folder."""
    folder = tmp_path_factory.mktemp("shelf")
    for path in FAKES.glob("*.py"):
        shutil.copy(path, folder)
    (folder / "honest_shim.py").write_text(HONEST)
    for path in (Path(__file__).parent / "boxes").glob("*.py"):
        shutil.copy(path, folder)
    (folder / "Dockerfile").write_text(DOCKERFILE)
    return Image("touchstone-selftest", str(folder), {"BASE_IMAGE": BASE})


@pytest_asyncio.fixture(loop_scope="session")
async def fake(shelf: Image) -> AsyncIterator[Callable[..., Docker]]:
    """A shim from the shelf in a container: by its name, with limits of its own."""
    made: list[Docker] = []

    def make(name: str, **fields: object) -> Docker:
        made.append(Docker(shelf, ["python3", f"/fakes/{name}.py"], **fields))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for reach in made:
        await reach.close()


@pytest.fixture
def left(engine: Engine) -> Callable[[], list[str]]:
    """What this test has left on the engine: of this run, or of one whose process is gone. Others may run meanwhile."""

    def names() -> list[str]:
        ours = {"label": LABEL}
        found = {c["Names"][0].strip("/"): c["Labels"] for c in engine.api.containers(all=True, filters=ours)}
        found |= {n["Name"]: n["Labels"] for n in engine.api.networks(filters=ours)}
        found |= {v["Name"]: v["Labels"] for v in engine.api.volumes(filters=ours)["Volumes"] or []}
        return [name for name, labels in found.items() if labels[LABEL] == engine.run or is_gone(labels[OWNER])]

    before = set(names())
    return lambda: sorted(set(names()) - before)
