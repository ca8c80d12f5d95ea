"""BCCN1: notifications by UDP broadcast, without connections, acknowledgements or a broker.

`frames` and `codec` are the wire, `addressing` says whom a channel means, `tracker` what is news, `node` is the pure
machine that uses them, `node_io` the sockets around it.
"""
