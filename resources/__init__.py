"""Adapters to files, databases, model servers and Dagster's storage, one kind per folder.

Functions import heavy packages on their first call. assets/ defines the partitions and asset keys.
"""
