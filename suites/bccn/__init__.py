"""The BCCN suites: a codec seen by its answers, nodes by their deliveries and by what they broadcast on loopback."""
