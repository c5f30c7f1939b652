"""The search indexes of memory entries, built from the lake, and the hashes of their files."""
