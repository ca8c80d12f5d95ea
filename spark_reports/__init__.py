"""Reads result streams with Spark; writes tables as Parquet and a static site. Knows of the harness only its result schema."""
