"""Names and targets that only the letter of the rules tells apart; each row by hand from its clause."""

from __future__ import annotations

LONGEST = "n" * 128

ODD: dict[str, tuple[str, str, str, bool]] = {  # clause, the node's name, the target, is it meant?
    "over-nine-digits": ("BCCN-DIR-04", "h/p/1234567890/3", "h/p/1234567890", False),
    "over-64-bits": ("BCCN-DIR-04", "h/p/18446744073709551616/3", "h/p/18446744073709551616", False),
    "over-64-bits-itself": ("BCCN-DIR-08", "h/p/18446744073709551616", "h/p/18446744073709551616", True),
    "zero": ("BCCN-DIR-04", "h/p/0/3", "h/p/0", False),
    "two-zeros": ("BCCN-DIR-06", "h/p/00/3", "h/p/00", False),
    "longest-name": ("BCCN-DIR-09", LONGEST, f"{LONGEST}/*", True),
    "longest-name-by-itself": ("BCCN-DIR-09", LONGEST, LONGEST, True),
    "one-less-than-the-longest": ("BCCN-DIR-10", LONGEST, LONGEST[:-1], False),
    "brackets": ("BCCN-DIR-08", "ha/1", "h[ab]/1", False),
    "question-mark": ("BCCN-DIR-08", "hx/1", "h?/1", False),
    "star-inside": ("BCCN-DIR-11", "abc/1", "a*c/1", False),
    "dot": ("BCCN-DIR-08", "hostxlan/1", "host.lan/1", False),
    "dot-in-a-word": ("BCCN-DIR-19", "hostxlan", "host.lan", False),
    "backslash-for-slash": ("BCCN-DIR-12", "a/b", "a\\b", False),
    "backslash-is-no-end": ("BCCN-DIR-10", "h\\n", "h", False),
    "plus": ("BCCN-DIR-19", "aab", "a+b", False),
    "percent": ("BCCN-DIR-12", "a/b", "a%2Fb", False),
    "nobody-has-no-children": ("BCCN-DIR-15", "?/x", "?", False),
    "dots-are-no-path": ("BCCN-DIR-12", "a/b", "a/c/../b", False),
}
