"""The Dagster code location `memflow`.

Start reading at definitions.py. memflow/pipeline.py defines the steps in order.
"""
