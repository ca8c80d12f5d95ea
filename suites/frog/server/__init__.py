"""FROG server cases."""
