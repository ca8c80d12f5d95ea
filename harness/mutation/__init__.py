"""Does the suite bite? Deliberate faults, what catches them, which checks were seen failing, and the ledger of both."""
