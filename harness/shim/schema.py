"""`python -m harness.shim.schema > harness/shim/schema.json`: the shim protocol for authors in other languages."""

from __future__ import annotations

import msgspec

from harness.shim.messages import json_schema


def text() -> str:
    """The schema as the file holds it."""
    return msgspec.json.format(msgspec.json.encode(json_schema(), order="sorted"), indent=2).decode() + "\n"


if __name__ == "__main__":
    print(text(), end="")
