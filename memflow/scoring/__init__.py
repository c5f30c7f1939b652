"""Scores: declarations of metrics, computation of scores from verdicts, and comparison of scores."""
