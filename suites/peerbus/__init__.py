"""The peerbus suites: a broker seen by its peers, a client seen by its broker and its host, a codec by its answers."""
