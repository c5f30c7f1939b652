"""The Dagster code location: one file per stage. Start at definitions.py, which reads as the walk."""
