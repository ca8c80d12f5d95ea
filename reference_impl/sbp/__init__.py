"""SBP v1: binary frames between two equal peers.

`frames` and `codec` are the wire, `peer` the pure machine of one session, `peer_io` its carriers: WebSocket, connecting
or accepting, and an in-process loopback.
"""
