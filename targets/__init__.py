"""What is tested: manifests, shims, mutants and example implementations."""
