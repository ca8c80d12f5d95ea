"""The SBP suites."""
