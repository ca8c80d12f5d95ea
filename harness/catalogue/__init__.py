"""What there is to check: requirements, cases, vectors."""
