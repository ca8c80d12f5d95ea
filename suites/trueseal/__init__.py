"""The TrueSeal suites."""
