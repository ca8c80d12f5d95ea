"""Mutants, a package per protocol and a module per thing they break: the reference with exactly one deliberate fault each."""

from __future__ import annotations

import importlib
import pkgutil


def import_all(package: str) -> None:
    """Import each module of a package, so that its mutants are on the shelf."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
