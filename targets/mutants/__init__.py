"""Mutants, a package per protocol and a module per role: the reference with exactly one deliberate fault each."""
