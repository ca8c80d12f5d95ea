"""Renders the page. Everything a target can influence passes Jinja's autoescape or `script_safe_json`, nothing else."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_HERE = Path(__file__).parent
STYLES = ("base.css", "matrix.css", "detail.css")
SCRIPTS = ("filters.js", "ladder.js", "detail.js", "start.js")


def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["safe_json"] = script_safe_json
    return made


def script_safe_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, nor open a comment in it."""
    text = msgspec.json.encode(value).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def render_page(model: dict[str, Any]) -> str:
    """One file: style and script are inside it, and its policy lets the browser run these two and nothing else."""
    style, script = _joined(STYLES), _joined(SCRIPTS)
    policy = (
        f"default-src 'none'; img-src 'self' data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        environment()
        .get_template("index.html.j2")
        .render(**model, style=Markup(style), script=Markup(script), policy=policy)
    )


def render_badge(badge: Any) -> str:
    return environment().get_template("badge.svg.j2").render(badge=badge)


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_HERE / "static" / name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
