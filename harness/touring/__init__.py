"""Conversations computed from a machine, so that what is tried does not depend on what somebody thought of.

world    a role with its surroundings as a value, and the letters: what may happen to it next
atlas    which abstract states the letters reach, and what there is to cover
derive   walks that cover it, the same every time
tour     one walk against a target, the oracle the only judge
tours    all of that for one role, as its suite, `explain` and the mutants use it

A protocol's part is `suites/<protocol>/<role>/world.py`: its world, its alphabet, and how a walk ends, together its TOURS.
"""
