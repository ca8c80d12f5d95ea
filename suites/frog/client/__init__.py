"""FROG client cases."""
