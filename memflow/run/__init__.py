"""The steps of the pipeline, the player and the dry run: the code that every benchmark shares."""
