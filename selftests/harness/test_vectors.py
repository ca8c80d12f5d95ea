"""The vector files: sound, formatted, valid under their schema, and what their derivation says; the lint finds what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.catalogue import vectors
from harness.catalogue.vectors import Provenance, Vector, VectorFile
from harness.errors import UsageError
from harness.judging.trial import Broken
from harness.places import ROOT

GOOD = Vector("a-name", ["PB-4-01"], "valid", input={"x_hex": "00ff"}, expected={"y_hex": ["41", "42"], "y_text": "AB"})


def complaints(**changes: Any) -> list[str]:
    vector = Vector(**{field: getattr(GOOD, field) for field in GOOD.__struct_fields__} | changes)
    file = VectorFile("peerbus", "canonical", Provenance("by hand", "here"), [], [vector])
    return list(vectors.complaints("peerbus/canonical", file))


def test_a_good_vector_has_no_complaint() -> None:
    assert complaints() == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "A name"}, "lower-case words"),
        ({"clauses": []}, "claims no clause"),
        ({"clauses": ["PB-99-99"]}, "unknown clauses PB-99-99"),
        ({"result": "invalid"}, "without saying why"),
        ({"result": "acceptable"}, "without saying why"),
        ({"input": {"x_hex": "0"}}, "x_hex is not lower-case hex"),
        ({"input": {"x_hex": "FF"}}, "x_hex is not lower-case hex"),
        ({"input": {"x_hex": ["00", 1]}}, "x_hex is not lower-case hex"),
        ({"input": {"x_hex": "41", "x_text": "B"}}, "x_hex and its text differ"),
    ],
)
def test_the_lint_says_what_is_wrong(changes: dict[str, Any], complaint: str) -> None:
    [said] = complaints(**changes)
    assert complaint in said


def test_names_are_unique_and_a_file_says_where_it_is() -> None:
    file = VectorFile("peerbus", "canonical", Provenance("", ""), [], [GOOD, GOOD])
    said = list(vectors.complaints("peerbus/other", file))
    assert said == ["says it is peerbus/canonical", "has no provenance", "a-name: a name used twice"]


def test_a_vector_is_for_targets_that_declare_what_it_needs() -> None:
    """All of it; one that needs nothing is for everybody."""
    needs: dict[str, list[str]] = {"none": [], "one": ["x"], "two": ["x", "y"]}
    made = [Vector(name, ["PB-4-01"], "valid", needs=wanted) for name, wanted in needs.items()]
    file = VectorFile("peerbus", "canonical", Provenance("by hand", "here"), [], made)
    assert [vector.name for vector in file.within([])] == ["none"]
    assert [vector.name for vector in file.within(["x", "z"])] == ["none", "one"]
    assert [vector.name for vector in file.within(["y", "x"])] == ["none", "one", "two"]


@pytest.mark.parametrize(
    ("result", "expected", "refused", "contested"),
    [
        ("valid", {}, False, ""),
        ("invalid", {}, True, ""),
        ("acceptable", {}, False, "why"),
        ("acceptable", {"refused": True}, True, "why"),
    ],
)
def test_what_a_vector_expects_and_how_much_it_weighs(
    result: Any, expected: dict[str, Any], refused: bool, contested: str
) -> None:
    """Another outcome breaks its first clause, and warns at most where it is acceptable."""
    vector = Vector("a-name", ["PB-4-01", "PB-4-02"], result, comment="why", expected=expected)
    broken = Broken.of(vector, "a", "b")
    assert vector.refused is refused
    assert (broken.clause, broken.contested) == ("PB-4-01", contested)
    assert Broken.of(vector, "a", "b", "PB-4-03").clause == "PB-4-03"


def test_every_bundled_file_is_sound_and_formatted() -> None:
    assert vectors.main(["--check"]) == 0


@pytest.mark.parametrize("name", vectors.names())
def test_every_bundled_file_fits_the_schema(name: str) -> None:
    schema = json.loads((vectors.VECTORS / "schema.json").read_text())
    jsonschema.validate(json.loads((vectors.VECTORS / f"{name}.json").read_text()), schema)


@pytest.mark.parametrize("script", sorted((ROOT / "derivations").glob("*.py")), ids=lambda script: script.stem)
def test_a_derivation_writes_the_files_of_its_protocol_byte_for_byte(script: Path, tmp_path: Path) -> None:
    """Nobody edits a vector without the script that says where its value comes from; the script needs nothing but Python."""
    (tmp_path / "derivations").mkdir()
    copy = shutil.copy(script, tmp_path / "derivations")
    written = tmp_path / "vectors" / script.stem
    written.mkdir(parents=True)
    subprocess.run([sys.executable, "-I", "-S", copy], check=True)
    assert contents(written) == contents(vectors.VECTORS / script.stem)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_unformatted_file_is_found_and_formatted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "vectors"
    (folder / "peerbus").mkdir(parents=True)
    text = (vectors.VECTORS / "peerbus" / "framing.json").read_text()
    (folder / "peerbus" / "framing.json").write_text(json.dumps(json.loads(text)))
    monkeypatch.setattr(vectors, "VECTORS", folder)
    vectors.load.cache_clear()
    assert vectors.main(["--check"]) == 1
    assert "vectors/peerbus/framing.json: not formatted" in capsys.readouterr().out
    assert vectors.main([]) == 0
    assert (folder / "peerbus" / "framing.json").read_text() == text
    vectors.load.cache_clear()


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no vector file"):
        vectors.load("peerbus/nothing")
