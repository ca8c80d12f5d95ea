"""Cases for the peerbus codec."""
