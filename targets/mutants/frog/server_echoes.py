"""Servers whose errors about malformed requests echo another id."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.frog.codec import Codec, Rejected
from reference_impl.frog.frames import Malformed
from reference_impl.frog.grammar import CID, Form
from reference_impl.frog.identifiers import DASH
from targets.mutants.frog.shelf import in_server


class Echoing(Codec):
    """Has its own idea of the id that an error about a malformed command echoes."""

    def misfit(self, form: Form, texts: list[str], *given: Any, **more: Any) -> Rejected:
        error = super().misfit(form, texts, *given, **more)
        if not form.echoes or not texts or not isinstance(error.instead, Malformed):
            return error
        return Rejected(replace(error.instead, id=self.echo(error.instead.id, texts[0])))

    def echo(self, id: str, text: str) -> str:
        return id


@in_server("FROG-15-07", "FROG-38-04")
class EchoesInUpperCase(Echoing):
    """Echoes a CID in lower case in upper case."""

    def echo(self, id: str, text: str) -> str:
        return text.upper() if id == DASH and text.isalnum() and text.isascii() and len(text) <= 32 else id


@in_server("FROG-15-07", "FROG-38-04")
class EchoesABeginning(Echoing):
    """Echoes the first 32 characters of a CID that is too long."""

    def echo(self, id: str, text: str) -> str:
        return text[:32] if id == DASH and len(text) > 32 and self.legal(CID, text[:32]) else id


@in_server("FROG-20-01", "FROG-38-02")
class NoIdOfTheMalformed(Echoing):
    """Never echoes an id on BAD_REQUEST."""

    def echo(self, id: str, text: str) -> str:
        return DASH
