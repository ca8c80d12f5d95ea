"""A number that a node reads wrongly is filed under the clause that says how it is read."""

from __future__ import annotations

import pytest

from suites.bccn.node.test_tracker import misread

TOP = 2**64 - 1


@pytest.mark.parametrize(
    ("seqs", "wanted", "got", "clause"),
    [
        ([0, 1], "DD", "-D", "BCCN-DUP-09"),
        ([TOP, 0], "DD", "-D", "BCCN-DUP-09"),
        ([0, 1], "DD", "D-", "BCCN-DUP-05"),
        ([TOP, 0, 1], "DDD", "D--", "BCCN-DUP-16"),
        ([2000, 1000], "DD", "D-", "BCCN-DUP-10"),
        ([5, 5], "D-", "DD", "BCCN-DUP-02"),
        ([2000, 1000, 1000], "DD-", "DDD", "BCCN-DUP-04"),
        ([10, 5, 11], "D-D", "D--", "BCCN-DUP-15"),
        ([10, 5, 6], "D--", "D-D", "BCCN-DUP-15"),
        ([10, 5, 6], "D--", "DD-", "BCCN-DUP-02"),
        ([1, 1, 2], "D-D", "D--", "BCCN-DUP-05"),
        ([TOP, 1], "DD", "D-", "BCCN-DUP-10"),
        ([TOP, 1, TOP], "DDD", "DD-", "BCCN-DUP-04"),
        ([TOP, TOP], "D-", "DD", "BCCN-DUP-02"),
    ],
)
def test_the_first_wrong_number_names_the_clause(seqs: list[int], wanted: str, got: str, clause: str) -> None:
    assert misread(seqs, wanted, got) == clause
