"""SBP codec cases."""
