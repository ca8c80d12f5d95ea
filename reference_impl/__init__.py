"""The oracle: one reference implementation per protocol, a pure core with thin I/O shells."""
