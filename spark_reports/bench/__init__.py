"""Measures the report on large synthetic histories, beside DuckDB on the same Parquet."""
