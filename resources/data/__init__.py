"""Published data sets on disk: where their files are, whether they are complete, and how they are downloaded."""
