"""The steps of the pipeline, the player and the dry run, which all benchmarks share."""
