"""Cases for BCCN nodes, on the broadcast address of loopback and nowhere else."""
