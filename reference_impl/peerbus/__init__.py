"""peerbus v1: a WebSocket broker of signed JSON messages, and its client.

`frames` and `codec` are the wire, `jsontext` and `signing` its canonical form, `broker` and `client` the pure machines,
`broker_io`, `client_io`, `store` and `audit` the I/O around them.
"""
