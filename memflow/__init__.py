"""memflow: benchmarks of memory in LLM assistants.

This package defines states, utterances, probes, feedback, memories and scores, and computes each of them. It depends on
no Dagster, database, network client, environment variable or clock: seeds and clients are arguments. resources/
connects to models and stores; assets/ defines the Dagster assets. Only memflow/cli, the command-line interface, imports
both.
"""
