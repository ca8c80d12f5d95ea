"""The FROG suites."""
