"""Dagster's instance: its configuration files, and the storages of events and runs in SQLite and PostgreSQL."""
