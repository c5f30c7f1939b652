"""Scores: declarations of metrics, computation of scores from the values per probe, and comparison of scores."""
