"""The tables, as pure functions from DataFrame to DataFrame."""
