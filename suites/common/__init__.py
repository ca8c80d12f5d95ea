"""The suites' own ends, once for every protocol: of a connection, of a port that the target dials, of a target's shim."""
