"""memflow: benchmarks of memory in LLM assistants.

This package defines states, utterances, probes, feedback, memories and scores, and computes each of them. The package
depends on no Dagster, database, network client, environment variable or clock: seeds and clients are arguments.
resources/ connects to models and stores; assets/ defines the Dagster assets. Of this package, only memflow/cli imports
resources/ and assets/.
"""
