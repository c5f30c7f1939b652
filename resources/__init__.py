"""Adapters to files, databases, model servers and Dagster's storage, one capability per module.

Heavy imports are inside methods. Partitions and asset keys are defined in assets/.
"""
