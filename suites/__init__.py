"""What is asserted, per protocol: `suites/<protocol>/<role>/test_<group>.py` holds the cases of one group."""
