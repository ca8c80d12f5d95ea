"""Many machines of one role on virtual time, without a socket: plans, graphs, an agenda, shrinking, and what is printed of it.

No protocol is known here: what a world of one does and must keep stands in `suites/<protocol>/simulation`.
"""
