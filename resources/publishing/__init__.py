"""What is computed from the lake for readers: scores, leaderboard, comparisons, the DuckDB warehouse.

Each module computes one table or writes one output. The files of the lake are in lake/, the web pages in report/.
"""
