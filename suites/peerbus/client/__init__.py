"""Cases for the peerbus client."""
