"""Dies before it has said anything."""

raise SystemExit("no module named implementation")
