"""Cases for a TrueSeal client."""
