"""memflow: benchmarks of memory in LLM assistants.

This package is the subject: what states, utterances, probes, feedback, memories and scores are, and how each is made.
It knows no Dagster, no database, no network client, no environment and no clock: seeds and clients are arguments.
resources/ reaches models and stores; assets/ defines the Dagster assets. memflow/cli is the command-line interface, and
alone may import both.
"""
