"""Mutants that nobody planted: the reference's own source, changed operator by operator by a tool that knows no protocol.

changes   what can be changed in a module, each change with a name that outlives edits elsewhere
copies    a second copy of a protocol's reference with one change, beside the honest one; or the honest one changed in place
hunt      the suites against each copy until the first kill, in a process that can be ended
listed    `targets/mutants/<protocol>/survivors.toml`: who survives and why, for people to read
"""
