"""Renders the page. Everything a target can influence passes Jinja's autoescape or `script_safe_json`, nothing else."""

from __future__ import annotations

import base64
import hashlib
import unicodedata
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
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.filters["safe_json"] = script_safe_json
    return made


def visible(text: str) -> str:
    """Control characters as their symbols, and what turns the order of letters round by its number: nothing acts in secret."""
    return text if text.isprintable() else "".join(map(_symbol, text))


def _symbol(letter: str) -> str:
    if letter in "\n\t" or letter.isprintable() or unicodedata.category(letter) in ("Zs", "Co", "Cn"):
        return letter
    code = ord(letter)
    return chr(0x2400 + code) if code < 0x20 else f"\u27e8U+{code:04X}\u27e9"


def script_safe_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, nor open a comment in it."""
    text = msgspec.json.encode(_visible_throughout(value)).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _visible_throughout(value: Any) -> Any:
    match value:
        case str():
            return visible(value)
        case dict():
            return {key: _visible_throughout(item) for key, item in value.items()}
        case list() | tuple():
            return [_visible_throughout(item) for item in value]
    return value


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
