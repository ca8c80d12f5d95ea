"""Cases for a TrueSeal relay."""
