"""What a target said, made fit for terminals and parsers."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.result import TimelineEntry
from harness.subscribers.text import printable, timeline


@given(st.text(st.characters()))
def test_printable_text_holds_no_control_characters(text: str) -> None:
    """Whatever came, what is shown is printable, and a second pass changes nothing."""
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown


@given(st.text(st.characters()))
def test_printable_text_fits_xml(text: str) -> None:
    """XML has no way to spell most control characters; their escapes it can hold."""
    element = ET.Element("a")
    element.text = printable(text, keep="\n")
    assert ET.fromstring(ET.tostring(element)).text == (element.text or None)


def test_printable_leaves_letters_and_kept_characters_alone() -> None:
    """Only what cannot be shown is escaped."""
    assert printable("é → \x1b[0m\n", keep="\n") == "é → \\x1b[0m\n"


def test_a_long_timeline_is_cut_at_its_beginning_and_says_so() -> None:
    """The end is where it went wrong."""
    entries = [TimelineEntry(n / 1000, "harness", "target", "frame", f"say {n}") for n in range(5)]
    assert timeline(entries, last=2) == [
        "... 3 earlier entries",
        "   0.0030  harness -> target  frame  say 3",
        "   0.0040  harness -> target  frame  say 4",
    ]
    assert len(timeline(entries)) == len(timeline(entries, last=5)) == 5
