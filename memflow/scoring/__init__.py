"""Scores: what each metric is, how values per probe become a score, and how scores are compared."""
