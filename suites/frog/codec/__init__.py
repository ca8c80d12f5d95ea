"""FROG codec cases."""
