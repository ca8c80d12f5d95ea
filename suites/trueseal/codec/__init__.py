"""Cases for a TrueSeal codec."""
