"""A server that cannot start."""

raise SystemExit("the port is on fire")
