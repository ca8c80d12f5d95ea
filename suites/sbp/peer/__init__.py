"""SBP peer cases."""
