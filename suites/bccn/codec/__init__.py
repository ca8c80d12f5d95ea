"""Cases for the BCCN codec."""
