"""The verification of a home folder, and the repair of what the lake or the ledger can rebuild.

damages.py defines what a damage is. verification.py finds damages, actions.py repairs those that need no run of the
pipeline. memflow/cli/repair.py runs the pipeline for damaged partitions, with a budget of no requests.
"""
