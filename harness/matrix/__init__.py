"""The interop matrix: pairs of implementations that have never met, under faults, with the culprit named.

In reading order: `history` (what was asked, told and done, and the judging of it), `pairing` (what a protocol says of its
pairs), `faults` (profiles and what they draw), `streams` and `datagrams` (the proxies in the path), `parties` (who plays),
`rooms` (where they meet), `play` (one scenario), `cells` (all of them: pairs, shards, order), `block` (one pair under one
profile, judged), `culprit` (whose fault a red cell is), `schedule` (side by side, within budgets), `run`, `report`;
`visible` and `proof` (does it find things?). Nothing here knows a protocol: what a pair of one does stands in
`suites/<protocol>/pairing.py`.
"""
