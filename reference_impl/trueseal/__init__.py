"""TrueSeal: sealed envelopes, pushed anonymously to a relay that keeps them until their recipient has them.

`frames` and `codec` are the wire inside the Noise sessions, `noise` and `sealed` the sessions themselves. `relay` and
`client` are the pure machines, `relay_io` and `client_io` their shells, `store` the durable half of each.
"""
