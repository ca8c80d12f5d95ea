"""FROG/1: rendezvous servers at which peers find one another and pass signaling, and their clients.

`identifiers`, `uri` and `identity` are its names, `frames`, `grammar` and `codec` the wire. `server` is the pure machine of a
server (`registration` its first half, `presence`, `routes` and `limits` what it keeps and counts). What servers say to one
another stands between these two halves: `handshake`, `gossip`, `flooding`, `relaying`, with `sisters` for what they keep.
`client` is the machine of a client (`joining` its first half, `known` the servers it knows, `host` its border to the host).
What a speaker chooses is in `choosing`.
"""
