"""Cases for the peerbus broker."""
