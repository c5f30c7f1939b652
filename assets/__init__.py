"""The Dagster code location `memflow`. Start at definitions.py; the order of the steps is memflow/pipeline.py."""
